"""Found anchors that may lay the partial shape in several places: the likeliest is the answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.anchors import Anchors
from nho.recipes.guided.placement import DOUBTFUL

FAST = nho.preset("default").replace(rounds=0, own_anchors=0, threads=1)


@pytest.fixture(scope="module")
def right(piece) -> np.ndarray:
    chosen = sample_vertices(piece.mesh, 25)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def wrong(right, whole) -> np.ndarray:
    """The same, turned by half around an axis."""
    turned = whole.vertices[right[:, 1]] * [-1, -1, 1]
    away = np.linalg.norm(whole.vertices[:, None] - turned, axis=2)
    return np.stack([right[:, 0], away.argmin(axis=0)], axis=1)


@pytest.fixture(scope="module")
def torn():
    """Half of an ellipsoid, and anchors for both ends of it."""
    ball = bumpy_sphere(3)
    shape = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True) * [1, 1.5, 2.2]
    full = Mesh(shape, ball.faces)
    part = cut_by_plane(full, np.array([0.0, 0, 1]), keep_area=0.6)
    chosen = sample_vertices(part.mesh, 25)
    goal = shape[part.vertex_of_parent[chosen]]
    ends = [
        np.stack([chosen, cKDTree(shape).query(goal * turn)[1]], axis=1)
        for turn in ([1, 1, 1], [1, -1, -1])
    ]
    return part.mesh, full, ends


def matched(monkeypatch, piece: Mesh, whole: Mesh, *sets: np.ndarray, settings=FAST):
    """By a search that finds these sets of anchors."""
    found = [Anchors.from_vertices(piece, whole, anchors) for anchors in sets]
    monkeypatch.setattr("nho.pipeline.matching.found_rivals", lambda *_: found)
    return nho.match(piece, whole, "auto", settings)


def test_the_likeliest_placement_is_the_answer(monkeypatch, piece, whole, right, wrong):
    plain = matched(monkeypatch, piece.mesh, whole, right)
    judged = matched(monkeypatch, piece.mesh, whole, wrong, right)
    np.testing.assert_array_equal(judged.vertex_map, plain.vertex_map)
    assert judged.status == "ok" and judged.chance == pytest.approx(plain.chance, abs=0.01)


def test_what_cannot_be_told_apart_is_doubtful_and_both_are_kept(monkeypatch, torn):
    part, full, ends = torn
    plain = matched(monkeypatch, part, full, ends[0])
    result = matched(monkeypatch, part, full, *ends)
    assert result.status.startswith(DOUBTFUL) and "another placement" in result.warnings[0]
    (other,) = result.alternatives
    assert other.chance <= result.chance and result.chance + other.chance <= 1
    assert result.confidence.mean() < 0.7 * plain.confidence.mean()
    assert other.points.positions(full).shape == part.vertices.shape
    tops = [np.sign(each.points.positions(full)[:, 2].mean()) for each in (result, other)]
    assert sorted(tops) == [-1, 1]


def test_the_same_place_found_twice_is_no_rival(monkeypatch, piece, whole, right):
    plain = matched(monkeypatch, piece.mesh, whole, right)
    twice = matched(monkeypatch, piece.mesh, whole, right, right[::-1])
    assert twice.alternatives == () and twice.chance == plain.chance


def test_an_alternative_without_a_chance_is_not_kept(monkeypatch, piece, whole, right, wrong):
    result = matched(monkeypatch, piece.mesh, whole, right, wrong)
    assert result.alternatives == () and not any("another" in text for text in result.warnings)


def test_marked_anchors_have_no_alternatives(piece, whole, right):
    result = nho.match(piece.mesh, whole, right, FAST)
    assert result.alternatives == () and 0.5 < result.chance <= 1


def test_alternatives_are_stored(monkeypatch, torn, tmp_path):
    part, full, ends = torn
    result = matched(monkeypatch, part, full, *ends)
    result.save(tmp_path)
    again = nho.MatchResult.load(tmp_path)
    assert again.chance == result.chance and len(again.alternatives) == 1
    for name in ("vertex_map", "face", "barycentric", "region"):
        np.testing.assert_array_equal(
            getattr(again.alternatives[0], name), getattr(result.alternatives[0], name)
        )


def test_alternatives_that_do_not_fit_are_refused(monkeypatch, torn, tmp_path):
    part, full, ends = torn
    result = matched(monkeypatch, part, full, *ends)
    result.save(tmp_path)
    with np.load(tmp_path / "result.npz") as stored:
        arrays = dict(stored)
    arrays["alternative_face"] = arrays["alternative_face"][:, :-1]
    np.savez(tmp_path / "result.npz", **arrays)
    with pytest.raises(nho.InputError, match="alternative_face"):
        nho.MatchResult.load(tmp_path)


def test_the_recipe_of_the_paper_takes_the_first(monkeypatch, piece, whole, right, wrong):
    settings = nho.preset("paper-fast").replace(fit_steps=2, rounds=0, refinement="none", threads=1)
    one, both = (
        matched(monkeypatch, piece.mesh, whole, *sets, settings=settings)
        for sets in ([right], [right, wrong])
    )
    np.testing.assert_array_equal(one.vertex_map, both.vertex_map)
    assert both.alternatives == ()
