"""Shape spaces: known directions are found, also from halves, and errors are what they say."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import nho
from nho.errors import InputError
from nho.shapes.procrustes import normalised, pose_onto
from tests.shapes.family import TEMPLATE, family, shape_of


@pytest.fixture(scope="module")
def whole():
    positions, _, truth = family(12)
    return nho.ShapeSpace.fit(positions, TEMPLATE), truth


@pytest.fixture(scope="module")
def halves():
    positions, weights, truth = family(12, keep=0.6)
    return nho.ShapeSpace.fit(positions, TEMPLATE, weights), truth


def angle_to(space, other):
    flat = [(np.sqrt(each.model.areas)[:, None] * each.model.modes[:2]).reshape(2, -1).T
            for each in (space, other)]  # fmt: skip
    return np.rad2deg(subspace_angles(*flat).max())


def explained_by_truth(scores, truth):
    """Share of the variance of scores that the true coordinates explain, linearly."""
    design = np.c_[truth, truth**2, truth[:, :1] * truth[:, 1:], np.ones(len(truth))]
    left = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
    return 1 - (left**2).sum() / ((scores - scores.mean(axis=0)) ** 2).sum()


def test_two_directions_of_variation_give_two_components(whole):
    space, truth = whole
    assert len(space.model.variances) == 2
    assert space.explained.sum() > 0.95
    assert explained_by_truth(space.scores, truth) > 0.99


def test_modes_are_orthonormal_and_variances_those_of_the_scores(whole):
    space, _ = whole
    model = space.model
    product = np.einsum("p,kpx,lpx->kl", model.areas, model.modes, model.modes)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-9)
    found = (space.scores**2 + space.score_errors**2).mean(axis=0)
    np.testing.assert_allclose(found, model.variances, rtol=0.1)


@pytest.mark.slow
def test_pose_and_unit_do_not_matter_but_size_is_kept():
    positions, _, _ = family(8, seed=3)
    space = nho.ShapeSpace.fit(positions, TEMPLATE, components=2)
    again = nho.ShapeSpace.fit(7 * positions[:, :, [1, 2, 0]] + 3, TEMPLATE, components=2)
    np.testing.assert_allclose(again.scores, space.scores, atol=1e-6)
    np.testing.assert_allclose(again.sizes, 7 * space.sizes, rtol=1e-6)
    size = normalised(positions[0], space.model.areas)[1]
    assert space.sizes[0] == pytest.approx(size, rel=0.02)


def test_halves_give_the_space_of_the_whole_shapes(whole, halves):
    (space, _), (other, truth) = whole, halves
    assert angle_to(space, other) < 15
    assert explained_by_truth(other.scores, truth) > 0.85
    assert np.sqrt(((space.model.mean - other.model.mean) ** 2).sum(axis=1)).max() < 0.03


def test_scores_of_halves_have_larger_errors_and_these_hold(whole, halves):
    (space, _), (other, truth) = whole, halves
    assert (other.score_errors.mean(axis=0)[:2] > space.score_errors.mean(axis=0)[:2]).all()
    design = np.c_[truth, truth**2, truth[:, :1] * truth[:, 1:], np.ones(len(truth))]
    expected = design @ np.linalg.lstsq(design, other.scores, rcond=None)[0]
    off = np.abs(other.scores - expected)[:, :2] / other.score_errors[:, :2]
    assert (off < 2).mean() > 0.85


def test_a_missing_half_is_completed_better_than_by_the_mean(whole):
    space, _ = whole
    truth = 3 * shape_of(1.5, -1.0) + 7
    known = (TEMPLATE.vertices[:, 0] > 0).astype(float)
    found = space.estimate(np.where(known[:, None] > 0, truth, 0), known)
    pose = pose_onto(space.model.mean, truth, known)
    hidden = known == 0
    error = np.linalg.norm(found.positions - truth, axis=1)[hidden]
    of_mean = np.linalg.norm(pose.apply(space.model.mean) - truth, axis=1)[hidden]
    assert np.sqrt((error**2).mean()) < 0.4 * np.sqrt((of_mean**2).mean())
    assert found.size == pytest.approx(normalised(truth, space.model.areas)[1], rel=0.02)
    assert (error < 2.5 * found.errors[hidden]).mean() > 0.8


@pytest.mark.slow
def test_a_shape_of_another_kind_is_named():
    positions, _, _ = family(12, seed=1)
    positions[4] = positions[4] * (1 + 0.4 * np.sin(9 * TEMPLATE.vertices[:, [0]]))
    space = nho.ShapeSpace.fit(positions, TEMPLATE, names=[f"s{i}" for i in range(12)])
    assert list(space.outliers()) == ["s4"]


def test_saved_and_loaded_is_the_same(tmp_path, whole):
    space, _ = whole
    space.save(tmp_path)
    again = nho.ShapeSpace.load(tmp_path)
    np.testing.assert_array_equal(again.scores, space.scores)
    np.testing.assert_allclose(again.mesh([0.1, 0.2]).vertices, space.mesh([0.1, 0.2]).vertices,
                               atol=1e-6)  # fmt: skip
    assert again.names == space.names and again.outliers() == space.outliers()
    (tmp_path / "shapes.npz").write_bytes(b"no")
    with pytest.raises(InputError, match=r"shapes\.npz"):
        nho.ShapeSpace.load(tmp_path)


def test_what_cannot_be_a_shape_space_is_refused():
    positions, _, _ = family(5)
    with pytest.raises(InputError, match="of 3 shapes says nothing"):
        nho.ShapeSpace.fit(positions[:3], TEMPLATE)
    with pytest.raises(InputError, match="vertices"):
        nho.ShapeSpace.fit(positions[:, :9], TEMPLATE)
    with pytest.raises(InputError, match="2: weights"):
        weights = np.ones(positions.shape[:2])
        weights[2] = 0
        nho.ShapeSpace.fit(positions, TEMPLATE, weights)
