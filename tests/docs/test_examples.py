"""Every example runs, and what it shows is true."""

from __future__ import annotations

import csv
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nho

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LONGEST = 60  # lines


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an example by its number in an empty folder; returns its variables."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])

    def run_example(number: int) -> dict[str, Any]:
        (path,) = EXAMPLES.glob(f"{number:02d}_*.py")
        space = runpy.run_path(str(path), run_name="__main__")
        if "pictures.save" in path.read_text(encoding="utf-8"):
            assert drawn(tmp_path / f"{path.stem}.png") > 0.02
        return space

    return run_example


def drawn(path: Path) -> float:
    """Share of a picture that is neither black, white nor grey."""
    from matplotlib.image import imread

    colours = imread(path)[..., :3]
    return float((np.ptp(colours, axis=2) > 0.1).mean())


def off(space: dict[str, Any], result: nho.MatchResult) -> np.ndarray:
    """(n,) straight distance to the truth, in percent of sqrt(area)."""
    sample = space["sample"]
    truth = nho.SurfacePoints(sample.truth_face, sample.truth_barycentric).positions(sample.full)
    away = np.linalg.norm(result.points.positions(sample.full) - truth, axis=1)
    return 100 * away / np.sqrt(sample.full.area)


def test_a_shape_space_of_halves_has_the_two_directions(run):
    made = run(13)
    space, truth = made["space"], made["truth"]
    assert len(space.model.variances) == 2
    design = np.c_[truth, np.ones(len(truth))]
    left = space.scores - design @ np.linalg.lstsq(design, space.scores, rcond=None)[0]
    assert (left**2).sum() < 0.15 * (space.scores**2).sum()


def test_match_two_meshes_finds_the_true_partners_and_the_true_region(run):
    space = run(1)
    result, sample = space["result"], space["sample"]
    assert off(space, result).mean() < 1.2
    assert (result.region == sample.truth_region).mean() > 0.95
    assert Path("01_result/report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_anchors_survive_the_files_of_other_programs(run):
    space = run(2)
    scan, template, wanted = space["scan"], space["template"], space["anchors"]
    pairs = wanted.vertices(scan, template)
    for anchors in (space["from_programs"], space["from_table"]):
        np.testing.assert_array_equal(anchors.vertices(scan, template), pairs)
    assert space["from_programs"].names == space["names"]
    # As far off as the points were moved, not exact and not somewhere else.
    assert 0 < wanted.gaps.max() < 0.002 * np.sqrt(3)
    assert off(space, space["result"]).mean() < 2.5


@pytest.mark.slow
def test_the_suggested_anchor_lies_in_doubt_and_raises_confidence(run):
    space = run(3)
    before, after = space["mean_confidence"]
    assert after > before + 0.02
    assert space["anchors"][-1, 0] == space["chosen"][0]
    # The last answer is sure of what the suggestion was about.
    assert space["result"].confidence[space["chosen"][0]] > before


@pytest.mark.slow
def test_wrong_anchors_are_named_all_of_them_and_no_other(run):
    space = run(4)
    assert set(space["result"].suspect_anchors) == {3, 7, 11, 20}
    assert not space["believed"].suspect_anchors
    assert 5 * space["errors"]["with the check"] < space["errors"]["without it"]


@pytest.mark.slow
def test_of_presets_and_baselines_default_is_best(run):
    space = run(5)
    errors = space["errors"]
    assert min(errors, key=errors.get) == "default"
    assert errors["default"] < errors["anchor-distance"] < errors["nearest"]
    assert {"recipe", "rounds"} <= set(space["differing"])


@pytest.mark.slow
def test_the_surer_half_has_the_smaller_errors(run):
    space = run(6)
    errors, surer = space["errors"], space["surer"]
    assert errors[surer].mean() < 0.8 * errors[~surer].mean()
    assert space["scores"].geodesic_error == pytest.approx(errors.mean())
    assert space["scores"].iou > 90
    assert Path("06_metrics.png").stat().st_size > 5_000


@pytest.mark.slow
def test_a_fragment_is_put_where_it_came_from(run):
    space = run(7)
    template, fragment, region = space["template"], space["fragment"], space["result"].region
    true = space["truth"].nearest_vertex(template)
    assert region[true].mean() > 0.95
    assert space["area"] == pytest.approx(fragment.area, rel=0.2)
    assert nho.Mesh.read("07_region.ply").n_vertices == template.n_vertices


@pytest.mark.slow
def test_a_plinth_is_told_from_what_stands_on_it(run):
    space = run(14)
    found, plinth = space["found"], space["plinth"]
    assert found[plinth].mean() > 0.85 and found[~plinth].mean() < 0.01
    assert space["fitted"].n_vertices == space["template"].n_vertices


@pytest.mark.slow
def test_confidence_tells_what_an_incomplete_template_lacks(run):
    space = run(8)
    confidence, common = space["result"].confidence, space["common"]
    assert 0.1 < common.mean() < 0.5
    assert confidence[common].mean() > confidence[~common].mean() + 0.5
    assert space["right"] > 0.9


@pytest.mark.slow
def test_labels_arrive_where_they_belong_and_the_template_lies_on_the_scan(run):
    space = run(9)
    carried, labels, fit = space["carried"], space["labels"], space["fit"]
    true = labels[space["sample"].truth_vertex]
    assert carried.known.all()
    assert (carried.values == true).mean() > 0.97
    assert 0.4 < fit.on_scan.mean() < 0.7
    assert fit.summary()["p95_distance_percent"] < 0.2
    written = nho.Mesh.read("09_fitted.ply")
    np.testing.assert_array_equal(written.faces, space["template"].faces)


@pytest.mark.slow
def test_a_pair_that_fails_does_not_stop_the_others(run):
    run(10)
    with open("10_results/summary.csv", encoding="utf-8", newline="") as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    assert [rows[name]["status"] for name in ("bean-plane", "ring-plane", "wrong")] == [
        "ok",
        "ok",
        "failed",
    ]
    assert "vertex 1000000" in rows["wrong"]["error"]
    result = nho.MatchResult.load("10_results/ring-plane")
    assert len(result.anchors) == 20


@pytest.mark.slow
def test_large_meshes_are_solved_coarsely_and_answered_everywhere(run):
    space = run(11)
    result = space["result"]
    assert len(result.vertex_map) == 20_000
    assert len(result.region) == 30_000
    assert "solved between" in result.notes[0]
    assert space["error"] < 1.4


@pytest.mark.slow
def test_own_methods_are_judged_like_the_presets(run):
    table = run(12)["table"]
    for condition in ("as given", "rotated"):
        own, distance, default = (
            table[name, condition] for name in ("nearest anchor", "anchor-distance", "default")
        )
        assert default < distance < own
    # A rigid motion changes nothing but round-off.
    assert table["default", "rotated"] == pytest.approx(table["default", "as given"], rel=0.02)


def test_every_example_is_short_and_told_in_words():
    paths = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
    assert [int(path.name[:2]) for path in paths] == list(range(1, len(paths) + 1))
    own = Path(__file__).read_text(encoding="utf-8")
    for number, path in enumerate(paths, start=1):
        text = path.read_text(encoding="utf-8")
        title, empty, words, *_ = text.splitlines()
        assert title.startswith('"""') and not title.endswith((".", '"""')) and not empty and words
        assert len(text.splitlines()) <= LONGEST, path.name
        assert f"run({number})" in own, f"{path.name} has no test"
