"""The pictures of docs/trust.md: `python tools/failures.py docs/images`.

Each shows a case in which the answer must not be trusted: the full shape coloured by position, the
partial shape in the colours of its true partners, in those of the partners found, and by
confidence. What has no partner is slate. Prints what each match says of itself. Needs matplotlib.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import nho
from nho.geometry.synthetic import cut_by_plane, torus
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.figures.render import render
from nho.lab.bench.fit_placement import mirrored
from nho.report.colours import position_colours, scalar_colours
from nho.report.views import first_view

PANEL, WORDS, DPI = (230, 250), 30, 100  # pixels of a panel, of the words beneath, an inch
SLATE = (88, 96, 110)
UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Failure:
    """A case: what is matched, and the true partners (-1 = none) if there are any."""

    name: str
    partial: nho.Mesh
    full: nho.Mesh
    anchors: np.ndarray | str
    truth: np.ndarray | None


def failures() -> Iterator[Failure]:
    """All of them, made from the shipped body and from generated shapes."""
    body = FAMILIES["synthetic"].load(None, "body-plane")
    truth = body.truth.points.nearest_vertex(body.full)
    own, other = np.asarray(body.anchors(12)).T
    across = mirrored(body.full)
    if across is None:
        raise SystemExit("the shipped body is no longer symmetric")
    yield Failure("mirrored", body.partial, body.full, np.stack([own, across[other]], 1), truth)

    bean = FAMILIES["synthetic"].load(None, "bean-plane")
    elsewhere = np.random.default_rng(0).choice(bean.full.n_vertices, len(own), replace=False)
    yield Failure("impossible", body.partial, bean.full, np.stack([own, elsewhere], 1), None)

    ring = torus(48, 20)
    half = cut_by_plane(ring, np.array([1.0, 0.2, 0.0]), keep_area=0.5)
    yield Failure("symmetric", half.mesh, ring, "auto", half.vertex_of_parent)

    yield _foreign()
    yield _thin(body.full)


def _foreign() -> Failure:
    pair = FAMILIES["synthetic_foreign"].load(None, "ring-plane")
    truth = pair.truth.points.nearest_vertex(pair.full)
    truth[pair.truth.unmatched] = -1
    return Failure("foreign", pair.partial, pair.full, pair.anchors(10), truth)


def _thin(body: nho.Mesh) -> Failure:
    """The upper part of the body, matched to its lower part: a band is common."""
    partial = cut_by_plane(body, UP, keep_area=0.6)
    full = cut_by_plane(body, -UP, keep_area=0.5)
    place = np.full(body.n_vertices, -1)
    place[full.vertex_of_parent] = np.arange(full.mesh.n_vertices)
    truth = place[partial.vertex_of_parent]
    both = np.flatnonzero(truth >= 0)
    chosen = both[:: max(1, len(both) // 5)][:5]
    pairs = np.stack([chosen, truth[chosen]], axis=1)
    return Failure("thin", partial.mesh, full.mesh, pairs, truth)


def draw(case: Failure, path: Path) -> None:
    """Match and draw one case."""
    result = nho.match(case.partial, case.full, case.anchors)
    print(f"{case.name}: {result.status}; mean confidence {result.confidence.mean():.2f}")
    view, own_view = first_view(case.full), first_view(case.partial)
    colours = position_colours(case.full)
    panels = [(case.full, colours, view, "full shape")]
    if case.truth is not None:
        panels.append((case.partial, carried(colours, case.truth), own_view, "true partners"))
    panels += [
        (case.partial, carried(colours, result.vertex_map), own_view, "partners found"),
        (case.partial, scalar_colours(result.confidence, 0.0, 1.0), own_view, "confidence"),
    ]
    count, height = len(panels), PANEL[1] + WORDS
    figure = Figure((PANEL[0] * count / DPI, height / DPI), dpi=DPI)
    for column, (mesh, shown, seen_from, words) in enumerate(panels):
        axes = figure.add_axes((column / count, WORDS / height, 1 / count, PANEL[1] / height))
        axes.imshow(render(mesh, shown, seen_from, PANEL))
        axes.set_axis_off()
        figure.text((column + 0.5) / count, WORDS / height / 2, words, ha="center", va="center")
    figure.savefig(path, metadata={"Software": None})


def carried(colours: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """(n, 3) colours of the partners."""
    shown = colours[np.maximum(partners, 0)].copy()
    shown[partners < 0] = SLATE
    return shown


def main(folder: Path) -> None:
    """All pictures."""
    for case in failures():
        draw(case, folder / f"failure-{case.name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
