"""The qualitative figures: where support is right, and what the map carries over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.lab.bench.figures.cases import SUPPORT, TRUTH, Case, methods_of
from nho.lab.bench.figures.render import render
from nho.lab.bench.figures.sheet import DPI, Panel, PanelRow, column_inches, save_sheet
from nho.report.views import frame, framed

_ROWS = 6  # of a sheet; further ones go to the next
_TALLEST, _FLATTEST = 1.7, 0.6  # height over width of a picture
_OVERSAMPLE = 3

_SUPPORT_NOTE = (
    "The full shape with the support of each method: green is correct, orange false positive, "
    "purple missed. Numbers: area-weighted IoU in percent, higher is better."
)
_TRANSFER_NOTE = (
    "The full shape coloured by position, and the partial shape in the colours of its partners. "
    "Numbers: mean geodesic error times 100, lower is better."
)


def draw(cases: list[Case], folder: Path) -> list[Path]:
    """Support and transferred colours of all cases; tells the files written into ``folder``."""
    return [*draw_support(cases, folder), *draw_transfer(cases, folder)]


def draw_support(cases: list[Case], folder: Path, name: str = "support") -> list[Path]:
    """A row a case: the full shape with the true support and with that of every method."""
    methods = methods_of(cases)
    inches = column_inches(1 + len(methods))
    rows = []
    for case in cases:
        size = picture_size([(case.pair.full, case.full_view)], inches)
        panels = [support_panel(case, method, size) for method in (TRUTH, *methods)]
        rows.append(PanelRow(tuple(panels), case.title))
    return _sheets(rows, folder, name, _SUPPORT_NOTE, SUPPORT)


def draw_transfer(cases: list[Case], folder: Path, name: str = "transfer") -> list[Path]:
    """A row a case: the full shape by position, and the partial shape by truth and methods."""
    methods = methods_of(cases)
    inches = column_inches(2 + len(methods))
    rows = []
    for case in cases:
        full, partial = case.pair.full, case.pair.partial
        size = picture_size([(full, case.full_view), (partial, case.partial_view)], inches)
        whole = panel(full, case.position_colours, case.full_view, size, "full shape")
        panels = [transfer_panel(case, method, size) for method in (TRUTH, *methods)]
        rows.append(PanelRow((whole, *panels), case.title))
    return _sheets(rows, folder, name, _TRANSFER_NOTE)


def draw_discretisation(
    shares: Mapping[str, list[Case]], folder: Path, name: str = "discretisation"
) -> list[Path]:
    """Support on coarse full meshes, with their edges.

    Parameters
    ----------
    shares : mapping
        Cases by the share of faces that was kept, such as ``"10 % of the faces"``; the lists name
        the same pairs in the same order.
    """
    first = next(iter(shares.values()))
    if any(len(cases) != len(first) for cases in shares.values()):
        raise InputError("the shares of faces have different numbers of cases; give one a pair")
    columns = {share: (TRUTH, *methods_of(cases)) for share, cases in shares.items()}
    inches = column_inches(sum(map(len, columns.values())))
    groups = tuple((share, len(methods)) for share, methods in columns.items())
    rows = []
    for number, leading in enumerate(first):
        line = {share: cases[number] for share, cases in shares.items()}
        seen = [(case.pair.full, case.full_view) for case in line.values()]
        size = picture_size(seen, inches)
        panels = [
            support_panel(line[share], method, size, edges=True)
            for share, methods in columns.items()
            for method in methods
        ]
        rows.append(PanelRow(tuple(panels), leading.title, groups))
    return _sheets(rows, folder, name, _SUPPORT_NOTE, SUPPORT)


def support_panel(
    case: Case, method: str, size: tuple[int, int], edges: bool = False
) -> Panel | None:
    """The full shape in green, orange and purple, its IoU beneath; None without an answer."""
    if method != TRUTH and method not in case.results:
        return None
    picture = render(
        case.pair.full,
        case.support(method),
        case.full_view,
        size,
        oversample=_OVERSAMPLE,
        crisp=True,
        edges=edges,
    )
    return Panel(picture, method, _number(case, method, "iou", "{:.1f}"))


def transfer_panel(case: Case, method: str, size: tuple[int, int]) -> Panel | None:
    """The partial shape in its partners' colours, the error beneath; None without an answer."""
    if method != TRUTH and method not in case.results:
        return None
    error = _number(case, method, "geodesic_error", "{:.2f}")
    colours = case.transferred(method)
    return panel(case.pair.partial, colours, case.partial_view, size, method, error)


def panel(
    mesh: Mesh,
    colours: np.ndarray,
    view: np.ndarray,
    size: tuple[int, int],
    above: str = "",
    below: str = "",
) -> Panel:
    """A shape in smooth colours."""
    return Panel(render(mesh, colours, view, size, oversample=_OVERSAMPLE), above, below)


def picture_size(seen: list[tuple[Mesh, np.ndarray]], inches: float) -> tuple[int, int]:
    """(width, height) in pixels that suits shapes under their views, for a column so wide."""
    tall = []
    for mesh, view in seen:
        corners = framed(mesh.vertices[mesh.used_vertices], frame(mesh, view))
        right, up = np.ptp(corners @ view.T, axis=0)[:2]
        tall.append(up / right if right > 0 else _TALLEST)
    aspect = float(np.clip(np.mean(tall), _FLATTEST, _TALLEST))
    return round(inches * DPI), round(inches * DPI * aspect)


def _number(case: Case, method: str, score: str, form: str) -> str:
    if method == TRUTH:
        return ""
    value = getattr(case.scores[method], score)
    return form.format(value) if np.isfinite(value) else "–"


def _sheets(
    rows: list[PanelRow],
    folder: Path,
    name: str,
    caption: str,
    legend: dict[str, tuple[int, int, int]] | None = None,
) -> list[Path]:
    """Rows on as many sheets as they need; the second is called ``name-2``."""
    if not rows:
        raise InputError(f"{folder / name}: there are no cases to draw; give at least one")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for first in range(0, len(rows), _ROWS):
        number = first // _ROWS + 1
        path = folder / (name if number == 1 else f"{name}-{number}")
        leading, *others = rows[first : first + _ROWS]
        sheet = [leading, *map(without_heads, others)]
        written += save_sheet(sheet, path, caption, legend)
    return written


def without_heads(row: PanelRow) -> PanelRow:
    """The columns are named over the first row of a sheet only."""
    panels = tuple(one and replace(one, above="") for one in row.panels)
    return replace(row, panels=panels, groups=())
