"""Two processes on one folder: the last one wins, whole, or one of them is refused by name."""

from __future__ import annotations

import threading
from itertools import count, permutations

import numpy as np
import pytest

import nho.runtime.atomic_folder
from nho.errors import InputError
from nho.problem.result import MatchResult
from nho.report.result_folder import FILES, check_folder
from nho.runtime.atomic_folder import whole_folder
from nho.settings import Settings
from tests.faults.given import QUICK, changes, match_words, names, result_in
from tests.faults.running import one_sentence, run_here, start, start_pausing, wait_until

BENCH = ["bench", "--study", "units", "--methods", "nearest", "--families", "synthetic", "--quick"]


@pytest.mark.slow
def test_two_matches_into_one_folder_leave_one_of_the_results_whole(
    pairs, finished_match, tmp_path
):
    wanted = [result_in(folder) for folder in finished_match]
    out, cache = tmp_path / "place" / "out", {"NHO_CACHE": str(tmp_path / "cache")}
    with (
        start(*match_words(pairs, 0, out), variables=cache) as first,
        start(*match_words(pairs, 1, out), variables=cache) as second,
    ):
        for process in (first, second):
            code, _, err = process.ended()
            assert code == 0, err
    assert result_in(out) in wanted and names(out.parent) == ["out"]


def small_result(number, time):
    """Arrays and description tell which one it is.

    As in life, no two took the same time, and their files differ in size.
    """
    some = np.random.default_rng(number).random(2000)
    return MatchResult(
        vertex_map=np.full(2000, number),
        face=np.full(2000, number),
        barycentric=np.full((2000, 3), 1 / 3),
        confidence=some if number == 2 else np.ones(2000),
        region=np.ones(9, dtype=bool),
        region_score=np.ones(9),
        anchors=np.array([[number, 0]]),
        settings=Settings(),
        timings={"total": number + time / 1000},
    )


@pytest.mark.parametrize("way", ["exchange", "two renames", "file by file"])
def test_many_writers_and_readers_never_meet_a_mixture(way, tmp_path, monkeypatch):
    if way == "two renames":  # as on file systems that cannot exchange
        monkeypatch.setattr(nho.runtime.atomic_folder, "_exchanged", lambda *_: False)
    if way == "file by file":  # as at a mount point
        monkeypatch.setattr(nho.runtime.atomic_folder, "_cannot_be_renamed", lambda place: True)
    out = tmp_path / "place" / "out"
    out.mkdir(parents=True)
    problems, seen, writing = [], set(), threading.Event()
    writing.set()

    def write(number):
        try:
            for time in count():
                if time > 12 and len(seen) > 1:
                    break
                with whole_folder(out, "result.json", check_folder) as staging:
                    small_result(number, time).save(staging)
        except Exception as problem:
            problems.append(repr(problem))

    def read():
        while writing.is_set():
            try:
                found = MatchResult.load(out)
            except InputError as problem:
                # Only where folders cannot be exchanged there is a moment without a result.
                if "no result" not in str(problem) or (way == "exchange" and seen):
                    problems.append(str(problem))
                continue
            number = int(found.timings["total"])
            seen.add(number)
            if not (found.vertex_map == number).all() or found.anchors[0, 0] != number:
                problems.append(f"{found.vertex_map[0]} in the result {number}")

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(number,)) for number in (1, 2, 3)]
    reader.start()
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    writing.clear()
    reader.join()
    assert problems == [] and len(seen) > 1
    assert names(tmp_path / "place") == ["out"] and names(out) == ["result.json", "result.npz"]


@pytest.mark.parametrize("command", ["batch", pytest.param("bench", marks=pytest.mark.slow)])
def test_a_second_run_is_refused_with_the_name_of_the_first_which_is_not_disturbed(
    command, pairs, tmp_path
):
    out = tmp_path / "out"
    words = {
        "batch": ["batch", pairs / "pairs.csv", *changes(*QUICK), "--jobs", 1, "--out", out],
        "bench": [*BENCH, "--jobs", 1, "--out", out],
    }[command]
    begun = {"batch": out / ".batch" / "done" / "p000.json", "bench": out / "matches.csv"}[command]
    with start_pausing(1, tmp_path / "go", *words) as first:
        wait_until(begun.exists)
        code, _, err = run_here(*words)
        one_sentence(code, err, "another run", str(first.pid), "wait for it")
        (tmp_path / "go").touch()
        code, _, err = first.ended()
        assert code == 0, err


@pytest.mark.slow
def test_a_match_into_the_folder_of_a_pair_does_not_pass_for_the_batchs_own(pairs, tmp_path):
    out = tmp_path / "out"
    batch = ["batch", pairs / "pairs.csv", *changes(*QUICK), "--jobs", 1, "--out", out]
    with start_pausing(1, tmp_path / "go", *batch) as first:
        wait_until((out / ".batch" / "done" / "p000.json").exists)
        code, _, err = run_here(*match_words(pairs, 1, out / "p000", "--threads", 1))
        assert code == 0, err
        (tmp_path / "go").touch()
        code, _, err = first.ended()
        # Whether the batch had taken note of its own result before it was stopped.
        assert code == 0 or "p000: its files changed while it ran" in err, err
    foreign = result_in(out / "p000")
    assert foreign is not None and foreign == result_in(out / "p001")  # the other pair's, whole
    code, shown, _ = run_here(*batch)
    assert code == 0 and "3 of 3 pairs ok" in shown
    assert result_in(out / "p000") not in (None, foreign)


def test_a_record_is_of_what_the_batch_wrote_whatever_lies_there_by_then(
    pairs, finished_match, tmp_path
):
    from nho.batch.records import PairRequest, find_result, record_result

    request = PairRequest.of(Settings(), "a", "b", "c")
    written = (finished_match[0] / "result.json").read_bytes()
    record_result(tmp_path, "result0", request, written)
    assert find_result(tmp_path, "result0", request, True).result is not None
    record_result(tmp_path, "result1", request, written)  # replaced before it was recorded
    assert find_result(tmp_path, "result1", request, True).why == "damaged or replaced"


@pytest.mark.parametrize(("first", "second"), [*permutations(["match", "batch", "bench"], 2)])
def test_a_folder_belongs_to_one_kind_of_command(first, second, pairs, tmp_path):
    out = tmp_path / "out"
    held = {"match": "result.npz", "batch": ".batch", "bench": ".bench"}[first]
    if first == "match":
        out.mkdir()
        for name in FILES:
            (out / name).write_text("{}")
    else:
        (out / held).mkdir(parents=True)
    words = {
        "match": match_words(pairs, 0, out),
        "batch": ["batch", pairs / "pairs.csv", "--out", out],
        "bench": [*BENCH, "--out", out],
    }[second]
    before = names(out)
    code, _, err = run_here(*words)
    one_sentence(code, err, str(out), held)
    assert names(out) == before
