"""The command line: what it writes, what it says, and how it fails."""

import csv
import inspect
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import typer

import nho.cli.match
from nho.cli import main
from nho.cli.app import COMMANDS as OVERVIEW
from nho.cli.app import load
from nho.evaluation.ground_truth import read_ground_truth
from nho.evaluation.metrics import evaluate
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import cut_by_plane, sphere
from nho.problem.result import MatchResult, finite_or_none
from nho.report.result_folder import FILES
from nho.settings import preset

QUICK = [
    *("--set", "fit_steps=5"),
    *("--set", "rounds=1"),
]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with a small pair, its anchors and its ground truth."""
    folder = tmp_path_factory.mktemp("cli")
    ball = sphere(3)
    bump = 1 + 0.3 * np.exp(4 * (ball.vertices @ np.array([0.6, 0.0, 0.8]) - 1))
    full = Mesh(ball.vertices * bump[:, None] * [1, 1.2, 1.5], ball.faces)
    cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
    full.write(folder / "template.obj")
    cut.mesh.write(folder / "scan.ply")
    chosen = np.arange(0, len(cut.mesh.vertices), 20)
    rows = [f"{p},{cut.vertex_of_parent[p]}" for p in chosen]
    (folder / "pairs.csv").write_text("partial,full\n" + "\n".join(rows) + "\n")
    (folder / "truth.map").write_text("\n".join(map(str, cut.vertex_of_parent)) + "\n")
    (folder / "bad.csv").write_text("partial,full\n0,0\n1,99999\n2,2\n")
    (folder / "text.doc").write_text("1 2 3\n")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "thesis.tex").write_text("years of work")
    return folder


def run(folder, *arguments):
    """The command in a process of its own, as a user starts it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    source = os.path.dirname(os.path.dirname(os.path.abspath(nho.__file__)))
    paths = [source, os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return subprocess.run(
        [sys.executable, "-m", "nho", *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def call(work, monkeypatch, capsys):
    """The command in this process; returns exit code, stdout and stderr."""

    def main_with(*arguments):
        monkeypatch.chdir(work)
        monkeypatch.setattr(sys, "argv", ["nho", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return main_with


@pytest.fixture(scope="module")
def matched(work):
    """The folder of a finished match, and what the process said."""
    arguments = ["match", "scan.ply", "template.obj", "--anchors", "pairs.csv", "--out", "result"]
    done = run(work, *arguments, *QUICK)
    assert done.returncode == 0, done.stderr
    return work / "result", done


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_match_writes_the_result_and_says_where_to_look(work, matched):
    folder, done = matched
    assert names(folder) == sorted(FILES)
    result = MatchResult.load(folder)
    assert len(result.vertex_map) == len(Mesh.read(work / "scan.ply").vertices)
    assert len(result.region) == len(Mesh.read(work / "template.obj").vertices)
    expected = preset("default").replace(fit_steps=5, rounds=1)
    assert result.settings == expected
    assert f"of {len(result.vertex_map)} partial vertices" in done.stdout
    assert os.path.join("result", "report.html") in done.stdout
    # Progress goes to stderr, as plain lines without a terminal.
    assert "distances: 1/1" in done.stderr and "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


def test_match_tells_as_json_on_stdout_and_takes_seed_and_threads(work):
    arguments = ["match", "scan.ply", "template.obj", "--anchors", "pairs.csv", "--out", "as-json"]
    arguments += ["--json", "--seed", "7", "--threads", "1"]
    done = run(work, *arguments, *QUICK, "--set", "seed=3")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    result = MatchResult.load(work / "as-json")
    assert result.settings.seed == 7 and result.settings.threads == 1
    assert told["status"] == result.status and told["out"] == "as-json"
    assert told["matched_vertices"] == (result.vertex_map >= 0).sum()
    assert told["region_vertices"] == result.region.sum()
    assert told["partial_vertices"] == len(result.vertex_map)
    assert told["full_vertices"] == len(result.region)
    assert 0 <= told["mean_confidence"] <= 1 and told["seconds"] > 0
    assert told["warnings"] == list(result.warnings)
    assert told["notes"] == list(result.notes)


def test_match_is_silent_if_asked(work):
    arguments = ["match", "scan.ply", "template.obj", "--anchors", "pairs.csv", "--out", "quiet"]
    done = run(work, *arguments, "--quiet", *QUICK)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert names(work / "quiet") == sorted(FILES)


MATCH = {
    "partial": "scan.ply",
    "full": "template.obj",
    "--anchors": "pairs.csv",
    "--out": "never",
    "--preset": "default",
    "--set": "fit_steps=5",
}


def assert_one_sentence(code, out, err, parts):
    """A failure as promised: non-zero, nothing on stdout, one line on stderr that names it."""
    assert code == 1 and out == ""
    assert "Traceback" not in err and err.startswith("nho: ")
    assert len(err.strip().splitlines()) == 1
    assert all(part in err for part in parts), err


def test_a_failed_match_says_one_sentence_and_writes_nothing(work):
    before = names(work)
    done = run(work, "match", "absent.ply", "template.obj", "--anchors", "pairs.csv", "--out", "o")
    parts = ["absent.ply", "no such file"]
    assert_one_sentence(done.returncode, done.stdout, done.stderr, parts)
    assert names(work) == before


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"full": "text.doc"}, ["text.doc", ".ply"]),
        ({"--anchors": "bad.csv"}, ["bad.csv", "anchor 2", "99999", "template.obj"]),
        ({"--set": "fit_step=5"}, ["fit_step", "fit_steps"]),
        ({"--preset": "best"}, ["best", "paper"]),
        ({"--out": "foreign"}, ["foreign", "thesis.tex"]),
        ({"--anchors": "absent.csv"}, ["absent.csv", "no such file"]),
        ({"--anchors": "scan.ply"}, ["scan.ply"]),
        ({"partial": "foreign"}, ["foreign"]),
        ({"partial": "pairs.csv"}, ["pairs.csv"]),
        ({"--set": "fit_steps=many"}, ["many", "whole number"]),
        ({"--set": "fit_steps"}, ["key=value"]),
        ({"--set": "barrier_factor=nan"}, ["barrier_factor", "finite"]),
        ({"--seed": "-1"}, ["seed"]),
        ({"--threads": "-1"}, ["threads"]),
        ({"--out": "pairs.csv"}, ["pairs.csv", "is a file"]),
    ],
)
def test_other_bad_input_of_match_is_refused_the_same_way(work, call, changes, parts):
    before = names(work), names(work / "foreign")
    given = {**MATCH, **changes}
    arguments = ["match", given.pop("partial"), given.pop("full")]
    code, out, err = call(*arguments, *(part for pair in given.items() for part in pair))
    assert_one_sentence(code, out, err, parts)
    assert (names(work), names(work / "foreign")) == before


@pytest.mark.parametrize("arguments", [["nonsense"], ["match", "scan.ply"], ["match", "--wrong"]])
def test_wrong_usage_exits_with_two(call, arguments):
    code, out, err = call(*arguments)
    assert code == 2 and "Usage" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("error", "code", "part"),
    [
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
    ],
)
def test_memory_and_interrupts_end_in_one_sentence(work, call, monkeypatch, error, code, part):
    def fail(*_):
        raise error

    monkeypatch.setattr(nho.cli.match, "match", fail)
    arguments = ["match", "scan.ply", "template.obj", "--anchors", "pairs.csv", "--out", "never"]
    ended, _, err = call(*arguments, "--quiet")
    assert ended == code and part in err and "Traceback" not in err
    assert not (work / "never").exists()


def read_rows(path):
    with open(path, newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize("method", ["geodesic", "euclidean", "random"])
def test_anchors_are_sampled_by_every_method(work, call, tmp_path, method):
    out = tmp_path / "sampled.csv"
    arguments = ["anchors", "sample", "scan.ply", "--count", 9, "--method", method, "--out", out]
    code, told, err = call(*arguments)
    assert (code, err) == (0, "") and "9 anchors" in told
    header, *rows = read_rows(out)
    assert header == ["partial", "full"] and len(rows) == 9
    assert len({row[0] for row in rows}) == 9 and all(row[1] == "" for row in rows)
    first = out.read_bytes()
    call(*arguments)
    assert out.read_bytes() == first
    call(*arguments, "--seed", 5)
    assert out.read_bytes() != first


def test_sampled_anchors_are_completed_from_a_ground_truth(work):
    truth = np.loadtxt(work / "truth.map", dtype=int)
    arguments = ["anchors", "sample", "scan.ply", "--count", 6, "--out", "filled.csv"]
    done = run(work, *arguments, "--full", "template.obj", "--ground-truth", "truth.map")
    assert done.returncode == 0, done.stderr
    rows = np.array(read_rows(work / "filled.csv")[1:], dtype=int)
    assert rows.shape == (6, 2) and np.array_equal(rows[:, 1], truth[rows[:, 0]])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--method", "poisson"], ["poisson", "geodesic"]),
        (["--count", "0"], ["0", "scan.ply"]),
        (["--count", "99999"], ["99999", "scan.ply"]),
        (["--full", "template.obj"], ["--ground-truth"]),
        (["--full", "template.obj", "--ground-truth", "bad.csv"], ["bad.csv"]),
        (["--out", "absent/x.csv"], ["absent"]),
        (["--seed", "-1"], ["seed"]),
    ],
)
def test_bad_input_of_sampling_is_refused(work, call, arguments, parts):
    before = names(work)
    out = [] if "--out" in arguments else ["--out", "never.csv"]
    code, told, err = call("anchors", "sample", "scan.ply", *out, *arguments)
    assert_one_sentence(code, told, err, parts)
    assert names(work) == before


def test_eval_compares_with_the_truth(work, matched):
    done = run(work, "eval", "result", "--ground-truth", "truth.map", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert scores["matched"] == 100
    assert 0 <= scores["geodesic_error_median"] <= scores["geodesic_error_worst"]
    assert all(0 <= scores[name] <= 100 for name in ("iou", "precision", "recall", "f1"))


def test_eval_under_another_rule_changes_the_region_scores_alone(work, matched, call):
    truth = read_ground_truth(
        work / "truth.map",
        Mesh.read(matched[0] / "partial.ply"),
        full := Mesh.read(matched[0] / "full.ply"),
    )
    scores = {}
    for rule in ("usual", "near", "images"):
        code, out, _ = call(
            "eval", "result", "--ground-truth", "truth.map", "--region-truth", rule, "--json"
        )
        assert code == 0
        scores[rule] = json.loads(out)
        own = evaluate(MatchResult.load(matched[0]), full, truth.under(rule, full))
        assert scores[rule] == pytest.approx(finite_or_none(own.as_dict()))
    assert scores["images"]["iou"] != scores["usual"]["iou"]
    errors = [{k: v for k, v in s.items() if k.startswith("geodesic")} for s in scores.values()]
    assert errors[0] == errors[1] == errors[2]


def test_a_result_with_the_former_name_of_its_description_can_be_evaluated(matched, call, tmp_path):
    shutil.copytree(matched[0], tmp_path / "older")
    (tmp_path / "older" / "result.json").rename(tmp_path / "older" / "settings.json")
    code, out, _ = call("eval", tmp_path / "older", "--ground-truth", "truth.map")
    assert code == 0 and "% matched" in out


def test_eval_of_the_truth_itself_finds_no_error(work, matched, call, tmp_path):
    found = MatchResult.load(matched[0])
    # The result as its own ground truth, through the formats that hold one.
    np.savez(tmp_path / "own.npz", **found.arrays())
    rows = np.column_stack([found.face + 1, found.barycentric])
    np.savetxt(tmp_path / "own.baryc_gt", rows, fmt=["%d", "%.17g", "%.17g", "%.17g"])
    code, out, _ = call("eval", "result", "--ground-truth", tmp_path / "own.npz", "--json")
    scores = json.loads(out)
    assert code == 0 and scores["geodesic_error"] == 0 and scores["matched"] == 100
    if found.region.any():
        assert scores["iou"] == 100
    code, out, _ = call("eval", "result", "--ground-truth", tmp_path / "own.baryc_gt")
    assert code == 0 and "mean 0.00" in out and "100.0 % matched" in out and "IoU" in out


def test_eval_json_has_no_nan_when_nothing_is_known(work, matched, call, tmp_path):
    n = len(MatchResult.load(matched[0]).vertex_map)
    (tmp_path / "none.map").write_text("-1\n" * n)
    code, out, _ = call("eval", "result", "--ground-truth", tmp_path / "none.map", "--json")

    def not_a_number(text):
        raise AssertionError(f"{text} is not JSON")

    assert code == 0 and json.loads(out, parse_constant=not_a_number)["matched"] == 0


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["absent", "--ground-truth", "truth.map"], ["absent", "no result here"]),
        (["foreign", "--ground-truth", "truth.map"], ["foreign", "no result here"]),
        (["result", "--ground-truth", "absent.map"], ["absent.map", "no such file"]),
        (["result", "--ground-truth", "template.obj"], ["template.obj"]),
        (["result"], ["nothing to compare with", "--ground-truth", "--back"]),
        (["result", "--back", "result"], ["in the other order"]),
        (
            ["result", "--ground-truth", "truth.map", "--region-truth", "strict"],
            ["'strict'", "usual, near, images"],
        ),
    ],
)
def test_bad_input_of_eval_is_refused(matched, call, arguments, parts):
    assert_one_sentence(*call("eval", *arguments), parts)


def test_eval_tells_whether_the_way_back_comes_back(work, matched, call, tmp_path):
    pairs = (work / "pairs.csv").read_text().split()[1:]
    swapped = [",".join(reversed(pair.split(","))) for pair in pairs]
    (tmp_path / "back.csv").write_text("\n".join(["partial,full", *swapped]) + "\n")
    anchors = ["--anchors", tmp_path / "back.csv", "--out", tmp_path / "back", "--quiet"]
    assert call("match", "template.obj", "scan.ply", *anchors, *QUICK)[0] == 0
    code, out, _ = call("eval", "result", "--back", tmp_path / "back", "--json")
    scores, unit = json.loads(out), 100 / np.sqrt(Mesh.read(work / "scan.ply").area)
    assert code == 0 and scores["cycle_known"] > 90
    assert 0 <= scores["cycle_error_median"] < scores["cycle_error"]  # a cut comes back exactly
    assert scores["cycle_error"] < unit * Mesh.read(work / "scan.ply").mean_edge_length
    truth = ["--ground-truth", "truth.map"]
    code, out, _ = call("eval", "result", "--back", tmp_path / "back", *truth)
    assert code == 0 and "geodesic error" in out and "have a way back" in out


def test_doctor_shows_versions_and_checks_a_match(work):
    done = run(work, "doctor")
    assert done.returncode == 0, done.stderr
    for part in ("numpy", "scipy", "python", "cores", "self-check"):
        assert part in done.stdout


COMMANDS = [
    ["match"],
    ["batch"],
    ["anchors", "sample"],
    ["eval"],
    ["demo"],
    ["doctor"],
    ["cache", "info"],
    ["cache", "clear"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_help_has_an_example(call, command):
    code, out, err = call(*command, "--help")
    assert (code, err) == (0, "") and "Example" in out
    assert f"nho {' '.join(command)}" in out


def test_the_overview_has_the_first_line_of_every_help(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, _ = call("--help")
    assert code == 0
    for name, first_line in OVERVIEW.items():
        found = load(name)
        text = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
        assert first_line == text.split("\n")[0] and first_line in out


def test_the_overview_imports_neither_numpy_nor_a_command(work):
    """It is shown in a fifth of a second; each of those would take longer."""
    script = (
        "import sys; from nho.cli import main; sys.argv = ['nho', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "loaded = {'numpy', 'scipy', 'nho.cli.match', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(f'imported {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Match PARTIAL" in done.stdout


def test_demo_refuses_bad_input_before_it_works(work, call):
    before = names(work)
    assert_one_sentence(*call("demo", "--out", "foreign"), ["thesis.tex"])
    assert_one_sentence(*call("demo", "--kind", "sponge", "--out", "never"), ["sponge"])
    assert_one_sentence(*call("demo", "--anchors", "0", "--out", "never"), ["0"])
    assert names(work) == before


def test_the_version_is_told(call):
    code, out, _ = call("--version")
    assert code == 0 and out.startswith("nho ") and out.split()[1][0].isdigit()
