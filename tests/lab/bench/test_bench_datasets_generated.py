"""Generated pairs: always there, always the same, and true."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.evaluation.sample import load_pair
from nho.geometry.geodesics import distances_from, edge_graph
from nho.lab.bench.datasets import FAMILIES, synthetic
from nho.lab.bench.datasets.pair import median_stretch

GENERATED = FAMILIES["synthetic"].names(None)
# One of each kind of surface, and slowly all of them.
EACH = [*GENERATED[:3], *(pytest.param(name, marks=pytest.mark.slow) for name in GENERATED[3:])]


def test_generated_pairs_are_a_dozen_and_always_there():
    assert len(GENERATED) == len(set(GENERATED)) == 12
    assert FAMILIES["synthetic"].present(None)
    kinds = {name.split("-")[0] for name in GENERATED}
    assert {name.split("-")[0] for name in GENERATED[:3]} == kinds  # a quick run sees them all
    with pytest.raises(
        InputError, match="family synthetic has no pair 'bodi'; choose one of body-plane"
    ):
        FAMILIES["synthetic"].load(None, "bodi")


def test_a_generated_pair_is_the_same_every_time():
    pair, again = (FAMILIES["synthetic"].load(None, "ring-plane") for _ in range(2))
    assert again.partial.digest() == pair.partial.digest()
    assert again.full.digest() == pair.full.digest()
    np.testing.assert_array_equal(again.truth.points.barycentric, pair.truth.points.barycentric)
    np.testing.assert_array_equal(again.truth.points.face, pair.truth.points.face)
    np.testing.assert_array_equal(again.truth.region, pair.truth.region)


@pytest.mark.parametrize("name", EACH)
def test_a_generated_pair_is_a_fair_problem(name):
    pair = FAMILIES["synthetic"].load(None, name)
    assert 900 <= pair.full.n_vertices <= 1600 and pair.partial.n_vertices >= 300
    assert pair.partial.components.max() == 0 and pair.partial.boundary_vertices.any()
    assert 0.35 < pair.partial.area / pair.full.area < 0.95
    points = pair.truth.points
    assert (points.face >= 0).all()
    np.testing.assert_allclose(points.barycentric.sum(axis=1), 1)
    assert (points.barycentric.max(axis=1) < 0.98).mean() > 0.6  # inside triangles, not at corners
    assert 0.75 < median_stretch(pair) < 1.15
    # The region is as large as the part, holds its images and leaves the rest out.
    inside = pair.full.vertex_areas[pair.truth.region].sum() / pair.full.area
    assert inside == pytest.approx(pair.partial.area / pair.full.area, abs=0.05)
    images = points.nearest_vertex(pair.full)
    away = distances_from(edge_graph(pair.full), np.flatnonzero(pair.truth.region))[:, images]
    assert away.min(axis=0).max() <= 3 * pair.full.mean_edge_length


@pytest.mark.parametrize("name", EACH)
def test_the_uncut_truth_tears_nothing(name):
    surfaces = synthetic.uncut(name)
    for here, there, points in (
        (surfaces.posed, surfaces.full, surfaces.posed_on_full),
        (surfaces.full, surfaces.posed, surfaces.full_on_posed),
    ):
        ends = points.positions(there)[here.edges]
        lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        stretch = lengths / here.edge_lengths
        assert 0.9 < np.median(stretch) < 1.1
        assert np.quantile(stretch, 0.02) > 0.4 and np.quantile(stretch, 0.98) < 1.5
        # The skin under a raised arm does stretch, but no edge spans from limb to limb.
        assert (lengths - here.edge_lengths).max() < 2.5 * there.mean_edge_length


def test_the_truth_of_a_bent_shape_is_the_inverse_of_the_bend():
    pair = FAMILIES["synthetic"].load(None, "bean-plane")
    x, y, z = pair.partial.vertices.T
    straight = np.column_stack([4 - np.hypot(4 - x, y), 4 * np.arctan2(y, 4 - x), z])
    gap = np.linalg.norm(pair.truth.points.positions(pair.full) - straight, axis=1)
    assert np.median(gap) < 0.1 * pair.full.mean_edge_length
    assert gap.max() < 0.5 * pair.full.mean_edge_length


@pytest.mark.parametrize("name", ["body-plane", "body-sieve"])
def test_the_truth_of_a_body_is_that_of_the_shipped_sample(name):
    pair, sample = FAMILIES["synthetic"].load(None, name), load_pair()
    posed = synthetic.uncut(name).posed.name == sample.posed.name
    fine = sample.posed if posed else sample.full
    other = sample.full if posed else sample.posed
    known = sample.posed_on_full if posed else sample.full_on_posed
    gap, vertex = cKDTree(fine.vertices).query(pair.partial.vertices)
    assert gap.max() == 0
    off = np.linalg.norm(
        pair.truth.points.positions(pair.full) - known[vertex].positions(other), axis=1
    )
    assert np.median(off) < 0.1 * pair.full.mean_edge_length
    assert off.max() < pair.full.mean_edge_length  # at fingertips, which the coarse mesh cuts off
    # On the right side of every limb, but for fingers and toes, which are as thin as an edge.
    here, there = pair.full.face_normals[pair.truth.points.face], other.face_normals
    assert ((here * there[known[vertex].face]).sum(axis=1) > 0).mean() > 0.97
