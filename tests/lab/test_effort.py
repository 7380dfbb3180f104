"""CPU time and memory of a piece of work, and the table of them."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.effort import effort_table
from nho.lab.effort import watched


def test_cpu_time_is_that_of_the_work_and_not_of_waiting():
    with watched() as waited:
        time.sleep(0.3)
    with watched() as worked:
        begin = time.process_time()
        while time.process_time() - begin < 0.2:
            pass
    assert worked.cpu_seconds >= 0.2 > waited.cpu_seconds


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone forgets a peak")
def test_a_peak_of_before_does_not_count():
    with watched() as large:
        np.ones(8_000_000).sum()
    with watched() as small:
        np.ones(1000).sum()
    assert large.more_mb > 55 > 30 > small.more_mb


def row(method: str, error: str, seconds: str, memory: str) -> ResultRow:
    more = {"geodesic_error": error, "cpu_seconds": seconds, "more_mb": memory}
    return {"family": "synthetic", "pair": f"p{error}", "method": method, **more}


def test_the_table_has_medians_beside_the_error():
    rows = [row("a", "1", "2", "10"), row("a", "2", "4", "30"), row("a", "3", "9", "")]
    (section,) = effort_table([*rows, row("b", "5", "1", "")]).sections
    (_, (error, seconds, memory)), (_, (_, _, unknown)) = section.rows
    assert (error.value, seconds.value, memory.value) == (2, 4, 20)
    assert np.isnan(unknown.value)
