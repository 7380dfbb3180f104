"""Sets of anchors worth trying: a few distinctive places with partners on the full shape.

Places of the partial shape that few others look like are chosen, far apart. One after the other
each is given partners on the full shape, and of all ways to do so the best are kept (beam search).
A set is good if its places look alike, lie as far from each other on both shapes, and lie in the
same directions from each other. Directions distinguish left from right: a mirrored set keeps all
distances, but its directions rotate the other way round.

Where the full shape is nearly symmetric the best sets may all be mirrored in the same way, so each
search is repeated with a cost on the partners it found.

Lengths are in units of sqrt(area of the full shape).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nho.anchor_search.coarse_surface import NO_ANCHORS, CoarseSurface

_PLACES = 10  # of a set
_FEWEST = 5  # below that, places may lie closer together than _APART
CHOICES = 5  # of places
_SEARCHES = 2  # with each choice; the second keeps away from what the first found
_KEPT = 2  # sets kept of each search, if they differ
_WIDTH = 400  # sets kept from place to place
_PARTNERS = 100  # tried for a place
_PARTNER_SPACING = 0.035
_DIFFERENT = 0.12  # mean distance between the partners of two sets that differ

_APART = 0.12  # least distance between places of a set
_TEMPERATURE = 0.5  # of unlikeness: places within so much of the best are look-alikes
_MOST_UNLIKE = 4.0  # more does not count: hair, hands and clothes may look like nothing
_RIM, _RIM_COST = 0.05, 1.0  # places at the boundary are less certain
_CROWD, _CROWD_COST = 0.1, 2.0  # and so do places that other sets have chosen
_AVOIDED, _AVOIDANCE = 0.15, 1.5  # how far around partners found before, and how much

_NEAR = 0.6  # distances and directions between near places count more
_NOISE, _STRETCH = 0.04, 0.15  # what distances between true pairs differ by: length and share
_DETOUR = 0.1  # further share by which holes may lengthen a path in the partial shape
_MOST = 9.0  # a square beyond this counts no more
_DIRECTIONS = 2.0  # weight of directions

T = TypeVar("T")


@dataclass(frozen=True)
class Proposal:
    """Partners for some places.

    Attributes
    ----------
    anchors : (m, 2) int array
        Places on the coarse partial and on the coarse full shape.
    cost : float
        Per place; lower is better.
    """

    anchors: np.ndarray
    cost: float


def proposals(
    partial: CoarseSurface,
    full: CoarseSurface,
    unlike: np.ndarray,
    choices: int = CHOICES,
    given: np.ndarray = NO_ANCHORS,
) -> Iterator[Proposal]:
    """The proposals of every search.

    Parameters
    ----------
    unlike : (n_partial, n_full) float array
        `coarse_surface.unlikeness` of both.
    choices : int
        Choices of places, with two searches each.
    given : (k, 2) int array
        Anchors that every proposal begins with.
    """

    def between(one: Proposal, other: Proposal) -> float:
        return float(full.distance[one.anchors[:, 1], other.anchors[:, 1]].mean())

    unlike = np.minimum(unlike, _MOST_UNLIKE)
    for places in distinctive_places(partial, unlike, choices, given[:, 0]):
        costs = unlike[places]
        for _ in range(_SEARCHES):
            partners, cost = _searched(partial, full, places, costs, given[:, 1])
            found = (
                Proposal(np.stack([places[: len(row)], row], axis=1), total / len(row))
                for row, total in zip(partners, cost)
            )
            yield from separated(found, between, _DIFFERENT, _KEPT)
            costs[: partners.shape[1]] += _AVOIDANCE * (full.distance[partners[0]] < _AVOIDED)


def distinctive_places(
    partial: CoarseSurface,
    unlike: np.ndarray,
    choices: int = CHOICES,
    given: np.ndarray = NO_ANCHORS[:, 0],
) -> Iterator[np.ndarray]:
    """Choices of places far apart that look like few others, each choice elsewhere.

    Each begins with the (k,) places given.
    """
    least = unlike.min(axis=1)
    look_alikes = np.exp((least[:, None] - unlike) / _TEMPERATURE).sum(axis=1)
    common = np.log(look_alikes) + least / 2 + _RIM_COST * (partial.rim < _RIM)
    gap = np.full(len(common), np.inf)  # to the places of all choices so far
    for _ in range(choices):
        places = _far_apart(partial, common + _CROWD_COST * np.exp(-gap / _CROWD), given)
        gap = np.minimum(gap, partial.distance[places].min(axis=0))
        yield places


def _far_apart(partial: CoarseSurface, common: np.ndarray, given: np.ndarray) -> np.ndarray:
    """(m,) places: those given, then one by one the least common for its distance to them."""
    chosen: list[int] = given.tolist()
    near, apart = partial.distance[chosen].min(axis=0, initial=1.0), _APART
    while len(chosen) < min(len(given) + _PLACES, len(common)):
        far = near >= apart
        if not far.any():
            if len(chosen) >= len(given) + _FEWEST:
                break
            apart *= 0.7  # a small piece: closer together, then
            if apart < np.finfo(np.float32).eps:
                break
            continue
        place = int(np.where(far, common - 2 * np.log(np.where(far, near, 1)), np.inf).argmin())
        chosen.append(place)
        near = np.minimum(near, partial.distance[place])
    return np.array(chosen)


def _searched(
    partial: CoarseSurface,
    full: CoarseSurface,
    places: np.ndarray,
    costs: np.ndarray,
    given: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """(sets, m) partners and (sets,) costs, best first; those of the first places are given.

    Legend: b sets, n places so far, c candidates for the next one. ``seen[b, i]`` is the sum over
    the other places j of ``w_ij`` times the rotation from the direction towards j on the partial
    shape to that on the full one; if all rotations agree, its length is the sum of the weights.
    """
    candidates = [*given[:, None], *(_candidates(cost, full) for cost in costs[len(given) :])]
    sets, total = candidates[0][:, None], costs[0][candidates[0]]
    seen, weights = np.zeros(sets.shape, dtype=np.complex64), np.zeros(1)
    for n in range(1, len(places)):
        here, before, partners = places[n], places[:n], candidates[n]
        apart = partial.distance[before, here]
        weight = np.exp(-apart / _NEAR)
        column = weight[None, :, None]
        at, to = sets[:, :, None], partners[None, None, :]
        stretched = _stretched(apart[None, :, None], full.distance[at, to])
        own = column * partial.direction[before, here].conj()[None, :, None]
        seen_here = (own * full.direction[at, to]).sum(axis=1)  # (b, c)
        back = column * partial.direction[here, before].conj()[None, :, None]
        seen_there = seen[:, :, None] + back * full.direction[to, at]  # (b, n, c)
        disagreement = weight.sum() - np.abs(seen_here)
        disagreement += (weights + weight).sum() - np.abs(seen_there).sum(axis=1)
        disagreement -= (weights.sum() - np.abs(seen).sum(axis=1))[:, None]
        cost = total[:, None] + costs[n][partners] + ((0.3 + column) * stretched).sum(axis=1)
        cost += _DIRECTIONS * disagreement
        cost[(at == to).any(axis=1)] = np.inf  # one partner for two places
        order = np.argsort(cost, axis=None, kind="stable")[:_WIDTH]
        kept, chosen = np.unravel_index(order[np.isfinite(cost.flat[order])], cost.shape)
        if not len(kept):  # fewer candidates than places
            break
        total = cost[kept, chosen]
        sets = np.concatenate([sets[kept], partners[chosen][:, None]], axis=1)
        seen = np.concatenate([seen_there[kept, :, chosen], seen_here[kept, chosen][:, None]], 1)
        weights = np.append(weights + weight, weight.sum())
    return sets, total


def _stretched(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Squared misfit of distances: cuts and holes make them longer, never shorter."""
    std = _NOISE + _STRETCH * np.minimum(own, other)
    longer = own - other
    misfit = longer / np.where(longer < 0, std, std + _DETOUR * other)
    return np.asarray(np.minimum(misfit**2, _MOST))


def _candidates(cost: np.ndarray, full: CoarseSurface) -> np.ndarray:
    """(c,) partners for one place, the likeliest first, none close to a likelier one."""
    kept: list[int] = []
    taken = np.zeros(len(cost), dtype=bool)
    for place in np.argsort(cost, kind="stable"):
        if not taken[place]:
            kept.append(int(place))
            taken |= full.distance[place] < _PARTNER_SPACING
            if len(kept) == _PARTNERS:
                break
    return np.array(kept)


def separated(
    items: Iterable[T], distance: Callable[[T, T], float], apart: float, count: int
) -> list[T]:
    """The first ``count`` items that are farther than ``apart`` from all such before them."""
    kept: list[T] = []
    for item in items:
        if all(distance(item, other) > apart for other in kept):
            kept.append(item)
            if len(kept) == count:
                break
    return kept
