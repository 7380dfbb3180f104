"""Coverage: exactly what lies under the partial surface, and a little beside its rim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nho.geometry.coverage import coverage
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project


@pytest.fixture(scope="module")
def seen(whole, piece):
    return coverage(piece.mesh, piece.mesh.vertices, whole)


def test_an_exact_submesh_covers_its_own_vertices_and_none_beyond_the_rim(whole, piece, seen):
    covered = seen.covered()
    assert covered[piece.kept_vertices].all()
    extra = np.flatnonzero(covered & ~piece.kept_vertices)
    _, beside = project(piece.mesh, whole.vertices[extra])
    assert (beside < whole.mean_edge_length).all()
    assert len(extra) < piece.mesh.boundary_vertices.sum()  # a part of one ring at most


def test_gaps_are_distances_in_mean_edges(whole, piece, seen):
    _, exact = project(piece.mesh, whole.vertices)
    near = exact < 3 * whole.mean_edge_length
    np.testing.assert_allclose(
        seen.gap[near], exact[near] / whole.mean_edge_length, rtol=0.05, atol=1e-9
    )
    assert np.abs(seen.gap[piece.kept_vertices]).max() < 1e-9


def test_vertices_far_away_are_not_covered(whole, piece, seen):
    _, exact = project(piece.mesh, whole.vertices)
    far = exact > 2 * whole.mean_edge_length
    assert far.any() and not seen.covered()[far].any()
    assert seen.score()[far].max() < 0.3


def test_the_rim_is_the_boundary_of_the_partial_surface(piece, seen):
    inner = np.zeros(len(seen.on_rim), dtype=bool)
    inner[piece.vertex_of_parent[~piece.mesh.boundary_vertices]] = True
    rim = piece.vertex_of_parent[piece.mesh.boundary_vertices]
    assert seen.on_rim[rim].all() and not seen.on_rim[inner].any()
    assert seen.on_rim[~piece.kept_vertices].all()  # beside the surface: nearest to its rim


def test_score_exceeds_one_half_exactly_where_covered(seen):
    for reach in (0.6, 0.2, 3.0):
        there = replace(seen, rim_reach=reach)
        score, covered = there.score(), there.covered()
        assert ((0 <= score) & (score <= 1)).all()
        np.testing.assert_array_equal(score > 0.5, covered)
        np.testing.assert_array_equal(covered, seen.gap < np.where(seen.on_rim, reach, 2.0))


def grid(step: float, width: float) -> Mesh:
    """A square sheet of 4 by ``width``, its rim on the line x = ``width``."""
    x, y = np.meshgrid(np.arange(0, width + step / 2, step), np.arange(0, 4 + step / 2, step))
    row, rows = x.shape[1], x.shape[0]
    corner = (np.arange(rows - 1)[:, None] * row + np.arange(row - 1)).ravel()
    quads = np.stack([corner, corner + 1, corner + row + 1, corner + row], axis=1)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Mesh(np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1), faces)


@pytest.mark.parametrize(("step", "beside"), [(1.0, True), (0.5, True), (0.1, False)])
def test_a_rim_reaches_no_farther_than_the_partial_shape_is_meshed(step, beside):
    full = grid(1.0, 4.0)
    part = grid(step, 2.0)
    at = part.moved(part.vertices + [0.5, 0, 0])  # the rim is half an edge before x = 3
    covered = coverage(at, at.vertices, full).covered()
    column = full.vertices[:, 0]
    assert covered[(column == 1) | (column == 2)].all()
    assert covered[column == 3].all() == covered[column == 3].any() == beside
    assert not covered[column == 4].any()


def test_a_closed_partial_surface_covers_everything(whole):
    seen = coverage(whole, whole.vertices, whole)
    assert seen.covered().all() and not seen.on_rim.any()


def test_a_closed_surface_far_away_covers_nothing(whole):
    seen = coverage(whole, whole.vertices + 50, whole)
    assert not seen.covered().any()


def test_normals_agree_on_the_surface_itself_and_disagree_when_it_is_turned_inside_out(
    whole, piece, seen
):
    inner = piece.vertex_of_parent[~piece.mesh.boundary_vertices]
    assert seen.agreement[inner].min() > 0.7
    turned = Mesh(piece.mesh.vertices, piece.mesh.faces[:, ::-1])
    opposite = coverage(turned, turned.vertices, whole)
    np.testing.assert_allclose(
        opposite.agreement[inner].max(), -seen.agreement[inner].min(), atol=0.2
    )
    assert opposite.agreement[inner].max() < -0.7


def test_coverage_has_no_unit(whole, piece, seen):
    big = coverage(piece.mesh.scaled(1e3), piece.mesh.vertices * 1e3, whole.scaled(1e3))
    np.testing.assert_allclose(big.gap, seen.gap, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(big.on_rim, seen.on_rim)
