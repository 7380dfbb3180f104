"""Cuts are exact selections of the parent, sized as asked, and the same for the same seed."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import (
    ball_centres,
    bumpy_sphere,
    cut_by_balls,
    cut_by_plane,
    sphere,
    take_faces,
    torus,
)

TILTED = np.array([0.3, -1.0, 0.4])
CUTS = {
    "plane": lambda mesh: cut_by_plane(mesh, TILTED, keep_area=0.6),
    "balls": lambda mesh: cut_by_balls(mesh, 4, 0.16, seed=3),
    "faces": lambda mesh: take_faces(mesh, mesh.vertices[mesh.faces[:, 0], 2] > 0.1),
}


@pytest.fixture(params=CUTS, ids=list(CUTS))
def parent_and_cut(request):
    parent = bumpy_sphere(3, seed=1)
    return parent, CUTS[request.param](parent)


def euler_characteristic(mesh):
    return len(mesh.vertices) - len(mesh.edges) + len(mesh.faces)


def component_count(mesh):
    return connected_components(edge_graph(mesh), directed=False)[0]


def signed_volume(mesh):
    return np.linalg.det(mesh.vertices[mesh.faces]).sum() / 6


def two_spheres():
    """A large and a small sphere in one mesh, the small one first."""
    small, large = sphere(1), sphere(2)
    vertices = np.vstack([0.25 * small.vertices + [5, 0, 0], large.vertices])
    return Mesh(vertices, np.vstack([small.faces, large.faces + len(small.vertices)]))


def test_partial_vertices_are_parent_vertices_bit_for_bit_in_parent_order(parent_and_cut):
    parent, cut = parent_and_cut
    assert 0 < len(cut.mesh.vertices) < len(parent.vertices)
    assert np.array_equal(cut.mesh.vertices, parent.vertices[cut.vertex_of_parent])
    assert (np.diff(cut.vertex_of_parent) > 0).all()


def test_partial_faces_are_parent_faces_with_their_orientation(parent_and_cut):
    parent, cut = parent_and_cut
    renumbered = cut.vertex_of_parent[cut.mesh.faces]
    assert np.array_equal(renumbered, parent.faces[cut.face_of_parent])
    assert (np.diff(cut.face_of_parent) > 0).all()


def test_kept_mask_says_the_same_as_the_vertex_list(parent_and_cut):
    parent, cut = parent_and_cut
    assert cut.kept_vertices.shape == (len(parent.vertices),)
    assert np.array_equal(np.flatnonzero(cut.kept_vertices), cut.vertex_of_parent)
    assert set(np.unique(cut.mesh.faces)) == set(range(len(cut.mesh.vertices)))


def test_a_cut_is_one_piece(parent_and_cut):
    assert component_count(parent_and_cut[1].mesh) == 1


def test_the_parent_is_left_as_it_was():
    parent = bumpy_sphere(2)
    vertices, faces = parent.vertices.copy(), parent.faces.copy()
    cut_by_plane(parent, TILTED, keep_area=0.5)
    assert np.array_equal(parent.vertices, vertices) and np.array_equal(parent.faces, faces)


def test_of_several_pieces_the_one_with_the_largest_area_is_kept():
    both = two_spheres()
    cut = take_faces(both, np.ones(len(both.faces), dtype=bool))
    assert np.array_equal(cut.vertex_of_parent, np.arange(42, 42 + 162))


def test_pieces_that_touch_in_one_vertex_only_are_separate():
    vertices = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [-1, 0, 0], [0, -1, 0]], dtype=float)
    bow_tie = Mesh(vertices, np.array([[0, 3, 4], [0, 1, 2]]))
    assert take_faces(bow_tie, np.array([True, True])).face_of_parent.tolist() == [1]


def test_plane_keeps_exactly_the_faces_wholly_above_it():
    parent = sphere(3)
    cut = cut_by_plane(parent, [30.0, 0, 40.0], offset=0.25)  # the normal counts as (0.6, 0, 0.8)
    height = parent.vertices @ [0.6, 0, 0.8]
    above = (height[parent.faces] >= 0.25).all(axis=1)
    assert np.array_equal(cut.face_of_parent, np.flatnonzero(above))


@pytest.mark.parametrize("share", [0.1, 0.37, 0.5, 0.83])
def test_plane_keeps_the_asked_area_within_the_ring_of_faces_it_passes(share):
    parent = bumpy_sphere(3, seed=2)
    cut = cut_by_plane(parent, TILTED, keep_area=share)
    kept = cut.kept_vertices[parent.faces]
    crossed = parent.face_areas[kept.any(axis=1) & ~kept.all(axis=1)].sum()
    assert abs(cut.mesh.area - share * parent.area) < crossed
    assert crossed < 0.1 * parent.area


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_cuts_do_not_depend_on_the_units_of_the_mesh_or_the_length_of_the_normal(scale):
    parent = bumpy_sphere(3)
    scaled = Mesh(parent.vertices * scale, parent.faces)
    plane = cut_by_plane(parent, TILTED, keep_area=0.4).vertex_of_parent
    again = cut_by_plane(scaled, TILTED * scale, keep_area=0.4).vertex_of_parent
    assert np.array_equal(plane, again)
    balls = cut_by_balls(parent, 3, 0.15, seed=0).vertex_of_parent
    assert np.array_equal(balls, cut_by_balls(scaled, 3, 0.15, seed=0).vertex_of_parent)


def test_balls_remove_what_is_within_the_radius_and_nothing_else():
    parent = Mesh(bumpy_sphere(3).vertices * 17.0, bumpy_sphere(3).faces)
    cut = cut_by_balls(parent, 4, 0.12, seed=5)
    nearest = distances_from(edge_graph(parent), ball_centres(parent, 4, seed=5)).min(axis=0)
    inside = nearest <= 0.12 * np.sqrt(parent.area)
    touched = inside[parent.faces].any(axis=1)
    assert not cut.kept_vertices[inside].any()
    assert np.array_equal(cut.face_of_parent, np.flatnonzero(~touched))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_ball_that_meets_no_other_makes_one_hole(count):
    parent, radius = sphere(4), 0.05
    graph, reach = edge_graph(parent), radius * np.sqrt(parent.area)
    apart = next(
        seed
        for seed in range(100)
        if (lambda d: (d + np.eye(count) * 9 > 4 * reach).all())(
            distances_from(graph, c := ball_centres(parent, count, seed))[:, c]
        )
    )
    cut = cut_by_balls(parent, count, radius, seed=apart)
    assert euler_characteristic(cut.mesh) == 2 - count  # a sphere loses one per hole


def test_one_ball_removes_about_a_disc_of_its_radius():
    parent, radius = sphere(4), 0.16
    removed = 1 - cut_by_balls(parent, 1, radius, seed=0).mesh.area / parent.area
    # Paths along edges are longer than straight ones (at most 2 / sqrt(3) on regular triangles),
    # so the ball is somewhat smaller than the disc; a ring of faces comes on top.
    assert 0.75 * np.pi * radius**2 < removed < 1.25 * np.pi * radius**2


def test_ball_centres_follow_the_area_not_the_density_of_vertices():
    both = two_spheres()  # the small one has 21 % of the vertices and 5.6 % of the area
    share = np.mean([ball_centres(both, 1, seed)[0] < 42 for seed in range(400)])
    assert 0.02 < share < 0.11


def test_the_seed_alone_decides_the_holes():
    parent = bumpy_sphere(3)
    first = cut_by_balls(parent, 4, 0.16, seed=11).face_of_parent
    assert np.array_equal(first, cut_by_balls(parent, 4, 0.16, seed=11).face_of_parent)
    assert not np.array_equal(first, cut_by_balls(parent, 4, 0.16, seed=12).face_of_parent)
    assert len(np.unique(ball_centres(parent, 50, seed=0))) == 50


@pytest.mark.parametrize(
    "cut",
    [
        lambda m: cut_by_plane(m, [0, 0, 1], offset=2.0),
        lambda m: cut_by_balls(m, 1, 10.0, seed=0),
        lambda m: take_faces(m, np.zeros(len(m.faces), dtype=bool)),
    ],
)
def test_a_cut_that_leaves_nothing_is_refused(cut):
    with pytest.raises(InputError, match="leaves no face"):
        cut(sphere(1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: cut_by_plane(m, [0, 0, 0], offset=0), "normal"),
        (lambda m: cut_by_plane(m, [0, np.nan, 1], offset=0), "normal"),
        (lambda m: cut_by_plane(m, [0, 1], offset=0), "normal"),
        (lambda m: cut_by_plane(m, [0, 0, 1]), "one of the two"),
        (lambda m: cut_by_plane(m, [0, 0, 1], offset=0, keep_area=0.5), "one of the two"),
        (lambda m: cut_by_plane(m, [0, 0, 1], offset=np.nan), "offset is nan"),
        (lambda m: cut_by_plane(m, [0, 0, 1], keep_area=0), "keep_area is 0"),
        (lambda m: cut_by_plane(m, [0, 0, 1], keep_area=1.0), "keep_area is 1.0"),
        (lambda m: cut_by_plane(m, [0, 0, 1], keep_area=np.nan), "keep_area is nan"),
        (lambda m: cut_by_balls(m, 0, 0.1, seed=0), "0 balls"),
        (lambda m: cut_by_balls(m, 43, 0.1, seed=0), "43 balls"),
        (lambda m: cut_by_balls(m, 1, 0, seed=0), "radius is 0"),
        (lambda m: cut_by_balls(m, 1, np.nan, seed=0), "radius is nan"),
        (lambda m: take_faces(m, np.ones(3, dtype=bool)), "80 faces"),
        (lambda m: take_faces(m, np.ones(80)), "float64"),
        (lambda m: sphere(-1), "subdivisions"),
        (lambda m: torus(2, 8), "torus"),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call(sphere(1))


@pytest.mark.parametrize(
    ("mesh", "euler"),
    [(sphere(3), 2), (bumpy_sphere(3), 2), (torus(), 0)],
    ids=["sphere", "bumpy", "torus"],
)
def test_analytic_meshes_are_closed_oriented_outward_and_of_the_right_genus(mesh, euler):
    assert euler_characteristic(mesh) == euler
    assert not mesh.boundary_vertices.any()
    assert component_count(mesh) == 1
    directed = np.vstack([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    assert len(np.unique(directed, axis=0)) == len(directed)  # neighbours agree on orientation
    assert signed_volume(mesh) > 0


def test_sphere_and_torus_have_the_area_and_volume_of_the_smooth_surfaces():
    assert sphere(4).area == pytest.approx(4 * np.pi, rel=0.005)
    assert signed_volume(sphere(4)) == pytest.approx(4 * np.pi / 3, rel=0.005)
    assert torus(96, 48, 0.4).area == pytest.approx(4 * np.pi**2 * 0.4, rel=0.005)
    assert len(sphere(4).vertices) == 10 * 4**4 + 2


def test_bumps_come_from_the_seed():
    assert np.array_equal(bumpy_sphere(2, seed=4).vertices, bumpy_sphere(2, seed=4).vertices)
    assert not np.allclose(bumpy_sphere(2, seed=4).vertices, bumpy_sphere(2, seed=5).vertices)
