"""The laws of repair: what is changed, what is kept, and that every index finds its way back."""

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry import repair as repairing
from nho.geometry.mesh import Mesh
from nho.geometry.repair import has_area, repair, zero_area_faces

SQUARE = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]])


def check_laws(mesh: Mesh) -> None:
    """Everything that must hold for any mesh and its repair."""
    done = repair(mesh)
    solver, user, face = done.solver_of_given, done.given_of_solver, done.given_face
    assert solver.shape == (mesh.n_vertices,) and user.shape == (done.mesh.n_vertices,)
    assert face.shape == (done.mesh.n_faces,)
    # Order is kept, and a solver vertex maps to itself there and back.
    assert np.all(np.diff(user) > 0) and np.all(np.diff(face) > 0)
    assert np.array_equal(solver[user], np.arange(len(user)))
    # Geometry is untouched, vertex by vertex and face by face.
    mapped = solver >= 0
    assert np.array_equal(done.mesh.vertices[solver[mapped]], mesh.vertices[mapped])
    assert np.array_equal(done.mesh.faces, solver[mesh.faces[face]])
    # What is left is clean.
    assert len(np.unique(done.mesh.vertices, axis=0)) == done.mesh.n_vertices
    corners = np.sort(done.mesh.faces, axis=1)
    assert np.all(np.diff(corners, axis=1) > 0)
    assert len(np.unique(corners, axis=0)) == len(corners)
    assert len(np.unique(corners)) == done.mesh.n_vertices
    # A user vertex is lost only if no kept face has a corner at its place.
    places = {tuple(point) for point in (done.mesh.vertices + 0.0).tolist()}
    for index in np.flatnonzero(~mapped):
        assert tuple((mesh.vertices[index] + 0.0).tolist()) not in places
    # Nothing is left to do.
    again = repair(done.mesh)
    assert again.mesh is done.mesh


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_index_maps_hold_for_any_mesh(data):
    # Few distinct places, so that equal vertices, degenerate and duplicate faces abound.
    n = data.draw(st.integers(3, 9))
    coordinate = st.sampled_from([0.0, -0.0, 1.0])
    vertices = data.draw(st.lists(st.tuples(*[coordinate] * 3), min_size=n, max_size=n))
    corner = st.integers(0, n - 1)
    faces = data.draw(st.lists(st.tuples(*[corner] * 3), min_size=1, max_size=8))
    mesh = Mesh(vertices, faces)
    before = mesh.digest()
    try:
        check_laws(mesh)
    except InputError as error:
        welded = np.unique(mesh.vertices + 0.0, axis=0, return_inverse=True)[1].reshape(-1)
        distinct = [len(set(welded[face])) for face in mesh.faces]
        assert max(distinct) < 3, error
    assert mesh.digest() == before


def test_a_clean_mesh_comes_back_as_it_is():
    ball = trimesh.creation.icosphere(subdivisions=2)
    order = np.random.default_rng(3).permutation(len(ball.vertices))
    mesh = Mesh(ball.vertices[order], np.argsort(order)[ball.faces])
    done = repair(mesh)
    assert done.mesh is mesh and done.notes == ()
    assert np.array_equal(done.solver_of_given, np.arange(mesh.n_vertices))
    assert np.array_equal(done.given_of_solver, np.arange(mesh.n_vertices))
    assert np.array_equal(done.given_face, np.arange(mesh.n_faces))


def test_every_action_has_one_note_with_count_and_first_index():
    # Vertex 4 repeats 2, vertex 5 is unused; face 1 is degenerate by welding, face 3 a duplicate.
    vertices = np.vstack([SQUARE, SQUARE[2], [9, 9, 9]])
    mesh = Mesh(vertices, [[0, 1, 2], [0, 4, 2], [0, 4, 3], [3, 2, 0]], "scan.ply")
    done = repair(mesh)
    assert done.notes == (
        "scan.ply: welded 1 vertex lying exactly on another one (first: vertex 4 on vertex 2)",
        "scan.ply: dropped 1 face with a repeated vertex (first: face 1)",
        "scan.ply: dropped 1 face with the vertices of an earlier face (first: face 3)",
        "scan.ply: left out 1 vertex that no face uses (first: vertex 5)",
    )
    assert done.mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert done.solver_of_given.tolist() == [0, 1, 2, 3, 2, -1]
    assert done.given_face.tolist() == [0, 2]
    check_laws(mesh)


def test_a_degenerate_face_is_not_counted_as_duplicate_too():
    done = repair(Mesh(SQUARE[:3], [[0, 1, 1], [1, 0, 1], [0, 1, 2]], "m"))
    assert done.notes == ("m: dropped 2 faces with a repeated vertex (first: face 0)",)


def test_a_used_vertex_stands_for_its_equals():
    vertices = np.vstack([SQUARE[0], SQUARE])  # vertex 0 is an unused twin of vertex 1
    done = repair(Mesh(vertices, [[1, 2, 3], [1, 3, 4]]))
    assert done.given_of_solver.tolist() == [1, 2, 3, 4]
    assert done.solver_of_given.tolist() == [0, 0, 1, 2, 3]


def loose_ball(gap: float, level: int = 2) -> tuple[Mesh, trimesh.Trimesh]:
    """A sphere of loose triangles whose corners miss each other by up to ``gap``."""
    ball = trimesh.creation.icosphere(subdivisions=level)
    corners = ball.vertices[ball.faces].reshape(-1, 3)
    corners = corners + gap / 4 * np.random.default_rng(0).uniform(-1, 1, corners.shape)
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3), "loose.stl"), ball


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("gap", [1e-12, 1e-7, 1e-6])
def test_seams_open_by_a_rounding_error_are_closed(gap, scale):
    loose, ball = loose_ball(gap)
    done = repair(loose.scaled(scale))
    assert done.mesh.n_vertices == len(ball.vertices)
    assert not done.mesh.boundary_vertices.any()
    # Corners of one vertex share it, in the order given.
    assert len(np.unique(np.column_stack([done.solver_of_given, ball.faces.ravel()]), axis=0)) == (
        len(ball.vertices)
    )
    (note,) = done.notes
    assert f"with {len(loose.vertices) - len(ball.vertices)} vertices welded" in note
    first = int(
        np.argmax(done.given_of_solver[done.solver_of_given] != np.arange(loose.n_vertices))
    )
    onto = done.given_of_solver[done.solver_of_given[first]]
    assert f"(first: vertex {first} on vertex {onto})" in note
    assert ball.faces.ravel()[first] == ball.faces.ravel()[onto]


def test_a_slit_that_is_wider_stays_open():
    loose, _ = loose_ball(1e-4)
    assert repair(loose).mesh.n_vertices == loose.n_vertices
    assert repair(loose).notes == ()


def test_small_triangles_at_a_seam_stay():
    # Two corners of the second triangle are as near to each other as to the first one's.
    tiny = 1e-7
    vertices = np.vstack(
        [SQUARE[:3], SQUARE[2] + [tiny, 0, 0], SQUARE[2] + [0, tiny, 0], SQUARE[3]]
    )
    mesh = Mesh(vertices, [[0, 1, 2], [3, 4, 5]])
    assert repair(mesh).mesh.n_vertices == 6 and repair(mesh).mesh.n_faces == 2


def test_spikes_do_not_widen_what_counts_as_a_seam():
    loose, _ = loose_ball(1e-3)
    vertices = loose.vertices.copy()
    vertices[[0, 100, 200]] *= 1e6
    assert repair(Mesh(vertices, loose.faces)).mesh.n_vertices > 0.9 * len(vertices)


def test_a_seam_is_closed():
    ball = trimesh.creation.icosphere(subdivisions=1)
    loose = Mesh(
        ball.vertices[ball.faces].reshape(-1, 3), np.arange(ball.faces.size).reshape(-1, 3)
    )
    assert loose.boundary_vertices.all()
    done = repair(loose)
    assert done.mesh.n_vertices == len(ball.vertices)
    assert not done.mesh.boundary_vertices.any()
    assert trimesh.Trimesh(done.mesh.vertices, done.mesh.faces, process=False).is_watertight
    check_laws(loose)


def test_flat_faces_and_crowded_edges_are_kept_and_noted_by_user_index():
    vertices = np.vstack([[7, 7, 7], SQUARE, [1, 0, 0], [1, 0, 1]])  # vertex 0 unused
    mesh = Mesh(vertices, [[1, 2, 3], [1, 3, 4], [1, 5, 2], [1, 2, 6]], "wing")
    done = repair(mesh)
    assert done.mesh.n_faces == 4
    assert done.notes[1:] == (
        "wing: kept 1 edge with more than two faces (first: between vertices 1 and 2)",
        "wing: kept 1 face without area (first: face 2)",
    )


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_zero_area_does_not_depend_on_the_unit(unit):
    needle = [[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.7, 0.7, 0.7], [0.1, 0.1 + 1e-9, 0.1]]
    mesh = Mesh(np.array(needle) * unit, [[0, 1, 2], [0, 1, 3]])
    assert zero_area_faces(mesh).tolist() == [True, False]


def test_zero_area_of_a_mesh_in_one_point():
    mesh = Mesh(np.zeros((3, 3)), [[0, 1, 2]])
    assert zero_area_faces(mesh).tolist() == [True]


def test_one_face_with_area_behind_many_without_is_found(monkeypatch):
    monkeypatch.setattr(repairing, "_LOOKED_AT", 2)
    line = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]
    flat = [[0, 1, 2]] * 5
    assert not has_area(Mesh(line, flat))
    assert has_area(Mesh(line, [*flat, [0, 1, 3]]))


def test_nothing_left_is_an_error():
    with pytest.raises(InputError, match="dot.obj: all 2 faces have a repeated vertex"):
        repair(Mesh(np.zeros((4, 3)), [[0, 1, 2], [1, 1, 3]], "dot.obj"))
