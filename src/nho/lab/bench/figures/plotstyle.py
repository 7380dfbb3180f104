"""The one style of all figures, and how they are saved.

A method has the same colour and marker in every figure; what the paper published (its name
ends with `PUBLISHED_SUFFIX`) is dashed. Files hold no dates: the same figure gives the same bytes.
"""

from __future__ import annotations

import functools
import io
import math
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from nho.errors import InputError
from nho.runtime.atomic_file import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

PUBLISHED_SUFFIX = " (published)"

# Sizes in points. DejaVu Sans comes with matplotlib, so the files are the same everywhere.
_STYLE: Any = {  # older matplotlib types its keys as text, newer ones as a list of names
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "0.35",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
    "xtick.color": "0.25",
    "ytick.color": "0.25",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "nho",
    "pdf.fonttype": 42,
}
_DATELESS: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "nho"},
    "pdf": {"CreationDate": None, "Creator": "nho"},
    "png": {"Software": None},
}
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#7A7A7A"
# Apart for every kind of colour vision: Okabe and Ito's colours first, then Tol's muted ones.
_LOOKS = {
    "default": (BLUE, "o"),
    "paper": (VERMILION, "s"),
    "nho": (VERMILION, "s"),  # the paper's own name of its method
    "nearest": (GREY, "x"),
    "anchor-distance": ("#56B4E9", "^"),
    "anchor-distance-zoomout": ("#009E73", "D"),
    "anchor-distance-arap": ("#CC79A7", "v"),
    "nho-dpfm": ("#E69F00", "P"),
    "pfm": ("#332288", "<"),
    "fspm": ("#999933", ">"),
    "hamiltonian": ("#882255", "p"),
    "dpfm": ("#117733", "h"),
    "dpfm-zoomout": ("#44AA99", "d"),
    "piecewise-smooth": ("#AA4499", "*"),
    "echomatch": ("#000000", "X"),
    "ulrssm": ("#CC6677", "8"),
    "wormhole": ("#B8A13A", "+"),
    "geodesic": (BLUE, "o"),
    "euclidean": ("#009E73", "D"),
    "random": ("#E69F00", "^"),
}
_OTHERS = tuple(dict.fromkeys(look for look in _LOOKS.values() if look[0] != GREY))
_FOREMOST = ("default", "paper")


def styled(draw: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Let a function draw in this style; without matplotlib it says what to install."""

    @functools.wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        try:
            import matplotlib
        except ImportError as missing:
            raise InputError(
                "figures need matplotlib, which is not installed; pip install 'nho[bench]'"
            ) from missing
        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


@styled
def save(
    figure: Figure,
    path_without_suffix: Path,
    kinds: Sequence[str] = tuple(_DATELESS),
    dpi: int = 220,
) -> list[Path]:
    """Write the figure, as .svg, .pdf and .png if nothing else is asked for."""
    written = []
    for kind in kinds:
        path = path_without_suffix.parent / f"{path_without_suffix.name}.{kind}"
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=_DATELESS[kind])
        write_whole(path, drawn.getvalue())
        written.append(path)
    return written


def method_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker, dashes and weight of the lines of one figure, by method.

    Methods that are not in the list above get a colour by their name, or the next one that is
    free in the figure.
    """
    found: dict[str, dict[str, Any]] = {}
    keys = {name: _key(name) for name in names}
    taken = {_LOOKS[key] for key in keys.values() if key in _LOOKS}
    given: dict[str, tuple[str, str]] = {}
    for name, key in keys.items():
        if key not in _LOOKS and key not in given:
            first = zlib.crc32(key.encode()) % len(_OTHERS)
            turns = [*_OTHERS[first:], *_OTHERS[:first]]
            given[key] = next((look for look in turns if look not in taken), turns[0])
            taken.add(given[key])
        colour, marker = _LOOKS.get(key) or given[key]
        published = name.endswith(PUBLISHED_SUFFIX)
        found[name] = {
            "color": colour,
            "marker": marker,
            "linestyle": (0, (4, 2)) if published else "-",
            "markerfacecolor": "white" if published and marker not in "x+" else colour,
            "linewidth": 1.9 if key in _FOREMOST and not published else 1.2,
            "zorder": 3 if key in _FOREMOST else 2,
        }
    return found


def _key(name: str) -> str:
    """A method's name without what only reads well: case, signs, where it was measured."""
    return re.sub(r"[^a-z0-9]+", "-", name.removesuffix(PUBLISHED_SUFFIX).casefold()).strip("-")


def ordered_styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Steps of one colour scale, light to dark, whose lightness alone tells their order."""
    import matplotlib

    scale = matplotlib.colormaps["viridis"]
    steps = np.linspace(0.88, 0.0, max(len(names), 2))
    return {
        name: {"color": scale(step), "marker": marker, "linewidth": 1.4}
        for name, step, marker in zip(names, steps, "o^sDvP*Xdp<>h8" * 9, strict=False)
    }


def per_row(count: int) -> int:
    """Panels beside each other, of so many."""
    return count if count <= 4 else min(math.ceil(count / 2), 4)


def panel_grid(
    count: int, shape: float, height: float = 0.0, sharey: bool = False, margin: float = 0.3
) -> tuple[Figure, list[Axes]]:
    """A figure with room for so many panels; `shape` is their height over their width.

    `height` (of a row) and `margin` (left of all panels) are in inches.
    """
    from matplotlib.figure import Figure

    if not count:
        raise InputError("there is nothing to draw: no panel has any results")
    columns = per_row(count)
    rows = math.ceil(count / columns)
    width = {1: 3.6, 2: 3.0, 3: 2.3}.get(columns, 1.85)
    size = (width * columns + margin, (height or shape * width) * rows + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharey=sharey, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, list(axes[:count])


def shared_legend(figure: Figure, axes: Sequence[Axes], names: Iterable[str]) -> None:
    """One legend beneath all panels, as wide as the figure allows."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    shown = [name for name in names if name in handles]
    room = figure.get_figwidth() * 72
    longest = max((len(name) for name in shown), default=1) * 4.4 + 34
    columns = max(1, min(len(shown), int(room // longest)))
    lines = [handles[name] for name in shown]
    figure.legend(lines, shown, loc="outside lower center", ncols=columns)
