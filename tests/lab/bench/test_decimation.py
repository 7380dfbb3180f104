"""A coarser full mesh: the truth goes there and answers come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nho.evaluation.ground_truth import GroundTruth, region_around
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.decimation import Decimation, decimated
from nho.lab.bench.perturb import Conditions, present
from nho.lab.bench.scores import judge
from nho.problem.result import MatchResult
from nho.settings import Settings


@pytest.fixture(scope="module")
def pair(whole, piece) -> AnnotatedPair:
    target = piece.vertex_of_parent.copy()
    target[:5] = -1
    points = SurfacePoints.at_vertices(whole, target)
    return AnnotatedPair("piece", piece.mesh, whole, GroundTruth(points, piece.kept_vertices))


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_about_that_share_of_the_faces_is_left_near_the_surface(whole, share):
    coarse = decimated(whole, share)
    assert len(coarse.faces) == pytest.approx(share * len(whole.faces), rel=0.1)
    assert len(np.unique(coarse.faces)) == len(coarse.vertices)
    assert coarse.area == pytest.approx(whole.area, rel=0.06)


def test_the_truth_goes_to_the_coarse_mesh_and_back(pair):
    found = Decimation.of(pair.full, pair.truth, 0.2)
    unknown = pair.truth.points.face < 0
    np.testing.assert_array_equal(found.coarse_truth.points.face < 0, unknown)
    there = found.coarse_truth.points[~unknown].positions(found.coarse)
    true = pair.truth.points[~unknown].positions(pair.full)
    gap = np.linalg.norm(there - true, axis=1) / pair.full.mean_edge_length
    assert np.median(gap) < 0.5
    back = found.lifted(found.coarse_truth.points)
    np.testing.assert_array_equal(back.face < 0, unknown)
    returned = back[~unknown].positions(pair.full)
    assert np.median(np.linalg.norm(returned - true, axis=1)) < 0.5 * pair.full.mean_edge_length
    share = found.coarse.vertex_areas @ found.coarse_truth.region / found.coarse.area
    full_share = pair.full.vertex_areas @ pair.truth.region / pair.full.area
    assert share == pytest.approx(full_share, abs=0.05)


def test_a_perfect_answer_on_the_coarse_mesh_has_a_small_error_whatever_the_pose(pair):
    for rotate in (None, 1):
        trial = present(pair, Conditions(full_faces=0.2, rotate=rotate))
        coarse, truth = trial.pair.full, trial.pair.truth
        assert len(coarse.faces) < 0.25 * len(pair.full.faces)
        assert trial.anchors[:, 1].max() < len(coarse.vertices)
        assert len(np.unique(trial.anchors[:, 1])) == len(trial.anchors) <= 25
        answer = MatchResult(
            vertex_map=truth.points.nearest_vertex(coarse),
            face=truth.points.face,
            barycentric=truth.points.barycentric,
            confidence=np.ones(len(truth.points)),
            region=truth.region,
            region_score=truth.region.astype(float),
            anchors=trial.anchors,
            settings=Settings(),
            timings={"total": 1.0},
        )
        scores = judge(answer, trial)
        edge = 100 * pair.full.mean_edge_length / np.sqrt(pair.full.area)
        assert scores.geodesic_error < 0.1 * edge < 0.5 * edge < scores.geodesic_error_vertex
        assert scores.iou == 100


def test_the_same_mesh_and_share_give_the_same_coarse_mesh(whole):
    one, other = decimated(whole, 0.3), decimated(whole, 0.3)
    np.testing.assert_array_equal(one.vertices, other.vertices)
    np.testing.assert_array_equal(one.faces, other.faces)


def test_the_usual_region_is_that_of_the_fine_mesh(pair):
    found = present(pair, Conditions(full_faces=0.2, rotate=1))
    coarse, region = found.finer.coarse, found.truth_under("usual").region
    nearest = np.linalg.norm(coarse.vertices[:, None] - pair.full.vertices, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(region, pair.truth.region[nearest])


@pytest.mark.parametrize(("rule", "reach"), [("near", 1.2), ("images", 0.0)])
def test_other_rules_are_applied_to_the_coarse_mesh(pair, rule, reach):
    found = present(pair, Conditions(full_faces=0.2, rotate=1))
    coarse = found.finer.coarse
    expected = region_around(coarse, found.finer.coarse_truth.points, reach)
    np.testing.assert_array_equal(found.truth_under(rule).region, expected)
    carried = pair.truth.under(rule, pair.full).region[
        np.argmin(np.linalg.norm(coarse.vertices[:, None] - pair.full.vertices, axis=2), axis=1)
    ]
    assert (expected != carried).any()


def test_vertices_without_a_partner_stay_so(pair):
    unmatched = np.arange(pair.partial.n_vertices) < 5
    known = replace(pair, truth=replace(pair.truth, unmatched=unmatched))
    found = present(known, Conditions(full_faces=0.2)).pair.truth
    np.testing.assert_array_equal(found.unmatched, unmatched)
