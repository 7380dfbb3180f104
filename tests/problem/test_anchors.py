"""Anchors: what is accepted, what is refused, and that the message says which one."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import sphere, torus
from nho.problem.anchors import Anchors

PARTIAL = Mesh(sphere(1).vertices, sphere(1).faces, "scan.ply")
FULL = Mesh(torus(12, 8).vertices, torus(12, 8).faces, "template.ply")


def refused(*arguments, **named):
    with pytest.raises(InputError) as caught:
        Anchors.from_vertices(PARTIAL, FULL, *arguments, **named)
    return str(caught.value)


def test_vertex_pairs_come_back_as_vertices_without_gaps():
    pairs = np.array([[0, 3], [41, 95], [7, 0]])
    anchors = Anchors.from_vertices(PARTIAL, FULL, pairs)
    assert len(anchors) == 3 and anchors.names == ("1", "2", "3")
    assert np.array_equal(anchors.vertices(PARTIAL, FULL), pairs)
    assert np.array_equal(anchors.gaps, np.zeros((3, 2)))
    assert np.array_equal(anchors.partial.positions(PARTIAL), PARTIAL.vertices[pairs[:, 0]])


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float64, np.float32, list])
def test_whole_numbers_of_any_type_are_indices(kind):
    pairs = [[1, 2], [3, 4], [5, 6]]
    given = pairs if kind is list else np.array(pairs, dtype=kind)
    assert Anchors.from_vertices(PARTIAL, FULL, given).vertices(PARTIAL, FULL).tolist() == pairs


@pytest.mark.parametrize("shape", [(4,), (4, 3), (2, 2, 2), ()])
def test_a_wrong_shape_is_refused_with_the_shape(shape):
    message = refused(np.zeros(shape, dtype=int), source="pairs")
    assert message.startswith("pairs:") and str(shape) in message and "(m, 2)" in message


@pytest.mark.parametrize("bad", [1.5, np.nan, np.inf, -np.inf])
def test_an_index_that_is_no_whole_number_is_refused_with_its_row(bad):
    message = refused(np.array([[0, 1], [2, bad]]), source="pairs")
    assert "pairs" in message and "anchor 2" in message and str(bad) in message


def test_text_is_not_an_index():
    assert "anchor 1" in refused(np.array([["a", "b"]]))


@pytest.mark.parametrize(
    ("pair", "vertex", "mesh", "last"),
    [
        ([42, 0], "42", "scan.ply", "0 to 41"),
        ([-1, 0], "-1", "scan.ply", "0 to 41"),
        ([0, 96], "96", "template.ply", "0 to 95"),
        ([0, -7], "-7", "template.ply", "0 to 95"),
    ],
)
def test_an_index_out_of_range_names_anchor_vertex_and_mesh(pair, vertex, mesh, last):
    message = refused(np.array([[0, 0], pair]), names=("nose", "left eye"), source="pairs.csv")
    assert "left eye" in message and "nose" not in message and "pairs.csv" in message
    assert f"vertex {vertex} of {mesh}" in message and last in message


def test_an_index_beyond_every_integer_is_refused():
    assert "anchor 1" in refused(np.array([[1e300, 0.0]]))


def test_a_vertex_of_no_face_is_refused():
    loose = Mesh(np.vstack([PARTIAL.vertices, [[9, 9, 9]]]), PARTIAL.faces, "loose.ply")
    with pytest.raises(InputError, match=r"anchor 2 .*vertex 42 of loose.ply.*no face"):
        Anchors.from_vertices(loose, FULL, np.array([[0, 0], [42, 1]]))


def test_ragged_pairs_are_refused_without_a_traceback():
    assert "anchors" in refused([[0, 1], [2]])


def test_positions_are_projected_and_the_distance_is_told():
    outward = PARTIAL.vertices[[0, 5, 9]]
    pushed = np.array([1.0, 1.05, 1.1])[:, None] * outward
    anchors = Anchors.from_positions(PARTIAL, FULL, pushed, FULL.vertices[[1, 2, 3]])
    np.testing.assert_allclose(anchors.gaps, [[0, 0], [0.05, 0], [0.1, 0]], atol=1e-12)
    assert anchors.vertices(PARTIAL, FULL).tolist() == [[0, 1], [5, 2], [9, 3]]
    np.testing.assert_allclose(anchors.partial.positions(PARTIAL), outward, atol=1e-12)


def test_positions_inside_a_triangle_stay_inside_it():
    inside = PARTIAL.vertices[PARTIAL.faces[[4, 7, 30]]].mean(axis=1)
    anchors = Anchors.from_positions(PARTIAL, FULL, inside, FULL.vertices[[0, 1, 2]])
    assert anchors.partial.face.tolist() == [4, 7, 30]
    np.testing.assert_allclose(anchors.partial.barycentric, 1 / 3, atol=1e-9)


@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (1000.0, "multiplied by 0.001 the points would lie on it"),
        (0.001, "multiplied by 1000 the points would lie on it"),
        (-1.0, "check units (mm or m) and axes (LPS or RAS)"),
    ],
)
def test_points_in_other_units_or_axes_are_refused_with_a_hint(factor, hint):
    # A shape away from the origin, as scanners give it; -1 is no change of axes that is known.
    moved = Mesh(PARTIAL.vertices + [30.0, 20, 10], PARTIAL.faces, "scan.ply")
    given = factor * moved.vertices[[3, 4, 5]]
    with pytest.raises(InputError) as caught:
        Anchors.from_positions(
            moved, FULL, given, FULL.vertices[[0, 1, 2]], ("a", "b", "c"), "marks.csv"
        )
    message = str(caught.value)
    assert "marks.csv" in message and "scan.ply" in message and hint in message
    assert any(f"anchor {name} " in message for name in "abc")


def test_the_farthest_point_is_the_one_that_is_named():
    given = FULL.vertices[[0, 1, 2]] + np.array([[0, 0, 0.4], [0, 0, 3.0], [0, 0, 0]])
    with pytest.raises(InputError, match="anchor b .*template.ply"):
        Anchors.from_positions(PARTIAL, FULL, PARTIAL.vertices[[0, 1, 2]], given, ("a", "b", "c"))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_position_that_is_not_finite_is_refused(bad):
    given = PARTIAL.vertices[[0, 1, 2]].copy()
    given[2, 1] = bad
    with pytest.raises(InputError, match=r"marks: anchor 3 .*scan.ply"):
        Anchors.from_positions(PARTIAL, FULL, given, FULL.vertices[:3], source="marks")


def test_lists_of_positions_of_different_lengths_are_refused():
    with pytest.raises(InputError):
        Anchors.from_positions(PARTIAL, FULL, PARTIAL.vertices[:3], FULL.vertices[:4])


def test_inputs_are_not_changed():
    pairs = np.array([[0.0, 1], [2, 3], [4, 5]])
    before = pairs.copy()
    Anchors.from_vertices(PARTIAL, FULL, pairs)
    assert np.array_equal(pairs, before)


def test_a_given_vertex_stays_the_one_that_was_given():
    # Two vertices at one place, in one face: the nearest vertex of a point cannot tell them apart.
    doubled = Mesh(
        np.vstack([PARTIAL.vertices, PARTIAL.vertices[:1]]), [*PARTIAL.faces, [0, 42, 1]]
    )
    anchors = Anchors.from_vertices(doubled, FULL, np.array([[42, 3], [0, 5], [7, 0]]))
    assert anchors.vertices(doubled, FULL).tolist() == [[42, 3], [0, 5], [7, 0]]
