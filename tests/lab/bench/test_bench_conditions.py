"""Conditions do what they say, scores are those of the truth, rows survive a kill."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.perturb import Conditions, conditions_text, present
from nho.lab.bench.rowfile import append_row, read_rows
from nho.lab.bench.scores import aurc_ratio, judge, risk_half
from nho.lab.bench.tasks import MatchTask, contender, run_one


@pytest.fixture(scope="module")
def pair(whole, piece) -> AnnotatedPair:
    """The cut as a pair; its first ten vertices are not annotated."""
    target = piece.vertex_of_parent.copy()
    target[:10] = -1
    truth = GroundTruth(SurfacePoints.at_vertices(whole, target), piece.kept_vertices)
    return AnnotatedPair("piece", piece.mesh, whole, truth)


@pytest.fixture(scope="module")
def result(pair) -> nho.MatchResult:
    """A result with the exact map and no region, to be changed by the tests."""
    n_partial, n_full = pair.partial.n_vertices, pair.full.n_vertices
    anchors = pair.anchors(25)
    points = pair.truth.points
    return nho.MatchResult(
        vertex_map=points.nearest_vertex(pair.full),
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.ones(n_partial),
        region=np.zeros(n_full, dtype=bool),
        region_score=np.zeros(n_full),
        anchors=anchors,
        settings=nho.Settings(),
        timings={"total": 1.5},
    )


# Conditions


def test_without_conditions_a_pair_is_presented_as_it_is(pair):
    trial = present(pair, Conditions())
    np.testing.assert_array_equal(trial.pair.partial.vertices, pair.partial.vertices)
    np.testing.assert_array_equal(trial.pair.full.vertices, pair.full.vertices)
    np.testing.assert_array_equal(trial.anchors, pair.anchors(25))
    assert not trial.bad.any()


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.1, 13), (0.5, 63), (1.0, 125)])
def test_random_moves_that_share_of_the_partners_to_free_vertices(pair, share, count):
    trial, anchors = present(pair, Conditions(125, bad=share)), pair.anchors(125)
    np.testing.assert_array_equal(trial.anchors[:, 0], anchors[:, 0])
    np.testing.assert_array_equal(trial.anchors[:, 1] != anchors[:, 1], trial.bad)
    assert trial.bad.sum() == count
    assert not np.isin(trial.anchors[trial.bad, 1], anchors[:, 1]).any()
    assert len(np.unique(trial.anchors[:, 1])) == 125


def test_absent_anchors_are_those_that_random_spoils(pair):
    spoilt = present(pair, Conditions(bad=0.2))
    absent = present(pair, Conditions(bad=0.2, bad_kind="absent"))
    np.testing.assert_array_equal(absent.anchors, spoilt.anchors[~spoilt.bad])
    assert len(absent.anchors) == 20 and not absent.bad.any()


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.01, 2), (0.2, 6), (1.0, 24)])
def test_swap_exchanges_partners_in_twos(pair, share, count):
    trial, anchors = present(pair, Conditions(bad=share, bad_kind="swap")), pair.anchors(25)
    assert trial.bad.sum() == count
    np.testing.assert_array_equal(np.sort(trial.anchors[:, 1]), np.sort(anchors[:, 1]))
    row_of = {partner: row for row, partner in enumerate(anchors[:, 1].tolist())}
    source = np.array([row_of[partner] for partner in trial.anchors[:, 1].tolist()])
    np.testing.assert_array_equal(source[source], np.arange(25))
    np.testing.assert_array_equal(source != np.arange(25), trial.bad)


def test_wrong_anchors_depend_on_their_seed_and_the_pair_only(pair):
    def drawn(seed: int, name: str = "piece") -> list[int]:
        shown = present(replace(pair, name=name), Conditions(bad=0.2, bad_seed=seed))
        return shown.anchors[:, 1].tolist()

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
    assert drawn(0) != drawn(0, "another")


def test_partial_scale_touches_the_partial_shape_only(pair):
    trial = present(pair, Conditions(partial_scale=1000.0))
    np.testing.assert_array_equal(trial.pair.partial.vertices, 1000 * pair.partial.vertices)
    np.testing.assert_array_equal(trial.pair.full.vertices, pair.full.vertices)


def test_rotate_turns_both_shapes_each_its_own_way(pair):
    trial = present(pair, Conditions(rotate=7))
    turns = []
    for before, after in ((pair.partial, trial.pair.partial), (pair.full, trial.pair.full)):
        turn = np.linalg.lstsq(before.vertices, after.vertices, rcond=None)[0]
        np.testing.assert_allclose(before.vertices @ turn, after.vertices, atol=1e-12)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(turn) == pytest.approx(1)
        turns.append(turn)
    assert np.abs(turns[0] - turns[1]).max() > 0.1
    assert np.abs(turns[0] - np.eye(3)).max() > 0.1
    again = present(pair, Conditions(rotate=7)).pair.full.vertices
    assert again.tobytes() == trial.pair.full.vertices.tobytes()


def test_normalised_divides_both_by_the_root_of_the_full_area(pair):
    trial = present(pair, Conditions(input_scale="normalised", partial_scale=3.0))
    assert trial.pair.full.area == pytest.approx(1)
    assert trial.pair.partial.area == pytest.approx(9 * pair.partial.area / pair.full.area)


def test_no_condition_changes_the_error_of_an_answer(pair, result):
    shifted = np.where(result.vertex_map >= 0, pair.full.faces[:, 0][result.face], -1)
    off = replace(result, vertex_map=shifted)
    plain = judge(off, present(pair, Conditions()))
    moved = judge(
        off, present(pair, Conditions(25, "geodesic", 0.2, "swap", 1, 9.0, 3, "normalised"))
    )
    assert plain.geodesic_error == moved.geodesic_error == 0
    assert plain.geodesic_error_vertex > 0.1
    assert moved.geodesic_error_vertex == pytest.approx(plain.geodesic_error_vertex)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sampling": "poisson"}, "--sampling 'poisson' is unknown"),
        ({"bad_kind": "mirror"}, "--bad-kind 'mirror' is unknown"),
        ({"input_scale": "unit"}, "--input-scale 'unit' is unknown"),
        ({"bad": 20.0}, "--bad 20.0 is not a share"),
        ({"partial_scale": 0.0}, "--partial-scale 0.0 must be"),
        ({"rotate": -1}, "must be 0 or more"),
    ],
)
def test_impossible_conditions_are_refused(change, message):
    with pytest.raises(nho.InputError, match=message):
        Conditions(**change)


def test_what_plays_no_part_is_not_part_of_the_key():
    assert Conditions(bad_kind="swap", bad_seed=4).as_text() == Conditions().as_text()
    spoilt = [Conditions(bad=0.2, bad_kind=kind).as_text() for kind in ("random", "swap")]
    assert spoilt[0] != spoilt[1]


# Scores


def test_scores_are_those_of_the_public_evaluation(whole, piece, pair):
    from nho.lab import baselines

    answer = baselines.run("anchor-distance+zoomout", pair.partial, pair.full, pair.anchors(8))
    ours = judge(answer, present(pair, Conditions(8))).as_dict()
    public = nho.evaluate(answer, pair.full, pair.truth).as_dict()
    for name in public:
        assert ours[name] == pytest.approx(public[name], nan_ok=True), name
    assert ours["geodesic_error"] > 0
    assert ours["seconds"] == answer.timings["total"]
    assert ours["geodesic_error_median"] <= ours["geodesic_error_p95"]
    assert ours["geodesic_error_p95"] <= ours["geodesic_error_worst"]


def test_the_region_is_judged_under_every_rule_at_once(pair, result):
    near = pair.truth.under("near", pair.full).region
    found = judge(replace(result, region=near), present(pair, Conditions())).as_dict()
    assert found["iou_near"] == found["precision_near"] == found["recall_near"] == 100
    assert found["recall_images"] == 100 > found["precision_images"] == found["iou_images"]
    for rule, suffix in (("usual", ""), ("near", "_near"), ("images", "_images")):
        truth = pair.truth.under(rule, pair.full)
        scores = nho.evaluate(replace(result, region=near), pair.full, truth)
        for name in ("iou", "precision", "recall", "f1"):
            assert found[name + suffix] == pytest.approx(getattr(scores, name))
        share = pair.full.vertex_areas[truth.region].sum() / pair.full.area
        assert found["true_area" + suffix] == pytest.approx(100 * share)
    assert found["true_area_images"] < found["true_area_near"]


def test_risk_of_the_surer_half():
    errors = np.array([4.0, 1.0, 3.0, 0.0])
    assert risk_half(errors, -errors) == pytest.approx(0.5 / 2)
    assert risk_half(errors, errors) == pytest.approx(3.5 / 2)
    assert risk_half(errors, np.ones(4)) == pytest.approx(1)  # a tie has no surer half
    assert risk_half(np.array([2.0, 4.0, 9.0]), np.array([3, 2, 1])) == pytest.approx(3 / 5)
    assert np.isnan(risk_half(np.zeros(4), np.arange(4)))


def test_area_under_the_risk_curve():
    errors = np.array([4.0, 1.0, 3.0, 0.0])
    means = [0, 0.5, 4 / 3, 2]  # of the 1, 2, 3, 4 least errors
    assert aurc_ratio(errors, -errors) == pytest.approx(np.mean(means) / 2)
    assert aurc_ratio(errors, np.zeros(4)) == pytest.approx(1)
    assert np.isnan(aurc_ratio(np.empty(0), np.empty(0)))


def test_wrong_anchors_found_and_right_ones_blamed_are_counted(pair, result):
    trial = present(pair, Conditions(bad=0.2))
    bad, good = np.flatnonzero(trial.bad), np.flatnonzero(~trial.bad)
    # Rows of the result's own list, which may have another order than the trial's.
    turned = replace(result, anchors=np.roll(trial.anchors, 1, axis=0))
    named = (np.array([*bad[:3], good[0]]) + 1) % 25
    found = judge(replace(turned, suspect_anchors=tuple(named.tolist())), trial)
    assert found.suspects == 4
    assert found.bad_found == pytest.approx(60)
    assert found.good_blamed == pytest.approx(5)
    nobody = judge(turned, present(pair, Conditions()))
    assert np.isnan(nobody.bad_found) and nobody.good_blamed == 0


# Rows on disk


def test_a_row_cut_off_at_any_byte_is_ignored_and_overwritten(tmp_path):
    path = tmp_path / "rows.csv"
    for number in range(3):
        append_row(path, {"pair": f"a,{number}"}, {"error": number / 3, "share": np.nan})
    whole_file = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole_file) if byte == ord("\n")]
    for rows, (start, stop) in enumerate(pairwise([0, *ends])):
        for cut in range(start, stop):
            path.write_bytes(whole_file[:cut])
            assert len(read_rows(path)) == max(rows - 1, 0)
            for number in range(max(rows - 1, 0), 3):
                append_row(path, {"pair": f"a,{number}"}, {"error": number / 3, "share": np.nan})
            assert path.read_bytes() == whole_file
    assert read_rows(path)[2] == {"pair": "a,2", "error": "0.66666667", "share": ""}


def test_a_cut_off_row_longer_than_the_next_leaves_nothing_behind(tmp_path):
    path = tmp_path / "rows.csv"
    append_row(path, {"pair": "a"}, {"error": 1.0})
    path.write_bytes(path.read_bytes() + b"a pair with a long name,0.123")
    append_row(path, {"pair": "b"}, {"error": 2.0})
    assert path.read_text() == "pair,error\na,1\nb,2\n"


# Running


def test_settings_reach_presets_but_not_baselines():
    changes = ("rounds=1", "threads=1")
    paper, nearest = contender("paper", changes, 4), contender("nearest", changes, 4)
    assert (paper.name, paper.changes, paper.seed) == ("paper", "rounds=1 threads=1", "4")
    assert paper.settings == nho.preset("paper").replace(rounds=1, threads=1, seed=4)
    assert (nearest.name, nearest.changes, nearest.seed) == ("nearest", "", "-")
    assert nearest.settings is None


def test_every_condition_names_another_run():
    changes = [
        {},
        {"sampling": "random"},
        {"bad": 0.2},
        {"bad": 0.2, "bad_kind": "swap"},
        {"bad": 0.2, "bad_seed": 1},
        {"partial_scale": 10.0},
        {"rotate": 0},
        {"rotate": 1},
        {"input_scale": "normalised"},
        {"full_faces": 0.5},
    ]
    keys = [MatchTask("f", "pair", "default", Conditions(**change)).keys for change in changes]
    assert len({tuple(each.values()) for each in keys}) == len(changes)
    assert len({conditions_text(each) for each in keys}) == len(changes)
    assert [Conditions.from_text(each) for each in keys] == [Conditions(**c) for c in changes]


def test_a_condition_that_leaves_too_few_anchors_is_refused(pair):
    with pytest.raises(InputError, match="at least 3 are needed"):
        run_one(pair, contender("nearest"), Conditions(2))


def test_the_settings_hash_tells_settings_apart_but_not_threads():
    one, other, threaded = (
        contender("paper", changes).settings_hash for changes in ((), ("rounds=1",), ("threads=1",))
    )
    assert one == threaded != other


def test_the_default_preset_without_anchors_has_its_settings_hash():
    automatic, default = (MatchTask("synthetic", "x", name) for name in ("nho-auto", "default"))
    assert automatic.stamp == default.stamp and automatic.keys["seed"] == "-"


def test_a_path_with_a_space_survives_the_row():
    task = MatchTask("synthetic", "x", "dpfm", changes=("checkpoints=my weights/it's",))
    assert MatchTask.from_row(task.keys) == task


# Evaluation data


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("family", ["pfaust_m", "pfaust_h"])
def test_same_subject_pairs_are_the_listed_ones_on_a_more_isometric_full_shape(data, family):
    stretch: dict[str, list[float]] = {"same": [], "other": []}
    both = (FAMILIES[name].pairs(data) for name in (f"{family}_same", family))
    for same, other in islice(zip(*both), 6):
        partial_name, full_name = same.name.split("-")
        assert full_name == f"{partial_name[:-1]}0"
        assert partial_name == other.name.split("-")[0]
        np.testing.assert_array_equal(same.partial.vertices, other.partial.vertices)
        for kind, pair in (("same", same), ("other", other)):
            own, image = pair.anchors(40).T
            here = distances_from(edge_graph(pair.partial), own[:5])[:, own[5:]]
            there = distances_from(edge_graph(pair.full), image[:5])[:, image[5:]]
            stretch[kind].append(float(np.median(np.abs(np.log(there / here)))))
    assert np.mean(stretch["same"]) < 0.7 * np.mean(stretch["other"])
