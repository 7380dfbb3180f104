"""Studies ask for the right runs and tell what their rows say; measurements are made up here."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest

from nho.lab.bench.datasets import FAMILIES, Family
from nho.lab.bench.datasets.family import FOREIGN, LACKING, PLAIN, QUICK
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.published import lookup
from nho.lab.bench.run_studies import run_studies
from nho.lab.bench.scores import (
    PCK_THRESHOLDS,
    REGION_SCORES,
    RISK_COVERAGES,
    TRUST_BINS,
    shown_under,
)
from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.lab.bench.studies.confidence import reliability
from nho.lab.bench.studies.next_anchor import FIRST
from nho.lab.bench.studies.pictures import case_of
from nho.lab.bench.studies.region_truth import region_truth_table
from nho.lab.bench.tasks import KEYS, MatchTask

REQUEST = StudyRequest(None, ("synthetic",))
ROW_STUDIES = [name for name in STUDIES if name not in ("cost", "learned", "operator", "pictures")]


def made_up(task, error=None, iou=None) -> dict[str, str]:
    """A row with scores that follow from its keys alone."""
    random = np.random.default_rng(zlib.crc32(" ".join(task.keys.values()).encode()))
    if task.kind == "courses":
        numbers = random.uniform(1, 3, task.last - FIRST + 1)
        errors = " ".join(f"{value:.3f}" for value in numbers)
        return {**task.keys, "errors": errors, "version": "0", "settings_hash": "0"}
    scores = dict.fromkeys(task.columns, "")
    shares = [name for name in scores if name.startswith(REGION_SCORES)]
    scores |= {name: f"{random.uniform(50, 90):.3f}" for name in shares}
    scores |= {"geodesic_error": f"{error or random.uniform(1, 3):.4f}"}
    scores |= {"geodesic_error_vertex": scores["geodesic_error"], "scale": "1"}
    scores |= {"iou": f"{iou or random.uniform(60, 95):.3f}", "seconds": "1"}
    scores |= dict.fromkeys(("risk_half", "aurc_ratio", "aurc_best"), "0.7")
    scores["pck"] = " ".join(map(str, np.linspace(2, 100, len(PCK_THRESHOLDS))))
    scores["risk"] = " ".join(map(str, RISK_COVERAGES))
    scores["trust"] = " ".join(["10 0.5 0.6"] * (len(TRUST_BINS) - 1))
    return shown_under("usual", {**scores, **task.keys})


@pytest.fixture
def no_drawing(monkeypatch) -> None:
    """Figures are made, but not drawn; test_curves.py draws."""

    def save(figure, path):
        paths = [path.with_name(f"{path.name}{suffix}") for suffix in (".svg", ".pdf", ".png")]
        for one in paths:
            one.write_bytes(bytes(1001))
        return paths

    monkeypatch.setattr("nho.lab.bench.figures.plotstyle.save", save)


def cells(table, section, row):
    return dict(table.sections[section].rows)[row]


@pytest.mark.parametrize("name", ROW_STUDIES)
@pytest.mark.parametrize("quick", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_study_has_tables_and_figures_of_its_rows(name, quick, tmp_path, request):
    if quick:
        request.getfixturevalue("no_drawing")
    asked = StudyRequest(None, ("synthetic",), quick=quick, vertices=500)
    tasks = STUDIES[name].tasks(asked)
    keys = [tuple(task.keys.values()) for task in tasks]
    assert len(set(keys)) == len(keys), "a run is asked for twice"
    found = STUDIES[name].findings(asked, [made_up(task) for task in tasks], tmp_path)
    assert found.tables
    assert {path.suffix for path in found.figures} in (set(), {".svg", ".pdf", ".png"})
    assert all(path.stat().st_size > 1000 for path in found.figures)


@pytest.mark.parametrize(("most", "numbers"), [(1, [0]), (2, [0, 8]), (5, [0, 2, 4, 6, 8])])
def test_few_pairs_are_spread_over_their_family(most, numbers, monkeypatch):
    names = [f"pair {number}" for number in range(9)]
    monkeypatch.setattr(Family, "names", lambda family, folder: names)
    for all_of_them in (0, 9, 10):
        asked = StudyRequest(None, ("synthetic",), most=all_of_them)
        assert [pair for _, pair in asked.pairs()] == names
    chosen = StudyRequest(None, ("synthetic", "tosca"), most=most).pairs()
    expected = [names[number] for number in numbers]
    assert chosen == [(family, name) for family in ("synthetic", "tosca") for name in expected]


def test_main_asks_for_four_settings_and_averages_three_rotations(tmp_path, no_drawing):
    request = StudyRequest(None, ("synthetic",), ("nearest",), every=20)
    tasks = STUDIES["main"].plan(request)
    settings = {(task.conditions.input_scale, task.conditions.rotate) for task in tasks}
    seeds = (None, 1, 2, 3)
    assert settings == {(scale, seed) for scale in ("default", "normalised") for seed in seeds}
    errors = {None: 1.0, 1: 1.0, 2: 2.0, 3: 6.0}
    rows = [made_up(task, errors[task.conditions.rotate]) for task in tasks]
    table = STUDIES["main"].report(request, rows, tmp_path).tables[0]
    values = [cell.value for cell in cells(table, 0, "nearest")]
    assert values == pytest.approx([1.0, 3.0, 1.0, 3.0, 2.0])
    once = STUDIES["main"].plan(replace(request, rotations=1))
    assert {task.conditions.rotate for task in once} == {None, 1}


def test_main_shows_cuts24_as_printed_beside_the_cuts_of_shrec16(tmp_path, no_drawing):
    tasks = [MatchTask("shrec16_cuts", f"p{number}", "nearest") for number in range(2)]
    rows = [made_up(task) for task in tasks]
    error, region, truth, _ = STUDIES["main"].report(REQUEST, rows, tmp_path).tables
    fields = {"dataset": "cuts24", "method": "nho", "scale": "default", "rotation": "unrotated"}
    printed = {m: lookup(**fields, metric=m).number for m in ("geodesic_error", "iou", "recall")}
    assert cells(error, 1, "NHO")[0].value == printed["geodesic_error"]
    assert cells(region, 1, "NHO")[0].value == cells(truth, 1, "NHO")[1].value == printed["iou"]
    for table in (error, region, truth):
        assert "SHREC'16 CUTS are of CUTS'24: same maker and classes, other pairs" in table.note


def test_main_shows_region_scores_under_every_rule_whichever_is_chosen(tmp_path, no_drawing):
    task = MatchTask("pfaust_h", "p", "nearest")
    scores = {"iou": "70", "iou_near": "60", "iou_images": "50", "true_area_images": "45.8"}
    row = {**made_up(task), **scores}
    for rule, iou in (("usual", 70), ("near", 60), ("images", 50)):
        shown = [shown_under(rule, row)]
        _, region, table, _ = STUDIES["main"].report(REQUEST, shown, tmp_path).tables
        assert cells(region, 0, "nearest")[0].value == iou
        found = [cells(table, 0, f"nearest, {one}")[1].value for one in ("usual", "near", "images")]
        assert found == [70, 60, 50]
        assert cells(table, 0, "nearest, images")[0].value == 45.8


@pytest.mark.parametrize(("family", "area"), [("pfaust_m", "60.6"), ("pfaust_h", "55.0")])
def test_the_printed_rows_of_fspm_give_the_size_of_the_true_region_away(family, area):
    table = region_truth_table([made_up(MatchTask(family, "p", "nearest"))])
    assert [cell.text for cell in cells(table, 1, "FSPM")][::3] == [area, "85.00"]
    assert [cell.text for cell in cells(table, 1, "NHO")][0] == "-"


def test_fspm_gives_nothing_away_where_it_marks_parts_of_shapes_nor_where_nothing_is_printed():
    rows = [made_up(MatchTask(family, "p", "nearest")) for family in ("cuts24", "tosca")]
    table = region_truth_table(rows)
    assert len(table.sections) == 3  # none of the paper for tosca
    assert [label for label, _ in table.sections[1].rows] == ["NHO"]


def test_regions_by_rule_are_shown_for_input_as_given_only(tmp_path, no_drawing):
    turned = MatchTask("synthetic", "p", "nearest", Conditions(rotate=1))
    tables = STUDIES["main"].report(REQUEST, [made_up(turned)], tmp_path).tables
    assert tables and "region-truth" not in [table.name for table in tables]


def test_pictures_show_the_true_region_by_the_chosen_rule():
    family, name = REQUEST.pairs()[0]
    sizes = []
    for rule in ("usual", "near", "images"):
        case = case_of(replace(REQUEST, region_truth=rule), family, name, (), Conditions())
        expected = FAMILIES[family].load(None, name).truth.under(rule, case.pair.full).region
        np.testing.assert_array_equal(case.pair.truth.region, expected)
        sizes.append(expected.sum())
    assert len(set(sizes)) == 3


def test_ablation_stands_beside_the_published_one(tmp_path, no_drawing):
    tasks = STUDIES["ablation"].plan(StudyRequest(None, ("synthetic",), every=20))
    without = {"", "weight_topology=0", "rounds=0", "coordinates=laplacian"}
    changes = {" ".join(task.changes) for task in tasks}
    assert changes == without | {f"{one} refinement=none".strip() for one in without}
    assert {task.method for task in tasks} == {"paper"}
    rows = [made_up(t, 5.0 if "refinement=none" in t.changes else 3.0) for t in tasks]
    table = STUDIES["ablation"].report(REQUEST, rows, tmp_path).tables[0]
    assert [cell.value for cell in cells(table, 0, "full method")[4:]] == [5.0, 3.0]
    printed = lookup(table="ablation", method="full", metric="geodesic_error_before_nam").number
    assert cells(table, 1, "full method")[4].value == printed


def test_fewer_vertices_are_asked_of_presets_alone_and_told_under_the_table(tmp_path, no_drawing):
    study, methods = STUDIES["sampling"], ("paper", "nearest")
    asked = StudyRequest(None, ("synthetic",), methods, every=20, vertices=700)
    tasks = study.tasks(asked)
    fewer = {task.method: "solve_vertices=700" in task.changes for task in tasks}
    assert fewer == {"paper": True, "nearest": False}
    assert {task.contender.settings.solve_vertices for task in tasks if task.changes} == {700}
    rows = [made_up(task, 5.0) for task in tasks]
    table = study.findings(asked, rows, tmp_path).tables[0]
    assert cells(table, 0, "uniform random")[4].value == 5.0
    assert "700 vertices (--vertices)" in table.note
    others = study.findings(replace(asked, methods=("nearest",)), rows[-1:], tmp_path).tables[0]
    assert "--vertices" not in others.note


def test_a_study_with_a_number_of_vertices_of_its_own_leaves_it_to_the_request(tmp_path):
    study, quick = STUDIES["readings"], StudyRequest(None, ("synthetic",), quick=True)
    few = replace(quick, quick=False, seeds=(0,))
    for wanted, vertices in ((few, 2000), (quick, 500), (replace(quick, vertices=800), 800)):
        tasks = study.tasks(wanted)
        assert {task.changes[0] for task in tasks} == {f"solve_vertices={vertices}"}
        tables = study.findings(wanted, [made_up(task, 5.0) for task in tasks], tmp_path).tables
        assert cells(tables[0], 0, "mean")[0].value == 5.0
        assert all(f"{vertices:,} vertices" in table.note for table in tables)


def test_parts_are_compared_pair_by_pair(tmp_path, no_drawing):
    request = StudyRequest(None, ("synthetic",), every=6)
    tasks = STUDIES["parts"].plan(request)
    base = {pair: 1.0 + number for number, (_, pair) in enumerate(request.pairs())}
    rows = [made_up(t, base[t.pair] + 0.5 * (t.changes == ("bend=false",)), 80) for t in tasks]
    table = STUDIES["parts"].report(request, rows, tmp_path).tables[0]
    gap = cells(table, 1, "w/o bending")[0]
    assert gap.value == pytest.approx(0.5) and gap.half_width == pytest.approx(0, abs=1e-9)
    assert cells(table, 1, "w/o relief")[0].value == pytest.approx(0)


def test_the_paper_recipe_sees_fewer_pairs_in_a_quick_run():
    every = StudyRequest(None, ("synthetic",))
    quick = StudyRequest(None, ("synthetic",), quick=True)
    assert len(quick.pairs("paper")) == len(quick.pairs()) == 1
    assert len(every.pairs("paper")) == len(every.pairs()) > 5


def test_reliability_weighs_matches_by_their_vertices():
    empty = " ".join(["0 0 0"] * (len(TRUST_BINS) - 2))
    rows = [{"trust": f"30 0.05 0.1 {empty}"}, {"trust": f"10 0.09 0.5 {empty}"}]
    table = reliability(rows)
    np.testing.assert_allclose(table[0], [40, 0.06, 0.2])
    assert np.isnan(table[1:, 1:]).all() and not table[1:, 0].any()


def test_conditions_come_back_from_their_row():
    conditions = Conditions(10, "random", 0.2, "swap", 3, 0.001, 2, "normalised", 0.5)
    task = MatchTask("synthetic", "p", "paper", conditions, ("rounds=0", "refinement=none"), 4)
    assert tuple(task.keys) == KEYS
    assert MatchTask.from_row(task.keys) == task


@pytest.mark.slow
def test_runs_end_in_a_folder_with_everything(tmp_path):
    request = StudyRequest(None, ("synthetic",), ("nearest",), quick=True)
    page, failures = run_studies(["units", "sampling"], request, tmp_path, "nho {study}", jobs=1)
    assert not failures and page == tmp_path / "report.html"
    text = page.read_text(encoding="utf-8")
    assert "nho units" in text and "nho sampling" in text
    for name in ("units/units.md", "units/units.tex", "units/rows.csv", "sampling/sampling.md"):
        assert (tmp_path / name).stat().st_size
    assert (tmp_path / "sampling" / "sampling-pck.pdf").exists()
    before = (tmp_path / "matches.csv").read_bytes()
    run_studies(["units", "sampling"], request, tmp_path, "nho {study}", jobs=1)
    assert (tmp_path / "matches.csv").read_bytes() == before


def test_a_rigid_method_stands_in_every_main_table():
    def methods(*asked):
        return {task.method for task in STUDIES["main"].plan(replace(REQUEST, methods=asked))}

    assert methods("default", "tps") == {"default", "tps", "nearest"}
    assert methods("similarity+icp") == {"similarity+icp"}


def test_families_with_foreign_matter_are_measured_only_if_they_are_named():
    assert not {*LACKING.values(), *FOREIGN.values()} & {*PLAIN, *QUICK}
    assert {"faces", "skulls", "tibias", "scans", "species", "pfaust_m"} <= set(QUICK) < set(PLAIN)
