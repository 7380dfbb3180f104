"""What `nho batch` costs beside its matches: `python tools/measure_batch.py --pairs 2000`.

Makes pairs of about a thousand vertices and matches them on a scheduler and workers of this
machine. Prints the overhead of a pair (time of all workers less the seconds of the matches, over
the number of pairs; without the first, which loads libraries), the memory of the scheduler and of
the command, and what was lost. ``--kills 2`` kills the first worker so often, evenly over the run;
Dask starts it again. Without kills it prints CPU time as well, which other work on the machine
changes little: of the matches, and of the workers beside them, the scheduler and the command.

    python tools/measure_batch.py --pairs 200 --jobs 2 --report

does the same without Dask, in so many processes, and with the pages of results.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from nho.batch import BatchProgress, read_pairs, run_batch
from nho.geometry.synthetic import cut_by_plane, torus
from nho.settings import preset

_ANCHORS = 25
_MB = 1e6
_TIMES = "NHO_MEASURE_BATCH"  # environment: file for the CPU times of the matches of workers


def main() -> None:
    """Make the pairs, match them and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--around", type=int, default=50, help="vertices of the template, over 20")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="processes of this machine, without Dask")
    parser.add_argument("--report", action="store_true", help="with pages (without Dask)")
    parser.add_argument("--set", nargs="*", default=[], help="settings, NAME=VALUE")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = make_pairs(Path(folder), asked.pairs, asked.around)
        if asked.jobs:
            measure_local(table, asked)
            return
        from tests.batch.test_batch_cluster import cluster  # not in the workers of --jobs

        restarted = "--nanny" if asked.kills else "--no-nanny"
        with cluster(Path(folder), asked.workers, restarted) as (address, processes):
            measure(table, address, processes[0].pid, asked)


def make_pairs(folder: Path, count: int, around: int) -> Path:
    """A torus, and a different half of it for every pair."""
    full = torus(around, 20)
    full.write(folder / "full.ply")
    lines = ["name,partial,full,anchors"]
    random = np.random.default_rng(0)
    for number in range(count):
        cut = cut_by_plane(full, random.normal(size=3), keep_area=0.5)
        cut.mesh.write(folder / f"{number}.ply")
        partial = np.linspace(0, cut.mesh.n_vertices - 1, _ANCHORS).astype(int)
        pairs = np.column_stack([partial, cut.vertex_of_parent[partial]])
        np.savetxt(folder / f"{number}.csv", pairs, "%d", ",", header="partial,full", comments="")
        lines.append(f"p{number},{number}.ply,full.ply,{number}.csv")
    table = folder / "pairs.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table


def measure_local(table: Path, asked: argparse.Namespace) -> None:
    """Run the batch in processes of this machine and print what it took."""
    settings = preset("default").with_text(asked.set).replace(threads=1)
    times = table.with_name("times.txt")
    os.environ[_TIMES] = str(times)
    start, before = time.monotonic(), _own_and_children()
    rows = run_batch(
        read_pairs(table), table.parent / "out", settings, jobs=asked.jobs, report=asked.report
    )
    passed, (own, workers) = time.monotonic() - start, _own_and_children() - before
    lost = sum(row.status != "ok" for row in rows)
    first: dict[int, float] = {}  # CPU seconds of a worker when it begins its first match
    spent = 0.0
    for line in times.read_text(encoding="utf-8").splitlines():
        process, begin, end = json.loads(line)
        first.setdefault(process, begin)
        spent += end - begin
    loading = sum(first.values())
    match, every, load, command = 1000 * np.array([spent, workers, loading, own]) / len(rows)
    print(
        f"{len(rows)} pairs, {asked.jobs} processes: {lost} lost, {1000 * passed / len(rows):.0f} "
        f"ms a pair by the clock\n"
        f"CPU a pair: match {match:.0f} ms, beside it {every - match + command:.1f} ms "
        f"(workers {every - match - load:.1f}, their start {load:.1f}, command {command:.1f})"
    )


def _own_and_children() -> np.ndarray:
    """CPU seconds of this process, and of those it started and that have ended."""
    spent = os.times()
    return np.array([spent.user + spent.system, spent.children_user + spent.children_system])


def _time_matches(path: str) -> None:
    """Note process, and its CPU seconds before and after, for every match of a worker."""
    from nho.batch import job

    plain = job.match

    def timed(*given: Any) -> Any:
        begin = time.process_time()
        try:
            return plain(*given)
        finally:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps([os.getpid(), begin, time.process_time()]) + "\n")

    vars(job)["match"] = timed


def measure(table: Path, address: str, scheduler: int, asked: argparse.Namespace) -> None:
    """Run the batch and print a line."""
    import psutil

    settings = preset("default").with_text(asked.set).replace(threads=1)
    memory = psutil.Process(scheduler).memory_info
    idle, marks = memory().rss, {asked.pairs // 4: 0, asked.pairs // 2: 0, asked.pairs: 0}
    due = [asked.pairs * (k + 1) // (asked.kills + 1) for k in range(asked.kills)]
    kill = _killer(address) if due else None
    spent = None if due else _spent(address, scheduler)
    at_first: list[np.ndarray] = []
    first: dict[str, float] = {}  # pair that was settled first, and when: it loads libraries
    planned = [0.0]

    def watch(event: BatchProgress) -> None:
        planned[0] = planned[0] or time.monotonic()
        if event.row is not None and not first:
            first[event.row.name] = time.monotonic()
            at_first.extend([spent()] if spent else [])
        if event.done in marks:
            marks[event.done] = memory().rss
        if kill is not None and due and event.done >= due[0]:
            kill()
            due.pop(0)

    start = time.monotonic()
    rows = run_batch(
        read_pairs(table),
        table.parent / "out",
        settings,
        report=False,
        scheduler=address,
        progress=watch,
    )
    ended = time.monotonic()
    cpu = 1000 * (spent() - at_first[0]) / len(rows) if spent else None
    solved = sum(row.seconds or 0.0 for row in rows)
    lost = sum(row.status != "ok" for row in rows)
    later = [row.seconds or 0.0 for row in rows if row.name not in first]
    over = (asked.workers * (ended - max(first.values())) - sum(later)) / len(later)
    at = ", ".join(f"{size / _MB:.0f}" for size in marks.values())
    own = psutil.Process().memory_info().rss
    print(
        f"{asked.pairs} pairs, {asked.workers} workers, {asked.kills - len(due)} kills: "
        f"{lost} lost; planned in {planned[0] - start:.1f} s, run in {ended - planned[0]:.1f} s; "
        f"match {1000 * solved / asked.pairs:.0f} ms, overhead {1000 * over:.1f} ms a pair; "
        f"scheduler {idle / _MB:.0f} MB idle, {at} MB after {', '.join(map(str, marks))} pairs; "
        f"command {own / _MB:.0f} MB"
    )
    if cpu is not None:
        match, workers, of_scheduler, command = cpu
        beside = workers - match
        print(
            f"CPU a pair: match {match:.0f} ms, beside it "
            f"{beside + of_scheduler + command:.1f} ms (workers {beside:.1f}, scheduler "
            f"{of_scheduler:.1f}, command {command:.1f})"
        )


def _spent(address: str, scheduler: int) -> Callable[[], np.ndarray]:
    """CPU seconds so far of the matches, the workers, the scheduler and the command."""
    import distributed
    import psutil

    def watch(dask_worker: Any) -> None:
        from nho.batch import job

        plain, dask_worker.in_matches = job.match, 0.0

        def timed(*given: Any) -> Any:
            begin = time.thread_time()
            try:
                return plain(*given)
            finally:
                dask_worker.in_matches += time.thread_time() - begin

        vars(job)["match"] = timed

    def look(dask_worker: Any) -> tuple[float, float]:
        return dask_worker.in_matches, time.process_time()

    client = distributed.Client(address, set_as_default=False)
    client.run(watch)

    def spent() -> np.ndarray:
        workers = np.sum(list(client.run(look).values()), axis=0)
        of_scheduler = psutil.Process(scheduler).cpu_times()
        return np.array([*workers, of_scheduler.user + of_scheduler.system, time.process_time()])

    return spent


def _killer(address: str) -> Callable[[], None]:
    """Kills the worker that is first by its nanny's address, whatever process it is by now."""
    import distributed

    def kill() -> None:
        with distributed.Client(address, set_as_default=False) as client:
            nannies = client.run(lambda dask_worker: dask_worker.nanny)
            first = min(nannies, key=lambda worker: str(nannies[worker]))
            os.kill(client.run(os.getpid, workers=[first])[first], signal.SIGKILL)

    return kill


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__" and _TIMES in os.environ:  # a worker, as multiprocessing calls it
    _time_matches(os.environ[_TIMES])
