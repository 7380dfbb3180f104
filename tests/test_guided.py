"""The recipe of preset `default` as a whole: what it finds, what must not matter, what it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import nho
from nho.bending import Bending
from nho.confidence import confidence, where_to_add
from nho.distance_evidence import AnchorDistances
from nho.geodesics import distances_from, unfolded_graph
from nho.mesh import Mesh
from nho.parallel import SERIAL
from nho.problem import prepare
from nho.progress import ignore
from nho.sampling import sample_vertices
from nho.second_looks import SecondLooks
from nho.surface import project
from nho.synthetic import bumpy_sphere, cut_by_balls, cut_by_plane, sphere

# Every part runs, with a small field and few steps.
QUICK = nho.preset("default").replace(
    fit_steps=5, encoding_modes=20, galerkin_modes=40, rounds=1, threads=1
)
NO_ROUNDS = QUICK.replace(rounds=0)


@pytest.fixture(scope="module")
def truth(whole, piece):
    """Where the vertices of `other` belong: between the vertices of the whole, on its surface."""
    v = piece.mesh.vertices
    slide = np.column_stack([np.sin(2 * v[:, 1] + 1), np.cos(3 * v[:, 2]), np.sin(2 * v[:, 0])])
    return project(whole, v + 0.35 * whole.mean_edge_length * slide)[0].positions(whole)


@pytest.fixture(scope="module")
def other(piece, truth) -> Mesh:
    """The piece with other vertices (slid along the surface), and a little bent."""
    return Mesh(truth + 0.05 * np.sin(3 * truth[:, [1, 2, 0]]), piece.mesh.faces, "other.ply")


@pytest.fixture(scope="module")
def anchors(whole, other, truth):
    chosen = sample_vertices(other, 25)
    return np.stack([chosen, cKDTree(whole.vertices).query(truth[chosen])[1]], axis=1)


@pytest.fixture(scope="module")
def answer(whole, other, anchors):
    return nho.match(other, whole, anchors, QUICK)


def exact_anchors(cut, count: int) -> np.ndarray:
    chosen = sample_vertices(cut.mesh, count)
    return np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)


def gaps(whole: Mesh, result: nho.MatchResult, wanted: np.ndarray) -> np.ndarray:
    """Distances from the matched points to the wanted ones, in mean edges."""
    return np.linalg.norm(result.points.positions(whole) - wanted, axis=1) / whole.mean_edge_length


def assert_same_bits(ours: nho.MatchResult, theirs: nho.MatchResult) -> None:
    for name, array in ours.arrays().items():
        assert array.tobytes() == getattr(theirs, name).tobytes(), name


# What it finds


def test_an_exact_submesh_maps_to_itself(whole, piece):
    result = nho.match(piece.mesh, whole, exact_anchors(piece, 8), QUICK)
    gap = gaps(whole, result, piece.mesh.vertices)
    assert gap.mean() < 0.1 and gap.max() < 0.5
    assert (result.vertex_map == piece.vertex_of_parent).mean() > 0.98
    assert result.region[piece.kept_vertices].all()


def test_points_between_vertices_are_found_between_vertices(whole, truth, answer):
    gap = gaps(whole, answer, truth)
    assert gap.mean() < 0.35 and gap.max() < 1.0
    assert (answer.barycentric.max(axis=1) > 0.999).mean() < 0.2
    nearest = cKDTree(whole.vertices).query(truth)[0].mean() / whole.mean_edge_length
    assert gap.mean() < 0.9 * nearest  # no map to vertices can be this good


def test_vertex_map_is_the_nearest_corner(whole, answer):
    corners = whole.faces[answer.face]
    points = answer.points.positions(whole)
    away = np.linalg.norm(whole.vertices[corners] - points[:, None], axis=2)
    np.testing.assert_array_equal(answer.vertex_map, corners[np.arange(len(away)), away.argmin(1)])


def test_result_keeps_its_contract(whole, other, answer):
    assert answer.status == "ok" and answer.warnings == () and answer.suspect_anchors == ()
    assert answer.scale == 1.0
    assert (answer.face >= 0).all() and (answer.face < len(whole.faces)).all()
    assert (answer.barycentric >= 0).all()
    np.testing.assert_allclose(answer.barycentric.sum(axis=1), 1)
    assert (0 <= answer.confidence).all() and (answer.confidence <= 1).all()
    np.testing.assert_array_equal(answer.region, answer.region_score > 0.5)
    assert answer.confidence.shape == (len(other.vertices),)
    assert answer.region_score.shape == (len(whole.vertices),)


def test_the_region_is_found(whole, piece, answer):
    scores = nho.metrics.region_scores(
        answer.region, piece.kept_vertices, nho.metrics.vertex_areas(whole)
    )
    assert scores["iou"] > 0.93


def test_three_anchors_are_enough_to_match(whole, other, anchors, truth):
    result = nho.match(other, whole, anchors[:3], QUICK)
    assert gaps(whole, result, truth).mean() < 0.6


def test_a_closed_partial_surface_is_matched_and_covers_everything(whole):
    chosen = sample_vertices(whole, 12)
    bent = Mesh(whole.vertices + 0.04 * np.sin(3 * whole.vertices[:, [1, 2, 0]]), whole.faces)
    result = nho.match(bent, whole, np.stack([chosen, chosen], axis=1), QUICK)
    assert gaps(whole, result, whole.vertices).mean() < 0.4
    assert result.region.all()


# What must not matter


def test_the_number_of_threads_does_not_change_a_bit(whole, other, anchors, answer):
    assert answer.settings.threads == 1
    assert_same_bits(answer, nho.match(other, whole, anchors, QUICK.replace(threads=3)))


def test_order_of_vertices_faces_and_anchors_does_not_change_a_bit(whole, other, anchors, answer):
    random = np.random.default_rng(1)
    p_order, f_order = (random.permutation(len(m.vertices)) for m in (other, whole))
    p_place, f_place = np.argsort(p_order), np.argsort(f_order)
    face_order = random.permutation(len(whole.faces))
    partial = Mesh(other.vertices[p_order], random.permutation(p_place[other.faces], axis=0))
    full = Mesh(whole.vertices[f_order], f_place[whole.faces][face_order])
    rows = random.permutation(len(anchors))
    pairs = np.stack([p_place[anchors[rows, 0]], f_place[anchors[rows, 1]]], axis=1)
    shuffled = nho.match(partial, full, pairs, QUICK)
    np.testing.assert_array_equal(f_order[shuffled.vertex_map[p_place]], answer.vertex_map)
    np.testing.assert_array_equal(face_order[shuffled.face[p_place]], answer.face)
    np.testing.assert_array_equal(shuffled.barycentric[p_place], answer.barycentric)
    np.testing.assert_array_equal(shuffled.confidence[p_place], answer.confidence)
    np.testing.assert_array_equal(shuffled.region_score[f_place], answer.region_score)
    assert p_order[shuffled.next_anchor] == answer.next_anchor


def test_rigid_motion_and_a_common_scale_do_not_matter(whole, other, anchors, answer):
    random = np.random.default_rng(0)
    moved = []
    for mesh in (other, whole):
        turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        moved.append(Mesh(250 * (mesh.vertices @ turn + random.standard_normal(3)), mesh.faces))
    result = nho.match(*moved, anchors, QUICK)
    assert result.scale == 1.0 and result.warnings == ()
    assert gaps(whole, result, answer.points.positions(whole)).max() < 1e-3
    assert (result.region != answer.region).sum() <= 2
    np.testing.assert_allclose(result.confidence, answer.confidence, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_another_unit_of_the_partial_shape_is_found_said_and_undone(
    whole, other, anchors, answer, unit
):
    result = nho.match(other.scaled(unit), whole, anchors, QUICK)
    assert result.scale == pytest.approx(1 / unit, rel=0.1)
    assert len(result.warnings) == 1 and "other.ply is in another unit" in result.warnings[0]
    gap = gaps(whole, result, answer.points.positions(whole))
    assert gap.mean() < 0.05 and gap.max() < 0.5
    assert (result.region != answer.region).mean() < 0.02


# What it says


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_wrong_anchors_are_named_as_given_and_do_no_harm(whole, other, anchors, truth, seed):
    random = np.random.default_rng(seed)
    given = random.permutation(anchors)  # rows of the user, not of the solver
    wrong = np.sort(random.choice(len(given), 2, replace=False))
    for row in wrong:
        away = np.linalg.norm(whole.vertices - whole.vertices[given[row, 1]], axis=1)
        given[row, 1] = np.argsort(away)[-1 - random.integers(20)]
    result = nho.match(other, whole, given, NO_ROUNDS)
    assert result.suspect_anchors == tuple(wrong)
    for row in wrong:
        said = f"anchor {row} (partial vertex {given[row, 0]}, full vertex {given[row, 1]})"
        assert any(warning.startswith(said) for warning in result.warnings)
    assert gaps(whole, result, truth).mean() < 0.35


def test_wrong_anchors_do_harm_when_nobody_checks_them(whole, other, anchors, truth):
    given = anchors.copy()
    given[:4, 1] = given[[2, 3, 0, 1], 1]
    checked = nho.match(other, whole, given, NO_ROUNDS)
    blind = nho.match(other, whole, given, NO_ROUNDS.replace(anchor_limit=0.0))
    assert blind.suspect_anchors == () and set(checked.suspect_anchors) == {0, 1, 2, 3}
    assert gaps(whole, checked, truth).mean() < 0.5 * gaps(whole, blind, truth).mean()


def test_confidence_is_lower_far_from_anchors(other, anchors, answer):
    away = distances_from(unfolded_graph(other), anchors[:, 0]).min(axis=0)
    near, far = away < np.quantile(away, 0.2), away > np.quantile(away, 0.8)
    assert answer.confidence[far].mean() < 0.8 * answer.confidence[near].mean()


def test_next_anchor_is_far_from_the_anchors(other, anchors, answer):
    assert 0 <= answer.next_anchor < len(other.vertices)
    away = distances_from(unfolded_graph(other), anchors[:, 0]).min(axis=0)
    assert away[answer.next_anchor] > 0.6 * away.max()
    assert answer.confidence[answer.next_anchor] == pytest.approx(answer.confidence.min())


def test_next_anchor_lies_where_anchors_are_missing(whole, piece):
    height = piece.mesh.vertices[:, 0]
    chosen = sample_vertices(piece.mesh, 8, candidates=np.flatnonzero(height < 0))
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    result = nho.match(piece.mesh, whole, pairs, NO_ROUNDS)
    assert height[result.next_anchor] > 0.5 * height.max()


def test_confidence_falls_with_distortion_and_with_distance(whole):
    chosen = sample_vertices(whole, 6)
    distances = AnchorDistances.measure(whole, whole, np.stack([chosen, chosen], axis=1))
    still = np.zeros(len(whole.vertices))
    trust = confidence(still, distances)
    np.testing.assert_allclose(trust[chosen], 1)
    away = distances.partial.min(axis=0)
    assert (np.diff(trust[np.argsort(away, kind="stable")]) <= 1e-12).all()
    assert where_to_add(trust, distances) == away.argmax()
    bent = still.copy()
    bent[chosen[2]] = 2.0
    trust = confidence(bent, distances)
    assert trust[chosen[2]] < trust[np.delete(chosen, 2)].min()
    assert where_to_add(trust, distances) == chosen[2]
    np.testing.assert_allclose(
        confidence(still, distances.scaled_partial(9.0)), confidence(still, distances)
    )


# Its switches


@pytest.mark.parametrize(
    "change",
    [
        {"bend": False},
        {"coordinates": "none"},
        {"coordinates": "laplacian"},
        {"coordinates": "hamiltonian"},
        {"negatives": False},
        {"insulated": False},
        {"calibrate_distances": False},
        {"turn_weight": 0.0},
    ],
    ids=str,
)
def test_every_switch_runs_and_matches(whole, other, anchors, truth, change):
    result = nho.match(other, whole, anchors, QUICK.replace(**change))
    assert result.status == "ok"
    assert gaps(whole, result, truth).mean() < (1.0 if "bend" in change else 0.35)
    at_vertices = np.isin(result.barycentric, (0.0, 1.0)).all()
    assert at_vertices == (change == {"bend": False})
    learns = change.get("coordinates", "both") in ("both", "hamiltonian")
    learns &= change.get("bend", True) and change.get("rounds", 1) > 0
    assert ("operator 1" in result.curves) == learns


def test_a_round_counts_only_if_it_gains_enough():
    full = bumpy_sphere(3, seed=0)
    cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.7)
    v = cut.mesh.vertices
    partial = Mesh(v * [1, 1.3, 0.8] + 0.1 * np.sin(3 * v[:, [1, 2, 0]]), cut.mesh.faces)
    chosen = sample_vertices(partial, 3)
    pairs = np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)
    none = nho.match(partial, full, pairs, NO_ROUNDS)
    strict = nho.match(partial, full, pairs, QUICK.replace(gain_needed=0.9))
    eager = nho.match(partial, full, pairs, QUICK.replace(gain_needed=0.0))
    assert_same_bits(none, strict)
    first, second = (entry["distortion"] for entry in eager.curves["bending"])
    assert np.array_equal(eager.barycentric, none.barycentric) == (second >= first)
    assert second < first  # or this test proves nothing


def test_with_many_anchors_one_fruitless_round_is_enough(whole, other, anchors):
    settings = QUICK.replace(rounds=3, gain_needed=0.9, coordinates="laplacian")
    many = nho.match(other, whole, anchors, settings)
    few = nho.match(other, whole, anchors, settings.replace(many_anchors=26))
    assert len(many.curves["bending"]) == 1 + 1
    assert len(few.curves["bending"]) == 1 + 2


@pytest.mark.parametrize("insulated", [True, False])
def test_second_looks_repair_a_map_with_a_displaced_patch(whole, piece, insulated):
    pairs = exact_anchors(piece, 8)
    problem = prepare(piece.mesh, whole, pairs)
    partial, full = problem.partial.mesh, problem.full.mesh
    bending = Bending(partial, full, AnchorDistances.measure(partial, full, problem.anchors))
    settings = QUICK.replace(fit_steps=30, insulated=insulated)
    anchored = problem.anchors[:, 1]
    looks = SecondLooks(problem, bending, anchored, settings, SERIAL, ignore)
    true = problem.full.solver_of_given[piece.vertex_of_parent[problem.partial.given_of_solver]]
    pose = full.vertices[true].copy()
    patch = distances_from(unfolded_graph(partial), np.array([50]))[0] < 0.25
    pose[patch] += 0.15 * np.array([1.0, 1.0, 0.0])
    maps = looks.maps(pose, 1)
    assert len(maps) == 2 and set(looks.curves) == {"operator 1"}

    def error(target):
        gap = np.linalg.norm(full.vertices[target] - full.vertices[true], axis=1)
        return gap[patch].mean() / full.mean_edge_length

    before = error(bending.read_off(pose).nearest_vertex(full))
    assert before > 1.0
    for found in maps:
        assert error(found) < 0.6 * before


# Small and odd input


@pytest.mark.parametrize("radius", [0.05, 0.2, 0.3])
@pytest.mark.parametrize("level", [0, 1])
def test_tiny_meshes_are_matched(level, radius):
    full = bumpy_sphere(level, seed=0)
    cut = cut_by_balls(full, 1, radius, seed=1)
    pairs = np.stack([np.arange(5), cut.vertex_of_parent[:5]], axis=1)
    settings = nho.preset("default").replace(fit_steps=3, rounds=1)
    result = nho.match(cut.mesh, full, pairs, settings)
    assert (result.vertex_map >= 0).all() and np.isfinite(result.confidence).all()
    assert np.isfinite(result.region_score).all()


TRIANGLE = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], "triangle.off")
STRIP = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], "strip.off")


@pytest.mark.parametrize(
    "partial, full, pairs",
    [
        (STRIP, sphere(1), [[0, 0], [1, 1], [2, 2]]),
        (TRIANGLE, sphere(1), [[0, 0], [1, 1], [2, 2]]),
        (sphere(1), TRIANGLE, [[0, 0], [1, 1], [2, 2]]),
        (sphere(1), sphere(0), [[0, 0], [1, 0], [2, 0]]),  # every anchor ends at one vertex
        (sphere(1), sphere(1), [[0, 0], [1, 0], [2, 5]]),
    ],
    ids=["no interior", "one triangle", "to one triangle", "to one vertex", "two to one vertex"],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_odd_input_is_matched_or_refused_in_words(partial, full, pairs):
    try:
        result = nho.match(partial, full, pairs, QUICK)
    except nho.InputError as refusal:
        assert partial.name in str(refusal) or full.name in str(refusal)
        assert "nan" not in str(refusal)  # a message for users
    else:
        assert (result.vertex_map >= 0).all() and np.isfinite(result.confidence).all()
