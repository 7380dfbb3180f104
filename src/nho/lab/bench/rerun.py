"""One row of a CSV measured again: is it what it says?"""

from __future__ import annotations

import math
from importlib.metadata import version
from pathlib import Path

from nho.errors import InputError, NhoError
from nho.lab.bench.rowfile import read_rows
from nho.lab.bench.tasks import MatchTask

_COMPARED = ("geodesic_error", "geodesic_error_vertex", "iou", "precision", "recall", "f1")
_TOLERANCE = 1e-4  # relative; numbers in a row have eight digits, other machines round otherwise


def rerun(place: str, data: Path | None) -> str:
    """Measure the row that ``CSV:ROW`` names; an `NhoError` if anything differs.

    Returns
    -------
    str
        A line a score.
    """
    path, row = _found(place)
    task = MatchTask.from_row(row)
    if task.stamp["settings_hash"] != row["settings_hash"]:
        raise NhoError(
            f"{path}: the row was made with other settings ({row['settings_hash']}) than preset "
            f"{task.method!r} has in nho {version('nho')}; it says version {row['version']}"
        )
    values = task.measure(data, 0)
    lines, differing = [], []
    for name in _COMPARED:
        then = float(row[name] or "nan")
        now = float(values[name])
        same = math.isclose(then, now, rel_tol=_TOLERANCE) or (math.isnan(then) and math.isnan(now))
        lines.append(f"{name}: {then:.6g} in the row, {now:.6g} now")
        if not same:
            differing.append(name)
    if differing:
        raise NhoError("; ".join(lines) + f": not reproduced ({', '.join(differing)})")
    return "\n".join([*lines, "reproduced"])


def _found(place: str) -> tuple[Path, dict[str, str]]:
    text, _, number = place.rpartition(":")
    path = Path(text)
    if not number.isdigit() or not text:
        raise InputError(f"--rerun {place!r}: give a file and a row, such as matches.csv:1")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    rows = read_rows(path)
    if not 1 <= int(number) <= len(rows):
        raise InputError(f"{path}: has rows 1 to {len(rows)}, not {number}")
    return path, rows[int(number) - 1]
