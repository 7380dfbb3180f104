"""Kill `nho` at random moments: `python tools/kill.py --kills 200 --seed 0`.

Starts `nho match`, `nho batch` and `nho bench` on small generated pairs, with one cache for all,
and kills each with all its workers (SIGKILL) at random moments; half of them while something is
being written. After every kill whatever can be read must be whole and right. Now and then a run
may go on to its end: it must give what an undisturbed run gives, bit for bit, and leave no rubbish.
Prints a line a kill and a table (as in docs/reliability.md); exit code 1 if anything was wrong.

Needs Linux or macOS, and `psutil` (it comes with `nho[cluster]`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faults.kills import Report, kill_again_and_again
from tests.faults.subjects import SUBJECTS

_SHARES = {"match": 0.45, "batch": 0.35, "bench": 0.2}  # of the kills


def main() -> int:
    """Kill what was asked for; the number of problems decides the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="of all commands together")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--command", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS))
    asked = parser.parse_args()
    whole = sum(_SHARES[name] for name in asked.command)
    reports: dict[str, Report] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.command:
            subject = SUBJECTS[name](Path(folder) / name)
            kills = round(asked.kills * _SHARES[name] / whole)
            reports[name] = kill_again_and_again(
                subject, Path(folder) / "cache", kills, asked.seed, _tell
            )
    _print(reports)
    return int(any(report.problems for report in reports.values()))


def _tell(line: str) -> None:
    print(line, flush=True)


def _print(reports: dict[str, Report]) -> None:
    print("| command | kills | found after the kill | runs to the end | problems | s |")
    print("|---|---|---|---|---|---|")
    for name, report in reports.items():
        seen = ", ".join(f"{what}: {count}" for what, count in report.seen.most_common())
        cells = [name, report.kills, seen, report.finished, len(report.problems)]
        print("| " + " | ".join(map(str, [*cells, f"{report.seconds:.0f}"])) + " |")
    for report in reports.values():
        for problem in report.problems:
            print(problem)


if __name__ == "__main__":
    sys.exit(main())
