"""The promises of Mesh: what it refuses, what it computes, and that it never changes."""

import copy

import numpy as np
import pytest
import trimesh

from nho.errors import InputError
from nho.geometry.mesh import Mesh, trusted_mesh
from nho.geometry.mesh_measures import row_lengths

SQUARE = [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]]
TWO = [[0, 1, 2], [0, 2, 3]]


def sphere() -> Mesh:
    ball = trimesh.creation.icosphere(subdivisions=2)
    return Mesh(ball.vertices, ball.faces, "ball")


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (np.zeros((4, 2)), TWO, r"scan.off: the vertices have shape \(4, 2\)"),
        (np.zeros((2, 3)), [[0, 1, 1]], "scan.off: there are 2 vertices"),
        ([["a", 0, 0]] * 3, [[0, 1, 2]], "scan.off: the vertices are not an array"),
        (SQUARE[:3] + [[0, np.nan, 0]], TWO, "scan.off: vertex 3 is .* not finite"),
        (SQUARE, [], "scan.off: there are no faces"),
        (SQUARE, [[0, 1, 2, 3]], r"scan.off: the faces have shape \(1, 4\)"),
        (SQUARE, [[0, 1, 2], [0, 1, 2, 3]], "scan.off: the faces are not one array"),
        (SQUARE, [[0, 1, 2], [0, 1, 2.5]], "scan.off: face 1 is .* not three whole numbers"),
        (SQUARE, [[0, 1, 2], [0, 1, np.nan]], "scan.off: face 1 is"),
        (SQUARE, [[True, False, True]], "scan.off: face 0 is"),
        (SQUARE, [[0, 1, 2], [-1, 1, 2]], "scan.off: face 1 refers to vertex -1 but there are 4"),
        (
            SQUARE,
            [[0, 1, 2], [0, 2, 4]],
            r"scan.off: face 1 refers to vertex 4 but there are 4 vertices \(0-3\); re-export",
        ),
    ],
)
def test_bad_arrays_are_refused_with_name_and_index(vertices, faces, message):
    with pytest.raises(InputError, match=message):
        Mesh(vertices, faces, "scan.off")


def test_arrays_are_copied_and_cannot_be_written():
    vertices, faces = np.array(SQUARE, dtype=float), np.array(TWO)
    mesh = Mesh(vertices, faces)
    vertices[0], faces[0] = 9, 3
    assert mesh.vertices[0, 0] == 0 and mesh.faces[0, 0] == 0
    assert (mesh.vertices.dtype, mesh.faces.dtype) == (np.float64, np.int64)
    names = "vertices faces face_areas edges edge_lengths boundary_vertices components"
    for name in (*names.split(), "face_normals", "vertex_normals"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mesh, name)[0] = 0
    with pytest.raises(AttributeError):
        mesh.name = "other"


def test_a_copied_mesh_is_the_same_and_still_read_only():
    twin = copy.deepcopy(sphere())
    assert twin.digest() == sphere().digest() and twin.name == "ball"
    assert not twin.vertices.flags.writeable


def test_square_has_known_measures():
    mesh = Mesh(SQUARE, TWO)
    assert mesh.area == 2 and mesh.face_areas.tolist() == [1, 1]
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert np.allclose(mesh.edge_lengths, [2, np.sqrt(5), 1, 1, 2], rtol=1e-15)
    assert mesh.mean_edge_length == pytest.approx((6 + np.sqrt(5)) / 5)
    assert mesh.face_normals.tolist() == [[0, 0, 1]] * 2
    assert mesh.boundary_vertices.all()


def test_measures_agree_with_trimesh():
    mesh = sphere()
    ball = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    assert np.allclose(mesh.face_areas, ball.area_faces, rtol=1e-12)
    assert np.allclose(mesh.face_normals, ball.face_normals, atol=1e-12)
    expected = np.unique(ball.edges_unique, axis=0)
    assert np.array_equal(mesh.edges, expected)
    assert not mesh.boundary_vertices.any()
    sums = np.zeros_like(mesh.vertices)
    for corner in range(3):
        np.add.at(sums, mesh.faces[:, corner], ball.area_faces[:, None] * ball.face_normals)
    expected = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.allclose(mesh.vertex_normals, expected, atol=1e-12)
    assert np.all(np.einsum("ij,ij->i", mesh.vertex_normals, mesh.vertices) > 0.99)


def test_boundary_is_where_one_face_ends():
    mesh = sphere()
    opened = Mesh(mesh.vertices, mesh.faces[1:])
    assert np.flatnonzero(opened.boundary_vertices).tolist() == sorted(mesh.faces[0])


def test_an_edge_of_four_faces_is_no_boundary():
    # Two closed tetrahedra that share the edge 0-1.
    vertices = np.random.default_rng(1).normal(size=(6, 3))
    faces = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    faces += [[0, 1, 4], [0, 1, 5], [0, 4, 5], [1, 4, 5]]
    mesh = Mesh(vertices, faces)
    assert mesh.edge_face_counts.tolist().count(4) == 1
    assert not mesh.boundary_vertices.any()


def test_a_face_with_a_repeated_corner_counts_once_on_its_edge():
    mesh = Mesh(SQUARE, [[0, 1, 1], [2, 2, 2]])
    assert mesh.edges.tolist() == [[0, 1]]
    assert mesh.edge_face_counts.tolist() == [1]
    assert mesh.face_normals.tolist() == [[0, 0, 0]] * 2


def test_components_are_numbered_by_first_vertex_and_unused_ones_are_minus_one():
    vertices = np.random.default_rng(0).normal(size=(8, 3))
    mesh = Mesh(vertices, [[5, 6, 7], [1, 3, 4]])
    assert mesh.components.tolist() == [-1, 0, -1, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1e6, 1e140])
def test_measures_follow_the_unit(unit):
    mesh, scaled = sphere(), sphere().scaled(unit)
    assert scaled.mean_edge_length / unit == pytest.approx(mesh.mean_edge_length, rel=1e-12)
    assert scaled.area / unit / unit == pytest.approx(mesh.area, rel=1e-12)
    assert np.allclose(scaled.vertex_normals, mesh.vertex_normals, atol=1e-12)
    assert scaled.name == mesh.name


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf])
def test_impossible_scales_are_refused(factor):
    with pytest.raises(InputError, match="ball: a scale of"):
        sphere().scaled(factor)


def test_digest_is_of_content_and_not_of_name():
    mesh = Mesh(SQUARE, TWO)
    assert mesh.digest() == Mesh(np.array(SQUARE, dtype=np.float32), TWO, "other").digest()
    assert mesh.digest() != Mesh(SQUARE, TWO[::-1]).digest()
    assert mesh.digest() != mesh.scaled(2).digest()
    assert mesh.digest() == mesh.digest() and int(mesh.digest(), 16)


def test_a_mesh_is_named_after_its_file(tmp_path):
    sphere().write(tmp_path / "Ball.PLY")
    assert Mesh.read(tmp_path / "Ball.PLY").name == "Ball.PLY"


def test_moved_checks_positions_and_shares_faces():
    mesh = sphere()
    positions = 2 * mesh.vertices
    moved = mesh.moved(positions)
    assert moved.faces is mesh.faces and moved.name == mesh.name
    assert moved.area == pytest.approx(4 * mesh.area)
    positions[0] = np.nan  # a copy was taken
    assert np.isfinite(moved.vertices).all() and not moved.vertices.flags.writeable
    with pytest.raises(InputError, match="vertex 0 is .* not finite"):
        mesh.moved(positions)
    with pytest.raises(InputError, match="161 positions for 162 vertices"):
        mesh.moved(mesh.vertices[1:])


def test_a_trusted_mesh_is_like_a_checked_one():
    mesh = sphere()
    flipped = trusted_mesh(mesh.vertices, mesh.faces[:, ::-1], "other")
    assert flipped.digest() == Mesh(mesh.vertices, mesh.faces[:, ::-1]).digest()
    assert flipped.faces.flags.c_contiguous and not flipped.faces.flags.writeable
    assert flipped.name == "other"


def test_every_side_of_a_face_knows_its_edge():
    mesh = Mesh(np.eye(3), [[0, 1, 2], [2, 0, 0], [1, 1, 1]])
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert mesh.face_edges.tolist() == [[0, 2, 1], [1, -1, 1], [-1, -1, -1]]


def test_lengths_of_rows_are_those_of_numpy_bit_for_bit():
    random = np.random.default_rng(0)
    rows = random.normal(size=(1000, 3)) * 10.0 ** random.uniform(-150, 150, (1000, 1))
    np.testing.assert_array_equal(row_lengths(rows), np.linalg.norm(rows, axis=1))
    np.testing.assert_array_equal(row_lengths(np.zeros((2, 3))), [0, 0])
