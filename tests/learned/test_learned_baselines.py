"""Learned methods behind the one interface of all baselines, and anchors out of features."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from nho.errors import InputError
from nho.lab import baselines
from nho.settings import PaperRecipe, Settings

LEARNED = [name for name, method in baselines.BASELINES.items() if method.learned]


def test_importing_the_package_does_not_import_torch():
    code = "import sys, nho, nho.lab.baselines, nho.cli.app; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", LEARNED)
def test_without_torch_one_sentence_says_what_to_install(name, piece, whole, monkeypatch):
    monkeypatch.setattr("nho.learned.backend.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'needs? torch.*pip install "nho\[learned\]"'):
        baselines.run(name, piece.mesh, whole, None)


torch = pytest.importorskip("torch")

from nho.geometry.mesh import Mesh  # noqa: E402
from nho.learned import feature_anchors as anchors_module  # noqa: E402
from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.checkpoints import save_checkpoint  # noqa: E402
from nho.learned.feature_anchors import feature_anchors, two_sets  # noqa: E402
from nho.learned.matcher import Features  # noqa: E402
from nho.learned.methods import METHODS, new_matcher  # noqa: E402
from nho.operator.spectra import analyse  # noqa: E402
from nho.problem.preparation import prepare  # noqa: E402
from nho.recipes import paper as reciprocal  # noqa: E402
from nho.runtime.run import Run  # noqa: E402


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """Untrained networks of all methods, small ones."""
    folder = tmp_path_factory.mktemp("weights")
    for method in METHODS:
        with quiet_torch(3):
            net = new_matcher(
                Architecture(method, "hks", outputs=16, width=16, blocks=2, modes=40, map_modes=20)
            )
        save_checkpoint(folder / f"{method}.npz", net)
    return Settings(checkpoints=str(folder), threads=1)


@pytest.mark.parametrize("name", [name for name in LEARNED if name != "nho-dpfm"])
def test_results_are_whole_and_the_same_every_time(name, piece, whole, settings):
    one, two = (baselines.run(name, piece.mesh, whole, None, settings) for _ in range(2))
    assert (one.vertex_map >= 0).all() and one.vertex_map.max() < whole.n_vertices
    assert np.array_equal(one.vertex_map, two.vertex_map)
    assert np.array_equal(one.region_score, two.region_score)
    for score in (one.confidence, one.region_score):
        assert 0 <= score.min() and score.max() <= 1
    assert len(np.unique(one.confidence)) > 10


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_shape_finds_itself_again_whatever_the_weights(method, whole, settings):
    found = baselines.run(method, whole, whole, None, settings).vertex_map
    gap = np.linalg.norm(whole.vertices[found] - whole.vertices, axis=1)
    assert np.median(gap) < 0.5 * whole.mean_edge_length


def test_the_zoomed_map_is_another_one_with_the_same_region(piece, whole, settings):
    plain, zoomed = (
        baselines.run(name, piece.mesh, whole, None, settings) for name in ("dpfm", "dpfm+zoomout")
    )
    assert (plain.vertex_map != zoomed.vertex_map).any()
    assert np.array_equal(plain.region_score, zoomed.region_score)


def test_the_network_sees_the_shapes_where_they_were_given(piece, whole):
    moved = Mesh(7 * piece.mesh.vertices + [1.0, 2.0, 3.0], piece.mesh.faces)
    other = Mesh(7 * whole.vertices + [4.0, 5.0, 6.0], whole.faces)
    problem = prepare(moved, other, None)
    for side, given in ((problem.partial, moved), (problem.full, other)):
        seen = anchors_module.at_given_origin(side)
        wanted = given.vertices[side.given_of_solver] / np.sqrt(other.area)
        assert np.allclose(seen.vertices, wanted)


@pytest.fixture
def oracle(piece, whole, monkeypatch):
    """Features that know the truth but for a corner of the part, which falls into one vertex."""
    wrong = np.flatnonzero(piece.mesh.vertices[:, 0] > np.quantile(piece.mesh.vertices[:, 0], 0.9))

    def features(method, problem, run):
        truth = piece.vertex_of_parent.copy()
        truth[wrong] = truth[0]
        full = problem.full.solver_of_given[truth]
        places = whole.vertices[problem.full.given_of_solver]
        places = np.c_[places, np.full(len(places), 5.0)]  # directions tell places apart
        target = full[problem.partial.given_of_solver]
        mutual = np.ones(len(target), dtype=bool)
        return Features(places[target], places, target, np.eye(3), mutual, None)

    monkeypatch.setattr(anchors_module, "features_of", features)
    return set(wrong.tolist())


def test_anchors_from_features_are_right_spread_and_at_most_twenty_five(piece, whole, oracle):
    found = feature_anchors(piece.mesh, whole, "dpfm", Settings(threads=1))
    assert found.shape == (25, 2) and len(np.unique(found[:, 0])) == 25
    right = piece.vertex_of_parent[found[:, 0]] == found[:, 1]
    assert right.mean() >= 0.96
    apart = np.linalg.norm(
        piece.mesh.vertices[found[:, 0]][:, None] - piece.mesh.vertices[found[:, 0]], axis=2
    )
    assert apart[np.triu_indices(25, 1)].min() > 2 * piece.mesh.mean_edge_length


def test_anchors_are_matched_both_ways_by_the_map_that_they_come_from(
    piece, whole, oracle, monkeypatch
):
    plain = anchors_module.features_of
    half = piece.mesh.vertices[:, 1] > np.median(piece.mesh.vertices[:, 1])

    def features(method, problem, run):
        return replace(plain(method, problem, run), mutual=half[problem.partial.given_of_solver])

    monkeypatch.setattr(anchors_module, "features_of", features)
    found = feature_anchors(piece.mesh, whole, "dpfm", Settings(threads=1))
    assert len(found) >= 20 and half[found[:, 0]].all()


def test_features_that_say_nothing_give_no_anchors_but_a_sentence(piece, whole, monkeypatch):
    def noise(method, problem, run):
        random = np.random.default_rng(0)
        rows = [
            random.standard_normal((side.mesh.n_vertices, 8))
            for side in (problem.partial, problem.full)
        ]
        target = random.integers(problem.full.mesh.n_vertices, size=len(rows[0]))
        mutual = np.ones(len(target), dtype=bool)
        return Features(rows[0], rows[1], target, np.eye(3), mutual, None)

    monkeypatch.setattr(anchors_module, "features_of", noise)
    with pytest.raises(InputError, match="matches that can be believed.*mark anchors by hand"):
        feature_anchors(piece.mesh, whole, "dpfm", Settings(threads=1))


def test_the_operator_gets_what_is_undistorted_and_the_alignment_what_is_mutual(
    piece, whole, oracle
):
    problem = prepare(piece.mesh, whole, None)
    region, aligning = two_sets(problem, Run())
    seen = anchors_module.features_of("dpfm", problem, Run())
    own, other = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (seen.partial, seen.full)
    )
    cosine = own @ other.T
    target, back = cosine.argmax(axis=1), cosine.argmax(axis=0)
    distortion = anchors_module.distortion_of(problem, target, PaperRecipe())
    mutual = back[target] == np.arange(len(target))
    for found, kept in ((region, distortion < 0.42), (aligning, mutual & (distortion < 1.5))):
        assert np.array_equal(found, np.stack([np.arange(len(target)), target], axis=1)[kept])
    assert 0 < mutual.sum() < len(mutual) and len(region) < len(target)


def test_each_set_of_anchors_has_its_own_role_in_the_loop(piece, whole, oracle, monkeypatch):
    problem = prepare(piece.mesh, whole, None)
    region, aligning = two_sets(problem, Run())
    region, aligning = region[::4], aligning[::5]
    fitted, aligned = [], []

    def fit(field, objective, positives, *rest, **options):
        fitted.append(positives)
        return np.full(whole.n_vertices, 0.5), [], ""

    def align(source, target):
        aligned.append(len(source))
        return np.linalg.pinv(source) @ target

    monkeypatch.setattr(reciprocal, "fit_operator", fit)
    monkeypatch.setattr(reciprocal, "align", align)
    run = Run(Settings(recipe=PaperRecipe(rounds=1, refinement="none")))
    loop = reciprocal.ReciprocalLoop(analyse(problem, run), region, run, aligning)
    loop.run()
    assert np.array_equal(fitted[0], region[:, 1]) and aligned[0] == len(aligning)
    assert np.array_equal(fitted[1][: len(region)], region[:, 1]) and len(fitted[1]) > len(region)
    loop.map()
    assert aligned[1] > len(aligning)


@pytest.mark.slow
def test_ours_from_features_finds_region_and_map_without_anchors(piece, whole, oracle):
    found = baselines.run("nho-dpfm", piece.mesh, whole, None, Settings(threads=1))
    gap = np.linalg.norm(
        whole.vertices[found.vertex_map] - whole.vertices[piece.vertex_of_parent], axis=1
    )
    assert np.median(gap) < 3 * whole.mean_edge_length
    inside = np.zeros(whole.n_vertices, dtype=bool)
    inside[piece.vertex_of_parent] = True
    assert (found.region & inside).sum() / (found.region | inside).sum() > 0.6
    assert isinstance(found.settings.recipe, PaperRecipe)
