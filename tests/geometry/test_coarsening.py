"""Coarsening: fewer vertices, the same surface."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.coarsening import _Cells, _Sampler, coarsened
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.subdivision import subdivided
from nho.geometry.surface import project
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls, cut_by_plane, torus

NO_VERTICES = np.empty(0, dtype=np.int64)


@pytest.fixture(scope="module")
def fine() -> Mesh:
    """A closed surface of 10,242 vertices."""
    return bumpy_sphere(5, seed=3)


def euler(mesh: Mesh) -> int:
    return len(np.unique(mesh.faces)) - len(mesh.edges) + len(mesh.faces)


@pytest.mark.parametrize("count", [300, 900, 3000, 8000])
def test_about_as_many_vertices_are_left_as_were_asked_for(fine, count):
    left = len(coarsened(fine, count, np.arange(5)).mesh.vertices)
    assert 0.8 * count < left < 1.2 * count


def test_what_is_left_are_vertices_of_the_fine_mesh_in_its_order(fine):
    coarse = coarsened(fine, 700, np.array([17, 4000]))
    np.testing.assert_array_equal(coarse.mesh.vertices, fine.vertices[coarse.vertex])
    assert (np.diff(coarse.vertex) > 0).all()
    assert {17, 4000} <= set(coarse.vertex.tolist())
    np.testing.assert_array_equal(np.unique(coarse.mesh.faces), np.arange(len(coarse.vertex)))


def test_every_vertex_belongs_to_the_cell_of_a_near_one(fine):
    coarse = coarsened(fine, 700, NO_VERTICES)
    np.testing.assert_array_equal(coarse.cell[coarse.vertex], np.arange(len(coarse.vertex)))
    centre = coarse.mesh.vertices[coarse.cell]
    reach = np.linalg.norm(fine.vertices - centre, axis=1)
    assert reach.max() < 1.5 * coarse.mesh.mean_edge_length


def test_every_coarse_face_names_a_fine_face_with_its_corners_in_order(fine):
    coarse = coarsened(fine, 700, NO_VERTICES)
    np.testing.assert_array_equal(coarse.cell[fine.faces[coarse.face]], coarse.mesh.faces)


def test_topology_and_orientation_stay(fine):
    for mesh in (fine, torus(120, 60), cut_by_balls(fine, 3, 0.12, seed=1).mesh):
        coarse = coarsened(mesh, 600, NO_VERTICES).mesh
        assert euler(coarse) == euler(mesh)
        assert coarse.edge_face_counts.max() == 2
        assert coarse.boundary_vertices.any() == mesh.boundary_vertices.any()
        near, _ = project(mesh, coarse.vertices[coarse.faces].mean(axis=1))
        facing = (coarse.face_normals * mesh.face_normals[near.face]).sum(axis=1)
        assert facing.min() > 0.5


def test_where_a_tube_is_too_thin_for_the_spacing_vertices_are_added():
    tube = torus(400, 16, ratio=0.05)
    coarse = coarsened(tube, 150, np.array([0])).mesh  # the spacing is the width of the tube
    assert euler(coarse) == 0 and (coarse.edge_face_counts == 2).all()


def test_mending_leaves_vertices_without_a_cell_alone(monkeypatch):
    """Two flecks on a tube: vertex 0 stands for one; the other, inside out, is a faulty cell."""
    tube = torus(400, 16, ratio=0.05)
    count = tube.n_vertices
    around = tube.vertices[tube.faces[(tube.faces == 0).any(axis=1)][0]] - tube.vertices[0]
    fleck = tube.vertices[0] + 1e-3 * (tube.vertex_normals[0] + around)
    both = Mesh(
        np.concatenate([tube.vertices, fleck, fleck[::-1]]),
        np.concatenate([tube.faces, count + np.arange(6).reshape(2, 3)]),
    )
    mended, denser = [], _Sampler.denser

    def spy(self, spacing, before, where):
        mended.append(where)
        return denser(self, spacing, before, where)

    monkeypatch.setattr(_Sampler, "denser", spy)
    coarsened(both, 100, np.array([0]))
    assert mended and all(where[count + 3 :].all() for where in mended)
    assert not any(where[count : count + 3].any() for where in mended)


def test_triangles_are_well_shaped_and_of_one_size(fine):
    coarse = coarsened(fine, 700, NO_VERTICES).mesh
    sides = np.linalg.norm(np.diff(coarse.vertices[coarse.faces][:, [0, 1, 2, 0]], axis=1), axis=2)
    quality = 4 * np.sqrt(3) * coarse.face_areas / (sides**2).sum(axis=1)  # 1 = equilateral
    assert quality.mean() > 0.85 and np.quantile(quality, 0.02) > 0.5
    assert coarse.edge_lengths.std() < 0.25 * coarse.mean_edge_length


def test_the_coarse_surface_lies_on_the_fine_one(fine):
    coarse = coarsened(fine, 1200, NO_VERTICES).mesh
    gap = project(coarse, fine.vertices)[1]
    assert gap.max() < 0.15 * coarse.mean_edge_length


def test_a_rim_stays_where_it_was_with_vertices_of_the_rim_only(fine):
    piece = cut_by_plane(fine, np.array([0.3, 1.0, 0.2]), keep_area=0.5).mesh
    coarse = coarsened(piece, 500, NO_VERTICES)
    rim = coarse.mesh.boundary_vertices
    assert piece.boundary_vertices[coarse.vertex[rim]].all()

    def length(mesh: Mesh) -> float:
        return float(mesh.edge_lengths[mesh.edge_face_counts == 1].sum())

    # A plane cut through triangles zigzags, and the coarse rim cuts the corners.
    smooth = subdivided(bumpy_sphere(2, seed=3), 9000).mesh
    piece = cut_by_balls(smooth, 1, 0.3, seed=0).mesh
    assert length(coarsened(piece, 500, NO_VERTICES).mesh) == pytest.approx(length(piece), rel=0.2)


def test_thin_parts_do_not_melt_together():
    """Two parallel sheets, far closer to each other than the coarse vertices of either."""
    side = np.linspace(0, 1, 60)
    x, y = (grid.ravel() for grid in np.meshgrid(side, side, indexing="ij"))
    corner = (np.arange(59)[:, None] * 60 + np.arange(59)).ravel()
    quads = np.stack([corner, corner + 60, corner + 61, corner + 1], axis=1)
    sheet = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    top = np.column_stack([x, y, np.full_like(x, 0.005)])
    bottom = np.column_stack([x, y, np.zeros_like(x)])
    slab = Mesh(np.concatenate([top, bottom]), np.concatenate([sheet, 3600 + sheet[:, ::-1]]))
    coarse = coarsened(slab, 400, np.array([0, 3600])).mesh
    assert coarse.components.max() == 1
    heights = coarse.vertices[coarse.faces][:, :, 2]
    assert np.ptp(heights, axis=1).max() == 0
    for level in (0.0, 0.005):
        share = coarse.face_areas[heights[:, 0] == level].sum()
        assert share > 0.9


def test_a_small_component_with_a_kept_vertex_survives(fine):
    small = bumpy_sphere(2, seed=1)
    both = Mesh(
        np.concatenate([fine.vertices, 0.01 * small.vertices + 5]),
        np.concatenate([fine.faces, len(fine.vertices) + small.faces]),
    )
    kept = np.array([0, len(fine.vertices) + 7])
    coarse = coarsened(both, 600, kept)
    assert coarse.mesh.components.max() == 1
    assert (coarse.cell >= 0).all()
    assert coarse.mesh.components[coarse.cell[kept]].tolist() == [0, 1]
    assert len(coarsened(both, 600, kept[:1]).mesh.vertices) < len(coarse.mesh.vertices)


def test_a_mesh_with_large_and_small_triangles_is_coarsened_where_it_is_fine():
    coarse_part = bumpy_sphere(2, seed=3)
    fine_part = coarse_part.vertices[coarse_part.faces].mean(axis=1)[:, 2] > 0.5
    mesh = coarse_part
    for _ in range(3):  # split the triangles of the cap again and again at their centres
        chosen = mesh.vertices[mesh.faces].mean(axis=1)[:, 2] > 0.5
        centres = mesh.vertices[mesh.faces[chosen]].mean(axis=1)
        new = len(mesh.vertices) + np.arange(len(centres))
        a, b, c = mesh.faces[chosen].T
        split = np.concatenate(
            [np.stack(t, axis=1) for t in ((a, b, new), (b, c, new), (c, a, new))]
        )
        mesh = Mesh(
            np.concatenate([mesh.vertices, centres]), np.concatenate([mesh.faces[~chosen], split])
        )
    assert fine_part.any()
    coarse = coarsened(mesh, 250, np.arange(3))
    assert len(coarse.vertex) < 0.6 * len(mesh.vertices)
    assert euler(coarse.mesh) == 2
    below = np.flatnonzero(mesh.vertices[:, 2] < -0.2)
    assert np.isin(below, coarse.vertex).mean() > 0.7


def test_the_result_is_the_same_every_time_and_in_every_pose_and_unit(fine):
    kept = np.array([3, 999])
    coarse = coarsened(fine, 800, kept)
    again = coarsened(fine, 800, kept)
    np.testing.assert_array_equal(coarse.mesh.faces, again.mesh.faces)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    for moved in (fine.vertices * 1e-6, fine.vertices * 1e6, fine.vertices @ rotation + 3):
        other = coarsened(Mesh(moved, fine.faces), 800, kept)
        np.testing.assert_array_equal(other.vertex, coarse.vertex)
        np.testing.assert_array_equal(other.mesh.faces, coarse.mesh.faces)


def test_edges_of_three_faces_and_faces_without_area_survive(fine):
    n = len(fine.vertices)
    i, j = fine.edges[0]
    more = [2 * fine.vertices[i], 2 * fine.vertices[j], fine.vertices[[i, j]].mean(axis=0)]
    faces = np.concatenate([fine.faces, [[i, j, n], [j, n + 1, n], [i, n + 2, j]]])
    mesh = Mesh(np.concatenate([fine.vertices, more]), faces)
    assert mesh.edge_face_counts.max() == 4 and mesh.face_areas.min() < 1e-12
    coarse = coarsened(mesh, 600, np.array([0]))
    assert (coarse.cell >= 0).all() and len(coarse.mesh.vertices) > 400


def test_a_vertex_of_no_face_has_no_cell(fine):
    mesh = Mesh(np.concatenate([fine.vertices, [[9.0, 9.0, 9.0]]]), fine.faces)
    coarse = coarsened(mesh, 600, np.array([0]))
    assert coarse.cell[-1] == -1 and (coarse.cell[:-1] >= 0).all()


@pytest.mark.parametrize("seed", range(2))
def test_a_component_without_a_chosen_vertex_changes_no_other_cell(seed):
    piece = cut_by_plane(bumpy_sphere(3, seed=3), np.array([0.3, 1.0, 0.2]), keep_area=0.5).mesh
    n = len(piece.vertices)
    triangle = np.array([[5.0, 0, 0], [6, 0, 0], [5, 1, 0]])
    both = Mesh(
        np.concatenate([piece.vertices, triangle]),
        np.concatenate([piece.faces, [[n, n + 1, n + 2]]]),
    )
    chosen = np.sort(np.random.default_rng(seed).choice(n, 40, replace=False))
    alone, together = (_Cells(mesh, edge_graph(mesh), chosen).faulty() for mesh in (piece, both))
    np.testing.assert_array_equal(together, alone)
