"""Matches there and back agree where both shapes have the place, and say nothing elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import cut_by_plane
from nho.transfer import cycle_errors

FAST = nho.preset("default").replace(rounds=0, own_anchors=0, threads=1)


@pytest.fixture(scope="module")
def both_ways(whole, piece):
    other = cut_by_plane(whole, np.array([1.0, 0.3, 0.2]), keep_area=0.6)
    common = np.flatnonzero(other.kept_vertices[piece.vertex_of_parent])
    chosen = sample_vertices(piece.mesh, 12, candidates=common)
    new = np.cumsum(other.kept_vertices) - 1
    pairs = np.stack([chosen, new[piece.vertex_of_parent[chosen]]], axis=1)
    there = nho.match(piece.mesh, other.mesh, pairs, FAST)
    return there, nho.match(other.mesh, piece.mesh, pairs[:, ::-1], FAST), common


def test_a_vertex_comes_back_to_itself(both_ways):
    there, back, common = both_ways
    errors = cycle_errors(there, back)
    assert np.nanmean(errors) < 0.01
    assert np.isfinite(errors[common]).mean() > 0.9


def test_without_a_partner_there_is_no_way_back(both_ways):
    there, back, _ = both_ways
    assert np.isnan(cycle_errors(there, back)[there.overlap < 0.5]).all()


def test_both_ways_tell_the_same_overlap(both_ways):
    there, back, _ = both_ways
    areas = [result.partial.vertex_areas[result.overlap >= 0.5].sum() for result in (there, back)]
    assert areas[0] == pytest.approx(areas[1], rel=0.05)


def test_two_matches_of_other_meshes_are_refused(both_ways):
    there, _, _ = both_ways
    with pytest.raises(InputError, match="in the other order"):
        cycle_errors(there, there)
