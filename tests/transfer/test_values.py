"""Data at points of a mesh: numbers are interpolated, labels never, and no data stays no data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.transfer.values import face_data_at, vertex_data_at

MESH = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], "square")
NOWHERE = SurfacePoints(np.array([-1]), np.full((1, 3), np.nan))


def at(*weights, face=0):
    return SurfacePoints(np.array([face]), np.array([weights], dtype=float))


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda w: sum(w) > 0.1))
def test_linear_functions_are_carried_exactly(weights):
    weights = np.array(weights) / sum(weights)
    point = at(*weights)
    linear = MESH.vertices @ [2.0, -3.0, 0.0] + 5
    found = vertex_data_at(point, MESH, linear).values[0]
    assert found == pytest.approx(point.positions(MESH)[0] @ [2.0, -3.0, 0.0] + 5)


def test_labels_are_never_averaged():
    labels = np.array([0, 10, 10, 4])
    assert vertex_data_at(at(0.4, 0.3, 0.3), MESH, labels).values[0] == 10  # two small ones agree
    assert vertex_data_at(at(0.6, 0.2, 0.2), MESH, labels).values[0] == 0
    assert vertex_data_at(at(0.5, 0.25, 0.25), MESH, labels).values[0] == 0  # tie: the heaviest
    three = np.array([1, 2, 9, 4])
    assert vertex_data_at(at(0.3, 0.4, 0.3), MESH, three).values[0] == 2


def test_every_carried_label_is_one_of_the_corners():
    random = np.random.default_rng(0)
    labels = random.integers(-5, 300, 4)
    points = SurfacePoints(random.integers(0, 2, 500), random.dirichlet([1, 1, 1], 500))
    found = vertex_data_at(points, MESH, labels).values
    assert (found[:, None] == labels[MESH.faces[points.face]]).any(axis=1).all()


def test_words_and_selections_go_by_majority():
    words = np.array(["head", "arm", "arm", "leg"])
    assert vertex_data_at(at(0.4, 0.3, 0.3), MESH, words).values[0] == "arm"
    chosen = np.array([True, False, False, True])
    assert not vertex_data_at(at(0.4, 0.3, 0.3), MESH, chosen).values[0]
    assert vertex_data_at(at(0.6, 0.2, 0.2), MESH, chosen).values[0]


def test_rows_of_labels_are_carried_as_a_whole():
    rows = np.array([[1, 1], [1, 2], [1, 2], [3, 3]])
    assert vertex_data_at(at(0.4, 0.3, 0.3), MESH, rows).values.tolist() == [[1, 2]]


def test_colours_are_interpolated_and_stay_bytes():
    colours = np.array([[0, 0, 0], [200, 100, 51], [0, 0, 0], [0, 0, 0]], dtype=np.uint8)
    found = vertex_data_at(at(0.5, 0.5, 0), MESH, colours).values
    assert found.dtype == np.uint8 and found.tolist() == [[100, 50, 26]]


@pytest.mark.parametrize(
    ("values", "nothing"),
    [
        (np.arange(4.0), np.nan),
        (np.arange(4, dtype=np.float32), np.nan),
        (np.arange(4), -1),
        (np.array([-1, 0, 1, 2]), -2),  # -1 is a label here
        (np.array([250, 251, 252, 255], dtype=np.uint8), -1),  # and a byte has no room for it
        (np.array([True] * 4), False),
        (np.array(["a", "b", "c", "d"]), ""),
        (np.zeros((4, 3), dtype=np.uint8), [150, 150, 150]),
    ],
)
def test_without_a_point_there_is_no_data(values, nothing):
    carried = vertex_data_at(NOWHERE, MESH, values)
    assert not carried.known[0]
    np.testing.assert_array_equal(carried.values[0], nothing)
    there = vertex_data_at(at(0, 1, 0), MESH, values)
    assert there.known[0]
    np.testing.assert_array_equal(there.values[0], values[1])


def test_floats_keep_their_precision():
    assert vertex_data_at(at(1, 0, 0), MESH, np.arange(4, dtype=np.float32)).values.dtype == "f4"


def test_corners_without_data_do_not_count_unless_they_are_the_greater_part():
    values = np.array([np.nan, 2.0, 4.0, 0.0])
    assert vertex_data_at(at(0.2, 0.4, 0.4), MESH, values).values[0] == pytest.approx(3.0)
    assert vertex_data_at(at(0.0, 0.5, 0.5), MESH, values).values[0] == pytest.approx(3.0)
    greater = vertex_data_at(at(0.6, 0.2, 0.2), MESH, values)
    assert np.isnan(greater.values[0]) and not greater.known[0]
    labels, known = np.array([7, 1, 2, 3]), np.array([False, True, True, True])
    assert vertex_data_at(at(0.4, 0.35, 0.25), MESH, labels, known).values[0] == 1
    assert vertex_data_at(at(0.6, 0.2, 0.2), MESH, labels, known).values[0] == -1


def test_face_data_are_those_of_the_face_around_the_point():
    labels = np.array([3, 8])
    assert face_data_at(at(0.1, 0.1, 0.8, face=1), MESH, labels).values.tolist() == [8]
    assert face_data_at(NOWHERE, MESH, labels).values.tolist() == [-1]
    hidden = face_data_at(at(1, 0, 0), MESH, labels, np.array([False, True]))
    assert hidden.values.tolist() == [-1] and not hidden.known[0]


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((4, 2, 2)), np.zeros(4, dtype=complex), np.zeros((2, 4))]
)
def test_data_that_do_not_fit_the_mesh_are_refused(values):
    with pytest.raises(InputError, match="square: vertex data .* give 4 rows"):
        vertex_data_at(NOWHERE, MESH, values)


def test_nothing_given_is_changed():
    values = np.array([np.nan, 2.0, 4.0, 0.0])
    before, point = values.copy(), at(0.2, 0.4, 0.4)
    weights = point.barycentric.copy()
    vertex_data_at(point, MESH, values)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(point.barycentric, weights)
