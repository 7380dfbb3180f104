"""Rows in blocks over threads, with BLAS limited to one thread.

The blocks depend on the number of rows only and results come back in block order, so sums over
blocks have the same bits whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import threadpool_limits

Result = TypeVar("Result")

_ROWS_PER_BLOCK = 1536  # large enough for an efficient matrix product, small enough for caches


def row_blocks(rows: int, rows_per_block: int = _ROWS_PER_BLOCK) -> list[slice]:
    """Split ``rows`` into an even number of nearly equal slices (one slice if there are few)."""
    if rows <= 256:
        return [slice(0, rows)]
    count = -(-rows // rows_per_block)
    count += count % 2
    bounds = [rows * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


class Workers:
    """A thread pool that maps a function over row blocks."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def over_rows(
        self, function: Callable[[slice], Result], rows: int, rows_per_block: int = _ROWS_PER_BLOCK
    ) -> list[Result]:
        """``[function(block) for block in blocks]``, evaluated side by side."""
        blocks = row_blocks(rows, rows_per_block)
        if self._pool is None or len(blocks) == 1:
            return [function(block) for block in blocks]
        return list(self._pool.map(function, blocks))

    def together(self, *functions: Callable[[], Result]) -> list[Result]:
        """Call independent functions side by side."""
        if self._pool is None:
            return [function() for function in functions]
        return [f.result() for f in [self._pool.submit(function) for function in functions]]


SERIAL = Workers(None)


def thread_count(threads: int) -> int:
    """The number of threads a setting stands for: 0 means every core this process may use."""
    if threads > 0:
        return threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """A pool of ``threads`` workers; in the block every BLAS is limited to one thread."""
    count = thread_count(threads)
    with threadpool_limits(limits=1):
        if count == 1:
            yield SERIAL
        else:
            with ThreadPoolExecutor(count, thread_name_prefix="nho") as pool:
                yield Workers(pool)
