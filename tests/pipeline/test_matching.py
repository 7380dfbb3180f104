"""`match` as a whole: what must not change the answer, and what must be said."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls, sphere
from nho.operator.spectra import analyse
from nho.problem.preparation import prepare
from nho.recipes.paper import ReciprocalLoop
from nho.runtime.run import Run

# The paper's recipe with fewer steps and modes: every part runs, in about a second.
QUICK = nho.preset("paper").replace(
    fit_steps=60, rounds=2, galerkin_modes=60, refine_last=60, refine_increment=20
)
FEW_STEPS = QUICK.replace(fit_steps=5, rounds=1)  # where any answer will do


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = sample_vertices(piece.mesh, 25)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def answer(whole, piece, anchors):
    return nho.match(piece.mesh, whole, anchors, QUICK)


def interior_gap(whole, piece, vertex_map, of_parent=None):
    """Distances from the images of interior vertices to the truth, in mean edges."""
    truth = piece.vertex_of_parent if of_parent is None else of_parent
    gap = np.linalg.norm(whole.vertices[vertex_map] - whole.vertices[truth], axis=1)
    return gap[~piece.mesh.boundary_vertices] / whole.mean_edge_length


def equivalent(ours: nho.MatchResult, theirs: nho.MatchResult, whole: Mesh) -> None:
    """The same answer up to round-off that training amplifies."""
    gap = np.linalg.norm(
        whole.vertices[ours.vertex_map] - whole.vertices[theirs.vertex_map], axis=1
    )
    assert (gap <= 1.01 * whole.mean_edge_length).mean() > 0.97
    both = (ours.region & theirs.region).sum() / (ours.region | theirs.region).sum()
    assert both > 0.98
    assert np.abs(ours.confidence - theirs.confidence).mean() < 0.03


def test_an_exact_submesh_maps_nearly_to_itself(whole, piece, answer):
    gap = interior_gap(whole, piece, answer.vertex_map)
    assert np.median(gap) < 1.1
    assert (gap < 3).mean() > 0.9


def test_the_region_is_found(whole, piece, answer):
    scores = region_scores(answer.region, piece.kept_vertices, whole.vertex_areas)
    assert scores["iou"] > 0.75


def test_without_the_operator_coordinates_and_region_know_nothing_of_it(
    whole, piece, anchors, answer
):
    plain = nho.match(piece.mesh, whole, anchors, QUICK.replace(coordinates="laplacian"))
    assert "spectral" in answer.curves["fit"][0] and "spectral" not in plain.curves["fit"][0]
    # A field of its own is nearly 0 or 1; the energy of localised eigenfunctions is not.
    decided = ((plain.region_score < 0.05) | (plain.region_score > 0.95)).mean()
    assert decided > ((answer.region_score < 0.05) | (answer.region_score > 0.95)).mean()
    assert (answer.vertex_map != plain.vertex_map).any()
    # Which map is better differs from seed to seed on this shape; that the coordinates are those of
    # the plain Laplacian does not.
    for coordinates in ("laplacian", "hamiltonian"):
        run = Run(QUICK.replace(coordinates=coordinates, rounds=1))
        problem = prepare(piece.mesh, whole, anchors)
        spectra = analyse(problem, run)
        loop = ReciprocalLoop(spectra, problem.anchors, run)
        loop.run()
        count = loop.modes.functions.shape[1]
        same = np.array_equal(loop.modes.functions, spectra.full_basis.first(count).functions)
        assert same == (coordinates == "laplacian")


def test_result_keeps_its_contract(whole, piece, answer):
    n_partial, n_full = len(piece.mesh.vertices), len(whole.vertices)
    assert answer.vertex_map.shape == answer.face.shape == answer.confidence.shape == (n_partial,)
    assert answer.barycentric.shape == (n_partial, 3)
    assert answer.region.shape == answer.region_score.shape == (n_full,)
    assert answer.status == "ok" and answer.warnings == ()
    np.testing.assert_array_equal(answer.points.nearest_vertex(whole), answer.vertex_map)
    np.testing.assert_allclose(answer.barycentric.sum(axis=1), 1)
    assert (0 <= answer.confidence).all() and (answer.confidence <= 1).all()
    np.testing.assert_array_equal(answer.region, answer.region_score > 0.5)
    assert set(answer.curves) == {"fit", "round 1", "round 2", "refine"}
    assert {"anchor", "area", "topology", "spectral", "loss"} <= set(answer.curves["fit"][0])


@pytest.fixture(scope="module")
def after_few_steps(whole, piece, anchors):
    return nho.match(piece.mesh, whole, anchors, FEW_STEPS)


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads(
    whole, piece, anchors, after_few_steps
):
    for threads in (1, 3):
        again = nho.match(piece.mesh, whole, anchors, FEW_STEPS.replace(threads=threads))
        for name, array in after_few_steps.arrays().items():
            assert array.tobytes() == getattr(again, name).tobytes(), name


def test_another_seed_gives_another_field(whole, piece, anchors, after_few_steps):
    other = nho.match(piece.mesh, whole, anchors, FEW_STEPS.replace(seed=1))
    assert not np.array_equal(other.region_score, after_few_steps.region_score)


def test_inputs_are_never_changed(whole, piece, anchors):
    vertices, faces = piece.mesh.vertices.copy(), piece.mesh.faces.copy()
    full_vertices, full_faces, pairs = whole.vertices.copy(), whole.faces.copy(), anchors.copy()
    before = [a.tobytes() for a in (vertices, faces, full_vertices, full_faces, pairs)]
    nho.match((vertices, faces), (full_vertices, full_faces), pairs, FEW_STEPS)
    assert before == [a.tobytes() for a in (vertices, faces, full_vertices, full_faces, pairs)]


@pytest.mark.parametrize("scale", [1e-6, pytest.param(1e6, marks=pytest.mark.slow)])
def test_scale_does_not_matter(whole, piece, anchors, answer, scale):
    other = nho.match(
        Mesh(piece.mesh.vertices * scale, piece.mesh.faces),
        Mesh(whole.vertices * scale, whole.faces),
        anchors,
        QUICK,
    )
    equivalent(answer, other, whole)


def test_rigid_motion_does_not_matter(whole, piece, anchors, answer):
    random = np.random.default_rng(0)
    turned = []
    for mesh in (piece.mesh, whole):
        rotation = np.linalg.qr(random.standard_normal((3, 3)))[0]
        rotation *= np.sign(np.linalg.det(rotation))
        turned.append(Mesh(mesh.vertices @ rotation + random.standard_normal(3), mesh.faces))
    equivalent(answer, nho.match(turned[0], turned[1], anchors, QUICK), whole)


def test_order_of_vertices_and_faces_does_not_matter(whole, piece, anchors, answer):
    random = np.random.default_rng(1)
    p_order, f_order = (random.permutation(len(m.vertices)) for m in (piece.mesh, whole))
    p_place, f_place = np.argsort(p_order), np.argsort(f_order)
    partial = Mesh(
        piece.mesh.vertices[p_order], random.permutation(p_place[piece.mesh.faces], axis=0)
    )
    full = Mesh(whole.vertices[f_order], random.permutation(f_place[whole.faces], axis=0))
    pairs = np.stack([p_place[anchors[:, 0]], f_place[anchors[:, 1]]], axis=1)
    shuffled = nho.match(partial, full, pairs, QUICK)
    np.testing.assert_array_equal(f_order[shuffled.vertex_map[p_place]], answer.vertex_map)
    np.testing.assert_array_equal(shuffled.confidence[p_place], answer.confidence)
    np.testing.assert_array_equal(shuffled.region_score[f_place], answer.region_score)


def test_order_of_anchors_does_not_matter(whole, piece, anchors, after_few_steps):
    reversed_rows = nho.match(piece.mesh, whole, anchors[::-1], FEW_STEPS)
    for name, array in after_few_steps.arrays().items():
        assert array.tobytes() == getattr(reversed_rows, name).tobytes(), name


@pytest.mark.slow
def test_the_reduced_operator_and_plain_zoomout_also_match(whole, piece, anchors):
    settings = QUICK.replace(readout_operator="reduced", refinement="zoomout")
    result = nho.match(piece.mesh, whole, anchors, settings)
    assert np.median(interior_gap(whole, piece, result.vertex_map)) < 1.5


def test_fitting_with_the_sparse_operator_runs(whole, piece, anchors):
    settings = QUICK.replace(loss_operator="sparse", fit_steps=3, rounds=1, refinement="none")
    result = nho.match(piece.mesh, whole, anchors, settings)
    assert result.status == "ok" and np.isfinite(result.curves["fit"][-1]["loss"])


def test_fewer_anchors_than_modes_lower_the_dimension_of_the_alignment(whole, piece, anchors):
    result = nho.match(piece.mesh, whole, anchors[:5], FEW_STEPS)
    assert result.status == "ok"
    assert (result.vertex_map >= 0).all()


def test_progress_tells_every_stage_to_its_end(whole, piece, anchors):
    events: list[nho.Progress] = []
    nho.match(piece.mesh, whole, anchors, QUICK.replace(fit_steps=3), progress=events.append)
    last = {event.stage: event for event in events}
    assert list(last) == ["spectra", "fit", "round 1", "round 2", "refine"]
    assert all(event.step == event.steps for event in last.values())
    assert last["fit"].loss is not None


@pytest.mark.slow
def test_a_closed_partial_surface_is_matched_with_a_note(whole):
    chosen = sample_vertices(whole, 25)
    result = nho.match(whole, whole, np.stack([chosen, chosen], axis=1), QUICK)
    assert any("closed" in note for note in result.notes)
    gap = np.linalg.norm(whole.vertices[result.vertex_map] - whole.vertices, axis=1)
    assert np.median(gap) < 1.5 * whole.mean_edge_length


def test_meshes_with_fewer_vertices_than_modes_are_matched_with_notes():
    full = bumpy_sphere(1, seed=0)  # 42 vertices: fewer than K = 100 and than 100 stages
    cut = cut_by_balls(full, 1, 0.2, seed=0)
    pairs = np.stack([np.arange(5), cut.vertex_of_parent[:5]], axis=1)
    result = nho.match(cut.mesh, full, pairs, nho.preset("paper").replace(fit_steps=5, rounds=1))
    assert any("galerkin_modes is lowered from 100" in note for note in result.notes)
    assert any("refine_last is lowered from 100" in note for note in result.notes)
    assert (result.vertex_map >= 0).all()


def test_a_partial_surface_without_interior_is_refused():
    full = sphere(1)
    strip = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], "strip.off")
    with pytest.raises(nho.InputError, match=r"strip\.off: 0 interior vertices"):
        nho.match(strip, full, [[0, 0], [1, 1], [2, 2]])


def test_a_component_without_anchors_is_left_out_and_marked(whole, piece, anchors):
    far = piece.mesh.vertices[:4] + 100
    partial = Mesh(
        np.concatenate([piece.mesh.vertices, far]),
        np.concatenate([piece.mesh.faces, len(piece.mesh.vertices) + np.array([[0, 1, 2]])]),
        "scan.ply",
    )
    result = nho.match(partial, whole, anchors, QUICK.replace(rounds=0, refinement="none"))
    assert (result.vertex_map[-4:] == -1).all() and (result.face[-4:] == -1).all()
    assert np.isnan(result.barycentric[-4:]).all() and (result.confidence[-4:] == 0).all()
    assert (result.vertex_map[:-4] >= 0).all()
    assert any("hold no anchor" in note for note in result.notes)


def test_a_loss_that_breaks_down_returns_the_best_iterate_with_a_status(
    whole, piece, anchors, monkeypatch
):
    import nho.operator.losses

    original = nho.operator.losses.area_loss
    calls = []

    def failing(*arguments):
        calls.append(1)
        value, gradient = original(*arguments)
        return (np.nan if len(calls) == 6 else value), gradient

    monkeypatch.setattr(nho.operator.losses, "area_loss", failing)
    result = nho.match(piece.mesh, whole, anchors, QUICK.replace(rounds=0, refinement="none"))
    assert "not finite" in result.status
    losses = [row["loss"] for row in result.curves["fit"]]
    assert len(losses) == 5 and (result.vertex_map >= 0).all()
    # The best iterate is what a fit of that many steps ends with.
    monkeypatch.setattr(nho.operator.losses, "area_loss", original)
    steps = int(np.argmin(losses))
    settings = QUICK.replace(rounds=0, refinement="none", fit_steps=steps)
    best = nho.match(piece.mesh, whole, anchors, settings)
    np.testing.assert_array_equal(result.region_score, best.region_score)
