"""Common pair: other units, surfaces turned over and wrong anchors are found, said and undone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.problem.preparation import prepare
from nho.recipes.guided.comparable import normalise_pair

QUICK = nho.preset("default").replace(fit_steps=5, encoding_modes=20, rounds=1, threads=1)
NO_ROUNDS = QUICK.replace(rounds=0)


@pytest.fixture(scope="module")
def partial(piece) -> Mesh:
    """The piece, a little bent."""
    v = piece.mesh.vertices
    return Mesh(v + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces, "piece.ply")


@pytest.fixture(scope="module")
def anchors(piece, partial):
    chosen = sample_vertices(partial, 25)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def answer(whole, partial, anchors):
    return nho.match(partial, whole, anchors, QUICK)


def flipped(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces[:, ::-1], mesh.name)


def gaps(whole: Mesh, result: nho.MatchResult, wanted: np.ndarray) -> np.ndarray:
    """Distances from the matched points to the wanted ones, in mean edges."""
    return np.linalg.norm(result.points.positions(whole) - wanted, axis=1) / whole.mean_edge_length


def test_what_is_comparable_is_left_alone(whole, partial, anchors):
    problem = prepare(partial, whole, anchors)
    pair = normalise_pair(problem, QUICK.recipe)
    assert pair.partial is problem.partial.mesh and pair.full is problem.full.mesh
    assert pair.scale == 1.0 and pair.notes == () and len(pair.suspects) == 0
    np.testing.assert_array_equal(pair.distances.anchors, problem.anchors)


# Units


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_another_unit_of_the_partial_shape_is_found_said_and_undone(
    whole, partial, anchors, answer, unit
):
    result = nho.match(partial.scaled(unit), whole, anchors, QUICK)
    assert result.scale == pytest.approx(1 / unit, rel=1e-12)
    assert len(result.notes) == 1 and "piece.ply is larger or smaller" in result.notes[0]
    assert f"{result.scale:.4g}" in result.notes[0] and result.warnings == ()
    assert gaps(whole, result, answer.points.positions(whole)).max() < 1e-3
    np.testing.assert_array_equal(result.region, answer.region)
    np.testing.assert_allclose(result.confidence, answer.confidence, atol=1e-3)


@pytest.mark.parametrize("size", [0.03, 0.6, 4.0])
def test_a_size_that_is_no_unit_is_estimated(whole, partial, anchors, answer, size):
    result = nho.match(partial.scaled(size), whole, anchors, QUICK)
    assert result.scale == pytest.approx(1 / size, rel=0.05)
    gap = gaps(whole, result, answer.points.positions(whole))
    assert gap.mean() < 0.1 and gap.max() < 0.5
    assert (result.region != answer.region).mean() < 0.02
    np.testing.assert_allclose(result.confidence, answer.confidence, atol=0.05)


def test_the_scale_is_that_of_shapes_and_distances_alike(whole, partial, anchors):
    problem = prepare(partial.scaled(40.0), whole, anchors)
    pair = normalise_pair(problem, QUICK.recipe)
    given = problem.partial.mesh
    np.testing.assert_allclose(pair.partial.vertices, pair.scale * given.vertices)
    plain = normalise_pair(prepare(partial, whole, anchors), QUICK.recipe)
    np.testing.assert_allclose(pair.distances.partial, plain.distances.partial, rtol=0.05)
    np.testing.assert_array_equal(pair.distances.full, plain.distances.full)
    assert pair.scale == pytest.approx(1 / 40, rel=0.05)


@pytest.mark.parametrize(
    ("size", "same"), [(0.93, True), (1.08, True), (0.75, False), (1.35, False)]
)
def test_many_anchors_tell_specimens_of_another_size(whole, partial, anchors, size, same):
    problem = prepare(partial.scaled(size), whole, anchors)
    pair = normalise_pair(problem, QUICK.recipe)
    assert (pair.scale == 1.0) == same == (pair.notes == ())
    assert normalise_pair(problem, QUICK.replace(unit_factor=3.0).recipe).scale == 1.0


def test_pieces_without_a_path_between_them_do_not_change_the_unit(whole):
    """A scan in two pieces: the distance between them is unknown, not large."""
    x, vertices = whole.vertices[:, 0], whole.vertices
    kept = (np.abs(x) > 0.25 * np.abs(x).max())[whole.faces].all(axis=1)
    used = np.unique(whole.faces[kept])
    place = np.full(len(vertices), -1)
    place[used] = np.arange(len(used))
    partial = Mesh(vertices[used], place[whole.faces[kept]])
    for left, right in ((2, 3), (4, 4)):
        chosen = np.concatenate(
            [
                sample_vertices(partial, count, candidates=np.flatnonzero(side))
                for count, side in (
                    (left, partial.vertices[:, 0] < 0),
                    (right, partial.vertices[:, 0] > 0),
                )
            ]
        )
        pair = normalise_pair(
            prepare(partial, whole, np.stack([chosen, used[chosen]], axis=1)), QUICK.recipe
        )
        assert pair.scale == 1.0 and len(pair.suspects) == 0
        assert pair.distances.linked.sum() == left**2 + right**2


@pytest.mark.parametrize(("size", "same"), [(0.8, True), (1.25, True), (0.5, False), (1.8, False)])
def test_few_anchors_tell_only_what_differs_much(whole, partial, anchors, size, same):
    pair = normalise_pair(prepare(partial.scaled(size), whole, anchors[:5]), QUICK.recipe)
    assert (pair.scale == 1.0) == same == (pair.notes == ())


def test_anchors_all_at_one_place_are_refused_in_words(whole, partial):
    pairs = [[0, 7], [30, 7], [60, 7]]
    with pytest.raises(InputError, match=f"no two anchors.*piece.ply.*{whole.name}.*spread them"):
        normalise_pair(prepare(partial, whole, pairs), QUICK.recipe)


# Orientation


@pytest.mark.parametrize("count", [15, 25])
def test_a_partial_shape_turned_over_gives_the_same_map_and_a_note(whole, partial, anchors, count):
    plain = nho.match(partial, whole, anchors[:count], QUICK)
    over = nho.match(flipped(partial), whole, anchors[:count], QUICK)
    assert plain.warnings == () and len(over.warnings) == 1
    assert "piece.ply" in over.warnings[0] and "were flipped" in over.warnings[0]
    assert gaps(whole, over, plain.points.positions(whole)).max() < 1e-6
    np.testing.assert_allclose(over.confidence, plain.confidence, atol=1e-6)
    np.testing.assert_array_equal(over.region, plain.region)


def test_a_full_shape_turned_over_is_noticed_too(whole, partial, anchors, answer):
    over = nho.match(partial, flipped(whole), anchors, QUICK)
    assert len(over.warnings) == 1 and "were flipped" in over.warnings[0]
    # Its corners are numbered the other way round, and so are the barycentric coordinates.
    found = over.points.positions(flipped(whole))
    assert gaps(whole, answer, found).max() < 1e-3


@pytest.mark.parametrize(
    ("count", "changes"), [(14, {}), (25, {"orientation_weight": 0.0})], ids=["few", "unwanted"]
)
def test_orientation_is_not_judged_from_few_anchors_or_if_unwanted(
    whole, partial, anchors, count, changes
):
    problem = prepare(flipped(partial), whole, anchors[:count])
    pair = normalise_pair(problem, QUICK.replace(**changes).recipe)
    assert pair.partial is problem.partial.mesh and pair.notes == ()


def test_both_turned_over_is_as_good_as_none(whole, partial, anchors):
    problem = prepare(flipped(partial), flipped(whole), anchors)
    assert normalise_pair(problem, QUICK.recipe).notes == ()


# Wrong anchors


def spoiled(
    whole: Mesh, anchors: np.ndarray, seed: int, how: str, count: int = 2
) -> tuple[np.ndarray, list[int]]:
    """The anchors in another order, some of them wrong; and the rows of those."""
    random = np.random.default_rng(seed)
    given = random.permutation(anchors)  # rows of the user, not of the solver
    if how == "exchanged":
        first = int(random.integers(len(given)))
        away = np.linalg.norm(whole.vertices[given[:, 1]] - whole.vertices[given[first, 1]], axis=1)
        second = int(away.argmax())
        given[[first, second], 1] = given[[second, first], 1]
        return given, sorted([first, second])
    wrong = np.sort(random.choice(len(given), count, replace=False))
    for row in wrong:
        away = np.linalg.norm(whole.vertices - whole.vertices[given[row, 1]], axis=1)
        given[row, 1] = np.argsort(away)[-1 - random.integers(20)]
    return given, wrong.tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("how", ["moved", "exchanged"])
def test_wrong_anchors_are_named_as_given_and_do_no_harm(
    whole, piece, partial, anchors, answer, how, seed
):
    given, wrong = spoiled(whole, anchors, seed, how)
    result = nho.match(partial, whole, given, NO_ROUNDS)
    assert result.suspect_anchors == tuple(wrong)
    assert len(result.warnings) == 2
    for row, warning in zip(wrong, result.warnings, strict=True):
        said = f"anchor {row + 1} (partial vertex {given[row, 0]}, full vertex {given[row, 1]})"
        assert warning.startswith(said) and "not used" in warning
    truth = whole.vertices[piece.vertex_of_parent]
    assert gaps(whole, result, truth).mean() < 1.3 * gaps(whole, answer, truth).mean() < 0.35


def test_wrong_anchors_do_harm_when_nobody_checks_them(whole, piece, partial, anchors):
    given = anchors.copy()
    given[:4, 1] = given[[2, 3, 0, 1], 1]
    truth = whole.vertices[piece.vertex_of_parent]
    checked = nho.match(partial, whole, given, NO_ROUNDS)
    blind = nho.match(partial, whole, given, NO_ROUNDS.replace(anchor_limit=0.0, overlap=False))
    assert blind.suspect_anchors == () and set(checked.suspect_anchors) == {0, 1, 2, 3}
    assert gaps(whole, checked, truth).mean() < 0.5 * gaps(whole, blind, truth).mean()


def test_fewer_than_eight_anchors_cannot_outvote_one(whole, partial, anchors):
    for count, found in ((7, 0), (8, 1)):
        given = anchors[:count].copy()
        away = np.linalg.norm(whole.vertices - whole.vertices[given[0, 1]], axis=1)
        given[0, 1] = away.argmax()
        problem = prepare(partial, whole, given)
        pair = normalise_pair(problem, QUICK.recipe)
        assert len(pair.suspects) == found == len(pair.named_suspects(problem))
        assert len(pair.distances.anchors) == count - found


def test_many_wrong_anchors_do_not_spoil_the_unit(whole, partial, anchors):
    given, wrong = spoiled(whole, anchors, 0, "moved", count=7)
    problem = prepare(partial.scaled(25.4), whole, given)
    pair = normalise_pair(problem, QUICK.recipe)
    assert sorted(problem.anchor_rows[pair.suspects]) == wrong
    clean = prepare(partial.scaled(25.4), whole, np.delete(given, wrong, axis=0))
    # What remains decides, so the scale is the one that right anchors alone give.
    assert pair.scale == pytest.approx(normalise_pair(clean, QUICK.recipe).scale, rel=1e-9)
    assert pair.scale == pytest.approx(1 / 25.4, rel=0.05)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_many_wrong_anchors_do_not_feign_another_unit(whole, partial, anchors, seed):
    given, wrong = spoiled(whole, anchors, seed, "moved", count=7)
    pair = normalise_pair(prepare(partial, whole, given), QUICK.recipe)
    assert pair.scale == 1.0 and pair.notes == () and len(pair.suspects) == len(wrong)


def test_anchors_can_be_left_out_later_but_no_more_than_half(whole, partial, anchors):
    given, wrong = spoiled(whole, anchors, 0, "moved", count=3)
    problem = prepare(partial, whole, given)
    pair = normalise_pair(problem, QUICK.recipe)
    fewer = pair.without(np.array([5, 1]))
    assert len(fewer.suspects) == len(wrong) + 2 and set(pair.suspects) < set(fewer.suspects)
    np.testing.assert_array_equal(fewer.distances.anchors, problem.anchors[fewer.used])
    np.testing.assert_array_equal(fewer.orientation.pairs.max(), len(fewer.distances.anchors) - 1)
    assert set(np.flatnonzero(pair.used)[[1, 5]]) <= set(fewer.suspects)
    assert pair.without(np.empty(0, dtype=np.int64)) is pair
    least = pair.without(np.arange(pair.used.sum()))
    assert least.used.sum() == -(-len(anchors) // 2)  # the first of the list went
    assert not least.used[np.flatnonzero(pair.used)[0]]
    assert least.without(np.array([0])) is least
    below = replace(least, used=least.used & (np.cumsum(least.used) > 1))  # one less than half
    assert below.without(np.array([0, 1])) is below


@pytest.mark.parametrize("seed", [1, 2])
def test_what_distances_miss_the_bent_surface_tells(whole, piece, partial, anchors, seed):
    """Neighbours exchanged: their distances to all the others hardly change."""
    places = whole.vertices[anchors[:, 1]]
    first = int(np.random.default_rng(seed).integers(len(anchors)))
    second = int(np.argsort(np.linalg.norm(places - places[first], axis=1))[1])
    given = anchors.copy()
    given[[first, second], 1] = given[[second, first], 1]
    assert len(normalise_pair(prepare(partial, whole, given), QUICK.recipe).suspects) == 1
    result = nho.match(partial, whole, given, NO_ROUNDS)
    assert result.suspect_anchors == tuple(sorted((first, second)))
    assert gaps(whole, result, whole.vertices[piece.vertex_of_parent]).mean() < 0.25


def test_wrong_anchors_another_unit_and_a_turn_are_all_undone_at_once(
    whole, piece, partial, anchors
):
    given, wrong = spoiled(whole, anchors, 0, "moved")
    result = nho.match(flipped(partial).scaled(25.4), whole, given, NO_ROUNDS)
    assert result.suspect_anchors == tuple(wrong)
    assert len(result.warnings) == 3 and len(result.notes) == 1
    assert result.scale == pytest.approx(1 / 25.4, rel=0.05)
    assert gaps(whole, result, whole.vertices[piece.vertex_of_parent]).mean() < 0.35
