"""The contract of a reader, and one run against it.

Any input gives a valid object or an `NhoError` of one readable line. Findings are: another
exception, an object that is not valid, a Python warning, a message no one can read, more than
`SLOWEST` seconds, or more than `MEMORY` bytes for an input of at most 64 KiB.
"""

from __future__ import annotations

import mmap
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nho.errors import NhoError

if sys.platform != "win32":
    import resource

SLOWEST = 5.0  # seconds
MEMORY = 512 * 2**20  # bytes of address space above what the process had before
LONGEST_MESSAGE = 1500  # characters

# The last net of a reader: refused, though not by a check that knows what is wrong.
_NET = re.compile(
    "cannot be read as ([A-Z]{3}|ground truth|a checkpoint)|stored result is damaged|"
    "is no unfinished training"
)
_TORCH_MEMORY = re.compile("can't allocate memory|not enough memory|bad_alloc")  # RuntimeErrors


@dataclass(frozen=True)
class Verdict:
    """What one input led to.

    Attributes
    ----------
    kind : ``valid``, ``refused``, ``net`` (refused by the last net of the reader) or ``finding``.
    key : the same for inputs that fail alike, so that each failure is reported once.
    seconds : how long the reader took.
    """

    kind: str
    key: str
    seconds: float


def judge(read: Callable[[bytes], object], data: bytes) -> Verdict:
    """Run a reader on one input; it never raises."""
    started = time.process_time()  # not time of day: a busy machine is not a slow reader
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        kind, key = _outcome(read, data)
    seconds = time.process_time() - started
    if kind != "finding" and heard:
        kind, key = "finding", f"warning: {heard[0].category.__name__}: {heard[0].message}"
    if kind != "finding" and seconds > SLOWEST:
        kind, key = "finding", f"slow: {key}"
    return Verdict(kind, key, seconds)


def _outcome(read: Callable[[bytes], object], data: bytes) -> tuple[str, str]:
    try:
        read(data)
    except NhoError as error:
        cause = error.__cause__ or error.__context__
        while cause is not None:
            if isinstance(cause, MemoryError) or _TORCH_MEMORY.search(str(cause)):
                return "finding", f"memory: {_place(cause)}"
            cause = cause.__cause__ or cause.__context__
        text = str(error)
        if not text.strip() or not text.isprintable() or len(text) > LONGEST_MESSAGE:
            return "finding", f"message: {_place(error)}"
        return ("net" if _NET.search(text) else "refused"), _place(error.__cause__ or error)
    except Exception as error:
        return "finding", _place(error)
    return "valid", ""


def _place(error: BaseException) -> str:
    """Type of an exception and the lines it passed through last: alike failures look alike."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{frame.filename.split('/')[-1]}:{frame.lineno}" for frame in frames[::-1])
    return f"{type(error).__name__} at {where}"


@contextmanager
def limited_memory() -> Iterator[None]:
    """Within, the process cannot get `MEMORY` bytes more than it has (Linux; elsewhere no limit).

    Address space and not resident memory: a reader that asks for a terabyte and is lucky to get it
    without touching it is a finding too.
    """
    try:
        with open("/proc/self/statm") as status:
            used = int(status.read().split()[0]) * mmap.PAGESIZE
    except OSError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
