"""The recipe of preset `default` as a whole: what it finds, what must not matter, what it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import nho
from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import project
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls, sphere
from nho.problem.preparation import prepare
from nho.recipes.guided.bending import ITERATIONS
from nho.recipes.guided.distance_evidence import first_map

# Every part runs, with a small field and few steps.
QUICK = nho.preset("default").replace(
    fit_steps=5,
    encoding_modes=20,
    galerkin_modes=40,
    rounds=1,
    threads=1,
    many_anchors=100,
    look_again_below=2.0,
)
NO_ROUNDS = QUICK.replace(rounds=0, own_anchors=0)


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
    scores = region_scores(answer.region, piece.kept_vertices, whole.vertex_areas)
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


# Its switches


@pytest.mark.parametrize(
    "change",
    [
        {"bend": False},
        {"coordinates": "none"},
        {"coordinates": "laplacian"},
        {"relief": False},
        {"rounds": 0},
        {"weight_spectral": 0.01, "weight_topology": 0.3},
        {"negatives": False},
        {"insulated": False},
        {"calibrate_distances": False},
        {"orientation_weight": 0.0},
        {"start": "spline"},
    ],
    ids=str,
)
def test_every_switch_runs_and_matches(whole, other, anchors, truth, change):
    result = nho.match(other, whole, anchors, QUICK.replace(**change))
    assert result.status == "ok"
    assert gaps(whole, result, truth).mean() < (1.0 if "bend" in change else 0.35)
    at_vertices = np.isin(result.barycentric, (0.0, 1.0)).all()
    assert at_vertices == (change == {"bend": False})
    learns = change.get("coordinates", "hamiltonian") == "hamiltonian"
    learns &= change.get("bend", True) and change.get("rounds", 1) > 0
    assert ("operator 1" in result.curves) == learns


# Its rounds


def test_with_many_anchors_nothing_is_proposed(whole, other, anchors):
    many, few, none = (
        nho.match(other, whole, anchors, QUICK.replace(rounds=rounds, many_anchors=least))
        for rounds, least in ((2, 25), (2, 26), (0, 25))
    )
    assert len(few.curves["looks"]) > 1 and "operator 1" in few.curves
    assert set(many.curves) == set(none.curves) == {"bending"}
    course = [entry["gap"] for entry in many.curves["bending"]]
    assert len(course) == ITERATIONS and course[-1] < 0.5 * course[0]  # its real course
    assert many.barycentric.tobytes() == none.barycentric.tobytes()
    assert many.confidence.tobytes() == none.confidence.tobytes()


def test_a_better_proposal_is_bent_and_kept(whole, other, anchors, truth, monkeypatch):
    monkeypatch.setattr("nho.pipeline.second_opinion.DOUBTFUL_BELOW", 0.0)  # nobody else is asked
    pairs = anchors[:3]
    problem = prepare(other, whole, pairs)
    nearest = cKDTree(whole.vertices).query(truth)[1]
    true = problem.full.solver_of_given[nearest[problem.partial.given_of_solver]]

    def mirrored(*_):  # bending alone cannot turn that over
        vertices = problem.full.mesh.vertices
        return cKDTree(vertices).query(vertices[true] * [-1, 1, 1])[1]

    monkeypatch.setattr("nho.recipes.guided.starts.first_map", mirrored)
    plain = nho.match(other, whole, pairs, NO_ROUNDS.replace(start="distances", overlap=False))
    monkeypatch.setattr("nho.recipes.guided.second_looks.SpectralProposal.map", lambda *_: true)
    from_distances = QUICK.replace(start="distances", own_anchors=0, overlap=False)
    proposed = nho.match(other, whole, pairs, from_distances)
    first, second = (entry["score"] for entry in proposed.curves["looks"])
    assert second > first + 2 and proposed.curves["bending"] == plain.curves["bending"]
    assert gaps(whole, proposed, truth).mean() < 0.6 < 2 < gaps(whole, plain, truth).mean()
    strict = nho.match(other, whole, pairs, from_distances.replace(gain_needed=0.99))
    assert strict.barycentric.tobytes() == plain.barycentric.tobytes()


def test_a_sure_pose_is_not_looked_at_again(whole, other, anchors):
    sure, unsure, plain = (
        nho.match(other, whole, anchors, settings)
        for settings in (QUICK.replace(look_again_below=0.5), QUICK, NO_ROUNDS)
    )
    assert set(sure.curves) == {"bending"} and len(unsure.curves["looks"]) == 4
    assert_same_bits(sure, plain)


def test_a_part_that_slid_away_is_brought_back_by_what_lies_well(
    whole, other, anchors, truth, monkeypatch
):
    pairs = anchors[:3]
    problem = prepare(other, whole, pairs)
    nearest = cKDTree(whole.vertices).query(truth)[1]
    true = problem.full.solver_of_given[nearest[problem.partial.given_of_solver]]
    vertices = problem.full.mesh.vertices
    mirrored = cKDTree(vertices).query(vertices[true] * [-1, -1, 1])[1]
    slid = problem.partial.mesh.vertices[:, 2] < np.quantile(
        problem.partial.mesh.vertices[:, 2], 0.4
    )
    calls = []

    def partly_wrong(distances, *rest):
        calls.append(len(distances.anchors))
        if len(calls) > 1:
            return first_map(distances, *rest)
        return np.where(slid, mirrored, true)

    monkeypatch.setattr("nho.recipes.guided.starts.first_map", partly_wrong)
    settings = NO_ROUNDS.replace(start="distances", relief=False, overlap=False)
    plain = nho.match(other, whole, pairs, settings)
    calls.clear()
    mended = nho.match(other, whole, pairs, settings.replace(own_anchors=25))
    assert calls[0] == 3 and max(calls) > 20  # its own anchors beside the given ones
    before, after = (gaps(whole, result, truth).mean() for result in (plain, mended))
    assert after < 0.6 * before


# Its starts


def test_a_start_that_misleads_is_outdone_by_the_other(whole, other, anchors, truth, monkeypatch):
    pairs = anchors[::5]
    problem = prepare(other, whole, pairs)
    nearest = cKDTree(whole.vertices).query(truth)[1]
    true = problem.full.solver_of_given[nearest[problem.partial.given_of_solver]]

    def mirrored(*_):
        vertices = problem.full.mesh.vertices
        return cKDTree(vertices).query(vertices[true] * [-1, 1, 1])[1]

    monkeypatch.setattr("nho.recipes.guided.starts.first_map", mirrored)
    lost = nho.match(other, whole, pairs, NO_ROUNDS.replace(start="distances", overlap=False))
    found = nho.match(other, whole, pairs, NO_ROUNDS)
    assert gaps(whole, found, truth).mean() < 0.5 < 1 < gaps(whole, lost, truth).mean()


def test_a_spline_that_stretches_the_surface_is_no_start(whole, other, anchors):
    bent = other.moved(other.vertices @ np.diag([1, 1, 0.2]))  # as if the pose were another
    both, plain = (
        nho.match(bent, whole, anchors, NO_ROUNDS.replace(start=start))
        for start in ("both", "distances")
    )
    assert both.barycentric.tobytes() == plain.barycentric.tobytes()


# Its store


def test_stored_spectra_change_no_bit_and_are_used(whole, other, anchors, monkeypatch, tmp_path):
    monkeypatch.setenv("NHO_CACHE", "off")
    plain = nho.match(other, whole, anchors, QUICK)
    monkeypatch.setenv("NHO_CACHE", str(tmp_path))
    first = nho.match(other, whole, anchors, QUICK)
    stored = sorted(path.name for path in tmp_path.iterdir())
    assert len(stored) == 2  # one basis a shape

    def computed_again(*_):
        raise AssertionError("a stored basis was computed again")

    monkeypatch.setattr("nho.geometry.spectrum.neumann_basis", computed_again)
    second = nho.match(other, whole, anchors, QUICK)
    assert sorted(path.name for path in tmp_path.iterdir()) == stored
    assert_same_bits(plain, first)
    assert_same_bits(plain, second)


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
        has_partner = result.overlap >= 0.5  # what anchors contradict each other about has none
        np.testing.assert_array_equal(result.vertex_map >= 0, has_partner)
        assert np.isfinite(result.confidence).all()
