"""CPU time and memory of what is done in this process."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

from nho.errors import InputError
from nho.runtime.input_file import read_text

if sys.platform != "win32":
    import resource

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_PEAK_ONLY = "5"  # what Linux takes to forget the peak


@dataclass
class Effort:
    """What was done took so much.

    Attributes
    ----------
    cpu_seconds : float
        Of all threads.
    more_mb : float
        Peak memory beyond what the process held before (a little low if it held memory that was
        free); NaN where the system does not tell.
    """

    cpu_seconds: float = nan
    more_mb: float = nan


@contextmanager
def watched() -> Iterator[Effort]:
    """Fill in the `Effort` when the block ends."""
    effort = Effort()
    before = _of_status("VmRSS:") if _forget_peak() else nan
    begin = time.process_time()
    try:
        yield effort
    finally:
        effort.cpu_seconds = time.process_time() - begin
        more = peak_megabytes() - before
        effort.more_mb = nan if isnan(more) else max(0.0, more)


def peak_megabytes() -> float:
    """Peak memory of this process.

    On Linux `getrusage` counts the peak of the process that started this one as well.
    """
    known = _of_status("VmHWM:")
    if not isnan(known):
        return known
    if sys.platform == "win32":
        return nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3 / 1.024)


def _of_status(line: str) -> float:
    """Megabytes; NaN where there is no such line."""
    try:
        return int(read_text(_STATUS).partition(line)[2].split()[0]) * 1.024e-3
    except (InputError, IndexError):
        return nan


def _forget_peak() -> bool:
    try:
        _RESET.write_text(_PEAK_ONLY, encoding="ascii")
    except OSError:
        return False
    return True
