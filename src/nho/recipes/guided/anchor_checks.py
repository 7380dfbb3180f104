"""Whether anchors agree with each other and with the surface, and have the same unit."""

from __future__ import annotations

import numpy as np

from nho.geometry.spline import splined
from nho.recipes.guided.distance_evidence import AnchorDistances, kriging_weights, typical_spacing

_TYPICAL = 0.6  # quantile; measured, see docs/decisions.md
_CROWD = 0.4  # share of the ratios: with three wrong anchors in ten, half of the ratios are right
_HIGH = 0.7  # quantile of the gaps of one anchor
_CONTRADICTED = 0.8  # anchor spacings off: one right anchor in a thousand is
_CONFIRMED = 0.6  # anchor spacings: nearly all right anchors are nearer
_IN_SPACE = 0.3  # anchor spacings: no anchor of another place is so near to where it should be
_LONE = 1.5  # spacings to the nearest other anchor that are nothing unusual
_FEWEST_IN_SPACE = 6  # anchors; a spline of fewer is anything
_NEAR = 6  # neighbours an anchor is judged by
_RING = (0.3, 1.0)  # anchor spacings: vertices around an anchor that are asked where it belongs
_STRAINED = 0.24, 3.0  # least strain of a suspect, and how many medians it must exceed
_STRAINED_ALONE = 0.6  # the same where nothing else is suspect: no right anchor had more than 0.58


def consistent(distances: AnchorDistances, limit: float) -> np.ndarray:
    """(m,) bool: anchors whose distances to near ones agree on both shapes.

    The disagreement of an anchor is the median |log(d_full / d_partial)| to its nearest anchors,
    near on either shape, so that one moved far away cannot hide behind distant paths. The worst
    is dropped and all are judged again, until none exceeds ``limit``. Half of them stay.
    """
    own, other = distances.between_partial, distances.between_full
    floor = 1e-3 * np.median(own)  # two anchors at one place: no infinite ratio
    disagreement = np.abs(np.log((other + floor) / (own + floor)))
    disagreement[~distances.linked] = 0  # pieces of a broken scan: nothing to compare
    nearness = np.where(distances.linked, np.minimum(own, other), np.inf)
    np.fill_diagonal(nearness, -1)  # itself comes first, also where two anchors share a partner
    kept = np.ones(len(own), dtype=bool)
    while kept.sum() > max(4, len(own) // 2):
        rows = np.flatnonzero(kept)
        order = np.argsort(nearness[np.ix_(rows, rows)], axis=1, kind="stable")
        near = order[:, 1 : min(_NEAR, len(rows) - 1) + 1]
        table = disagreement[np.ix_(rows, rows)]
        judged = np.median(np.take_along_axis(table, near, axis=1), axis=1)
        if judged.max() < limit:
            break
        kept[rows[judged.argmax()]] = False
    return kept


def trusted(distances: AnchorDistances, limit: float) -> np.ndarray:
    """(m,) bool: anchors that the others confirm.

    `consistent` leaves out the worst. Then each anchor is predicted from those kept, without
    itself (`_misfit`): the one that misses most goes, one left out that fits comes back, until
    nothing changes. Half of them stay.
    """
    kept = consistent(distances, limit)
    fewest = max(4, len(kept) // 2)
    for _ in range(3 * len(kept)):
        misfit = _misfits_among(distances, kept)
        worst = int(np.argmax(np.where(kept, misfit, -np.inf)))
        fittest = int(np.argmin(np.where(kept, np.inf, misfit)))
        if misfit[worst] > _CONTRADICTED and kept.sum() > fewest:
            kept[worst] = False
        elif not kept[fittest] and misfit[fittest] < _CONFIRMED:
            kept[fittest] = True
        else:
            break
    return kept


def confirmed(distances: AnchorDistances, anchors: np.ndarray) -> np.ndarray:
    """(k,) bool: further (k, 2) anchors that lie where the trusted ones predict them."""
    own, other = distances.partial[:, anchors[:, 0]], distances.full[:, anchors[:, 1]]
    between = distances.between_partial, distances.between_full
    fits = np.ones(len(anchors), dtype=bool)
    reached = own < distances.far[0]
    for pattern in np.unique(reached, axis=1).T:  # one for every piece of a broken scan
        of_piece = (reached == pattern[:, None]).all(axis=0)
        rows = np.flatnonzero(pattern)
        tables = (*(table[np.ix_(rows, rows)] for table in between), own[rows], other[rows])
        fits[of_piece] = _misfit(*tables[:2], *(of[:, of_piece] for of in tables[2:])) <= (
            _CONTRADICTED
        )
    return fits


def confirmed_in_space(start: np.ndarray, goal: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(m,) bool: anchors that lie where a spline of the others takes them.

    Slits and holes of a scan lengthen ways along it, and right anchors then seem to contradict each
    other; in space they agree. Only the (m,) bool ``kept`` predict. With fewer than six of them, or
    where these do not predict each other, nothing is confirmed.

    Parameters
    ----------
    start, goal : (m, 3) float arrays
        Positions of the anchors on the partial and on the full shape.
    """
    sources = np.flatnonzero(kept)
    if len(sources) < _FEWEST_IN_SPACE:
        return np.zeros(len(kept), dtype=bool)
    apart = np.linalg.norm(goal[sources, None] - goal[sources], axis=2)
    near = _IN_SPACE * typical_spacing(apart)
    missed = np.empty(len(kept))
    for anchor in range(len(kept)):
        others = sources[sources != anchor]
        predicted = splined(start[others], goal[others], start[anchor, None])[0]
        missed[anchor] = np.linalg.norm(predicted - goal[anchor])
    if np.median(missed[sources]) > near / 2:
        return np.zeros(len(kept), dtype=bool)
    return np.asarray(missed < near)


def _misfits_among(distances: AnchorDistances, kept: np.ndarray) -> np.ndarray:
    """(m,) misfit of every anchor by those of the (m,) bool ``kept`` that are not itself."""
    own, other = distances.between_partial, distances.between_full
    misfits = np.empty(len(kept))
    for anchor in range(len(kept)):
        # Where there is no path on the partial shape there is nothing to compare.
        rows = np.flatnonzero(kept & (own[:, anchor] < distances.far[0]))
        rows = rows[rows != anchor]
        tables = (table[np.ix_(rows, rows)] for table in (own, other))
        to_anchor = (table[rows, anchor, None] for table in (own, other))
        misfits[anchor] = _misfit(*tables, *to_anchor)[0]
    return misfits


def _misfit(
    between: np.ndarray, between_full: np.ndarray, own: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """(k,) how far anchors are from where r others predict them; 0 without others.

    Unit: the anchor spacing, or 2/3 of the distance to the nearest other anchor if that is longer.

    Their distances to the others on the partial shape, calibrated without them, against those of
    their partners on the full one: a high quantile, near anchors weighing more. A mean would blame
    right anchors that a hole separates from some of the others.

    Parameters
    ----------
    between, between_full : (r, r) float array
        Distances between the others on either shape.
    own, other : (r, k) float array
        Distances from the others on either shape.
    """
    if len(between) < 2:
        return np.zeros(own.shape[1])
    spacing = typical_spacing(between)
    wanted = own + (between_full - between) @ kriging_weights(between, own, spacing)
    nearest = own.min(axis=0)
    nearness = np.exp(-(own - nearest) / spacing)
    gaps = np.abs(wanted - other)
    order = np.argsort(gaps, axis=0, kind="stable")
    summed = np.cumsum(np.take_along_axis(nearness, order, axis=0), axis=0)
    high = (summed < _HIGH * nearness.sum(axis=0)).sum(axis=0).clip(max=len(gaps) - 1)
    gap = np.take_along_axis(gaps, np.take_along_axis(order, high[None], axis=0), axis=0)[0]
    return np.asarray(gap / np.maximum(spacing, nearest / _LONE))


def strained(
    distances: AnchorDistances, target: np.ndarray, distortion: np.ndarray, alarmed: bool
) -> np.ndarray:
    """(k,) anchors that the bent surface follows only under strain, the worst first.

    The strain at an anchor is the geometric mean of two shares: how distorted the surface is there,
    and how far the images of the vertices around it are from having the right distance to its
    partner. Where all is strained the shapes differ, so it must stand out. Of neighbours only the
    most strained is named: a right anchor suffers beside a wrong one.

    Parameters
    ----------
    target : (n_partial,) int array
        Vertex map of the bent surface.
    distortion : (n_partial,) float array
    alarmed : bool
        Some anchors were found wrong already, so more of them may be: little strain is enough.
    """
    own, image, spacing = distances.partial, distances.full[:, target], distances.spacing
    off = np.abs(image - own) / spacing
    low, high = _RING
    strain = np.empty(len(own))
    for anchor, away in enumerate(own / spacing):
        ring = np.flatnonzero((away > low) & (away < high))
        if len(ring) < _NEAR:  # coarse meshes
            ring = np.argsort(away, kind="stable")[1 : 5 * _NEAR]
        strain[anchor] = np.median(off[anchor, ring])
    strain = np.sqrt(strain * distortion[distances.anchors[:, 0]])
    limit, times = _STRAINED
    limit = limit if alarmed else _STRAINED_ALONE
    beside = distances.between_partial < 1.5 * spacing
    most = np.where(beside, strain, 0).max(axis=1) <= strain
    suspect = most & (strain > limit) & (strain > times * np.median(strain))
    return np.flatnonzero(suspect)[np.argsort(-strain[suspect], kind="stable")]


def relative_scale(distances: AnchorDistances) -> float:
    """Typical d_full / d_partial between near anchors: the unit of one shape in the other's.

    A little above the median, since cuts and holes only ever lengthen paths on the partial shape.
    NaN if no two anchors are apart on both shapes.
    """
    ratios = _near_ratios(distances)
    return float(np.exp(np.quantile(ratios, _TYPICAL))) if len(ratios) else float("nan")


def robust_scale(distances: AnchorDistances) -> float:
    """The same from where the ratios crowd, which wrong anchors cannot move (but less exact)."""
    ratios = np.sort(_near_ratios(distances))
    if not len(ratios):
        return float("nan")
    count = max(2, int(np.ceil(_CROWD * len(ratios))))
    width = ratios[count - 1 :] - ratios[: len(ratios) - count + 1]
    start = int(np.argmin(width))
    return float(np.exp(np.median(ratios[start : start + count])))


def _near_ratios(distances: AnchorDistances, near: int = 4) -> np.ndarray:
    """Logarithms of d_full / d_partial from every anchor to the nearest others."""
    own, other = distances.between_partial, distances.between_full
    order = np.argsort(own, axis=1, kind="stable")[:, 1 : near + 1]
    near_own, near_other = (np.take_along_axis(table, order, axis=1) for table in (own, other))
    apart = (near_own > 0) & (near_other > 0) & np.take_along_axis(distances.linked, order, axis=1)
    return np.asarray(np.log(near_other[apart] / near_own[apart]))
