"""Tasks end in rows once each, whatever happens on the way."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from nho.errors import InputError
from nho.lab.bench.engine import BenchProgress, execute, rows_of, unmeasured
from nho.lab.bench.rowfile import read_rows


@dataclass(frozen=True)
class Count:
    """A task that leaves a mark in a folder every time it is done."""

    pair: str
    marks: str
    mood: str = "fine"
    made_by: str = "a"

    kind = "counts"
    columns = ("family", "pair", "value", "made_by")
    effort = 1.0

    @property
    def keys(self) -> dict[str, str]:
        return {"family": "f", "pair": self.pair}

    @property
    def stamp(self) -> dict[str, str]:
        return {"made_by": self.made_by}

    def measure(self, data: Path | None, threads: int) -> dict[str, float | str]:
        marks = Path(self.marks)
        times = len(list(marks.glob(f"{self.pair}.*")))
        (marks / f"{self.pair}.{times}").touch()
        if self.mood == "refuses":
            raise InputError("no such thing\nat all")
        if self.mood == "buggy":
            raise ZeroDivisionError("oops")
        if self.mood == "dies":
            os.kill(os.getpid(), 9)
        return {"value": float(len(self.pair)), "made_by": self.made_by}


@pytest.fixture
def without_workers(monkeypatch) -> None:
    """Where processes do not matter this one does the work itself."""
    work = lambda jobs, *_: (job.run() for job in jobs)  # noqa: E731
    monkeypatch.setattr("nho.lab.bench.engine.run_local", work)


@pytest.fixture
def marks(tmp_path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def times_done(marks: Path, pair: str) -> int:
    return len(list(marks.glob(f"{pair}.*")))


@pytest.mark.slow
def test_every_task_has_one_row_and_none_is_done_twice(tmp_path, marks):
    tasks = [Count(name, str(marks)) for name in ("a", "bb", "ccc", "bb")]
    out = tmp_path / "out"
    assert execute(tasks, out, None, jobs=2) == {}
    assert execute(tasks, out, None, jobs=1) == {}
    rows = rows_of(tasks, out)
    assert [(row["pair"], row["value"]) for row in rows] == [
        ("a", "1"),
        ("bb", "2"),
        ("ccc", "3"),
        ("bb", "2"),
    ]
    assert len(read_rows(out / "counts.csv")) == 3
    assert [times_done(marks, name) for name in ("a", "bb", "ccc")] == [1, 1, 1]


def test_failures_are_told_in_a_line_keep_the_others_going_and_are_tried_again(tmp_path, marks):
    out = tmp_path / "out"
    moods = {"a": "refuses", "b": "fine", "c": "buggy", "d": "dies"}
    tasks = [Count(name, str(marks), mood) for name, mood in moods.items()]
    failures = execute(tasks, out, None, jobs=1)
    told = {name.split()[-1]: problem for name, problem in failures.items()}
    assert told["a"] == "no such thing at all"
    assert "ZeroDivisionError: oops" in told["c"]
    assert "died" in told["d"] and "b" not in told
    assert [row["pair"] for row in rows_of(tasks, out)] == ["b"]
    execute([Count(name, str(marks)) for name in moods], out, None, jobs=1)
    assert times_done(marks, "a") == 2 and times_done(marks, "b") == 1
    assert len(rows_of(tasks, out)) == 4


def test_a_row_made_with_other_settings_is_measured_again_and_the_last_one_counts(
    tmp_path, marks, without_workers
):
    out = tmp_path / "out"
    old, new = Count("a", str(marks)), Count("a", str(marks), made_by="b")
    execute([old], out, None, jobs=1)
    assert unmeasured([old], out) == [] and unmeasured([new], out) == [new]
    execute([new], out, None, jobs=1)
    assert [row["made_by"] for row in rows_of([new], out)] == ["b"]
    assert times_done(marks, "a") == 2


def test_a_row_made_with_other_settings_is_not_shown_if_the_new_run_fails(
    tmp_path, marks, without_workers
):
    out = tmp_path / "out"
    new = Count("a", str(marks), "refuses", made_by="b")
    execute([Count("a", str(marks))], out, None, jobs=1)
    assert len(execute([new], out, None, jobs=1)) == 1
    assert rows_of([new], out) == []


def test_progress_counts_all_tasks_and_what_was_done_before(tmp_path, marks, without_workers):
    out = tmp_path / "out"
    execute([Count("a", str(marks))], out, None, jobs=1)
    events: list[BenchProgress] = []
    tasks = [Count("a", str(marks)), Count("b", str(marks)), Count("c", str(marks), "refuses")]
    execute(tasks, out, None, jobs=1, progress=events.append)
    assert [(event.done, event.failed, event.total) for event in events] == [
        (1, 0, 3),
        (2, 0, 3),
        (3, 1, 3),
    ]
    assert events[1].left > 0 and events[-1].problem == "no such thing at all"


def test_a_half_written_last_row_is_measured_again(tmp_path, marks, without_workers):
    out = tmp_path / "out"
    tasks = [Count("a", str(marks)), Count("b", str(marks))]
    execute(tasks, out, None, jobs=1)
    path = out / "counts.csv"
    path.write_bytes(path.read_bytes()[:-2])
    execute(tasks, out, None, jobs=1)
    assert [row["value"] for row in rows_of(tasks, out)] == ["1", "1"]
    assert times_done(marks, "a") + times_done(marks, "b") == 3


def test_another_table_in_its_place_is_refused(tmp_path, marks):
    (tmp_path / "counts.csv").write_text("something,else\n1,2\n")
    with pytest.raises(InputError, match=r"counts\.csv"):
        execute([Count("a", str(marks))], tmp_path, None, jobs=1)
    assert times_done(marks, "a") == 0


def test_no_process_is_an_error(tmp_path, marks):
    with pytest.raises(InputError, match="--jobs 0"):
        execute([Count("a", str(marks))], tmp_path, None, jobs=0)
