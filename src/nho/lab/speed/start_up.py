"""What a command costs besides its work: CPU seconds of the start, the reading and the writing.

The yardstick is ``import numpy, scipy.sparse``, below which no program of this kind gets.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from nho.lab.speed.sized_pairs import SizedPair
from nho.problem.anchors import write_anchors
from nho.runtime.input_file import read_text

if sys.platform != "win32":  # `run_speed` refuses to begin there
    import resource

YARDSTICK = "import numpy, scipy.sparse"
HELP = "nho --help"
AROUND_MATCH = "nho match, the match itself left out"

_HELP = "from nho.cli import main; main()"
# The command as it is, but for a stopwatch around the one function that is not to count.
_MATCH = """
import sys, time
import nho.pipeline.matching as pipeline
match, spent = pipeline.match, []
def timed(*args, **kwargs):
    begin = time.process_time()
    try:
        return match(*args, **kwargs)
    finally:
        spent.append(time.process_time() - begin)
pipeline.match = timed
from nho.cli import main
report = sys.argv.pop(1)
try:
    main()
finally:
    open(report, "w").write(repr(sum(spent) if spent else "match was not called"))
"""


def start_up(pair_file: str, repeats: int) -> dict[str, Any]:
    """Measure all three in turn, ``repeats`` times.

    Returns
    -------
    dict
        By what was run: ``cpu_seconds`` (median) and ``by_import``, the ratio to the yardstick.
    """
    pair = SizedPair.load(Path(pair_file))
    seconds: dict[str, list[float]] = {YARDSTICK: [], HELP: [], AROUND_MATCH: []}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = [folder / "partial.ply", folder / "full.ply", folder / "anchors.csv"]
        pair.partial.write(files[0])
        pair.full.write(files[1])
        write_anchors(files[2], pair.anchors)
        for repeat in range(repeats):
            seconds[YARDSTICK].append(_cpu_seconds(YARDSTICK))
            seconds[HELP].append(_cpu_seconds(_HELP, "--help"))
            in_match = folder / "in_match.txt"
            words = [in_match, "match", *files[:2], "--anchors", files[2], "--quiet"]
            words += ["--out", folder / f"result{repeat}", "--threads", 1]
            whole = _cpu_seconds(_MATCH, *map(str, words))
            seconds[AROUND_MATCH].append(whole - float(read_text(in_match)))
    medians = {name: median(values) for name, values in seconds.items()}
    return {
        name: {"cpu_seconds": value, "by_import": value / medians[YARDSTICK]}
        for name, value in medians.items()
    }


def _cpu_seconds(program: str, *words: str) -> float:
    """User and system time of a Python program, interpreter included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program, *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
