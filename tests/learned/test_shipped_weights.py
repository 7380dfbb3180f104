"""The networks that come with the package: small, of their method, and better than none."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from nho.evaluation.metrics import geodesic_errors
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab import baselines
from nho.learned.backend import quiet_torch
from nho.learned.checkpoints import _SHIPPED, matcher_for
from nho.learned.methods import METHODS, new_matcher
from nho.learned.training_pairs import held_out

MOST_BYTES = 700_000


@pytest.fixture(scope="module")
def pairs():
    return held_out(11, 4, (400, 500))  # another seed than that of the training


def errors_of(matcher, pairs) -> float:
    errors = []
    for pair in pairs:
        target = matcher.features(pair.partial, pair.full).target
        found = SurfacePoints.at_vertices(pair.full, target)
        errors.append(geodesic_errors(pair.full, found, pair.truth).mean())
    return float(np.mean(errors))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_a_small_network_that_no_pose_in_space_changes(method, pairs):
    assert (_SHIPPED / f"{method}.npz").stat().st_size < MOST_BYTES
    matcher = matcher_for(method)
    assert matcher.architecture.method == method
    pair = pairs[0]
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    moved = Mesh(30 * pair.partial.vertices @ turn - 4, pair.partial.faces)
    plain = matcher.features(pair.partial, pair.full).target
    other = matcher.features(moved, pair.full.scaled(30)).target
    # Round-off may decide between two vertices that are equally near.
    assert (plain == other).mean() > 0.97


@pytest.mark.parametrize(
    "method",
    [name if name == "dpfm" else pytest.param(name, marks=pytest.mark.slow) for name in METHODS],
)
def test_each_network_matches_better_than_one_that_learned_nothing(method, pairs):
    matcher = matcher_for(method)
    with quiet_torch(0):
        fresh = new_matcher(matcher.architecture)
    assert errors_of(matcher, pairs) < 0.8 * errors_of(fresh, pairs)


def test_echomatch_answers_as_a_baseline_without_anchors_or_weights(pairs):
    pair = pairs[1]
    result = baselines.run("echomatch", pair.partial, pair.full, None)
    assert (result.vertex_map >= 0).all()
    assert result.region_score.shape == (pair.full.n_vertices,)
    assert 0 <= result.region_score.min() < result.region_score.max() <= 1
