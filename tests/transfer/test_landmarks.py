"""Landmarks through a map: all of them, in order, measured or predicted, with their errors."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.surface import SurfacePoints
from nho.transfer import carry_landmarks, fit_template
from nho.transfer.error_bars import RADIUS, of_measured, of_predicted
from nho.transfer.landmarks import distance_from_data
from tests.transfer.made import match_of_cut


@pytest.fixture(scope="module")
def marks(whole, piece):
    """Three vertices on the piece, then two off it, near and far."""
    inner = piece.vertex_of_parent[~piece.mesh.boundary_vertices][::50][:3]
    fit = fit_template(match_of_cut(piece, whole), piece.mesh, whole)
    away = distance_from_data(fit, whole)
    off = np.flatnonzero(~piece.kept_vertices)
    return np.r_[inner, off[away[off].argmin()], off[away[off].argmax()]]


def test_every_landmark_keeps_its_row_and_name(whole, piece, marks):
    points = SurfacePoints.at_vertices(whole, np.r_[marks, -1])
    found = carry_landmarks(match_of_cut(piece, whole), piece.mesh, whole, points, "abcdef")
    assert found.names == tuple("abcdef")
    assert found.status.tolist() == ["measured"] * 3 + ["missing"] * 3
    np.testing.assert_allclose(found.positions[:3], whole.vertices[marks[:3]], atol=1e-9)
    assert np.isnan(found.positions[3:]).all() and np.isnan(found.errors.expected[3:]).all()
    assert (found.errors.confidence[:3] > 0.99).all()


def test_predicted_ones_have_larger_errors_the_farther_from_the_data(whole, piece, marks):
    result = match_of_cut(piece, whole)
    points = SurfacePoints.at_vertices(whole, np.r_[marks, -1])
    found = carry_landmarks(result, piece.mesh, whole, points, "abcdef", predict=True)
    assert found.status.tolist() == ["measured"] * 3 + ["predicted"] * 2 + ["missing"]
    errors = found.errors
    assert errors.standard[:3].max() < errors.standard[3] < errors.standard[4]
    assert errors.confidence[3] > errors.confidence[4] > 0
    assert (errors.standard[:5] < errors.limit_95[:5]).all()
    away = np.linalg.norm(found.positions[3:5] - whole.vertices[marks[3:]], axis=1)
    assert (away < errors.limit_95[3:5]).all()


def test_errors_are_in_the_unit_of_the_scan(whole, piece, marks):
    points = SurfacePoints.at_vertices(whole, marks)
    plain = carry_landmarks(
        match_of_cut(piece, whole), piece.mesh, whole, points, "abcde", predict=True
    )
    result = match_of_cut(piece, whole, scale=0.001)
    small = piece.mesh.scaled(1000)
    other = carry_landmarks(result, small, whole, points, "abcde", predict=True)
    np.testing.assert_allclose(other.errors.standard, 1000 * plain.errors.standard, rtol=1e-6)
    np.testing.assert_allclose(other.positions, 1000 * plain.positions, rtol=1e-4, atol=1)


def test_a_match_in_the_wrong_place_predicts_with_less_confidence():
    sure, unsure = (of_predicted(np.array([0.1]), 1.0, chance) for chance in (1.0, 0.3))
    assert unsure.confidence[0] == pytest.approx(0.3 * sure.confidence[0])
    assert of_measured(np.array([0.2]), 1.0).expected > of_measured(np.array([0.9]), 1.0).expected


def test_error_bars_are_quantiles_of_one_distribution():
    """Drawn errors with the median and spread that two bars imply fall below both as often."""
    bars = of_predicted(np.array([0.2]), 1.0)
    spread = np.log(bars.limit_95 / bars.standard) / (1.6449 - 0.4677)
    median = bars.standard / np.exp(0.4677 * spread)
    drawn = np.exp(np.log(median) + spread * np.random.default_rng(0).normal(size=200_000))
    assert abs((drawn < bars.standard).mean() - 0.68) < 0.005
    assert abs((drawn < bars.limit_95).mean() - 0.95) < 0.003
    assert abs((drawn < RADIUS).mean() - bars.confidence[0]) < 0.005
    assert bars.expected[0] == pytest.approx(drawn.mean(), rel=0.01)


def test_landmarks_of_the_scan_are_never_predicted(whole, piece):
    points = SurfacePoints.at_vertices(piece.mesh, np.array([0]))
    with pytest.raises(InputError, match="only landmarks of the full shape"):
        carry_landmarks(
            match_of_cut(piece, whole),
            piece.mesh,
            whole,
            points,
            ["a"],
            source="partial",
            predict=True,
        )
