"""Blocks, threads, stopwatch and progress: order and bits do not depend on the threads."""

import dataclasses
import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from nho.progress import Progress, ignore
from nho.runtime.parallel import SERIAL, row_blocks, thread_count, workers
from nho.runtime.run import Stopwatch


@settings(deadline=None)
@given(st.integers(0, 30000), st.integers(40, 4000))
def test_blocks_cover_every_row_once_and_in_order(rows, per_block):
    blocks = row_blocks(rows, per_block)
    covered = np.concatenate([np.arange(rows)[block] for block in blocks])
    assert np.array_equal(covered, np.arange(rows))
    sizes = [block.stop - block.start for block in blocks]
    assert max(sizes) - min(sizes) <= 1
    if rows > 256:
        assert len(blocks) % 2 == 0 and max(sizes) <= per_block
    else:
        assert len(blocks) == 1


def test_results_come_in_block_order_even_if_the_first_is_slowest():
    second_is_done = threading.Event()

    def slow_start(block):
        if block.start == 0:
            assert second_is_done.wait(300)
        else:
            second_is_done.set()
        return block.start

    with workers(4) as pool:
        starts = pool.over_rows(slow_start, 1000, 100)
    assert starts == sorted(starts) and len(starts) == 10


def test_sums_over_blocks_have_the_same_bits_for_any_number_of_threads():
    values = np.random.default_rng(0).normal(size=(9001, 3)).astype(np.float32)

    def total(pool):
        parts = pool.over_rows(lambda block: values[block].T @ values[block], len(values), 700)
        return sum(parts).tobytes()

    expected = total(SERIAL)
    for threads in (1, 2, 3, 8):
        with workers(threads) as pool:
            assert total(pool) == expected


def test_independent_functions_run_side_by_side_and_answer_in_order():
    # Each waits for the other, so this ends only if both run at once.
    meeting = threading.Barrier(2, timeout=300)

    def meet(answer):
        meeting.wait()
        return answer

    with workers(2) as pool:
        assert pool.together(lambda: meet("a"), lambda: meet("b")) == ["a", "b"]
    assert SERIAL.together(lambda: 1, lambda: 2) == [1, 2]


def test_one_thread_stays_in_the_calling_thread():
    with workers(1) as pool:
        assert pool is SERIAL
        names = pool.over_rows(lambda _: threading.current_thread(), 1000, 100)
    assert set(names) == {threading.current_thread()}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_block_reaches_the_caller(threads):
    def fail(block):
        raise ZeroDivisionError(block.start)

    with workers(threads) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.over_rows(fail, 1000, 100)
        with pytest.raises(KeyError):
            pool.together(lambda: {}["x"], lambda: 1)


def test_blas_is_held_at_one_thread_and_released_after():
    def blas_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        if not before or max(before) < 2:
            pytest.skip("this BLAS cannot use two threads")
        with workers(2):
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with pytest.raises(ValueError, match="on the way"), workers(1):
            raise ValueError("on the way")
        assert blas_threads() == before


def test_zero_threads_means_every_core_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    assert thread_count(0) == 3
    assert thread_count(7) == 7
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count(0) == 1


def test_the_stopwatch_adds_up_by_name_even_if_a_block_fails(monkeypatch):
    now = iter([0.0, 1.0, 10.0, 12.0, 20.0, 25.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    clock = Stopwatch()
    with clock.time("a"):
        pass
    with clock.time("b"):
        pass
    with pytest.raises(RuntimeError), clock.time("a"):
        raise RuntimeError
    assert clock.seconds == {"a": 6.0, "b": 2.0}


def test_a_progress_event_is_frozen_and_may_have_no_loss():
    event = Progress("fit", 1, 5)
    assert event.loss is None and ignore(event) is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.step = 2
