"""Baselines: what each recovers, and that they treat shapes and anchors as `match` does."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.evaluation.metrics import region_scores
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane, take_faces
from nho.lab import baselines
from nho.lab.baselines.readout import image_score, nearness
from tests.lab.baselines.conftest import installed, visibly

# Learned ones need torch and weights, and `nho-auto` is `match`, which has much to tell:
# tests/features and tests/anchor_search have theirs.
NAMES = [
    name
    for name, method in baselines.BASELINES.items()
    if method.solver is not None and not method.learned
]
DEAR_SLOWLY = [
    pytest.param(name.values[0], marks=pytest.mark.slow) if "hamiltonian" in name.values else name
    for name in visibly(NAMES)
]
ANCHORED = [name for name in NAMES if baselines.BASELINES[name].anchored]


def pairs_of(cut: Cut, count: int) -> np.ndarray:
    chosen = sample_vertices(cut.mesh, count)
    return np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def anchors(piece):
    return pairs_of(piece, 25)


@pytest.fixture(scope="module")
def cases(whole, piece):
    """Part and whole to try each method on: tiny ones for those that search without anchors."""
    ball = bumpy_sphere(1, seed=0)
    tiny = cut_by_plane(ball, np.array([0.0, 0.3, 1.0]), keep_area=0.6)
    return {name: (piece, whole) if name in ANCHORED else (tiny, ball) for name in NAMES}


@pytest.fixture(scope="module")
def events():
    """What each method told while it found its answer."""
    return {name: [] for name in NAMES}


@pytest.fixture(scope="module")
def answers(cases, events):
    return {
        name: baselines.run(name, cut.mesh, full, pairs_of(cut, 25), progress=events[name].append)
        for name, (cut, full) in cases.items()
        if installed(name)
    }


def sheet(rolled: bool) -> Mesh:
    """A strip of 59 x 23 unit squares: flat, or rolled up with every square halved the other way.

    So distances differ a little between the two, as between any two meshes of one surface.
    """
    u, v = (axis.ravel().astype(float) for axis in np.meshgrid(range(60), range(24)))
    corner = (np.arange(59) + 60 * np.arange(23)[:, None]).ravel()
    a, b, c, d = corner, corner + 1, corner + 61, corner + 60
    if rolled:
        at, halves = (
            np.stack([10 * np.sin(u / 10), v, 10 - 10 * np.cos(u / 10)]),
            (a, b, d, b, c, d),
        )
    else:
        at, halves = np.stack([u, v, np.zeros_like(u)]), (a, b, c, a, c, d)
    return Mesh(at.T, np.stack(halves, axis=1).reshape(-1, 3), "sheet")


@pytest.fixture(scope="module")
def rolled() -> tuple[Cut, Mesh, np.ndarray]:
    """A corner cut off a rolled strip, the flat strip, and anchors."""
    bent, flat = sheet(rolled=True), sheet(rolled=False)
    cut = take_faces(bent, (flat.vertices @ [1.0, 1.0, 0.0])[bent.faces].max(axis=1) < 60)
    return cut, flat, pairs_of(cut, 12)


def gaps(result: nho.MatchResult, full: Mesh, truth: np.ndarray) -> np.ndarray:
    """Distances from the matched points to the true vertices, in mean edges."""
    found = result.points.positions(full)
    return np.linalg.norm(found - full.vertices[truth], axis=1) / full.mean_edge_length


@pytest.mark.parametrize(
    ("name", "mean_gap"),
    [
        ("nearest", 1e-9),
        ("anchor-distance", 1e-9),
        ("anchor-distance+zoomout", 0.1),
        ("anchor-distance+arap", 0.01),
    ],
)
def test_a_cut_of_the_same_surface_is_recovered(whole, piece, answers, name, mean_gap):
    result = answers[name]
    assert gaps(result, whole, piece.vertex_of_parent).mean() < mean_gap
    scores = region_scores(result.region, piece.kept_vertices, whole.vertex_areas)
    assert scores["recall"] > 0.97 and scores["precision"] > 0.8


@pytest.mark.slow
def test_bending_and_another_mesh_cost_what_each_method_should_pay(rolled):
    cut, flat, pairs = rolled
    mean = {
        name: gaps(baselines.run(name, cut.mesh, flat, pairs), flat, cut.vertex_of_parent).mean()
        for name in filter(installed, ANCHORED)
    }
    assert mean["nearest"] > 5
    assert 0.5 < mean["anchor-distance"] < 1.6
    assert mean["anchor-distance+zoomout"] < 0.2
    assert mean["anchor-distance+arap"] < 0.4 * mean["anchor-distance+zoomout"]


def test_nearest_undoes_any_similarity_and_tells_the_scale(whole, piece, anchors):
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    moved = Mesh(250 * piece.mesh.vertices @ turn.T + [5.0, -900.0, 3.0], piece.mesh.faces)
    result = baselines.run("nearest", moved, whole, anchors[:3])
    assert gaps(result, whole, piece.vertex_of_parent).max() < 1e-6
    assert result.scale == pytest.approx(1 / 250)


@pytest.mark.parametrize("name", DEAR_SLOWLY)
def test_vertices_keep_the_order_they_were_given_in(cases, answers, name):
    random = np.random.default_rng(1)
    piece, whole = cases[name]
    anchors = pairs_of(piece, 25)
    p_order, f_order = (random.permutation(len(m.vertices)) for m in (piece.mesh, whole))
    p_place, f_place = np.argsort(p_order), np.argsort(f_order)
    partial = Mesh(piece.mesh.vertices[p_order], p_place[piece.mesh.faces])
    full = Mesh(whole.vertices[f_order], random.permutation(f_place[whole.faces], axis=0))
    pairs = np.stack([p_place[anchors[:, 0]], f_place[anchors[:, 1]]], axis=1)
    shuffled, answer = baselines.run(name, partial, full, pairs[::-1]), answers[name]
    image = shuffled.vertex_map[p_place]
    image = np.where(image >= 0, f_order[image], -1)  # some methods find the region alone
    np.testing.assert_array_equal(image, answer.vertex_map)
    np.testing.assert_array_equal(shuffled.confidence[p_place], answer.confidence)
    np.testing.assert_array_equal(shuffled.region_score[f_place], answer.region_score)


@pytest.mark.parametrize("name", visibly(NAMES))
def test_a_result_keeps_its_contract_and_says_where_the_time_went(cases, answers, name):
    result, (piece, whole) = answers[name], cases[name]
    result.check_meshes(piece.mesh, whole)
    assert result.status == "ok" and result.warnings == () and result.suspect_anchors == ()
    np.testing.assert_array_equal(result.points.nearest_vertex(whole), result.vertex_map)
    np.testing.assert_array_equal(result.region, result.region_score > 0.5)
    assert (0 <= result.confidence).all() and (result.confidence <= 1).all()
    assert {"prepare", "total"} < set(result.timings)


@pytest.mark.parametrize("name", visibly(ANCHORED))
def test_a_component_without_anchors_is_left_out_and_marked(whole, piece, anchors, name):
    far = piece.mesh.vertices[:3] + 100
    partial = Mesh(
        np.concatenate([piece.mesh.vertices, far]),
        np.concatenate([piece.mesh.faces, len(piece.mesh.vertices) + np.array([[0, 1, 2]])]),
    )
    result = baselines.run(name, partial, whole, anchors)
    assert (result.vertex_map[-3:] == -1).all() and (result.vertex_map[:-3] >= 0).all()
    assert any("hold no anchor" in note for note in result.notes)


# Not pyFM: to its descriptors of landmarks, two parts that are alike are one (3.5 edges off).
@pytest.mark.parametrize("name", visibly([name for name in ANCHORED if name != "pyfm"]))
def test_two_components_with_anchors_are_both_matched(whole, name):
    ring = np.abs(whole.vertices[whole.faces] @ [0.0, 0.0, 1.0]).min(axis=1) > 0.15
    used, faces = np.unique(whole.faces[ring], return_inverse=True)
    partial = Mesh(whole.vertices[used], faces.reshape(-1, 3))
    assert partial.components.max() == 1
    spread = sample_vertices(partial, 12, "euclidean")
    result = baselines.run(name, partial, whole, np.stack([spread, used[spread]], axis=1))
    assert np.median(gaps(result, whole, used)) < 1.0
    assert np.isfinite(result.confidence).all() and np.isfinite(result.region_score).all()


@pytest.mark.parametrize("name", visibly(NAMES))
def test_progress_tells_every_stage_to_its_end(answers, events, name):
    last = {event.stage: event for event in events[name]}
    assert last and all(event.step == event.steps for event in last.values())


@pytest.mark.parametrize("name", [n for n in DEAR_SLOWLY if n.values[0] not in ANCHORED])
def test_methods_without_anchors_ignore_those_they_are_given(cases, answers, name):
    cut, full = cases[name]
    result, answer = baselines.run(name, cut.mesh, full, None), answers[name]
    np.testing.assert_array_equal(result.vertex_map, answer.vertex_map)
    np.testing.assert_array_equal(result.region_score, answer.region_score)
    assert len(answer.anchors) == 0


@pytest.mark.parametrize("name", visibly(ANCHORED))
def test_too_few_anchors_are_refused(whole, piece, anchors, name):
    with pytest.raises(nho.InputError, match="2 distinct anchors given, at least 3"):
        baselines.run(name, piece.mesh, whole, anchors[:2])
    with pytest.raises(nho.InputError, match=f"{name.split('+')[0]}.*give at least three"):
        baselines.run(name, piece.mesh, whole, None)


def test_an_unknown_name_is_refused_with_those_that_exist(whole, piece, anchors):
    with pytest.raises(
        nho.InputError, match="'nearst' is unknown; choose paper, paper-fast, default, nearest, "
    ):
        baselines.run("nearst", piece.mesh, whole, anchors)


def test_the_last_stage_holds_the_anchors(whole, piece, anchors, answers):
    result = answers["anchor-distance+arap"]
    found = result.points.positions(whole)[anchors[:, 0]]
    miss = np.linalg.norm(found - whole.vertices[anchors[:, 1]], axis=1)
    assert miss.max() < 0.05 * whole.mean_edge_length


@pytest.mark.parametrize("name", visibly(ANCHORED))
def test_meshes_with_fewer_vertices_than_modes_are_matched(name):
    full = bumpy_sphere(1, seed=0)
    cut = cut_by_plane(full, np.array([0.0, 0.3, 1.0]), keep_area=0.6)
    assert len(cut.mesh.vertices) < 50
    result = baselines.run(name, cut.mesh, full, pairs_of(cut, 8))
    assert np.median(gaps(result, full, cut.vertex_of_parent)) < 0.5


def test_the_region_is_the_image_grown_by_two_mean_edges(whole):
    image = np.array([5, 5, 17])
    gap = distances_from(edge_graph(whole), np.array([5, 17])).min(axis=0)
    near = gap < 2 * whole.mean_edge_length
    np.testing.assert_array_equal(image_score(whole, image) > 0.5, near)
    assert image_score(whole, image)[[5, 17]].tolist() == [1, 1]


def test_confidence_falls_to_1_over_e_at_one_spacing(whole):
    anchored = np.array([0, 3, 200])
    distance = distances_from(edge_graph(whole), anchored)
    between = distance[:, anchored]
    spacing = np.median([between[0, [1, 2]].min(), between[1, [0, 2]].min(), between[2, :2].min()])
    trust = nearness(whole, anchored)
    np.testing.assert_allclose(-np.log(trust), distance.min(axis=0) / spacing, atol=1e-12)
