"""What can be seen from outside, on shapes where that is known."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import cut_by_plane, sphere
from nho.studio.visibility import DIRECTIONS, seen_from


def test_all_of_a_ball_is_seen_from_where_it_faces() -> None:
    ball = sphere(4)
    best = seen_from(ball)
    assert (best >= 0).all()
    assert (np.einsum("nx,nx->n", DIRECTIONS[best], ball.vertices) > 0.8).all()


def test_the_inner_wall_of_a_shell_is_not_seen() -> None:
    outer, n = sphere(4), sphere(4).n_vertices
    inner = outer.faces[:, ::-1] + n  # it faces the hollow, as the inside of a skull does
    shell = Mesh(
        np.concatenate([outer.vertices, 0.93 * outer.vertices]),
        np.concatenate([outer.faces, inner]),
    )
    best = seen_from(shell)
    assert (best[:n] >= 0).all() and (best[n:] == -1).all()


def test_an_inner_wall_that_an_opening_shows_is_not_outside() -> None:
    """A broken skull shows its inside, but nobody wants to be led there."""
    bowl = cut_by_plane(sphere(4), np.array([0.0, 0.0, 1.0]), keep_area=0.75).mesh
    n = bowl.n_vertices
    shell = Mesh(
        np.concatenate([bowl.vertices, 0.93 * bowl.vertices]),
        np.concatenate([bowl.faces, bowl.faces[:, ::-1] + n]),
    )
    best = seen_from(shell)
    inner = ~bowl.boundary_vertices
    assert (best[:n] >= 0).all()
    assert (best[n:][inner] >= 0).mean() < 0.05


def test_a_scan_whose_faces_point_the_other_way_is_seen_as_well() -> None:
    cap = cut_by_plane(sphere(4), np.array([0.0, 0.0, 1.0]), keep_area=0.4).mesh
    turned = Mesh(cap.vertices, cap.faces[:, ::-1])
    assert (seen_from(cap) >= 0).mean() > 0.95
    assert (seen_from(turned) >= 0).mean() > 0.8
