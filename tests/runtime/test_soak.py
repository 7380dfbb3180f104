"""Matches leave nothing behind: `tools/soak.py` finds every kind of leak, and here none.

The long run is marked slow; docs/reliability.md has its figures.
"""

from __future__ import annotations

import gc
import mmap
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import nho

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import soak as tool


@pytest.fixture(autouse=True)
def _only_new_objects() -> Iterator[None]:
    """What earlier tests have loaded is not looked through after every match."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def test_fifteen_matches_leave_nothing_behind() -> None:
    before = os.environ.get("NHO_CACHE")
    assert tool.leaks(list(tool.soak(15, subdivisions=2))) == []
    assert os.environ.get("NHO_CACHE") == before


@pytest.mark.slow
def test_five_hundred_matches_leave_nothing_behind() -> None:
    assert tool.leaks(list(tool.soak(500))) == []


_kept: list[Any] = []
_answers: dict[str, nho.MatchResult] = {}


def _waiting_thread() -> None:
    ended = threading.Event()
    threading.Thread(target=ended.wait, daemon=True).start()
    _kept.append(ended.set)


def _open_file() -> None:
    handle = os.open(__file__, os.O_RDONLY)
    _kept.append(lambda: os.close(handle))


def _used_memory() -> None:
    """Pages of its own, not what an earlier test has left free."""
    pages = mmap.mmap(-1, 8 << 20)
    pages.write(os.urandom(8 << 20))
    _kept.append(pages.close)


LEAKS: dict[str, Callable[[], None]] = {
    "memory": _used_memory,
    "files": _open_file,
    "threads": _waiting_thread,
    "objects": lambda: _kept.extend([[] for _ in range(20)]),
}


@pytest.mark.parametrize(
    "kind",
    [kind if kind == "objects" else pytest.param(kind, marks=pytest.mark.slow) for kind in LEAKS],
)
def test_a_leak_is_found(kind: str) -> None:
    def leaky(partial: nho.Mesh, *others: Any) -> nho.MatchResult:
        LEAKS[kind]()
        if partial.name not in _answers:  # the same four pairs all the time
            _answers[partial.name] = nho.match(partial, *others)
        return _answers[partial.name]

    try:
        found = tool.leaks(list(tool.soak(10, 2, leaky)))
        assert any(sentence.startswith(f"{kind} grow") for sentence in found), found
    finally:
        for kept in _kept:
            if callable(kept):
                kept()
        _kept.clear()
