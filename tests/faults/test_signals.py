"""Ctrl-C and SIGTERM: the right exit code, one line that says how to go on, and no rubbish."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import nho.runtime.atomic_folder
from nho.lab.bench.rowfile import read_rows
from nho.runtime.interrupts import Stopped, deferred, stops_raised
from tests.faults.given import QUICK, changes, match_words, names, result_in
from tests.faults.running import (
    Process,
    environment,
    run_here,
    start,
    start_pausing,
    wait_for_ends,
    wait_until,
    worker_processes,
)

BENCH = ["bench", "--study", "units", "--methods", "nearest", "--families", "synthetic", "--quick"]
LONG = changes("fit_steps=100000", "look_again_below=2")  # minutes


@pytest.fixture(autouse=True)
def _signals_arrive():
    """A process started in the background ignores Ctrl-C, and so would what is tested here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


SIGNALS = [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
both = pytest.mark.parametrize(("number", "word", "code"), SIGNALS)
first_both_slowly = pytest.mark.parametrize(
    ("number", "word", "code"), [SIGNALS[0], pytest.param(*SIGNALS[1], marks=pytest.mark.slow)]
)


def stop(process: Process, number: int, word: str, code: int) -> str:
    """Send the signal and wait for the end; returns the line that is said.

    A terminal sends Ctrl-C to the whole group, while SIGTERM usually goes to one process.
    """
    workers = worker_processes(process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    ended, _, err = process.ended()
    wait_for_ends(workers)
    assert ended == code and "Traceback" not in err and "Exception" not in err, (ended, err)
    lines = [line for line in err.splitlines() if line.startswith("nho: ")]
    assert len(lines) == 1 and lines[0].startswith(f"nho: {word}"), err
    return lines[0]


@both
@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc to see the moment")
def test_a_match_stopped_while_it_is_loaded_has_written_nothing(
    number, word, code, pairs, tmp_path
):
    with start(*match_words(pairs, 0, tmp_path / "place" / "out", *LONG)) as process:
        wait_until(lambda: "scipy" in Path(f"/proc/{process.pid}/maps").read_text())
        assert "nothing was written" in stop(process, number, word, code)
    assert names(tmp_path) == []


@both
def test_a_match_stopped_while_it_computes_keeps_the_earlier_result(
    number, word, code, pairs, finished_match
):
    out, earlier = finished_match[0], result_in(finished_match[0])
    with start(*match_words(pairs, 1, out, *LONG)) as process:
        assert process.stderr is not None
        while "spectra" not in process.stderr.readline():
            assert process.running
        said = stop(process, number, word, code)
    assert f"{out} still holds the earlier result" in said and "same command" in said
    assert result_in(out) == earlier and names(out.parent) == ["result0", "result1"]


@first_both_slowly
@pytest.mark.parametrize("after", [0.0, pytest.param(0.05, marks=pytest.mark.slow)])
def test_a_match_stopped_while_it_writes_says_which_result_is_there(
    number, word, code, after, pairs, finished_match
):
    out, other = finished_match
    earlier, place = result_in(out), out.parent
    with start(*match_words(pairs, 1, out, "--quiet")) as process:
        wait_until(lambda: list(place.glob(".nho-*")) or not process.running)
        time.sleep(after)
        with suppress(ProcessLookupError):  # it may be over by now
            os.killpg(process.pid, number)
        ended, _, err = process.ended()
    new = result_in(out) == result_in(other)
    assert new or result_in(out) == earlier
    assert names(place) == ["result0", "result1"]
    if ended == 0:  # the signal came too late: the command was over
        assert new and err == ""
    elif ended != -number:  # else it came when all was said and Python was shutting down
        # "no incomplete file": the match was over, the command not yet.
        said = ["is complete", "no incomplete file"] if new else ["still holds the earlier result"]
        assert ended == code and err.startswith(f"nho: {word}; "), err
        assert any(words in err for words in said), err
        assert err.count("\n") == 1


@both
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_match_stopped_as_its_result_takes_its_place_tells_the_truth(
    when, number, word, code, pairs, finished_match, monkeypatch
):
    out, other = finished_match
    earlier, real = result_in(out), nho.runtime.atomic_folder._put_in_place

    def put(*arguments):
        if when == "before":
            raise Stopped(number)
        real(*arguments)
        signal.raise_signal(number)

    monkeypatch.setattr(nho.runtime.atomic_folder, "_put_in_place", put)
    ended, _, err = run_here(*match_words(pairs, 1, out, "--quiet"))
    said = "is complete" if when == "after" else "still holds the earlier result"
    assert ended == code and err.startswith(f"nho: {word}; ") and said in err
    assert err.count("\n") == 1 and names(out.parent) == ["result0", "result1"]
    assert result_in(out) == (result_in(other) if when == "after" else earlier)


@first_both_slowly
def test_a_batch_stopped_keeps_finished_pairs_and_goes_on(number, word, code, pairs, tmp_path):
    out = tmp_path / "out"
    words = ["batch", pairs / "pairs.csv", "--jobs", 1, "--no-report", "--out", out]
    with start_pausing(1, tmp_path / "go", *words, *changes(*QUICK), "--quiet") as process:
        wait_until(lambda: list((out / ".batch" / "done").glob("p*.json")))
        assert worker_processes(process)
        said = stop(process, number, word, code)
    with open(out / "summary.csv", newline="") as stream:
        statuses = {row["status"] for row in csv.DictReader(stream)}
    assert "finished pairs are kept" in said and "run the same command again to continue" in said
    assert not list(out.rglob(".nho-*"))
    written = [result_in(out / name, report=False) for name in ("p000", "p001", "p002")]
    assert any(written) and statuses == {"ok", "skipped"}
    code, shown, err = run_here(*words, *changes(*QUICK))
    assert code == 0 and "3 of 3 pairs ok" in shown, err
    assert "pairs are done already" in err


@pytest.mark.slow
@both
def test_a_benchmark_stopped_keeps_its_rows(number, word, code, tmp_path):
    out = tmp_path / "out"
    words = [*BENCH, "--jobs", 1, "--quiet", "--out", out]
    with start_pausing(1, tmp_path / "go", *words) as process:
        wait_until(lambda: read_rows(out / "matches.csv"))
        said = stop(process, number, word, code)
    assert "what was measured is kept" in said and "run the same command again to continue" in said
    # test_kills.py goes on from what is kept.
    assert read_rows(out / "matches.csv") and not list(out.rglob(".nho-*"))


def test_importing_the_package_imports_nothing_heavy():
    """Else Ctrl-C in the first second would end in a traceback of NumPy or SciPy."""
    script = "import sys, nho.cli; sys.exit('numpy' in sys.modules or 'typer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], env=environment()).returncode == 0


def test_every_public_name_is_found_and_no_other():
    import nho

    assert all(getattr(nho, name) is not None for name in nho.__all__)
    assert set(nho.__all__) <= set(dir(nho))
    assert nho.evaluation.metrics.__name__ == "nho.evaluation.metrics"
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = nho.no_such_thing


# The exception and its moments


@both
def test_a_signal_waits_for_the_end_of_a_block_and_a_second_one_does_not(number, word, code):
    reached = []
    with stops_raised(), pytest.raises(Stopped) as stopped:
        with deferred():
            with deferred():
                signal.raise_signal(number)
                reached.append("inner")
            reached.append("outer")
        pytest.fail("it was forgotten")
    assert (stopped.value.word, stopped.value.exit_code) == (word, code)
    assert reached == ["inner", "outer"]
    with stops_raised(), pytest.raises(Stopped):
        with deferred():
            signal.raise_signal(number)
            signal.raise_signal(number)
            pytest.fail("the second one waited")


def test_handlers_return_to_what_they_were_and_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with stops_raised():
            assert signal.getsignal(signal.SIGINT) is not handler
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_may_use_both_and_change_nothing():
    handler, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with stops_raised(), deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [handler]


def test_what_is_half_made_when_the_signal_comes_does_not_complain():
    code = """
import signal
from nho.runtime.interrupts import stops_raised

class Archive:
    def __init__(self, stop):
        if stop:
            signal.raise_signal(signal.SIGINT)
        self.file = None

    def __del__(self):
        if self.file is None:
            raise ValueError("told")

for stop in (True, False):
    try:
        with stops_raised():
            Archive(stop)
    except KeyboardInterrupt:
        pass
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=True)
    assert "AttributeError" not in done.stderr and done.stderr.count("ValueError: told") == 1
