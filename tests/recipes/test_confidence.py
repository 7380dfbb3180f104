"""Confidence: a probability that falls with every doubt, and where the next anchor should go."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.geodesics import distances_from, unfolded_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.recipes.guided.confidence import confidence, signals, where_to_add
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.recipes.guided.spectral_proposal import SpectralProposal

QUICK = nho.preset("default").replace(fit_steps=5, encoding_modes=20, rounds=1, threads=1)
NAMES = ["nearest anchor", "distortion", "moved", "disagreement", "strain"]


@pytest.fixture(scope="module")
def distances(whole):
    chosen = sample_vertices(whole, 10)
    return AnchorDistances.measure(whole, whole, np.stack([chosen, chosen], axis=1))


@pytest.fixture(scope="module")
def lopsided(whole, piece):
    """A bent piece with anchors on one half only: its result, and distances to the anchors."""
    v = piece.mesh.vertices
    partial = Mesh(v * [1, 1.15, 0.9] + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces)
    one_half = np.flatnonzero(v[:, 0] < np.median(v[:, 0]))
    chosen = sample_vertices(partial, 15, candidates=one_half)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    away = distances_from(unfolded_graph(partial), chosen).min(axis=0)
    return nho.match(partial, whole, pairs, QUICK), away


def test_signals_are_logarithms_in_the_order_of_the_weights(distances):
    random = np.random.default_rng(0)
    given = random.uniform(0.1, 1, (3, distances.partial.shape[1]))
    found = signals(distances.partial.min(axis=0), *given, strain=0.3)
    assert found.shape == (distances.partial.shape[1], 5)
    np.testing.assert_allclose(np.exp(found[:, 1:4]).T, given, atol=0.01)
    np.testing.assert_allclose(np.exp(found[:, 4]), 0.3, atol=0.01)
    np.testing.assert_allclose(np.exp(found[:, 0]), distances.partial.min(axis=0), atol=0.01)


@pytest.mark.parametrize("column", range(5), ids=NAMES)
def test_confidence_falls_with_each_signal(column):
    found = np.log(np.full((50, 5), 0.02))
    found[:, column] = np.log(np.geomspace(1e-3, 2.0, 50))
    trust = confidence(found)
    assert (np.diff(trust) < 0).all()
    assert trust[0] - trust[-1] > 1e-3  # it counts


def test_confidence_is_a_probability_whatever_is_told():
    random = np.random.default_rng(0)
    found = np.log(10 ** random.uniform(-12, 6, (1000, 5)))
    found = np.concatenate([found, np.full((1, 5), 1e6), np.full((1, 5), -1e6)])
    with np.errstate(over="raise", invalid="raise"):
        trust = confidence(found)
    assert np.isfinite(trust).all() and (trust >= 0).all() and (trust <= 1).all()
    assert trust[-1] > 0.99 and trust[-2] < 0.01


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_no_doubt_at_all_is_finite_and_trusted_most(distances):
    nothing = np.zeros(distances.partial.shape[1])
    found = signals(distances.partial.min(axis=0), nothing, nothing, nothing, 0.0)
    assert np.isfinite(found).all()
    trust = confidence(found)
    assert trust[distances.anchors[:, 0]].min() == trust.max() > 0.9
    away = distances.partial.min(axis=0)
    assert (np.diff(trust[np.argsort(away, kind="stable")]) <= 0).all()


def test_a_hopeless_match_is_not_trusted(distances):
    bad = np.ones(distances.partial.shape[1])
    assert confidence(signals(distances.partial.min(axis=0), bad, bad, bad, 1.0)).max() < 0.5


@pytest.mark.parametrize("centre", [0, 77, 300])
def test_the_next_anchor_goes_into_the_doubtful_patch(whole, distances, centre):
    from_centre = distances_from(unfolded_graph(whole), np.array([centre]))[0]
    trust = np.where(from_centre < 0.6, 0.3, 0.99)
    found = where_to_add(trust, distances, whole)
    assert isinstance(found, int)
    # Not at the edge of the patch, where half of what it settles is settled already.
    assert from_centre[found] < 0.4


def test_the_next_anchor_prefers_a_large_doubtful_patch_to_a_single_worse_vertex(whole, distances):
    graph = unfolded_graph(whole)
    from_patch, from_spot = distances_from(graph, np.array([0, 300]))
    assert from_patch[300] > 1
    trust = np.where(from_patch < 0.5, 0.5, 0.99)
    trust[300] = 0.0
    assert from_patch[where_to_add(trust, distances, whole)] < 0.5
    trust[from_patch < 0.5] = 0.99  # without the patch, the spot is all there is
    assert from_spot[where_to_add(trust, distances, whole)] < 0.5 * distances.spacing


def test_area_counts_and_not_the_number_of_vertices(whole, distances):
    from_one, from_other = distances_from(unfolded_graph(whole), np.array([0, 300]))
    trust = np.full(len(whole.vertices), 0.99)
    trust[from_one < 0.4], trust[from_other < 0.4] = 0.5, 0.4
    assert from_other[where_to_add(trust, distances, whole)] < 0.4
    v, centre = whole.vertices, whole.vertices[300]
    shrunk = np.where(from_other[:, None] < 0.8, centre + 0.2 * (v - centre), v)
    assert from_one[where_to_add(trust, distances, Mesh(shrunk, whole.faces))] < 0.4


def test_confidence_is_lower_where_anchors_are_missing(lopsided):
    result, away = lopsided
    near, far = away < np.quantile(away, 0.3), away > np.quantile(away, 0.7)
    doubt = 1 - result.confidence
    assert doubt[far].mean() > 1.3 * doubt[near].mean()
    assert np.median(doubt[far]) > np.median(doubt[near])
    assert (0 <= result.confidence).all() and (result.confidence <= 1).all()


def test_the_next_anchor_goes_where_anchors_are_missing(lopsided):
    result, away = lopsided
    assert 0 <= result.next_anchor < len(away)
    assert away[result.next_anchor] > np.quantile(away, 0.6)
    assert result.confidence[result.next_anchor] < np.quantile(result.confidence, 0.3)


def test_another_anchor_where_it_was_asked_for_lowers_the_doubt(whole, piece, lopsided):
    result, _ = lopsided
    v = piece.mesh.vertices
    partial = Mesh(v * [1, 1.15, 0.9] + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces)
    asked = result.next_anchor
    pairs = np.concatenate([result.anchors, [[asked, piece.vertex_of_parent[asked]]]])
    again = nho.match(partial, whole, pairs, QUICK)
    near = distances_from(unfolded_graph(partial), np.array([asked]))[0] < 0.4
    assert (1 - again.confidence)[near].mean() < 0.9 * (1 - result.confidence)[near].mean()
    assert again.next_anchor != asked


def test_where_the_proposal_disagrees_trust_is_lost(whole, piece, monkeypatch):
    # No gain is enough, so the map stays as it is; only the doubt follows the proposal.
    settings = QUICK.replace(gain_needed=1.0, many_anchors=100, look_again_below=2.0)
    v = piece.mesh.vertices
    partial = Mesh(v + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces)
    chosen = sample_vertices(partial, 15)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    plain = nho.match(partial, whole, pairs, settings)
    propose = SpectralProposal.map

    def with_a_hole(self, bending, pose, number):
        target = propose(self, bending, pose, number)
        return np.where(bending._partial.vertices[:, 0] > 0, target[0], target)

    monkeypatch.setattr(SpectralProposal, "map", with_a_hole)
    doubted = nho.match(partial, whole, pairs, settings)
    np.testing.assert_array_equal(doubted.barycentric, plain.barycentric)
    changed = doubted.confidence != plain.confidence
    assert 0.2 < changed.mean() < 0.8
    assert (doubted.confidence < plain.confidence)[changed].mean() > 0.95


def test_anchors_that_were_found_make_nothing_near_them_certain():
    near, far = np.log([[0.002, 0.05, 0.01, 0.01, 0.3], [0.5, 0.05, 0.01, 0.01, 0.3]])
    marked = confidence(np.stack([near, far]))
    found = confidence(np.stack([near, far]), pinned=False)
    assert marked[0] > marked[1] + 0.05
    assert found[0] == found[1] < marked[0]
    worse = np.log([[0.002, 0.2, 0.01, 0.01, 0.3], [0.002, 0.05, 0.1, 0.1, 0.3]])
    assert (confidence(worse, pinned=False) < found[0]).all()
