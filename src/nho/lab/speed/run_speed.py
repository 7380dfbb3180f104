"""Measure size by size: every measurement is a fresh process.

Repeats go round all cases, so that a slow hour of the machine hits all alike. After every size
``OUT/speed/<name>.json`` and ``.md`` are written anew, and ``OUT/speed/speed.png`` and
``anchors.png`` at the end, of all reports in that folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nho.errors import InputError, NhoError
from nho.lab.machine import machine, package_versions
from nho.lab.speed.cases import CASES
from nho.lab.speed.figure import draw_many_anchors, draw_speed
from nho.lab.speed.summary import exponents, loss_gap_of, report_text, summarised
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import read_text

SIZES = ("1k", "5k", "10k", "25k", "50k", "100k", "250k", "1M")
START_UP, SAME_RESULT, MANY_ANCHORS = "start-up", "same-result", "many-anchors"
_UNTIMED = (START_UP, SAME_RESULT, MANY_ANCHORS)  # not by size and case
SPEED_CASES = (*CASES, *_UNTIMED)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PACKAGES = (
    *("nho", "numpy", "scipy", "robust_laplacian", "torch", "gudhi"),
    *("pyfmaps", "geomfum", "trimesh", "rtree", "scikit-learn"),
)


@dataclass(frozen=True)
class SpeedRequest:
    """What to measure.

    Attributes
    ----------
    sizes : tuple of str
        Vertices of the full shape, such as "500", "5k" or "1M".
    cases : tuple of str
        Of `SPEED_CASES`.
    repeats : int
        Processes a case and size.
    limit : float
        Seconds a process may take; a case beyond it is left out at larger sizes.
    threads : int
        0 = what each case takes by itself.
    seeds : tuple of int
        Of the case ``same-result``.
    family, pair : str, int
        A pair of a family of data sets by its number; family "" = the shipped sample.
    data : Path, optional
        Folder of data sets.
    name : str
        Name of the files written, without suffix.
    """

    sizes: tuple[str, ...] = SIZES
    cases: tuple[str, ...] = tuple(CASES)
    repeats: int = 3
    limit: float = 900
    threads: int = 0
    seeds: tuple[int, ...] = (0,)
    family: str = ""
    pair: int = 0
    data: Path | None = None
    name: str = "speed"

    def __post_init__(self) -> None:
        for size in self.sizes:
            vertices(size)  # a typing error should not come up after hours


def vertices(size: str) -> int:
    """``5k`` -> 5000, ``1M`` -> 1000000."""
    unit = {"k": 1_000, "m": 1_000_000}.get(size[-1:].lower())
    try:
        return round(float(size[:-1]) * unit) if unit else int(size)
    except ValueError:
        raise InputError(
            f"--sizes: {size!r} is not a size; give numbers such as 500, 5k or 1M"
        ) from None


def run_speed(request: SpeedRequest, out: Path, tell: Callable[[str], None]) -> Path:
    """Measure, and write the report after every size; returns its Markdown file."""
    if find_spec("resource") is None:
        raise InputError(
            "--study speed needs Python's module `resource`, which Windows does not have; run it "
            "on Linux or macOS"
        )
    folder = out / "speed"
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(request, Path(scratch), tell)
        for size in request.sizes:
            runner.measure(size)
            page = runner.write(folder)
    draw_speed(folder)
    draw_many_anchors(folder)
    return page


class Runner:
    """Starts the processes one after the other and gathers what they measured.

    Parameters
    ----------
    scratch : Path
        Folder for pairs, answers and the warm cache.
    tell : callable
        Gets a line about every measurement.
    """

    def __init__(self, request: SpeedRequest, scratch: Path, tell: Callable[[str], None]) -> None:
        self.request, self.scratch, self.tell = request, scratch, tell
        self.runs: list[dict[str, Any]] = []
        self.pairs: dict[str, dict[str, Any]] = {}
        self.given_up: dict[str, str] = {}  # case -> why
        self.machine = machine()

    def child(
        self, job: str, folder: Path, cache: str = "off", limit: float | None = None, **what: Any
    ) -> dict[str, Any]:
        """Return the answer of one child process, or ``{"status": why there is none}``."""
        answer = folder / "answer.json"
        answer.unlink(missing_ok=True)
        arguments = json.dumps({"pair_file": str(folder / "pair.npz"), **what})
        command = [sys.executable, "-m", "nho.lab.speed.child", str(answer), job, arguments]
        environment = {k: v for k, v in os.environ.items() if k not in _THREADS}
        environment["NHO_CACHE"] = cache
        if self.request.threads:
            environment |= dict.fromkeys(_THREADS, str(self.request.threads))
        try:
            done = subprocess.run(
                command,
                check=False,
                env=environment,
                timeout=limit,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return {"status": f"stopped after {limit:g} s"}
        if done.returncode == 0:
            return dict(json.loads(read_text(answer)))
        if done.returncode < 0:
            return {"status": f"killed by {signal.Signals(-done.returncode).name}"}
        return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1][:200]}

    def measure(self, size: str) -> None:
        """All cases at one size."""
        request, folder = self.request, self.scratch / size
        folder.mkdir()
        data = str(request.data) if request.data else None
        source: dict[str, Any] = {"family": request.family, "number": request.pair, "data": data}
        built = self.child("build", folder, size=vertices(size), **source)
        if "status" in built:
            raise NhoError(f"{size}: no pair was built: {built['status']}")
        self.pairs[size] = built
        shape = f"{built['name']}, {built['partial_vertices']} -> {built['full_vertices']} vertices"
        self.tell(f"{size}: {shape}")
        self._measure_cases(size, folder)
        if START_UP in request.cases:
            self._add(size, "start_up", self.child(START_UP, folder, repeats=request.repeats))
        if SAME_RESULT in request.cases:
            seeds = list(request.seeds)
            self._add(size, "same_result", self.child(SAME_RESULT, folder, seeds=seeds))
        if MANY_ANCHORS in request.cases:
            work: dict[str, Any] = {"threads": request.threads, "repeats": request.repeats}
            self._add(size, "many_anchors", self.child(MANY_ANCHORS, folder, **work))
        for path in folder.glob("*.npz"):  # a pair of a million vertices is large
            path.unlink()

    def _measure_cases(self, size: str, folder: Path) -> None:
        """Run, then judge, the cases that have not been given up."""
        cases = [case for case in self.request.cases if case not in _UNTIMED]
        for case, why in self.given_up.items():
            self.runs.append({"size": size, "case": case, "status": f"not run: {why}"})
        if "default-warm" in cases and "default-warm" not in self.given_up:
            self._run("default-warm", folder)  # fills its cache
        for repeat in range(self.request.repeats):
            for case in [case for case in cases if case not in self.given_up]:
                run = {"status": "ok", **self._run(case, folder)}
                self.runs.append({"size": size, "case": case, "repeat": repeat, **run})
                if run["status"] != "ok":
                    self.given_up[case] = f"{run['status']} at {size}"
                seconds = f"{run['seconds']:.2f} s" if "seconds" in run else run["status"]
                self.tell(f"  {case}: {seconds}")
        judged = self.child("judge", folder)
        if "status" in judged:
            self.tell(f"  no accuracy: {judged['status']}")
        self.pairs[size] |= judged
        gap = loss_gap_of(self.runs, size)
        if gap is not None and self.pairs[size].get("agreement"):
            self.pairs[size]["agreement"]["loss_gap"] = gap

    def _run(self, case: str, folder: Path) -> dict[str, Any]:
        cache = str(folder / "cache") if case == "default-warm" else "off"
        limit, threads = self.request.limit, self.request.threads
        return self.child("run", folder, cache, limit, case=case, threads=threads)

    def _add(self, size: str, name: str, found: dict[str, Any]) -> None:
        """Keep what a case besides the timed ones found."""
        if "status" in found:
            self.tell(f"  {name}: {found['status']}")
        else:
            self.pairs[size][name] = found

    def write(self, folder: Path) -> Path:
        """Write all there is so far, as JSON and as Markdown; returns the latter."""
        table = summarised(self.runs, self.pairs)
        # Results are shared: no folder of this machine goes into them.
        options = {k: v for k, v in asdict(self.request).items() if k != "data"}
        report = {
            "name": self.request.name,
            "machine": self.machine,
            "versions": package_versions(_PACKAGES),
            "options": options,
            "pairs": self.pairs,
            "table": table,
            "exponents": exponents(table, self.pairs),
            "runs": self.runs,
        }
        name, page = self.request.name, folder / f"{self.request.name}.md"
        write_whole(folder / f"{name}.json", json.dumps(report, indent=1) + "\n", parents=True)
        write_whole(page, report_text(report))
        return page
