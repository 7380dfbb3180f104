"""A foreign surface continues the shape at its rim: stitched, oriented alike, nothing moved."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.foreign import PROFILES, stitched_on
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane

UP = np.array([0.2, 1.0, -0.1])


@pytest.fixture(scope="module")
def bust():
    return cut_by_plane(bumpy_sphere(3, seed=2), UP, keep_area=0.7).mesh


@pytest.mark.parametrize("kind", PROFILES)
def test_it_is_one_oriented_surface_that_keeps_the_shape(bust, kind):
    whole = stitched_on(bust, bust.boundary_vertices, UP, PROFILES[kind], np.sqrt(bust.area))
    np.testing.assert_array_equal(whole.vertices[: bust.n_vertices], bust.vertices)
    np.testing.assert_array_equal(whole.faces[: bust.n_faces], bust.faces)
    assert whole.edge_face_counts.max() == 2
    corners = whole.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(corners, axis=0)) == len(corners)  # no edge twice in one direction
    rings = len(PROFILES[kind])
    rim = np.count_nonzero(bust.boundary_vertices)
    assert whole.n_vertices == bust.n_vertices + rings * rim


def test_a_plinth_lies_below_the_shape_and_goes_outward(bust):
    rim, unit = bust.boundary_vertices, np.sqrt(bust.area)
    whole = stitched_on(bust, rim, UP, PROFILES["plinth"], unit)
    up = UP / np.linalg.norm(UP)
    last = whole.vertices[-np.count_nonzero(rim) :]
    np.testing.assert_allclose((bust.vertices[rim] - last) @ up, 0.15 * unit)
    level = (last - bust.vertices[rim]) + 0.15 * unit * up
    np.testing.assert_allclose(np.linalg.norm(level, axis=1), 0.1 * unit)


def test_a_rim_without_a_boundary_edge_is_refused(bust):
    nothing = np.zeros(bust.n_vertices, dtype=bool)
    with pytest.raises(InputError, match="no boundary edge"):
        stitched_on(bust, nothing, UP, PROFILES["floor"], 1.0)
