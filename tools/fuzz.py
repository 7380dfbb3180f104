"""Fuzz the readers: `python tools/fuzz.py --target ply --inputs 100000 --seed 0`.

Prints one table row per target (as in docs/reliability.md), then what was found; inputs that break
the contract are saved, made small, in the folder `--out`. Exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import sys
from pathlib import Path

# One thread: the buffers of more would count against the memory limit.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzz.guard import fuzz_guarded
from tests.fuzz.guided import Report
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Run the targets that were asked for; the number of findings decides the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--target", nargs="+", choices=["all", *TARGETS], default=["all"])
    parser.add_argument("--inputs", type=int, default=100_000, help="per target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--random", action="store_true", help="no guidance, to compare")
    parser.add_argument("--nets", action="store_true", help="list what only the last net caught")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # the cache reports damage, which is all there is here
    print("| target | inputs | CPU s | lines | steps | valid | refused | net | findings |", end="")
    print(" slowest ms | peak MB |\n|---|---|---|---|---|---|---|---|---|---|---|")
    n_findings = 0
    for name in TARGETS if "all" in asked.target else asked.target:
        if TARGETS[name].missing:
            print(f"  {name}: skipped, {TARGETS[name].missing}")
            continue
        report = fuzz_guarded(TARGETS[name], asked.inputs, asked.seed, not asked.random)
        _print(name, report)
        for finding in report.findings.values():
            path = _save(asked.out, name, TARGETS[name].suffix, finding.data)
            print(f"  input {finding.at_input}: {finding.key}\n    {path}")
        if asked.nets:
            for place, data in report.nets.items():
                print(f"  net: {place}\n    {data[:200]!r}")
        sys.stdout.flush()
        n_findings += len(report.findings)
    return int(n_findings > 0)


def _print(name: str, report: Report) -> None:
    kinds = report.kinds
    cells = [name, report.inputs, f"{report.seconds:.0f}", report.lines, report.steps]
    cells += [kinds["valid"], kinds["refused"], kinds["net"], len(report.findings)]
    cells += [f"{1e3 * report.slowest:.0f}", f"{report.peak / 2**20:.0f}"]
    print("| " + " | ".join(map(str, cells)) + " |")


def _save(folder: Path, name: str, suffix: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{hashlib.blake2b(data, digest_size=6).hexdigest()}{suffix}"
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    sys.exit(main())
