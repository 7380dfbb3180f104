"""Whether the partial surface lies in the right place as a whole.

Confidence in single matches cannot tell: the scan of a left arm may lie smoothly on the right one.
But a surface that lies elsewhere is strained there, and does not look like what it lies on. Marked
anchors tell as well: right ones are as far from each other on both shapes, and run the same way
round.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.alignment import nearest_rotations
from nho.geometry.mesh import Mesh
from nho.geometry.orientation import Orientation
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.distance_evidence import AnchorDistances

DOUBTFUL = "doubtful: the partial shape may lie in a wrong place"  # status of such a result

DOUBTFUL_BELOW = 0.5  # chance
_SAMPLED, _NEAR = 1500, 8  # points that strain is measured at, and neighbours of each
_SCALES = 2  # of relief, the finest first
_LEAST_PARTNERS = 0.1  # share of the area that makes a place
_LEAST = 1e-3  # signals below it say no more
_MIRRORED = -0.25  # correlation of angles below which anchors seem to be mirrored
# Of the signals, with a constant; fitted by `python -m nho.lab.bench.fit_placement`.
_WEIGHTS, _CONSTANT = np.array([-2.9, -2.3]), -8.75
_WEIGHTS_MARKED, _CONSTANT_MARKED = np.array([-2.20, -2.44, -1.92, 7.85]), -12.60


def placement_signals(
    partial: Mesh,
    full: Mesh,
    points: SurfacePoints,
    curvatures: tuple[np.ndarray, np.ndarray],
    partner: np.ndarray | None = None,
) -> np.ndarray:
    """(2,) logarithms of mean strain and of how unlike the surface is to what it lies on.

    Unlikeness is the mean squared difference of relief, at the finer scales, in standard
    deviations, off the boundary, where there is none; the coarsest scale feels holes everywhere.
    Vertices without a ``partner`` (n_partial bool) do not count, unless hardly any has one: then
    the surface lies wrong as a whole.
    """
    share = _shares(partial, partner)
    own, other = (of[:, :_SCALES] for of in curvatures)
    differ = ((own - points.interpolate(full, other)) ** 2).mean(axis=1)
    inner = np.where(partial.boundary_vertices, 0.0, share)
    unlike = np.average(differ, weights=inner) if inner.any() else 0.0
    return np.log(_LEAST + np.array([strain(partial, full, points, partner), unlike]))


def _shares(partial: Mesh, partner: np.ndarray | None) -> np.ndarray:
    """(n_partial,) shares of the area that the vertices with a partner stand for."""
    share = partial.vertex_areas / partial.area
    if partner is not None and not partner.all() and (share * partner).sum() > _LEAST_PARTNERS:
        share = share * partner / (share * partner).sum()
    return np.asarray(share)


def anchor_signals(distances: AnchorDistances, orientation: Orientation) -> np.ndarray:
    """(2,) what the anchors say: by how much distances between them differ, and which way round.

    The logarithm of the mean |log ratio| of distances, and the correlation of angles, -1 to 1.
    """
    i, j = np.nonzero(np.triu(distances.linked, 1))
    own, other = (_LEAST + of[i, j] for of in (distances.between_partial, distances.between_full))
    differ = float(np.abs(np.log(own / other)).mean()) if len(i) else 0.0
    return np.array([np.log(_LEAST + differ), orientation.alike(distances.anchors)])


def strain(
    partial: Mesh, full: Mesh, points: SurfacePoints, partner: np.ndarray | None = None
) -> float:
    """Mean relative misfit of small patches to rigid motions; normals count, so mirrors misfit.

    Patches are of points of a sample, so it does not matter how finely the surface is meshed.
    ``partner`` as in `placement_signals`.
    """
    share = _shares(partial, partner)
    count = min(_SAMPLED, int((share > 0).sum()))
    some = np.random.default_rng(0).choice(len(share), count, replace=False, p=share)
    at, images = partial.vertices[some], points[some].positions(full)
    normals = partial.vertex_normals[some], full.face_normals[points.face[some]]
    away, near = cKDTree(at).query(at, k=min(_NEAR + 1, count))
    away, near = np.asarray(away), np.asarray(near)
    one_sheet = (normals[0][near] * normals[0][:, None]).sum(axis=2) > 0
    size = away.mean(axis=1)[:, None, None]
    before, after = (
        np.concatenate(
            [(of[near] - of[:, None]) * one_sheet[:, :, None], size * n[:, None]], axis=1
        )
        for of, n in zip((at, images), normals, strict=True)
    )
    rotations = nearest_rotations(after.transpose(0, 2, 1) @ before)
    misfit = ((after - before @ rotations.transpose(0, 2, 1)) ** 2).sum(axis=(1, 2))
    tiny = np.finfo(float).tiny
    relative = np.sqrt(misfit / np.maximum((before**2).sum(axis=(1, 2)), tiny))
    return float(np.minimum(relative, 1).mean())


def placement_score(
    partial: Mesh,
    full: Mesh,
    points: SurfacePoints,
    curvatures: tuple[np.ndarray, np.ndarray] | None,
) -> float:
    """How likely the surface lies right; of use to compare answers with. Higher is better."""
    if curvatures is None:
        return float(_WEIGHTS[0] * np.log(_LEAST + strain(partial, full, points)))
    return score_of(placement_signals(partial, full, points, curvatures))


def score_of(found: np.ndarray | None) -> float:
    """The `placement_score` of known signals; 0 if there are none."""
    return 0.0 if found is None else float(found[: len(_WEIGHTS)] @ _WEIGHTS)


def doubtful_by_itself(score: float) -> bool:
    """Whether strain and relief would put a surface of some score in doubt, whatever led there."""
    return score + _CONSTANT < 0


def gain_in_score(share: float) -> float:
    """By how much the score rises if strain falls by a share and nothing else changes."""
    return float(_WEIGHTS[0] * np.log(1 - share)) if share < 1 else np.inf


def chance_of_right_place(found: np.ndarray) -> float:
    """Probability, 0 to 1, that the surface lies where it belongs, from its signals.

    ``found`` are the two of the surface and, where anchors were marked, the two of the anchors.
    """
    marked = len(found) > len(_WEIGHTS)
    weights, constant = (_WEIGHTS_MARKED, _CONSTANT_MARKED) if marked else (_WEIGHTS, _CONSTANT)
    return float(1 / (1 + np.exp(-np.clip(constant + found @ weights, -50, 50))))


def doubts_of(found: np.ndarray) -> list[str]:
    """A sentence if the surface more likely lies elsewhere, else nothing."""
    chance = chance_of_right_place(found)
    if chance >= DOUBTFUL_BELOW:
        return []
    strained, unlike = np.exp(found[:2])
    reasons = [
        f"it is strained by {100 * strained:.0f} % there",
        f"its relief differs from that of the full shape by {np.sqrt(unlike):.2f} standard "
        "deviations",
    ]
    if len(found) > len(_WEIGHTS):
        reasons.append(f"distances between the anchors differ by {100 * np.exp(found[2]):.0f} %")
        if found[3] < _MIRRORED:
            reasons.append("they run the other way round, as if mirrored")
    return [
        f"the partial shape may lie in a wrong place (chance that it is right: {chance:.2f}): "
        f"{', '.join(reasons)}; check the anchors (left and right, the order of the rows, the "
        "shapes themselves) or mark more"
    ]
