"""Kill `nho batch` again and again, resume it, and check that no pair is lost or done twice.

    python benchmarks/batch_kill.py --pairs 200 --kills 5 --seed 0

Builds small pairs in a temporary folder and starts `nho batch` on them. At random moments the
whole process group gets SIGKILL, and the command is started again; in the last run one worker
alone is killed. At the end `summary.csv` must hold every pair once, in order and `ok`; every
result must load; no folder that was complete at a kill may have been written again; and nothing
unfinished may lie about. Prints one line a run and the figures; ends with 1 if a check fails.

Needs Linux or macOS, and `psutil` (it comes with `nho[cluster]`).
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

import nho
from nho.synthetic import bumpy_sphere, cut_by_plane

QUICK = ("fit_steps=2", "rounds=0")


def make_pairs(folder: Path, count: int) -> Path:
    """Write ``count`` pairs of about 100 and 162 vertices with 8 anchors, and their table."""
    lines = ["name,partial,full,anchors"]
    for i in range(count):
        full = bumpy_sphere(2, seed=i)
        cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
        full.write(folder / f"full{i}.ply")
        cut.mesh.write(folder / f"scan{i}.ply")
        chosen = nho.sample_vertices(cut.mesh, 8)
        anchors = np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)
        nho.write_anchors(folder / f"anchors{i}.csv", anchors)
        lines.append(f"pair{i:04d},scan{i}.ply,full{i}.ply,anchors{i}.csv")
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    return folder / "pairs.csv"


def start(table: Path, out: Path, jobs: int) -> subprocess.Popen[str]:
    """`nho batch` in a process group of its own."""
    changes = [part for change in QUICK for part in ("--set", change)]
    command = [sys.executable, "-m", "nho", "batch", str(table), "--out", str(out), *changes]
    return subprocess.Popen(
        [*command, "--jobs", str(jobs), "--no-report"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finished(out: Path) -> dict[str, int]:
    """Pairs with a record of completion, and when their results were written."""
    done = (path.stem for path in (out / ".batch" / "done").glob("pair*.json"))
    return {name: (out / name / "settings.json").stat().st_mtime_ns for name in done}


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Live worker processes of a run."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


def wait_for(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until ``count`` pairs are done or the run has ended."""
    while process.poll() is None and len(finished(out)) < count:
        time.sleep(0.01)


def kill_group(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the command and all its workers at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def problems(out: Path, count: int, first_written: dict[str, int]) -> list[str]:
    """What is wrong at the end; empty if nothing is."""
    found = []
    with open(out / "summary.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    if [row["name"] for row in rows] != [f"pair{i:04d}" for i in range(count)]:
        found.append("summary.csv does not hold every pair once and in order")
    found += [f"{row['name']}: {row['error']}" for row in rows if row["status"] != "ok"]
    for row in rows:
        nho.MatchResult.load(out / row["name"])  # raises if anything is damaged
    now = finished(out)
    again = [name for name, when in first_written.items() if now.get(name) != when]
    found += [f"{name}: was done and has been done again" for name in again]
    found += [f"{path.name}: unfinished, not removed" for path in out.glob(".nho-*")]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=5, help="of the whole process group")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        table, out = make_pairs(Path(temporary), options.pairs), Path(temporary) / "out"
        first_written: dict[str, int] = {}
        begin = time.monotonic()
        for kill in range(options.kills):
            process = start(table, out, options.jobs)
            share = options.pairs // (options.kills + 1)
            wait_for(out, len(first_written) + moments.randint(1, share), process)
            time.sleep(moments.uniform(0, 0.3))  # anywhere between two pairs
            kill_group(process)
            first_written = {**finished(out), **first_written}
            left = len(list(out.glob(".nho-*")))
            print(f"kill {kill + 1}: {len(first_written)} done, {left} half-written", flush=True)
        process = start(table, out, options.jobs)
        wait_for(out, len(first_written) + 2, process)
        victims = workers(process)
        if victims:
            victims[0].kill()
        text, _ = process.communicate()
        found = problems(out, options.pairs, first_written)
        if process.returncode != 0:
            found.append(f"the last run ended with {process.returncode}: {text[-500:]}")
        print(
            f"{options.pairs} pairs, {options.kills} kills of all and {len(victims[:1])} of one "
            f"worker, {time.monotonic() - begin:.0f} s; problems: {len(found)}"
        )
        for problem in found[:20]:
            print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
