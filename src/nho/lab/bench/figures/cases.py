"""A case to look at: one pair, what several methods made of it, and how it is coloured and seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nho.errors import InputError
from nho.evaluation.metrics import region_scores
from nho.geometry.geodesics import edge_graph, nearest_source
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.figures.render import render
from nho.lab.bench.scores import errors_of_maps
from nho.problem.result import MatchResult
from nho.report.colours import UNMATCHED, position_colours
from nho.report.views import first_view, view_beside

TRUTH = "truth"
_HARDLY = 0.5  # of what is seen of the region from the other side
_SMALL = (150, 150)  # pixels of the pictures that decide it

# Told apart by lightness too, so that they survive a grey print and weak colour vision.
CORRECT = (0, 158, 115)  # sRGB: green
FALSE_POSITIVE = (240, 150, 20)  # orange
MISSED = (112, 48, 160)  # purple
ELSEWHERE = (212, 212, 212)
SUPPORT = {
    "correct": CORRECT,
    "false positive": FALSE_POSITIVE,
    "missed": MISSED,
    "elsewhere": ELSEWHERE,
}


@dataclass(frozen=True)
class Score:
    """What is printed under a picture: IoU in percent, and mean geodesic error times 100."""

    iou: float
    geodesic_error: float


@dataclass(frozen=True)
class Case:
    """One pair and the answers of several methods.

    Attributes
    ----------
    title : str
    pair : AnnotatedPair
        Shapes as they are to be shown. Answers name points by vertex and face, so the unrotated
        pair may stand in for a rotated one.
    anchors : (m, 2) int array
    results : dict
        Answers by name of the method, in the order of the columns.
    view : (3, 3) float array, optional
        The view of the full shape; chosen by `upright` and the true region if none is given.
    """

    title: str
    pair: AnnotatedPair
    anchors: np.ndarray
    results: dict[str, MatchResult]
    view: np.ndarray | None = None

    def __post_init__(self) -> None:
        if TRUTH in self.results:
            raise InputError(f"{self.title}: {TRUTH!r} is no name for a method; give another")
        for result in self.results.values():
            result.check_meshes(self.pair.partial, self.pair.full)

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Every method against the truth."""
        full, truth, results = self.pair.full, self.pair.truth, list(self.results.values())
        if not results:
            return {}
        errors = errors_of_maps(full, [result.points for result in results], truth.points)
        scores = {}
        for name, own in zip(self.results, errors, strict=True):
            region = self.results[name].region
            iou = 100 * region_scores(region, truth.region, full.vertex_areas)["iou"]
            known = own[np.isfinite(own)]
            scores[name] = Score(iou, float(known.mean()) if len(known) else float("nan"))
        return scores

    @cached_property
    def full_view(self) -> np.ndarray:
        """View of the full shape; from behind if the true region would hardly be seen."""
        if self.view is not None:
            return self.view
        full, region = self.pair.full, self.pair.truth.region
        view = upright(full)
        behind = view * [[-1], [1], [-1]]
        hidden = pixels_of(region, full, view) < _HARDLY * pixels_of(region, full, behind)
        return behind if hidden else view

    @cached_property
    def partial_view(self) -> np.ndarray:
        """View of the partial shape, from the side from which the full one is seen."""
        partial, full, points = self.pair.partial, self.pair.full, self.pair.truth.points
        return view_beside(partial, full, self.full_view, points, np.ones(partial.n_vertices))

    @cached_property
    def position_colours(self) -> np.ndarray:
        """(n_full, 3) uint8 colours of the full shape by place."""
        return position_colours(self.pair.full)

    def support(self, method: str) -> np.ndarray:
        """(n_full, 3) uint8 colours of right and wrong support; the truth is right everywhere."""
        truth = self.pair.truth.region
        claimed = truth if method == TRUTH else self.results[method].region
        return support_colours(claimed, truth)

    def transferred(self, method: str) -> np.ndarray:
        """(n_partial, 3) uint8 colours of the partners; grey where a method found none.

        Of the true partners, if ``method`` is `TRUTH`: a vertex without annotation has the colour
        of the nearest one with it, since speckles would be read as errors.
        """
        if method != TRUTH:
            return partner_colours(self.results[method].points, self)
        points = self.pair.truth.points
        known = np.flatnonzero(points.face >= 0)
        colours = partner_colours(points, self)
        if not len(known):
            return colours
        source = nearest_source(edge_graph(self.pair.partial), known)
        return np.where((source >= 0)[:, None], colours[source], colours)


def upright(mesh: Mesh) -> FloatArray:
    """The first view of `first_view`, but with z up for a shape that is thinnest along x.

    Animals of the data sets stand like that, and would be seen climbing.
    """
    onward = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # x becomes the direction of the eye
    extent = np.ptp(mesh.vertices[mesh.used_vertices], axis=0)
    if extent[0] >= extent[1:].min():
        return first_view(mesh)
    view: FloatArray = first_view(mesh.moved(mesh.vertices @ onward.T)) @ onward
    return view


def pixels_of(region: np.ndarray, mesh: Mesh, view: np.ndarray) -> int:
    """How many pixels of a small picture show the (n,) bool region."""
    red, blue = (255, 0, 0), (0, 0, 255)
    colours = np.where(region[:, None], red, blue).astype(np.uint8)
    picture = render(mesh, colours, view, _SMALL, transparent=True, oversample=1, crisp=True)
    return int((picture[:, :, 0] > picture[:, :, 2]).sum())


def support_colours(claimed: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(n, 3) uint8 sRGB: green, orange or purple where either (n,) bool region is, else grey."""
    colours = np.tile(np.array(ELSEWHERE, dtype=np.uint8), (len(truth), 1))
    colours[claimed & truth] = CORRECT
    colours[claimed & ~truth] = FALSE_POSITIVE
    colours[~claimed & truth] = MISSED
    return colours


def partner_colours(points: SurfacePoints, case: Case) -> np.ndarray:
    """(n, 3) uint8 colours of points on the full shape; grey where there is none."""
    colours = points.interpolate(case.pair.full, case.position_colours.astype(np.float64))
    colours[points.face < 0] = UNMATCHED
    return np.round(colours).astype(np.uint8)


def methods_of(cases: list[Case]) -> list[str]:
    """Every method of any case, in the order of first appearance."""
    return list(dict.fromkeys(name for case in cases for name in case.results))
