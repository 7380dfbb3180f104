"""Skulls, annotated at landmarks alone; these are anchors or judged, never both.

The folders are written here, tiny, in the layouts of the data sets.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.io.landmarks import Landmarks, read_landmarks, write_landmarks
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.datasets.pair import median_stretch
from nho.lab.bench.perturb import Conditions, present
from nho.lab.bench.scores import judge
from tests.lab.bench.pairs_on_disk import folder_of, refused, same

LONG = np.array([1.0, 1.0, 2.5])


def exact_answer(pair: AnnotatedPair, anchors: np.ndarray) -> nho.MatchResult:
    points, region = pair.truth.points, pair.truth.region
    return nho.MatchResult(
        vertex_map=points.nearest_vertex(pair.full),
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.ones(pair.partial.n_vertices),
        region=region,
        region_score=region.astype(float),
        anchors=anchors,
        settings=nho.Settings(),
        timings={"total": 1.0},
    )


@pytest.fixture
def skulls(tmp_path, whole) -> Path:
    """Three long shapes in different frames, 24 landmarks a little off their surfaces."""
    root = folder_of(tmp_path / "worlds/skulls")
    random = np.random.default_rng(1)
    long = whole.moved(whole.vertices * LONG)
    marks = sample_vertices(long, 24)
    for name in ("AKR", "A_J", "KK"):
        turned = random_rotation(random)
        skull = long.moved(long.vertices @ turned.T + random.normal(size=3))
        skull.write(root / f"{name}.ply")
        off = skull.vertices[marks] + 0.01 * skull.vertex_normals[marks]
        rows = Landmarks.at_vertices(marks).by_position(skull)
        write_landmarks(root / f"{name}.mrk.json", replace(rows, position=off))
    whole.write(root / "raw.ply")  # without landmarks: no part of the set
    return tmp_path


def test_skulls_are_annotated_at_landmarks_alone(skulls):
    assert FAMILIES["skulls"].names(skulls) == ["A_J", "KK"]
    for pair in FAMILIES["skulls"].pairs(skulls):
        marks = np.flatnonzero(pair.annotated)
        assert pair.sparse and len(marks) == 24 and pair.truth.region.all()
        np.testing.assert_array_equal(pair.truth.points.nearest_vertex(pair.full)[marks], marks)
        assert median_stretch(pair) == pytest.approx(1, abs=0.01)


def test_half_a_skull_keeps_one_end_and_then_the_other(skulls):
    first, second = FAMILIES["skulls_cut"].pairs(skulls)
    assert (first.name, second.name) == ("A_J-cut1", "KK-cut2")
    for pair in (first, second):
        assert 0.4 < pair.partial.area / pair.full.area < 0.55
        assert 3 <= pair.annotated.sum() < 24
        inside = pair.full.vertex_areas[pair.truth.region].sum() / pair.full.area
        assert inside == pytest.approx(pair.partial.area / pair.full.area, abs=0.08)
        assert pair.truth.region[pair.truth.points.nearest_vertex(pair.full)[pair.annotated]].all()
    both = first.truth.region & second.truth.region
    assert both.mean() < 0.15 and (first.truth.region | second.truth.region).mean() > 0.9


def test_landmarks_are_anchors_or_judged_but_never_both(skulls):
    pair = FAMILIES["skulls"].load(skulls, "KK")
    for asked, drawn in ((5, 5), (25, 12)):  # at most half of them
        given = present(pair, Conditions(anchors=asked))
        assert len(given.anchors) == drawn and given.judged.sum() == 24 - drawn
        assert not given.judged[given.anchors[:, 0]].any()
        assert given.judged.sum() + drawn == pair.annotated.sum()
        answer = exact_answer(pair, given.anchors)
        found = judge(answer, given)
        assert found.geodesic_error < 1e-6 and found.matched == 100
        # Whatever stands at the anchors does not count.
        wrong = answer.face.copy()
        wrong[given.anchors[:, 0]] = (wrong[given.anchors[:, 0]] + 300) % pair.full.n_faces
        assert judge(replace(answer, face=wrong), given).geodesic_error < 1e-6
    left_out = present(pair, Conditions(anchors=10, bad=0.5, bad_kind="absent"))
    assert len(left_out.anchors) == 5 and left_out.judged.sum() == 14


def test_of_two_landmarks_at_one_vertex_the_nearer_one_stays(skulls):
    path = skulls / "worlds/skulls/KK.mrk.json"
    rows, skull = read_landmarks(path), Mesh.read(path.parent / "KK.ply")
    position = rows.position.copy()
    position[7] = position[3] + 0.02 * (position[3] - skull.vertices.mean(axis=0))
    write_landmarks(path, replace(rows, position=position))
    pair = FAMILIES["skulls"].load(skulls, "KK")
    assert pair.annotated.sum() == 23
    whole_pair = FAMILIES["skulls"].load(skulls, "A_J")
    marks = pair.truth.points.nearest_vertex(pair.full)
    known = pair.annotated
    np.testing.assert_array_equal(
        marks[known], whole_pair.truth.points.nearest_vertex(whole_pair.full)[known]
    )


def test_landmarks_of_another_skull_are_refused(skulls):
    path = skulls / "worlds/skulls/A_J.mrk.json"
    rows = read_landmarks(path)
    write_landmarks(path, rows[:20])
    refused("skulls", skulls, r"A_J\.mrk\.json: has 20 rows, but AKR\.mrk\.json asks for 24")
    write_landmarks(path, rows.scaled(50))
    refused("skulls", skulls, r"A_J\.mrk\.json: anchor .* away from A_J\.ply")


@pytest.mark.parametrize("family", ["skulls", "skulls_cut"])
def test_a_pair_is_the_same_every_time(family, request):
    folder = request.getfixturevalue(family.partition("_")[0])
    name = FAMILIES[family].names(folder)[0]
    same(*(FAMILIES[family].load(folder, name) for _ in range(2)))
