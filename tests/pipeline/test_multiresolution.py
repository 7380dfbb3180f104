"""Large meshes: the answer through coarse surfaces is the answer of every vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nho
from nho.evaluation.metrics import region_scores
from nho.geometry.coarsening import Coarse, coarsened
from nho.geometry.coverage import coverage
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.geometry.upsampling import carried_images, located, on_surface
from nho.pipeline import multiresolution as coarse_module
from nho.pipeline.multiresolution import upsample
from nho.problem.coarse_pair import coarse_pair
from nho.problem.preparation import prepare
from nho.problem.solution import Solution
from nho.recipes import paper as reciprocal
from nho.runtime.parallel import SERIAL
from nho.runtime.run import Run

DIRECT = nho.preset("default").replace(rounds=1, fit_steps=10, solve_vertices=0)
COARSE = DIRECT.replace(solve_vertices=600)


@pytest.fixture(scope="module")
def large() -> Mesh:
    """A closed surface of 2,562 vertices."""
    return bumpy_sphere(4, seed=3)


@pytest.fixture(scope="module")
def part(large):
    """Sixty percent of it: 1,500 vertices."""
    return cut_by_plane(large, np.array([0.2, 0.5, 1.0]), keep_area=0.6)


@pytest.fixture(scope="module")
def pairs(part):
    chosen = sample_vertices(part.mesh, 15)
    return np.stack([chosen, part.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def direct(large, part, pairs):
    return nho.match(part.mesh, large, pairs, DIRECT)


@pytest.fixture(scope="module")
def answer(large, part, pairs):
    return nho.match(part.mesh, large, pairs, COARSE)


def gaps(ours: nho.MatchResult, large: Mesh, there: np.ndarray) -> np.ndarray:
    """(n_partial,) distances of the images from (n_partial, 3) places, in mean edges."""
    return np.linalg.norm(ours.points.positions(large) - there, axis=1) / large.mean_edge_length


def equivalent(ours: nho.MatchResult, theirs: nho.MatchResult, large: Mesh) -> None:
    gap = gaps(ours, large, theirs.points.positions(large))
    assert np.quantile(gap, 0.99) < 0.05
    assert (ours.region == theirs.region).mean() > 0.998
    np.testing.assert_allclose(ours.confidence, theirs.confidence, atol=0.02)


def test_the_map_is_as_good_as_that_of_a_direct_solve(large, part, answer, direct):
    truth = large.vertices[part.vertex_of_parent]
    own, other = gaps(answer, large, truth), gaps(direct, large, truth)
    # A coarse edge is two fine ones; an image between coarse vertices is far better than that.
    assert own.mean() < other.mean() + 0.25
    assert np.quantile(own, 0.95) < np.quantile(other, 0.95) + 0.5


def test_the_region_is_as_sharp_as_the_fine_mesh_allows(large, part, answer, direct):
    areas = large.vertex_areas
    ious = [
        region_scores(result.region, part.kept_vertices, areas)["iou"]
        for result in (answer, direct)
    ]
    assert ious[0] > 0.96 and ious[0] > ious[1] - 0.02
    np.testing.assert_array_equal(answer.region, answer.region_score > 0.5)
    assert answer.region_score[~part.kept_vertices].max() < 0.9
    assert ((0 <= answer.region_score) & (answer.region_score <= 1)).all()


def test_the_score_falls_with_the_distance_from_the_region(large, part, answer):
    """Also across the line beyond which the coarse score is taken."""
    inside = large.vertices[part.kept_vertices]
    far = np.linalg.norm(large.vertices[:, None] - inside, axis=2).min(axis=1)
    order = np.argsort(far)
    outside = order[far[order] > 2 * large.mean_edge_length]
    thirds = np.array_split(answer.region_score[outside], 3)
    assert thirds[0].mean() > thirds[1].mean() > thirds[2].mean()
    assert thirds[2].max() < thirds[0].max()


@pytest.mark.parametrize("at_once", [10**6, 700])
def test_the_rule_between_the_fine_surfaces_is_that_of_coverage(large, part, at_once, monkeypatch):
    """In pieces of any size, and for what is far away up to the error of the coarse gap."""
    monkeypatch.setattr(coarse_module, "_ASKED_AT_ONCE", at_once)
    positions = 1.02 * part.mesh.vertices
    exact = coverage(part.mesh, positions, large).score()
    # What a coarse surface with edges three times as long would have said of the same gaps.
    coarse_edge = 3 * large.mean_edge_length
    told = 1 / (1 + (1 / exact - 1) / 9)
    found = coarse_module._covered_anew(part.mesh, positions, large, told, coarse_edge, SERIAL)
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    assert (told < 0.05).sum() > 100 and (told > 0.05).sum() > 1000


def test_images_are_valid_points_inside_triangles_of_the_fine_mesh(large, part, answer):
    assert answer.vertex_map.shape == (len(part.mesh.vertices),)
    assert ((answer.face >= 0) & (answer.face < len(large.faces))).all()
    assert (answer.barycentric >= 0).all()
    np.testing.assert_allclose(answer.barycentric.sum(axis=1), 1)
    np.testing.assert_array_equal(answer.points.nearest_vertex(large), answer.vertex_map)
    # More places than a coarse mesh has vertices: nothing collapsed.
    assert len(np.unique(answer.vertex_map)) > 0.75 * len(part.mesh.vertices)


def test_anchors_end_where_they_were_told_to(large, answer, direct, pairs):
    def miss(result: nho.MatchResult) -> np.ndarray:
        there = result.points[pairs[:, 0]].positions(large)
        gap = np.linalg.norm(there - large.vertices[pairs[:, 1]], axis=1)
        return gap / large.mean_edge_length

    assert miss(answer).max() < max(0.5, 2 * miss(direct).max())


def test_the_result_says_at_which_size_it_was_solved(large, part, answer, direct):
    (note,) = [note for note in answer.notes if "solve_vertices" in note]
    assert f"of {len(part.mesh.vertices)} vertices of {part.mesh.name}" in note
    assert f"of {len(large.vertices)} vertices of {large.name}" in note
    assert direct.notes == direct.warnings == answer.warnings == () and set(answer.curves) == set(
        direct.curves
    )
    assert {"coarsening", "carrying"} <= set(answer.timings)
    assert ((0 <= answer.confidence) & (answer.confidence <= 1)).all()


def test_progress_tells_of_coarsening_and_carrying(large, part, pairs):
    events: list[nho.Progress] = []
    nho.match(part.mesh, large, pairs, COARSE.replace(rounds=0), progress=events.append)
    last = {event.stage: event for event in events}
    assert list(last)[0] == "coarsening" and list(last)[-1] == "carrying"
    assert all(event.step == event.steps for event in last.values())


def test_twice_and_with_any_number_of_threads_the_bits_are_the_same(large, part, pairs, answer):
    for threads in (1, 3):
        again = nho.match(part.mesh, large, pairs, COARSE.replace(threads=threads))
        for name, array in answer.arrays().items():
            assert array.tobytes() == getattr(again, name).tobytes(), name


def test_order_of_vertices_faces_and_anchors_does_not_matter(large, part, pairs, answer):
    random = np.random.default_rng(1)
    p_order, f_order = (random.permutation(len(m.vertices)) for m in (part.mesh, large))
    p_place, f_place = np.argsort(p_order), np.argsort(f_order)
    partial = Mesh(
        part.mesh.vertices[p_order], random.permutation(p_place[part.mesh.faces], axis=0)
    )
    full = Mesh(large.vertices[f_order], random.permutation(f_place[large.faces], axis=0))
    given = np.stack([p_place[pairs[:, 0]], f_place[pairs[:, 1]]], axis=1)[::-1]
    shuffled = nho.match(partial, full, given, COARSE)
    np.testing.assert_array_equal(f_order[shuffled.vertex_map[p_place]], answer.vertex_map)
    np.testing.assert_array_equal(shuffled.confidence[p_place], answer.confidence)
    np.testing.assert_array_equal(shuffled.region_score[f_place], answer.region_score)
    assert p_order[shuffled.next_anchor] == answer.next_anchor


def test_pose_and_unit_do_not_matter(large, part, pairs, answer):
    random = np.random.default_rng(0)
    moved = []
    for mesh in (part.mesh, large):
        rotation = np.linalg.qr(random.standard_normal((3, 3)))[0]
        rotation *= np.sign(np.linalg.det(rotation))
        moved.append(Mesh(1e6 * mesh.vertices @ rotation + 1e6, mesh.faces, mesh.name))
    equivalent(answer, nho.match(moved[0], moved[1], pairs, COARSE), large)


def test_shapes_in_different_units_are_matched_all_the_same(large, part, pairs, answer):
    metres = Mesh(part.mesh.vertices / 1000, part.mesh.faces)
    result = nho.match(metres, large, pairs, COARSE)
    assert result.scale == pytest.approx(1000, rel=0.05)
    truth = large.vertices[part.vertex_of_parent]
    assert gaps(result, large, truth).mean() < gaps(answer, large, truth).mean() + 0.3
    size = next(w for w in result.notes if "solve_vertices" in w)
    assert size == next(w for w in answer.notes if "solve_vertices" in w).replace(
        part.mesh.name, metres.name
    )


def test_a_wrong_anchor_is_named_by_its_own_row(large, part, pairs):
    wrong = pairs.copy()
    wrong[4, 1] = pairs[11, 1]
    result = nho.match(part.mesh, large, wrong[::-1], COARSE.replace(rounds=0))
    assert len(wrong) - 1 - 4 in result.suspect_anchors


@pytest.mark.parametrize("which", ["partial", "full"])
def test_only_the_mesh_that_is_large_is_made_coarse(large, part, pairs, which):
    most = 2000 if which == "full" else 1400
    small = bumpy_sphere(3, seed=3)  # the same surface in 642 vertices
    full, given = large, pairs
    if which == "partial":
        full = small
        nearest = nho.project(small, large.vertices[pairs[:, 1]])[0].nearest_vertex(small)
        given = np.stack([pairs[:, 0], nearest], axis=1)
    result = nho.match(part.mesh, full, given, DIRECT.replace(solve_vertices=most))
    (note,) = [note for note in result.notes if "solve_vertices" in note]
    untouched = part.mesh if which == "full" else full
    n = len(untouched.vertices)
    assert f"{n} of {n} vertices of {untouched.name}" in note
    gap = gaps(result, full, large.vertices[part.vertex_of_parent])
    assert gap.mean() < 0.7


def test_the_coarse_problem_keeps_anchors_and_the_way_back(large, part, pairs):
    problem = prepare(part.mesh, large, pairs)
    pair = coarse_pair(problem, 600, SERIAL)
    coarse = pair.problem
    np.testing.assert_array_equal(coarse.anchor_rows, problem.anchor_rows)
    sides = ((coarse.partial, problem.partial), (coarse.full, problem.full))
    for column, (side, fine) in enumerate(sides):
        at_anchor = side.given_of_solver[coarse.anchors[:, column]]
        np.testing.assert_array_equal(at_anchor, pairs[coarse.anchor_rows, column])
        back = side.solver_of_given[side.given_of_solver]
        np.testing.assert_array_equal(back, np.arange(len(side.mesh.vertices)))
        assert len(side.given_face) == len(side.mesh.faces)
        assert 100 < len(side.mesh.vertices) < 0.6 * len(fine.mesh.vertices)
    assert coarse.full.mesh.area == pytest.approx(1)
    density = [len(side.mesh.vertices) / side.mesh.area for side, _ in sides]
    assert density[0] == pytest.approx(density[1], rel=0.2)


def test_an_answer_of_the_papers_recipe_is_upsampled_as_it_is(large, part, pairs):
    settings = nho.preset("paper").replace(
        fit_steps=20, rounds=0, galerkin_modes=60, refine_last=30, refinement="zoomout"
    )
    problem = prepare(part.mesh, large, pairs)
    pair = coarse_pair(problem, 600, SERIAL)
    coarse = reciprocal.solve(pair.problem, Run(settings))
    fine = upsample(problem, pair, coarse, SERIAL)
    score = fine.region_score[pair.full.vertex]
    np.testing.assert_allclose(score, coarse.region_score, atol=1e-12)
    assert len(np.unique(fine.region_score)) > 1000  # in between, not copied cell by cell
    np.testing.assert_allclose(fine.confidence[pair.partial.vertex], coarse.confidence, atol=1e-12)
    wanted = coarse.points.positions(pair.full.mesh)
    found = fine.points[pair.partial.vertex].positions(problem.full.mesh)
    miss = np.linalg.norm(found - wanted, axis=1) / pair.full.mesh.mean_edge_length
    assert np.median(miss) < 0.1 and np.quantile(miss, 0.95) < 1


def test_vertices_the_solver_does_not_see_stay_without_a_match(large, part, pairs):
    n = len(part.mesh.vertices)
    partial = Mesh(
        np.concatenate([part.mesh.vertices, part.mesh.vertices[:3] + 100, [[7.0, 7.0, 7.0]]]),
        np.concatenate([part.mesh.faces, [[n, n + 1, n + 2]]]),
    )
    result = nho.match(partial, large, pairs, COARSE.replace(rounds=0))
    assert (result.vertex_map[n:] == -1).all() and (result.confidence[n:] == 0).all()
    assert (result.vertex_map[:n] >= 0).all()


def test_several_components_and_edges_of_three_faces_survive(large, part, pairs):
    n = len(part.mesh.vertices)
    i, j = part.mesh.edges[len(part.mesh.edges) // 2]
    island = bumpy_sphere(1, seed=0)
    partial = Mesh(
        np.concatenate(
            [part.mesh.vertices, [2 * part.mesh.vertices[i]], 0.02 * island.vertices + 3]
        ),
        np.concatenate([part.mesh.faces, [[i, j, n]], n + 1 + island.faces]),
    )
    given = np.concatenate([pairs, [[n + 5, int(pairs[3, 1])]]])
    result = nho.match(partial, large, given, COARSE.replace(rounds=0))
    assert any("2 connected components" in warning for warning in result.warnings)
    assert (result.vertex_map >= 0).all() and np.isfinite(result.barycentric).all()


@pytest.mark.parametrize("count", [1, 199])
def test_a_size_too_small_for_a_surface_is_refused(count):
    with pytest.raises(nho.InputError, match=f"solve_vertices={count} leaves too little"):
        COARSE.replace(solve_vertices=count)


def test_a_partial_mesh_that_is_inside_out_is_upsample_to_the_right_sheet(large, part, pairs):
    """The full shape has a second sheet close inside the first, facing the other way."""
    n = len(large.vertices)
    both = Mesh(
        np.concatenate([large.vertices, 0.996 * large.vertices]),
        np.concatenate([large.faces, n + large.faces[:, ::-1]]),
    )
    # One anchor on the inner sheet, or it would be left out.
    lone = int(np.setdiff1d(np.arange(len(part.mesh.vertices)), pairs[:, 0])[0])
    given = np.concatenate([pairs, [[lone, n + part.vertex_of_parent[lone]]]])
    for turned in (False, True):
        faces = part.mesh.faces[:, ::-1] if turned else part.mesh.faces
        problem = prepare(Mesh(part.mesh.vertices, faces), both, given)
        row = int(np.flatnonzero(problem.anchor_rows == 0)[0])
        pair = coarse_pair(problem, 600, SERIAL)
        start, end = problem.anchors[row]
        shift = problem.full.mesh.vertices[end] - problem.partial.mesh.vertices[start]
        # The outer sheet of the coarse full shape.
        outer = problem.full.given_of_solver[pair.full.vertex] < n
        chosen = np.flatnonzero(outer[pair.full.mesh.faces].all(axis=1))
        sheet = Mesh(pair.full.mesh.vertices, pair.full.mesh.faces[chosen])
        points = nho.project(sheet, pair.partial.mesh.vertices + shift)[0]
        points = SurfacePoints(chosen[points.face], points.barycentric)
        answer = Solution(points, np.ones(len(points)), np.ones(len(pair.full.vertex)), COARSE)
        fine = upsample(problem, pair, answer, SERIAL)
        found = problem.full.given_face[fine.points.face]
        assert (found < len(large.faces)).mean() > 0.99


def test_everything_else_of_an_answer_is_carried_to_its_own_vertex(large, part, pairs):
    problem = prepare(part.mesh, large, pairs)
    pair = coarse_pair(problem, 600, SERIAL)
    vertices = pair.partial.mesh.vertices
    coarse = Solution(
        points=nho.project(pair.full.mesh, vertices)[0],
        confidence=0.5 + 0.1 * vertices[:, 0],
        region_score=np.full(len(pair.full.vertex), 0.5),
        settings=COARSE,
        status="odd",
        warnings=("told",),
        curves={"fit": [{"loss": 1.0}]},
        suspects=np.array([2]),
        scale=1.0,
        next_anchor=17,
        signals=np.stack([vertices[:, 1], vertices[:, 2]], axis=1),
    )
    fine = upsample(problem, pair, coarse, SERIAL)
    there = problem.partial.mesh.vertices
    # A zigzag of the fine rim lies outside the coarse one; all else is interpolated.
    edge = pair.partial.mesh.mean_edge_length
    np.testing.assert_allclose(fine.confidence, 0.5 + 0.1 * there[:, 0], atol=0.05 * edge)
    np.testing.assert_allclose(fine.signals, there[:, 1:], atol=0.5 * edge)
    assert np.abs(fine.signals - there[:, 1:]).mean() < 0.03 * edge
    assert fine.next_anchor == pair.partial.vertex[17] != 17
    assert fine.suspects.tolist() == [2] and fine.curves == coarse.curves
    assert fine.status == "odd" and fine.warnings == ("told",) and len(fine.notes) == 1
    assert upsample(problem, pair, replace(coarse, next_anchor=-1), SERIAL).next_anchor == -1


# ---- carrying, by itself ------------------------------------------------------------------------


def test_a_rigid_motion_of_the_coarse_surface_moves_the_fine_one_rigidly(large, part):
    coarse = coarsened(part.mesh, 300, np.empty(0, dtype=np.int64))
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    images = 7 * coarse.mesh.vertices @ rotation.T + [1, 2, 3]
    places = located(part.mesh, coarse, SERIAL)
    moved = carried_images(part.mesh, coarse, places, images, scale=7.0)
    np.testing.assert_allclose(moved, 7 * part.mesh.vertices @ rotation.T + [1, 2, 3], atol=1e-9)


def test_vertices_lie_on_the_triangles_around_their_own_cell(part):
    coarse = coarsened(part.mesh, 300, np.empty(0, dtype=np.int64))
    places = located(part.mesh, coarse, SERIAL)
    assert (coarse.mesh.faces[places.face] == coarse.cell[:, None]).any(axis=1).all()
    there = places.positions(coarse.mesh)
    np.testing.assert_allclose(there[coarse.vertex], coarse.mesh.vertices, atol=1e-12)
    # No other triangle of the star is closer.
    row = int(np.argmax(np.linalg.norm(there - part.mesh.vertices, axis=1)))
    star = np.flatnonzero((coarse.mesh.faces == coarse.cell[row]).any(axis=1))
    alone = Mesh(coarse.mesh.vertices, coarse.mesh.faces[star])
    best = nho.project(alone, part.mesh.vertices[[row]])[1][0]
    assert np.linalg.norm(there[row] - part.mesh.vertices[row]) == pytest.approx(best)


def test_where_the_map_jumps_a_vertex_follows_its_nearest_corner():
    """Two triangles; the image of one corner of the second lies far away."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    faces = np.array([[0, 1, 2], [1, 3, 2]])
    coarse = Coarse(Mesh(corners, faces), np.arange(4), np.arange(4), np.arange(2))
    images = corners.copy()
    images[3] += [0, 0, 50]
    weights = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
    places = SurfacePoints(np.array([0, 1, 1]), weights)
    fine = Mesh(places.positions(coarse.mesh), [[0, 1, 2]])
    moved = carried_images(fine, coarse, places, images, scale=1.0)
    np.testing.assert_allclose(moved[0], fine.vertices[0], atol=1e-12)
    np.testing.assert_allclose(moved[1], fine.vertices[1], atol=1e-12)  # beside corner 1
    assert moved[2, 2] > 49  # beside corner 3


def test_sheets_that_nearly_touch_are_told_apart_by_the_way_they_face(large):
    """A closed shape within a slightly larger copy of it that is turned inside out."""
    n = len(large.vertices)
    both = Mesh(
        np.concatenate([large.vertices, 1.004 * large.vertices]),
        np.concatenate([large.faces, n + large.faces[:, ::-1]]),
    )
    # Halfway between the sheets and a little nearer to the wrong one.
    for factor, flipped in ((1.0025, False), (1.0015, True)):
        faces = large.faces[:, ::-1] if flipped else large.faces
        points = on_surface(Mesh(large.vertices, faces), factor * large.vertices, both, 1, SERIAL)
        found = points.face >= len(large.faces)
        assert (found == flipped).mean() > 0.99
