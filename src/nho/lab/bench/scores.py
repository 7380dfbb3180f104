"""Everything that is measured of one answer: errors, region, wrong anchors found, confidence.

The region is judged under every rule of `nho.evaluation.ground_truth`; which one the reports show
is chosen afterwards, by `shown_under`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from nho.evaluation.ground_truth import REGION_RULES
from nho.evaluation.metrics import geodesic_errors, overlap_scores, region_scores
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.perturb import PresentedPair
from nho.problem.result import MatchResult
from nho.recipes.guided.confidence import RADIUS

PCK_THRESHOLDS = np.arange(1, 51) / 2  # errors x100
RISK_COVERAGES = np.arange(1, 21) / 20  # shares of the vertices, most confident first
TRUST_BINS = np.linspace(0, 1, 11)  # of confidence
REGION_SCORES = ("iou", "precision", "recall", "f1", "true_area")  # each under every rule


@dataclass(frozen=True)
class Scores:
    """Errors x100 over judged, matched vertices; shares in percent; NaN = nothing to judge."""

    geodesic_error: float  # mean, of the points in triangles
    geodesic_error_vertex: float  # mean, of the nearest vertices
    geodesic_error_median: float
    geodesic_error_p95: float
    geodesic_error_worst: float
    matched: float  # share of the judged vertices that have a match
    iou: float
    precision: float
    recall: float
    f1: float
    true_area: float  # share of the full area that is the true region
    iou_near: float
    precision_near: float
    recall_near: float
    f1_near: float
    true_area_near: float
    iou_images: float
    precision_images: float
    recall_images: float
    f1_images: float
    true_area_images: float
    overlap_iou: float  # see `nho.evaluation.metrics.overlap_scores`
    overlap_precision: float
    overlap_recall: float
    no_partner_f1: float
    seconds: float  # of the whole match, spectra included
    suspects: float  # anchors named as contradicting the others
    bad_found: float  # share of the wrong anchors that were named
    good_blamed: float  # share of the right anchors that were named
    scale: float  # as estimated; 1 = units taken to agree
    risk_half: float  # see `risk_half`
    aurc_ratio: float  # see `aurc_ratio`
    aurc_best: float  # the same with the true errors as confidence: no order reaches less
    partial_vertices: float
    full_vertices: float
    pck: str  # shares of the judged vertices with an error up to PCK_THRESHOLDS
    risk: str  # mean error of the most confident over that of all, at RISK_COVERAGES
    trust: str  # per bin of confidence: vertices, their mean confidence, share within RADIUS
    cpu_seconds: float = float("nan")  # of the match, all threads
    more_mb: float = float("nan")  # peak memory of the match beyond what the process held

    def as_dict(self) -> dict[str, float | str]:
        """Plain values by name."""
        return asdict(self)


def judge(result: MatchResult, given: PresentedPair) -> Scores:
    """Compare an answer with the truth of the pair as it was given."""
    matched = given.judged & (result.face >= 0)
    errors, vertex_errors = (values[matched] for values in _errors(result, given))
    trust = result.confidence[matched]
    suspects = np.array(result.suspect_anchors, dtype=np.int64)
    named = np.isin(given.anchors[:, 0], result.anchors[suspects, 0])
    return Scores(
        geodesic_error=_over(np.mean, errors),
        geodesic_error_vertex=_over(np.mean, vertex_errors),
        geodesic_error_median=_over(np.median, errors),
        geodesic_error_p95=_over(lambda values: np.percentile(values, 95), errors),
        geodesic_error_worst=_over(np.max, errors),
        matched=100 * float(matched.sum() / max(given.judged.sum(), 1)),
        **_region_scores(result.region, given),
        **overlap_scores(result, given.pair.truth),
        seconds=result.timings["total"],
        suspects=len(suspects),
        bad_found=100 * _over(np.mean, named[given.bad]),
        good_blamed=100 * _over(np.mean, named[~given.bad]),
        scale=result.scale,
        risk_half=risk_half(errors, trust),
        aurc_ratio=aurc_ratio(errors, trust),
        aurc_best=aurc_ratio(errors, -errors),
        partial_vertices=given.pair.partial.n_vertices,
        full_vertices=given.pair.full.n_vertices,
        pck=_joined(_pck(errors, int(given.judged.sum()))),
        risk=_joined(risk_at_coverages(errors, trust)),
        trust=_joined(reliability(errors, trust).ravel()),
    )


def _region_scores(found: np.ndarray, given: PresentedPair) -> dict[str, float]:
    """Percentages by column, under every rule."""
    areas = given.pair.full.vertex_areas
    columns: dict[str, float] = {}
    for rule in REGION_RULES:
        truth = given.truth_under(rule).region
        scores = region_scores(found, truth, areas)
        scores["true_area"] = float(areas[truth].sum() / areas.sum())
        suffix = "" if rule == "usual" else f"_{rule}"
        columns |= {f"{name}{suffix}": 100 * value for name, value in scores.items()}
    return columns


def shown_under(rule: str, row: Mapping[str, str]) -> dict[str, str]:
    """A row whose region scores are those of one rule.

    Those of every rule, the usual one too, are there with its name behind theirs: `iou_usual`.
    """
    own = [name for name in REGION_SCORES if name in row]
    named = {**row, **{f"{name}_usual": row[name] for name in own}}
    return {**named, **{name: named[f"{name}_{rule}"] for name in own}}


def risk_half(errors: np.ndarray, confidence: np.ndarray) -> float:
    """Mean error of the more confident half over the mean of all; 1 = no information."""
    risk = risk_curve(errors, confidence)
    return float(risk[(len(risk) + 1) // 2 - 1]) if len(risk) else float("nan")


def aurc_ratio(errors: np.ndarray, confidence: np.ndarray) -> float:
    """Area under the risk-coverage curve over the mean error; 1 = no information."""
    return _over(np.mean, risk_curve(errors, confidence))


def risk_curve(errors: np.ndarray, confidence: np.ndarray) -> FloatArray:
    """(n,) mean error of the k most confident, k = 1 ... n, over that of all; empty if undefined.

    Equal confidence has no order: every member of a tie counts with the tie's mean error.
    """
    if not len(errors) or not errors.any():
        return np.empty(0)
    levels, tie = np.unique(-confidence, return_inverse=True)
    size = np.bincount(tie, minlength=len(levels))
    mean = np.bincount(tie, errors, minlength=len(levels)) / size
    risk: FloatArray = np.cumsum(np.repeat(mean, size)) / np.arange(1, len(errors) + 1)
    return risk / float(errors.mean())


def _pck(errors: np.ndarray, judged: int) -> np.ndarray:
    """Percent of the judged vertices; one without a match is never correct."""
    within = np.searchsorted(np.sort(errors), PCK_THRESHOLDS, side="right")
    return 100 * within / max(judged, 1)


def risk_at_coverages(errors: np.ndarray, confidence: np.ndarray) -> FloatArray:
    """Mean error of the most confident over that of all, at `RISK_COVERAGES`."""
    risk = risk_curve(errors, confidence)
    if not len(risk):
        return np.empty(0)
    count = np.maximum(np.ceil(RISK_COVERAGES * len(risk)).astype(np.int64), 1)
    chosen: FloatArray = risk[count - 1]
    return chosen


def reliability(errors: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """(bins, 3) vertices, their mean confidence and the share within RADIUS; zeros if empty."""
    bins = np.clip(np.digitize(confidence, TRUST_BINS) - 1, 0, len(TRUST_BINS) - 2)
    table = np.zeros((len(TRUST_BINS) - 1, 3))
    for number in range(len(table)):
        inside = bins == number
        if inside.any():
            hit = errors[inside] <= 100 * RADIUS
            table[number] = inside.sum(), confidence[inside].mean(), hit.mean()
    return table


def _joined(values: np.ndarray) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def _errors(result: MatchResult, given: PresentedPair) -> np.ndarray:
    """(2, n_partial) errors x100 of the points in triangles and of the nearest vertices."""
    full, truth = given.pair.full, given.pair.truth.points
    maps = [result.points, SurfacePoints.at_vertices(full, result.vertex_map)]
    if given.finer is not None:
        full, truth = given.finer.fine, given.finer.fine_truth.points
        maps = [given.finer.lifted(points) for points in maps]
    return errors_of_maps(full, maps, truth)


def errors_of_maps(full: Mesh, maps: Sequence[SurfacePoints], truth: SurfacePoints) -> np.ndarray:
    """(k, n) geodesic errors x100 of k maps of the same n points; NaN where one has no partner.

    All maps in one call: they share the Dijkstra runs, which take nearly all the time.
    """
    found = SurfacePoints(
        np.concatenate([points.face for points in maps]),
        np.concatenate([points.barycentric for points in maps]),
    )
    repeated = truth[np.tile(np.arange(len(truth)), len(maps))]
    return 100 * geodesic_errors(full, found, repeated).reshape(len(maps), len(truth))


def _over(summary: Callable[[np.ndarray], np.floating], values: np.ndarray) -> float:
    """A summary of the values; NaN if there are none."""
    return float(summary(values)) if len(values) else float("nan")
