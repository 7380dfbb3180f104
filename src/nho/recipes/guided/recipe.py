"""The recipe of preset `default`: distances guide, geometry bends, the operator proposes.

1. Distances to the anchors, orientation and relief give a first dense map (`distance_evidence`);
   anchors that contradict the others are named and left out, different units and opposite
   orientations are found and undone (`comparable`).
2. The partial surface is bent onto the full one from that map (`bending`), and from a warp of space
   where the pose changes little (`starts`). Anchors that strain it are left out as well, and it is
   bent again (`first_pose`).
3. Where anchors are few, or were found, maps are proposed that see the surface as a whole, and are
   bent as well; the pose that is likeliest to lie right is kept (`second_looks`). As in the paper,
   map and operator help each other: what the bent surface covers is evidence for the neural field,
   the field is the potential of a Hamiltonian, and its eigenfunctions are coordinates in which
   another map is proposed (`spectral_proposal`). And what lies well becomes anchors itself, or
   others are searched for beside those given. With many anchors bending has nothing left to mend,
   and nothing is proposed. With few, or found ones, all this is done between coarse surfaces
   first (`seeking`).
4. What has no partner on the full shape is found (`overlap`, `foreign_matter`), if wanted by fields
   on both shapes (`two_regions`), and the rest is bent without it. Anchors that alone claim a
   partner for a part are named (`lone_anchors`).
5. Where a warp of space does nearly all, the rest is smoothed (`settling`). The map is read off the
   full surface bent back onto the partial one (`bending_back`).
6. The region is what the bent surface covers (`coverage`); confidence weighs distances,
   distortion and the proposal (`confidence`), and the chance that the surface lies in the right
   place at all (`placement`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.coverage import coverage, part_within
from nho.geometry.mesh import BoolArray, Mesh
from nho.operator.spectra import check_size
from nho.problem.anchors import first_few
from nho.problem.preparation import Problem
from nho.problem.solution import Solution, advice_on, status_of
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.bending_back import bent_back
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.confidence import confidence, where_to_add
from nho.recipes.guided.first_pose import Pose
from nho.recipes.guided.lone_anchors import CREDIT, LoneAnchor, lone_anchors
from nho.recipes.guided.overlap import PartnerSearch, overlap
from nho.recipes.guided.placement import (
    DOUBTFUL,
    anchor_signals,
    chance_of_right_place,
    doubts_of,
    placement_signals,
)
from nho.recipes.guided.second_looks import Propose
from nho.recipes.guided.seeking import sought
from nho.recipes.guided.settling import settled
from nho.recipes.guided.two_regions import TwoRegions
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_WORTH_BENDING = 0.01  # share of the area without a partner from which the rest is bent anew
# Shares of the anchors' spacing, around which what lies well surely has a partner: at first, and
# after bending anew, when what has none no longer drags its surroundings along.
_REACH, _REACH_ANEW = 0.5, 0.25


def solve(problem: Problem, run: Run, propose: Propose | None = None) -> Solution:
    """Region, map and confidence from distances, bending and operator in turn.

    ``propose`` finds further anchors where those given are few.
    """
    check_size(problem.partial.mesh, problem.full.mesh)
    recipe = run.recipe(GuidedRecipe)
    looks = sought(problem, run, propose)
    pair, bending, curvatures = looks.pair, looks.bending, looks.curvatures
    partial, full, laplacians = pair.partial, pair.full, looks.laplacians
    with run.clock.time("overlap"):
        partner, claimed = np.ones(partial.n_vertices, dtype=bool), np.ones(partial.n_vertices)
        lone: list[LoneAnchor] = []
        if recipe.overlap and recipe.bend:
            if recipe.anchor_limit and recipe.pin_anchors:
                lone = lone_anchors(pair, bending, looks.pose, _REACH)
            regions = TwoRegions(pair, laplacians, run) if recipe.overlap_by == "fields" else None
            search = PartnerSearch(pair, bending, curvatures, regions)
            looks.pose, partner = _with_partners(looks.pose, pair, bending, search, run)
        lone = [replace(each, part=each.part & partner) for each in lone]
        for each in lone:
            claimed[each.part] = CREDIT
    if recipe.bend and recipe.start != "distances":
        with run.clock.time("bending"):
            positions = settled(looks.pose.positions, pair, bending, laplacians[0], partner)
            if positions is not looks.pose.positions:
                looks.pose = replace(
                    looks.pose, positions=positions, points=bending.read_off(positions)
                )
    pose, points = looks.pose, looks.pose.points
    if recipe.bend and recipe.bend_back:
        with run.clock.time("bending"):
            of_points = problem.partial.given.of_points
            points = bent_back(pose.positions, points, pair, partner, of_points)
    with run.clock.time("region"):
        part = part_within(partial, partner)
        covered = coverage(part, points.positions(full), full)
    with run.clock.time("confidence"):
        found = looks.signals(partner)
        trust = confidence(found, recipe.pin_anchors)
        next_anchor = where_to_add(np.where(partner, trust, 1.0), pair.distances, partial)
        place, chance, doubts = None, 1.0, []
        if curvatures is not None and recipe.bend:
            place = placement_signals(partial, full, points, curvatures, partner)
            if recipe.pin_anchors:
                orientation = pair.orientation
                if orientation is None:  # it was not wanted for the map
                    orientation = pair.distances.orientation(partial, full, run.pool)
                told = anchor_signals(pair.distances, orientation)
                place = np.concatenate([place, told])
            chance, doubts = chance_of_right_place(place), doubts_of(place)
    return Solution(
        points=points,
        confidence=chance * claimed * np.where(partner, trust, 0.0),
        region_score=covered.score(),
        region_is_coverage=True,
        settings=run.settings,
        status=status_of([*(DOUBTFUL for _ in doubts), *looks.troubles]),
        warnings=(
            *doubts,
            *advice_on(looks.troubles),
            *pair.warnings,
            *pair.named_suspects(problem),
            *_named_lone(lone, pair, problem),
        ),
        notes=(*_told_of(partner, partial, full), *pair.notes, *looks.notes),
        curves={**({"bending": looks.course} if looks.course else {}), **looks.curves},
        suspects=pair.suspects,
        scale=pair.scale,
        next_anchor=next_anchor,
        signals=found,
        chance=chance,
        placement=place,
        overlap=overlap(partner, bending.elastic, claimed),
    )


def _with_partners(
    pose: Pose,
    pair: ComparablePair,
    bending: Bending,
    search: PartnerSearch,
    run: Run,
) -> tuple[Pose, BoolArray]:
    """The pose, bent anew without what has no partner, and (n_partial,) which vertices have one.

    The other way round as well: what is not drawn to a wrong place tells better that it has none.
    """
    partial = pair.partial
    first = search(pose, _REACH)
    partner = first.partner
    if partial.vertex_areas[~partner].sum() < _WORTH_BENDING * partial.area:
        return pose, partner
    positions = bending.from_images(
        pose.positions, gentle=1, pool=run.pool, partner=partner, smoothing=1
    )
    pose = replace(pose, positions=positions, points=bending.read_off(positions))
    # What was carried along may come to lie well by chance: only the fringe of the cut moves.
    again = search(pose, _REACH_ANEW, first)
    return pose, again.partner & (overlap(partner, bending.elastic) > 0)


def _named_lone(lone: list[LoneAnchor], pair: ComparablePair, problem: Problem) -> list[str]:
    """A sentence for every anchor that alone claims a part, or the first few."""
    partial, full = pair.partial, pair.full
    rows = problem.anchor_rows[pair.sources[[each.row for each in lone]]]
    areas = [partial.vertex_areas[each.part].sum() / partial.area for each in lone]
    sentences = [
        f"anchor {problem.anchor_names[row]} (partial vertex {problem.given_anchors[row, 0]}, full "
        f"vertex {problem.given_anchors[row, 1]}) is the only one on {100 * area:.2g} % of "
        f"{partial.name}, and {full.name} does not fit in between; if it has no partner there, "
        "remove it"
        for row, area in sorted(zip(rows.tolist(), areas, strict=True))
    ]
    return first_few(sentences)


def _told_of(partner: BoolArray, partial: Mesh, full: Mesh) -> list[str]:
    """A note on how much has no partner, if anything."""
    if partner.all():
        return []
    share = float(partial.vertex_areas[~partner].sum() / partial.area)
    return [f"{100 * share:.2g} % of the area of {partial.name} has no partner on {full.name}"]
