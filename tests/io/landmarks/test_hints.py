"""Points that do not lie on their mesh: the sentence says what would bring them there."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.landmarks import LandmarkPairs, Landmarks
from nho.io.landmarks.rows import Rows
from nho.problem.anchors import Anchors
from tests.io.landmarks.shapes import FULL, PARTIAL

CHOSEN = [0, 30, 77, 120, 150]
FLIP = np.array([-1.0, -1.0, 1.0])


def marks(mesh, change=1.0, axes="", source="marks"):
    rows = Rows(source, axes)
    for place in (mesh.vertices[CHOSEN] * change).tolist():
        rows.position("", place)
    return Landmarks.of(rows)


def pairs(partial, full):
    return LandmarkPairs(partial, full, partial.names, source="both")


def message(partial, full):
    with pytest.raises(InputError) as caught:
        Anchors.from_landmarks(pairs(partial, full), PARTIAL, FULL)
    return str(caught.value)


def flip_remedy(side):
    ways = f"nho match --flip-anchors {side}, or nho anchors convert --flip --side {side}"
    return f"negate them ({ways})"


@pytest.mark.parametrize(("axes", "other"), [("LPS", "RAS"), ("RAS", "LPS")])
def test_negated_x_and_y_are_told_with_the_axes_and_the_option(axes, other):
    told = message(marks(PARTIAL, FLIP, axes, "scan.mrk.json"), marks(FULL))
    assert told.startswith("scan.mrk.json: anchor ") and "away from scan.ply" in told
    assert "with x and y negated the points would lie on it" in told
    assert f"the file says {axes}, the mesh seems to be {other}" in told
    assert told.endswith(flip_remedy("partial"))
    told = message(marks(PARTIAL), marks(FULL, FLIP, axes, "t.fcsv"))
    assert told.startswith("t.fcsv") and told.endswith(flip_remedy("full"))


def test_files_that_say_no_axes_are_not_said_to():
    told = message(marks(PARTIAL, FLIP), marks(FULL))
    assert "one seems to be in LPS, the other in RAS" in told


@pytest.mark.parametrize(
    ("change", "factor", "units"),
    [
        (1000, "0.001", "in mm, the mesh in m;"),
        (0.001, "1000", "in m, the mesh in mm"),
        (10, "0.1", "in mm, the mesh in cm"),
        (0.1, "10", "in cm, the mesh in mm"),
        (1 / 25.4, "25.4", "in inches, the mesh in mm"),
        (25.4, "1/25.4", "in mm, the mesh in inches"),
    ],
)
def test_another_unit_is_told_with_the_factor(change, factor, units):
    told = message(marks(PARTIAL), marks(FULL, change, source="t.pp"))
    assert f"with all coordinates multiplied by {factor} the points would lie on it" in told
    assert f"the file seems to be {units}" in told and "--side full" in told
    assert "negated" not in told


def test_both_at_once_are_told():
    told = message(marks(PARTIAL, 1000 * FLIP), marks(FULL))
    assert "with x and y negated and all coordinates multiplied by 0.001" in told


def test_the_remedy_works():
    flipped, scaled = marks(PARTIAL, FLIP, "LPS"), marks(FULL, 25.4)
    anchors = Anchors.from_landmarks(
        pairs(flipped, scaled.scaled(1 / 25.4)), PARTIAL, FULL, flip="partial"
    )
    np.testing.assert_array_equal(anchors.vertices(PARTIAL, FULL), np.stack([CHOSEN] * 2, axis=1))
    assert anchors.notes == ("marks: converted from LPS to RAS for scan.ply",)


def test_axes_that_fit_are_told_since_the_surface_does_not_prove_them():
    anchors = Anchors.from_landmarks(pairs(marks(PARTIAL, axes="LPS"), marks(FULL)), PARTIAL, FULL)
    assert len(anchors.notes) == 1 and "LPS" in anchors.notes[0]
    assert "so scan.ply must be in LPS too" in anchors.notes[0]


def test_one_point_off_is_a_wrong_point_and_not_another_unit():
    wrong = marks(FULL)
    wrong.position[2] += [0, 0, 60.0]
    told = message(marks(PARTIAL), wrong)
    assert "anchor 3 lies" in told and "correct or remove this one" in told


def test_points_that_nothing_known_explains_get_the_general_advice():
    shifted = marks(PARTIAL)
    told = message(
        Landmarks(**{**vars(shifted), "position": shifted.position + 150.0}), marks(FULL)
    )
    assert told.endswith("check units (mm or m) and axes (LPS or RAS)")


def test_points_scaled_into_one_spot_of_the_surface_are_no_hint():
    # A mesh through the origin: everything divided by 1000 would lie "on" it.
    plate = Mesh(np.array([[0.0, 0, 0], [9, 0, 0], [9, 9, 0], [0, 9, 0]]), [[0, 1, 2], [0, 2, 3]])
    rows = Rows("p.pp")
    for place in ([1.0, 1, 30], [8, 1, 40], [8, 8, 50], [1, 8, 60]):
        rows.position("", place)
    with pytest.raises(InputError, match="check units"):
        Landmarks.of(rows).on(plate)


@pytest.mark.parametrize("flip", ["left", "", "Partial"])
def test_an_unknown_flip_is_refused(flip):
    with pytest.raises(InputError, match="choose none, partial, full, both"):
        Anchors.from_landmarks(pairs(marks(PARTIAL), marks(FULL)), PARTIAL, FULL, flip)


def test_vertices_cannot_be_flipped():
    vertices = Landmarks.at_vertices(np.array(CHOSEN), source="v.csv")
    with pytest.raises(InputError, match=r"v\.csv: there are no coordinates to flip"):
        Anchors.from_landmarks(pairs(vertices, marks(FULL)), PARTIAL, FULL, "both")
