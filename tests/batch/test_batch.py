"""Batches: what the table of pairs may say, what is run, kept, done again and survived."""

import csv
import functools
import os
import signal
import sys
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
import nho.batch.runner
import nho.runtime.memory
from nho.batch import read_pairs, run_batch
from nho.batch.job import JobOutcome
from nho.batch.local import _next_that_fits
from nho.batch.pairs import BatchPair, name_from_files
from nho.batch.plan import Planner
from nho.batch.summary import SummaryRow, write_summary
from nho.cli import main
from nho.cli.app import app
from nho.errors import InputError
from nho.pipeline.memory_budget import fit_to_memory, needed_memory
from nho.problem.result import MatchResult
from nho.report.result_folder import FILES
from nho.runtime.memory import available_memory, estimated_memory
from nho.settings import preset
from tests.faults import given, running
from tests.faults.running import wait_for_ends, wait_until, worker_processes

QUICK = ["fit_steps=2", "rounds=0", "bend=false"]
STARTED = []  # processes of the running test
SETTINGS = preset("default").with_text(QUICK).replace(threads=1)


make_pairs = functools.partial(given.make_pairs, name="p{}")


def command(table, out, *options, changes=QUICK):
    parts = [part for change in changes for part in ("--set", change)]
    return ["batch", str(table), "--out", str(out), *parts, *map(str, options)]


def start(*arguments):
    """The command, killed at the end of the test if it still runs."""
    STARTED.append(running.start(*arguments))
    return STARTED[-1]


@pytest.fixture(autouse=True)
def no_process_is_left():
    """A test that fails in the middle must not leave a stopped or endless run behind."""
    yield
    while STARTED:
        with suppress(ProcessLookupError):
            os.killpg(STARTED.pop().pid, signal.SIGKILL)


def read_summary(out):
    with open(out / "summary.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def statuses(out):
    return [row["status"] for row in read_summary(out)]


def times(out):
    """When every file of every pair was written."""
    return {str(path): path.stat().st_mtime_ns for path in sorted(out.glob("p*/*"))}


# The table of pairs


@pytest.fixture
def files(tmp_path):
    for name in ("a b.ply", "full.ply", "x.csv"):
        (tmp_path / name).write_text("x")
    return tmp_path


def table(folder, text):
    (folder / "pairs.csv").write_text(text, encoding="utf-8")
    return folder / "pairs.csv"


def test_paths_are_relative_to_the_table_and_names_are_made_up_without_clashes(files, monkeypatch):
    monkeypatch.chdir("/")
    row = "a b.ply,full.ply,x.csv"
    text = (
        f"\ufeffpartial,full,anchors,name\n# note\n{row}\n{row},\n\n{row},A_B-FULL-2\n{row},tom\n"
    )
    pairs = read_pairs(table(files, text))
    assert [pair.name for pair in pairs] == ["a_b-full", "a_b-full-3", "A_B-FULL-2", "tom"]
    assert all(pair.partial == files / "a b.ply" for pair in pairs)


class Counted(set):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name):
        self.asked += 1
        return super().__contains__(name)


def test_many_like_names_are_told_apart_without_trying_all_numbers_again():
    taken, numbers, names = Counted({"a-b-7"}), {}, []
    for _ in range(500):
        names.append(name_from_files(Path("a.ply"), Path("b.ply"), taken, numbers))
        taken.add(names[-1])
    assert names == ["a-b", *(f"a-b-{i}" for i in range(2, 502) if i != 7)]
    assert taken.asked <= 2 * 500


ROW = "a b.ply,full.ply,x.csv"
BAD_TABLES = [
    ("", ["empty"]),
    ("partial,full,anchors\n", ["no pairs"]),
    ("partial,full,anchors\n" + "a,b,c\n" * 50_001, ["50,001 pairs, at most 50,000"]),
    ("partial,full\na b.ply,full.ply\n", ["anchors", "missing", "line 1"]),
    (f"partial,full,anchors\n{ROW}\na b.ply,,x.csv\n", ["line 3", "full"]),
    (f"partial,full,anchors\n{ROW},tom\n", ["line 2", "4 cells"]),
    (f"partial,full,anchors,name\n{ROW},tom\n{ROW},Tom\n", ["line 3", "line 2", "Tom"]),
    (f'partial,full,anchors\n"{ROW}\n', ["CSV"]),
]


@pytest.mark.parametrize(("text", "parts"), BAD_TABLES, ids=lambda given: str(given)[-40:])
def test_a_bad_table_is_refused_with_its_line(files, text, parts):
    with pytest.raises(InputError) as raised:
        read_pairs(table(files, text))
    assert all(part in str(raised.value) for part in ["pairs.csv", *parts]), raised.value


BAD_NAMES = ["..", ".", ".hidden", "a/b", "../a", "/tmp/a", "a\\b", "C:", "tab\there", "bell\x07"]
BAD_NAMES += ["summary.csv", "NUL", "end.", "x" * 201]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_leave_the_folder_is_refused_with_its_line(files, name):
    with pytest.raises(InputError, match="line 2: the name"):
        read_pairs(table(files, f"partial,full,anchors,name\n{ROW},{name}\n"))


def test_nothing_is_made_for_a_bad_table(files, monkeypatch, capsys):
    path = table(files, "partial,full,anchors\na b.ply,,x.csv\n")
    monkeypatch.setattr(sys, "argv", ["nho", *command(path, files / "out")])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 1 and shown.err.startswith("nho: ") and shown.err.count("\n") == 1
    assert not (files / "out").exists()


@pytest.mark.parametrize("between", [";", "\t"])
def test_a_table_from_a_spreadsheet_of_another_country_is_read(files, between):
    text = f"partial,full,anchors,name\n{ROW},a\n".replace(",", between)
    plain = read_pairs(table(files, f"partial,full,anchors,name\n{ROW},a\n"))
    assert read_pairs(table(files, text)) == plain
    table(files, "").write_bytes(text.encode("utf-16"))
    assert read_pairs(files / "pairs.csv") == plain


def test_a_summary_of_somebody_else_is_not_overwritten(files):
    (files / "summary.csv").write_text("years of work")
    with pytest.raises(InputError, match=r"summary\.csv"):
        run_batch(read_pairs(table(files, f"partial,full,anchors\n{ROW}\n")), files, SETTINGS)
    assert (files / "summary.csv").read_text() == "years of work"


# What is run, kept and done again


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Five pairs: the second has a damaged mesh, the fourth bad anchors; others lack files."""
    folder = tmp_path_factory.mktemp("batch")
    path = make_pairs(folder, 5)
    (folder / "scan1.ply").write_text("not a mesh")
    (folder / "anchors3.csv").write_text("partial,full\n0,0\n1,99999\n2,2\n")
    with open(path, "a") as stream:
        stream.write("q5,absent.ply,full0.ply,anchors0.csv\nq6,scan0.ply,full0.ply,absent.csv\n")
    process = start(*command(path, folder / "out", "--jobs", 2))
    return path, folder / "out", *process.ended()


def test_failures_in_the_middle_cost_only_their_pairs(finished):
    path, folder, code, out, err = finished
    assert code == 1 and "Traceback" not in err
    assert "3 of 7 pairs ok, 4 failed" in out and "summary.csv" in out
    rows = read_summary(folder)
    assert [row["name"] for row in rows] == ["p0", "p1", "p2", "p3", "p4", "q5", "q6"]
    assert [row["status"] for row in rows] == [
        "ok",
        "failed",
        "ok",
        "failed",
        "ok",
        "failed",
        "failed",
    ]
    for row, name in zip(rows[5:], ("absent.ply", "absent.csv"), strict=True):
        assert row["error"] == f"{path.parent / name}: there is no such file; check the path"
    assert "scan1.ply" in rows[1]["error"] and "99999" in rows[3]["error"]
    assert f"failed: p3: {rows[3]['error']}" in err
    assert sorted(entry.name for entry in folder.glob("p*")) == ["p0", "p2", "p4"]


def test_every_folder_and_row_is_what_a_single_match_gives(finished):
    path, folder, *_ = finished
    pair, row = read_pairs(path)[2], read_summary(folder)[2]
    alone = nho.match(pair.partial, pair.full, pair.anchors, SETTINGS)
    stored = MatchResult.load(folder / "p2")
    for name, array in alone.arrays().items():
        assert np.array_equal(getattr(stored, name), array, equal_nan=array.dtype.kind == "f")
    assert sorted(entry.name for entry in (folder / "p2").iterdir()) == sorted(FILES)
    assert int(row["matched_vertices"]) == (alone.vertex_map >= 0).sum()
    assert int(row["region_vertices"]) == alone.region.sum()
    mean_confidence = alone.confidence[alone.vertex_map >= 0].mean()
    assert float(row["mean_confidence"]) == pytest.approx(mean_confidence, abs=1e-4)
    assert int(row["warnings"]) == len(alone.warnings)
    assert float(row["seconds"]) > 0


class Notes(list):
    """A progress callback that keeps its events."""

    def __call__(self, event):
        self.append(event)

    @property
    def text(self):
        return " | ".join(event.note for event in self if event.note)

    @property
    def ran(self):
        return [event.row.name for event in self if event.row is not None]


def again(path, out, settings=SETTINGS, **options):
    notes = Notes()
    rows = run_batch(read_pairs(path), out, settings, jobs=1, progress=notes, **options)
    return rows, notes


def test_a_second_run_redoes_nothing_and_rebuilds_the_table(finished):
    path, out, *_ = finished
    before, table_before = times(out), (out / "summary.csv").read_text()
    (out / "summary.csv").unlink()
    rows, notes = again(path, out, replace(SETTINGS, threads=2))
    assert notes.ran == [] and times(out) == before
    assert (out / "summary.csv").read_text() == table_before
    assert "3 of 7 pairs are done" in notes.text and "1 pairs failed earlier" in notes.text
    assert "--retry-failed" in notes.text
    failed = [row.name for row in rows if row.status == "failed"]
    assert failed == ["p1", "p3", "q5", "q6"] and len(rows) == 7


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Two finished pairs of its own, and this process works on them itself."""
    monkeypatch.setattr(nho.batch.runner, "run_local", lambda jobs, *_: (job.run() for job in jobs))
    path = make_pairs(tmp_path, 2)
    rows, _ = again(path, tmp_path / "out", report=False)
    assert [row.status for row in rows] == ["ok", "ok"]
    return path, tmp_path / "out"


def test_results_of_an_older_version_with_settings_json_are_kept(small):
    path, out = small
    for name in ("p0", "p1"):
        (out / name / "result.json").rename(out / name / "settings.json")
    rows, notes = again(path, out, report=False)
    assert notes.ran == [] and [row.status for row in rows] == ["ok", "ok"]


def test_only_what_changed_is_made_again_and_the_reason_is_said(small):
    path, out = small
    folder = path.parent
    assert not list(out.glob("*/report.html"))
    text = (folder / "anchors1.csv").read_text()
    (folder / "anchors1.csv").write_text(text.rsplit("\n", 2)[0] + "\n")  # one anchor fewer
    before = times(out)
    _, notes = again(path, out, report=False)
    assert notes.ran == ["p1"] and "1 earlier results are recomputed (other inputs)" in notes.text
    assert {k: v for k, v in times(out).items() if "p0" in k}.items() <= before.items()
    _, notes = again(path, out, replace(SETTINGS, seed=1), report=False)
    assert (
        notes.ran == ["p0", "p1"]
        and "2 earlier results are recomputed (other settings)" in notes.text
    )
    (out / "p0" / "result.npz").write_bytes(b"")
    (out / "p1" / "full.ply").write_bytes(b"")
    _, notes = again(path, out, replace(SETTINGS, seed=1), report=False)
    assert notes.ran == ["p0", "p1"] and "2 earlier results are recomputed (damaged" in notes.text
    _, notes = again(path, out, replace(SETTINGS, seed=1))
    assert notes.ran == ["p0", "p1"] and "(no report)" in notes.text
    assert statuses(out) == ["ok", "ok"]


def test_a_failure_is_kept_until_its_files_change_or_a_retry_is_asked_for(small):
    path, out = small
    good = (path.parent / "anchors0.csv").read_text()
    (path.parent / "anchors0.csv").write_text("partial,full\n0,0\n1,99999\n2,2\n")
    rows, notes = again(path, out, report=False)
    assert notes.ran == ["p0"] and rows[0].status == "failed"
    assert (
        "does not count: other inputs" in rows[0].error
    )  # an old result is there, and does not count
    assert again(path, out, report=False)[1].ran == []
    assert again(path, out, report=False, retry_failed=True)[1].ran == ["p0"]
    (path.parent / "anchors0.csv").write_text(good)
    rows, notes = again(path, out, report=False)
    assert notes.ran == [] and [row.status for row in rows] == ["ok", "ok"]


# Kills, interrupts and two at once


def kill_group(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def some_done(out, least=1):
    return len(list((out / ".batch" / "done").glob("p*.json"))) >= least


def test_a_killed_run_goes_on_where_it_was_and_its_lock_is_free(tmp_path):
    path, out = make_pairs(tmp_path, 4), tmp_path / "out"
    words = command(path, out, "--jobs", 2, "--no-report")
    process = running.start_pausing(2, tmp_path / "never", *words)
    STARTED.append(process)
    wait_until(lambda: some_done(out, 2))
    kill_group(process)
    (out / ".nho-p3.abcdefgh").mkdir()  # as a worker leaves it that is killed while it writes
    before = times(out)
    rows, notes = again(path, out, report=False)
    assert [row.status for row in rows] == statuses(out) == ["ok"] * 4 and len(notes.ran) <= 2
    assert not list(out.glob(".nho-*"))
    assert len(before) >= 8 and before.items() <= times(out).items()


@pytest.mark.slow
def test_a_killed_worker_costs_one_attempt_and_two_are_reported(tmp_path):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"
    seen = set()

    def kill_a_new_worker():
        fresh = [w for w in worker_processes(process) if w.pid not in seen]
        for worker in fresh:
            seen.add(worker.pid)
            worker.kill()
        return fresh

    process = start(*command(path, out, "--jobs", 1))
    wait_until(kill_a_new_worker)
    wait_until(kill_a_new_worker)
    _, _, err = process.ended()
    assert process.returncode == 1 and statuses(out) == ["failed"]
    assert "died 2 times (signal 9)" in err and "Traceback" not in err
    process = start(*command(path, out, "--jobs", 1, "--retry-failed"))
    wait_until(kill_a_new_worker)
    _, _, err = process.ended()
    assert process.returncode == 0 and statuses(out) == ["ok"], err


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"
    process = start(*command(path, out, changes=["fit_steps=1000000", "look_again_below=2"]))
    # Past its imports, a worker is in the middle of a pair that would take hours.
    workers = wait_until(lambda: worker_processes(process))
    wait_until(lambda: workers[0].cpu_times().user > 1.5)
    process.kill()
    process.wait()
    wait_for_ends(workers)


def test_what_was_finished_but_not_reported_when_a_run_stopped_is_in_the_table(
    tmp_path, monkeypatch
):
    path, out = make_pairs(tmp_path, 2), tmp_path / "out"

    def interrupted(jobs, *_):
        assert jobs[0].run().error == ""
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(nho.batch.runner, "run_local", interrupted)
    with pytest.raises(KeyboardInterrupt):
        again(path, out)
    assert statuses(out) == ["ok", "skipped"]


def test_files_that_change_during_the_run_do_not_pass_for_done(tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"
    anchors = tmp_path / "anchors0.csv"

    def late(jobs, *_):
        anchors.write_text(anchors.read_text().rsplit("\n", 2)[0] + "\n")
        yield jobs[0].run()

    monkeypatch.setattr(nho.batch.runner, "run_local", late)
    rows, _ = again(path, out)
    assert rows[0].status == "failed" and "changed while it ran" in rows[0].error
    assert [row.status for row in again(path, out)[0]] == ["ok"]


def test_a_bug_in_a_worker_is_one_line_in_the_table_and_kept_in_full(tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"

    def bug(*_):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("nho.batch.job.match", bug)
    monkeypatch.setattr(nho.batch.runner, "run_local", lambda jobs, *_: (job.run() for job in jobs))
    rows, _ = again(path, out)
    assert rows[0].error == "unexpected ZeroDivisionError: two lines"
    assert "Traceback" in (out / ".batch" / "failed" / "p0.json").read_text()


def test_the_table_of_many_pairs_is_not_written_after_every_one(tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 4), tmp_path / "out"
    written = []

    def write(folder, rows):
        written.append([row.status for row in rows])

    outcomes = [JobOutcome(f"p{number}", 0.0, "broken") for number in range(4)]
    monkeypatch.setattr(nho.batch.runner, "run_local", lambda *_: (each for each in outcomes))
    monkeypatch.setattr(nho.batch.runner, "write_summary", write)
    clock = SimpleNamespace(monotonic=iter([10, 11, 15, 31, 32, 33]).__next__)
    monkeypatch.setattr(nho.batch.runner, "time", clock)
    run_batch(read_pairs(path), out, SETTINGS, jobs=1)
    # Planned; after the first pair, which took 1 s of writing; 20 s later; at the end.
    assert [statuses.count("failed") for statuses in written] == [0, 1, 3, 4]


def test_pairs_with_warnings_are_named_at_the_end(tmp_path, monkeypatch):
    rows = [SummaryRow("sure", "ok", warnings=0), SummaryRow("doubtful", "ok", warnings=2)]
    monkeypatch.setattr("nho.cli.batch.run_batch", lambda *_, **__: rows)
    path = make_pairs(tmp_path, 2)
    outcome = CliRunner().invoke(app, ["batch", str(path), "--out", str(tmp_path / "out")])
    assert "2 of 2 pairs ok, 0 failed, 1 with warnings (doubtful); look" in outcome.stdout


def test_the_table_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    write_summary(tmp_path, [SummaryRow("a", "ok")])
    before = (tmp_path / "summary.csv").read_text()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        write_summary(tmp_path, [SummaryRow("a", "failed")])
    assert (tmp_path / "summary.csv").read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.csv"]


# Memory


def test_a_pair_that_does_not_fit_is_reported_and_not_started(tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 2), tmp_path / "out"

    def never(*_):
        raise AssertionError("started")

    monkeypatch.setattr(nho.batch.runner, "run_local", never)
    monkeypatch.setattr(nho.batch.runner, "available_memory", lambda: 100 << 20)
    rows, notes = again(path, out)
    assert [row.status for row in rows] == ["failed", "failed"] and statuses(out) == ["failed"] * 2
    assert "162 vertices" in rows[0].error and "memory" in rows[0].error
    assert "94.4 MB" in rows[0].error


def test_a_pair_is_refused_only_where_a_match_would_be(tmp_path, whole, piece, monkeypatch):
    """Both solve on fewer vertices where memory is short; vertices beyond those cost little."""
    for mesh, name in ((piece.mesh, "partial.ply"), (whole, "full.ply")):
        mesh.write(tmp_path / name)
    pair = BatchPair("p", tmp_path / "partial.ply", tmp_path / "full.ply", (Path("auto"),))
    sizes = len(piece.mesh.vertices), len(whole.vertices)
    settings = SETTINGS.replace(solve_vertices=0)
    least = needed_memory(*sizes, max(sizes) // 2)  # halved once more they would be too few
    assert least < needed_memory(*sizes, 0)
    for free, fits in ((needed_memory(*sizes, 0), True), (least, True), (least - 1, False)):
        plan = Planner(tmp_path / "out", settings, True, False, free).plan(pair)
        assert (plan.job is not None) == fits
        assert plan.job.memory <= free if fits else "memory" in plan.row.error
        monkeypatch.setattr("nho.pipeline.memory_budget.available_memory", lambda free=free: free)
        with nullcontext() if fits else pytest.raises(InputError, match="memory"):
            fit_to_memory(settings, piece.mesh, whole)


class Sized:
    def __init__(self, name, memory):
        self.name, self.memory, self.job = name, memory, self


def test_no_more_pairs_run_than_fit_and_one_that_killed_a_worker_runs_alone():
    large, other, tiny = Sized("large", 60), Sized("other", 50), Sized("tiny", 30)
    assert _next_that_fits([large, other, tiny], [], Counter(), 100) is large
    assert _next_that_fits([other, tiny], [large], Counter(), 100) is tiny
    assert _next_that_fits([other], [large, tiny], Counter(), 100) is None
    assert _next_that_fits([other], [large, tiny], Counter(), None) is other
    assert _next_that_fits([tiny], [large], Counter(tiny=1), 100) is None
    assert _next_that_fits([tiny], [large], Counter(large=1), 100) is None
    assert _next_that_fits([tiny], [], Counter(tiny=1), 100) is tiny


def test_memory_grows_with_both_meshes():
    assert estimated_memory(0, 0) > 50 << 20
    assert estimated_memory(2000, 1000) > estimated_memory(1000, 1000)
    assert estimated_memory(1000, 2000) > estimated_memory(1000, 1000)


def put(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


GB = 1 << 30
MACHINE = {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {8 * GB // 1024} kB\n"}
NEW = {"proc/self/cgroup": "0::/job/step\n"}
OLD = {"proc/self/cgroup": "5:cpu,memory:/job\n1:cpuset:/x\n0::/\n"}
LIMITED = {"memory.max": f"{3 * GB}", "memory.current": f"{2 * GB}"}


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({}, 8 * GB),
        ({**NEW, "sys/fs/cgroup/job/step/memory.max": "max"}, 8 * GB),
        ({**NEW, **{f"sys/fs/cgroup/job/{k}": v for k, v in LIMITED.items()}}, GB),
        (
            {
                **NEW,
                **{f"sys/fs/cgroup/job/step/{k}": v for k, v in LIMITED.items()},
                "sys/fs/cgroup/job/step/memory.stat": f"anon 5\ninactive_file {GB}\n",
            },
            2 * GB,
        ),
        (
            {
                **OLD,
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{5 * GB}",
                "sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{GB}",
            },
            4 * GB,
        ),
    ],
)
def test_free_memory_respects_the_limits_of_containers(tmp_path, monkeypatch, group, expected):
    put(tmp_path, {**MACHINE, **group})
    monkeypatch.setattr(nho.runtime.memory, "_ROOT", tmp_path)
    assert available_memory() == expected


def test_unknown_memory_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(nho.runtime.memory, "_ROOT", tmp_path)
    monkeypatch.delattr(os, "sysconf")
    assert available_memory() is None
