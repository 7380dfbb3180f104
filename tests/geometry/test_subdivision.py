"""Subdivision: exactly as many vertices as asked for, on a smooth surface, truth carried along."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.subdivision import subdivided
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane, sphere


@pytest.mark.parametrize("count", [162, 163, 400, 642, 643, 5000])
def test_the_mesh_has_exactly_as_many_vertices_and_stays_closed(count):
    fine = subdivided(sphere(2), count).mesh
    assert len(fine.vertices) == count
    assert (fine.edge_face_counts == 2).all()
    assert len(fine.vertices) - len(fine.edges) + len(fine.faces) == 2
    outward = (fine.face_normals * fine.vertices[fine.faces].mean(axis=1)).sum(axis=1)
    assert (outward > 0.9).all()


def test_old_vertices_keep_their_index_and_place():
    coarse = bumpy_sphere(2, seed=1)
    fine = subdivided(coarse, 1000).mesh
    np.testing.assert_array_equal(fine.vertices[: len(coarse.vertices)], coarse.vertices)


def test_new_vertices_lie_on_the_smooth_surface():
    flat = sphere(2)
    fine = subdivided(flat, 20_000).mesh
    sag = 1 - np.linalg.norm(flat.vertices[flat.edges].mean(axis=1), axis=1).min()
    assert np.abs(np.linalg.norm(fine.vertices, axis=1) - 1).max() < 0.25 * sag


def test_the_longest_edges_are_halved_first():
    coarse = bumpy_sphere(2, seed=1)
    ends = subdivided(coarse, len(coarse.vertices) + 30).steps[0]
    halved = np.linalg.norm(np.diff(coarse.vertices[ends], axis=1)[:, 0], axis=1)
    assert halved.min() >= np.sort(coarse.edge_lengths)[-30] * (1 - 1e-12)


def test_a_rim_stays_one_rim_and_a_region_grows_with_the_mesh():
    whole = bumpy_sphere(3, seed=2)
    cut = cut_by_plane(whole, np.array([0.0, 0.0, 1.0]), keep_area=0.5)
    piece = subdivided(cut.mesh, 2000).mesh
    assert piece.edge_face_counts.max() == 2
    full = subdivided(whole, 4000)
    region = full.grown(cut.kept_vertices)
    assert len(region) == 4000 and not region.all()
    np.testing.assert_array_equal(region[: len(whole.vertices)], cut.kept_vertices)
    faces = region[full.mesh.faces].all(axis=1)
    assert full.mesh.face_areas[faces].sum() == pytest.approx(cut.mesh.area, rel=0.02)


def test_fewer_vertices_than_there_are_is_refused():
    with pytest.raises(InputError, match=r"cannot be subdivided to 10 vertices, it has 42"):
        subdivided(sphere(1), 10)
    same = subdivided(sphere(1), 42)
    assert same.steps == () and isinstance(same.mesh, Mesh)


@pytest.mark.parametrize("corner", [0, 161])
def test_a_face_with_a_repeated_corner_is_split_along_its_one_edge(corner):
    plain = sphere(2)
    neighbour = plain.edges[(plain.edges == corner).any(axis=1)][0].sum() - corner
    added = [[corner, neighbour, corner], [corner, corner, corner]]
    mesh = Mesh(plain.vertices, np.concatenate([plain.faces, added]))
    for count in (163, 300, 642, 1000):
        fine, expected = subdivided(mesh, count).mesh, subdivided(plain, count).mesh
        np.testing.assert_array_equal(fine.vertices, expected.vertices)
        np.testing.assert_array_equal(fine.edges, expected.edges)
        assert fine.area == pytest.approx(expected.area, rel=1e-12)
