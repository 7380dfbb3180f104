"""Anchors from nothing: right ones, whatever the pose, the unit and the side that faces out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nho
from nho.anchor_search.search import _plausible_unit, _scales
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab.bench.datasets import FAMILIES


def gaps(anchors: nho.Anchors, partial: Mesh, full: Mesh, truth: np.ndarray) -> np.ndarray:
    """Distances from the partners found to the true ones, in units of sqrt(area)."""
    at, to = anchors.vertices(partial, full).T
    distance = distances_from(edge_graph(full), to)
    return distance[np.arange(len(to)), truth[at]] / np.sqrt(full.area)


@pytest.fixture(scope="module")
def found(piece, whole):
    return nho.find_anchors(piece.mesh, whole)


@pytest.mark.slow
def test_the_anchors_of_a_cut_are_found(found, piece, whole):
    assert len(found) == 25
    assert gaps(found, piece.mesh, whole, piece.vertex_of_parent).max() < 0.02


@pytest.mark.slow
def test_a_clear_case_is_not_called_doubtful(found):
    assert len(found.notes) == 1
    assert "automatically" in found.notes[0]


@pytest.mark.slow
def test_pose_unit_and_turned_faces_change_nothing(piece, whole):
    one, other = (Rotation.from_rotvec(turn).as_matrix() for turn in ([1, 2, -1], [0.5, -2, 0]))
    partial = Mesh(piece.mesh.vertices @ one.T * 1e-3 + 7, piece.mesh.faces[:, ::-1])
    full = Mesh(whole.vertices @ other.T * 1e-3, whole.faces)
    anchors = nho.find_anchors(partial, full)
    assert gaps(anchors, partial, full, piece.vertex_of_parent).max() < 0.02


@pytest.mark.slow
def test_a_partial_shape_in_another_unit_is_found_and_the_scale_is_told(piece, whole):
    partial = piece.mesh.scaled(1000.0)
    anchors = nho.find_anchors(partial, whole)
    assert gaps(anchors, partial, whole, piece.vertex_of_parent).max() < 0.02
    assert any("times 0.001" in note for note in anchors.notes)


@pytest.mark.slow
def test_a_symmetric_shape_is_called_doubtful():
    ball = bumpy_sphere(2, seed=0)
    round_one = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True)
    ellipsoid = Mesh(round_one * [1, 1.5, 2.2], ball.faces)
    part = cut_by_plane(ellipsoid, np.array([0.0, 0, 1]), keep_area=0.6)
    anchors = nho.find_anchors(part.mesh, ellipsoid)
    assert any("another placement" in note for note in anchors.notes)


@pytest.mark.slow
def test_the_same_bits_for_any_number_of_threads(piece, whole, found):
    settings = nho.preset("default").replace(threads=1)
    again = nho.find_anchors(piece.mesh, whole, settings)
    np.testing.assert_array_equal(
        again.vertices(piece.mesh, whole), found.vertices(piece.mesh, whole)
    )


def test_match_takes_auto_and_does_not_pin_what_was_found(piece, whole):
    events: list[nho.Progress] = []
    result = nho.match(piece.mesh, whole, "auto", progress=events.append)
    assert (result.vertex_map == piece.vertex_of_parent).mean() > 0.98
    assert not result.settings.recipe.pin_anchors
    assert result.timings["anchors"] > 0
    assert {"survey", "trials", "bending"} <= {event.stage for event in events}
    assert any("automatically" in note for note in result.notes)


@pytest.mark.parametrize("ratio", [0.6, 0.05, 1.1])
def test_shapes_that_fit_as_they_are_are_left_so(ratio):
    assert _plausible_unit(ratio) == 1


def test_units_are_powers_of_ten():
    assert _plausible_unit(0.5e6) == 1e-3
    assert _plausible_unit(0.5e-6) == 1e3
    assert _plausible_unit(1.9) == 0  # neither as it is nor by a power of ten


def test_scales_to_try_cover_all_sensible_shares():
    ratio = 5.4
    shares = ratio * _scales(ratio) ** 2
    assert shares.min() == pytest.approx(0.06)
    assert shares.max() == pytest.approx(1.1)
    assert (np.diff(np.log(np.sqrt(shares))) <= np.log(1.2) + 1e-12).all()


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("family", ["pfaust_m", "pfarm"])
def test_real_scans_without_a_mark(data, family):
    pair = FAMILIES[family].load(data, FAMILIES[family].names(data)[1])
    result = nho.match(pair.partial, pair.full, "auto")
    assert nho.evaluate(result, pair.full, pair.truth).geodesic_error < 5
