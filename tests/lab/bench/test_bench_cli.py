"""`nho bench` as a user meets it."""

from __future__ import annotations

import shutil

import pytest
from typer.testing import CliRunner

from nho.cli.app import app
from nho.errors import NhoError
from nho.lab.bench.rowfile import read_rows
from nho.lab.bench.tasks import KEYS
from tests.faults.running import start_pausing, wait_until

RUN = ["bench", "--study", "units", "--methods", "nearest", "--families", "synthetic", "--quick"]


@pytest.fixture(autouse=True, scope="module")
def _no_data():
    """Nothing here may find the user's data sets and begin to measure on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NHO_DATA", raising=False)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a small run."""
    out = tmp_path_factory.mktemp("bench") / "out"
    done = CliRunner().invoke(app, [*RUN, "--jobs", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "report.html" in done.output
    return out


@pytest.mark.slow
def test_a_row_can_be_measured_again_by_its_number(made):
    done = CliRunner().invoke(app, ["bench", "--rerun", f"{made / 'matches.csv'}:2"])
    assert done.exit_code == 0 and "reproduced" in done.output


def test_a_row_that_says_something_else_is_not_reproduced(made, tmp_path):
    rows = read_rows(made / "matches.csv")
    path = tmp_path / "matches.csv"
    text = (made / "matches.csv").read_text(encoding="utf-8")
    path.write_text(text.replace(rows[0]["iou"], "12.5", 1), encoding="utf-8")
    done = CliRunner().invoke(app, ["bench", "--rerun", f"{path}:1"])
    assert isinstance(done.exception, NhoError) and "not reproduced (iou)" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--study", "nonsense"], "study 'nonsense' is unknown"),
        (["--methods", "magic"], "method 'magic' is unknown"),
        (["--families", "unheard"], "family 'unheard' is unknown"),
        (["--families", "pfarm"], "no evaluation data"),
        (["--data", "/nowhere/at/all"], "no such folder"),
        (["--seeds", "one"], "--seeds"),
        (["--region-truth", "strict"], "'strict' is unknown; choose one of usual, near, images"),
        (["--rerun", "matches.csv"], "--rerun"),
        (["--rerun", "/nowhere.csv:1"], "no such file"),
    ],
)
def test_a_wrong_word_is_one_sentence(words, told, tmp_path):
    done = CliRunner().invoke(app, ["bench", "--out", str(tmp_path / "out"), *words])
    assert isinstance(done.exception, NhoError)
    assert told in str(done.exception)
    assert not (tmp_path / "out" / "report.html").exists()


def test_families_made_for_the_overlap_study_are_not_measured_by_the_others(tmp_path, monkeypatch):
    asked = []

    def run(names, request, *rest, **more):
        asked.append(request)
        return tmp_path, {}

    monkeypatch.setattr("nho.cli.bench.run_studies", run)
    words = ["bench", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")]
    (tmp_path / "data").mkdir()
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert asked[0].families == ("synthetic",)  # as generated, which needs no files


def iou_and_errors(out):
    """Two columns of the table and the note beneath it."""
    lines = (out / "units" / "units.md").read_text(encoding="utf-8").splitlines()
    heads = next(line for line in lines if "IoU" in line).split("|")
    iou, error = (next(i for i, h in enumerate(heads) if w in h) for w in ("IoU", "error"))
    cells = [line.split("|") for line in lines if line.startswith("|")][2:]
    return [row[iou] for row in cells], [row[error] for row in cells], lines[-1]


def test_another_rule_for_the_true_region_changes_iou_alone_and_measures_nothing(made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made, out)
    measured, rows = (out / "matches.csv").read_bytes(), (out / "units" / "rows.csv").read_bytes()
    usual = iou_and_errors(out)
    done = CliRunner().invoke(app, [*RUN, "--region-truth", "images", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (out / "matches.csv").read_bytes() == measured
    assert (out / "units" / "rows.csv").read_bytes() == rows
    images = iou_and_errors(out)
    assert images[0] != usual[0] and images[1] == usual[1]
    assert "nearest to the true images alone" in images[2]
    row = read_rows(out / "matches.csv")[0]
    assert f"{float(row['iou_images']):.1f}" in images[0][1]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "--region-truth images" in page.partition("Made by")[2]
    assert "nearest to the true images alone" in page
    assert "true images" not in (made / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_killed_with_all_its_workers_goes_on_where_it_was(made, tmp_path):
    out = tmp_path / "out"
    command = [*RUN, "--jobs", "2", "--quiet", "--out", str(out)]
    rows = out / "matches.csv"
    with start_pausing(2, tmp_path / "never", *command):  # leaving the block kills them all
        wait_until(lambda: rows.exists() and len(read_rows(rows)) >= 2)
    kept = read_rows(rows)
    assert not (out / "report.html").exists()
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    finished = read_rows(rows)
    assert finished[: len(kept)] == kept
    assert len(finished) == len({tuple(row[key] for key in KEYS) for row in finished})
    assert sorted(row["iou"] for row in finished) == sorted(
        row["iou"] for row in read_rows(made / "matches.csv")
    )
    assert (out / "report.html").exists()


def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "settings.json").write_text("{")
    for name in ("file", "other"):
        done = CliRunner().invoke(app, [*RUN, "--out", str(tmp_path / name)])
        assert isinstance(done.exception, NhoError) and name in str(done.exception)
    assert (tmp_path / "other" / "settings.json").read_text() == "{"


def test_a_row_beyond_the_last_is_named(made):
    done = CliRunner().invoke(app, ["bench", "--rerun", f"{made / 'matches.csv'}:99"])
    assert "rows 1 to" in str(done.exception)


def test_help_has_an_example():
    told = CliRunner().invoke(app, ["bench", "--help"]).output
    assert "Example" in told and "--quick" in told
