"""Measure time, memory and accuracy against size, beside a floor, peers and a plain torch version.

    python -m benchmarks --sizes 1k,5k,10k --name laptop
    python -m benchmarks --sizes 5k --data DIR --family tosca --pair 3 --cases floor,default,pyfm

Run it from the project's folder, on a quiet machine, with the extra ``peers`` installed. Every
measurement is a fresh process; repeats go round all cases, so that a slow hour of the machine
hits all alike. After every size ``results/<name>.json`` and ``.md`` are written anew.

Cases: ``floor`` (the two eigendecompositions alone), ``default`` and ``paper`` (presets, without a
cache), ``default-warm`` (spectra in the cache from a run before), ``default-direct`` (without
coarse surfaces), the peers ``pyfm``, ``neural-zoomout`` (geomfum) and ``nricp`` (trimesh), and
``torch-reference``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.summary import exponents, loss_gap, markdown, summarised

SIZES = "1k,5k,10k,25k,50k,100k,250k,1M"
CASES = "floor,default,default-warm,default-direct,paper,pyfm,neural-zoomout,nricp,torch-reference"
HERE = Path(__file__).resolve().parent
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Runner:
    """Children one after the other, and what they told.

    Parameters
    ----------
    options : the command line
    scratch : folder for pairs, answers and the warm cache
    """

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.options, self.scratch = options, scratch
        self.runs: list[dict[str, Any]] = []
        self.pairs: dict[str, dict[str, Any]] = {}
        self.given_up: dict[str, str] = {}  # case -> why
        self.machine = machine()
        self.versions = self.child("describe", "-", scratch)
        if "status" in self.versions:
            raise SystemExit(f"nothing can be run: {self.versions['status']}")

    def child(self, job: str, what: str, folder: Path, cache: str = "off") -> dict[str, Any]:
        """The answer of one child, or ``{"status": why not}``."""
        options, answer = self.options, folder / "answer.json"
        answer.unlink(missing_ok=True)
        command = [sys.executable, "-m", "benchmarks.child", job, what]
        command += [str(folder / "task.npz"), str(answer), "--threads", str(options.threads)]
        command += ["--family", options.family, "--number", str(options.pair)]
        command += ["--data", options.data] if options.data else []
        environment = {k: v for k, v in os.environ.items() if k not in _THREADS}
        environment["NHO_CACHE"] = cache
        if options.threads:
            environment |= dict.fromkeys(_THREADS, str(options.threads))
        # Building and judging are not what is measured: they may take their time.
        limit = options.limit if job == "run" else None
        try:
            done = subprocess.run(
                command,
                cwd=HERE.parent,
                env=environment,
                timeout=limit,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return {"status": f"stopped after {limit:g} s"}
        if done.returncode == 0:
            return json.loads(answer.read_text())
        if done.returncode < 0:
            return {"status": f"killed by {signal.Signals(-done.returncode).name}"}
        return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1][:200]}

    def measure(self, size: str) -> None:
        """All cases at one size."""
        folder = self.scratch / size
        folder.mkdir()
        built = self.child("build", str(vertices(size)), folder)
        if "status" in built:
            raise SystemExit(f"{size}: no pair was built: {built['status']}")
        self.pairs[size] = built
        told = f"{built['name']}, {built['partial_vertices']} -> {built['full_vertices']} vertices"
        print(f"{size}: {told}", flush=True)
        cases = [case for case in self.options.cases if case not in self.given_up]
        for case, why in self.given_up.items():
            self.runs.append({"size": size, "case": case, "status": f"not run: {why}"})
        cache = {"default-warm": str(folder / "cache")}
        if "default-warm" in cases:
            self.child("run", "default-warm", folder, cache["default-warm"])  # fills it
        for repeat in range(self.options.repeats):
            for case in [case for case in cases if case not in self.given_up]:
                run = {"status": "ok", **self.child("run", case, folder, cache.get(case, "off"))}
                self.runs.append({"size": size, "case": case, "repeat": repeat, **run})
                if run["status"] != "ok":
                    self.given_up[case] = f"{run['status']} at {size}"
                seconds = f"{run['seconds']:.2f} s" if "seconds" in run else run["status"]
                print(f"  {case}: {seconds}", flush=True)
        judged = self.child("judge", "-", folder)
        if "status" in judged:
            print(f"  no accuracy: {judged['status']}", flush=True)
        self.pairs[size] |= judged
        gap = loss_gap(self.runs, size)
        if gap is not None and self.pairs[size].get("agreement"):
            self.pairs[size]["agreement"]["loss_gap"] = gap
        for path in folder.glob("*.npz"):  # a pair of a million vertices is large
            path.unlink()

    def write(self) -> None:
        """All there is so far, as JSON and as Markdown."""
        table = summarised(self.runs, self.pairs)
        # Results are shared: no folder of this machine goes into them.
        options = {k: v for k, v in vars(self.options).items() if k not in ("out", "data")}
        report = {
            "name": self.options.name,
            "machine": self.machine,
            "versions": self.versions,
            "options": options,
            "pairs": self.pairs,
            "table": table,
            "exponents": exponents(table, self.pairs),
            "runs": self.runs,
        }
        out = self.options.out
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{self.options.name}.json").write_text(json.dumps(report, indent=1) + "\n")
        (out / f"{self.options.name}.md").write_text(markdown(report))


def vertices(size: str) -> int:
    """``5k`` -> 5000, ``1M`` -> 1000000."""
    unit = {"k": 1_000, "m": 1_000_000}.get(size[-1:].lower())
    try:
        return round(float(size[:-1]) * unit) if unit else int(size)
    except ValueError:
        raise SystemExit(
            f"--sizes: {size!r} is not a size; give numbers such as 500, 5k or 1M"
        ) from None


def listed(text: str) -> list[str]:
    """The words of a comma-separated list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def main() -> None:
    """Read the command line, measure size by size."""
    words = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=words)
    parser.add_argument("--sizes", default=SIZES, type=listed, help=f"of the full shape ({SIZES})")
    parser.add_argument("--cases", default=CASES, type=listed, help="of those above (all)")
    parser.add_argument("--repeats", type=int, default=3, help="processes a case and size (3)")
    parser.add_argument("--limit", type=float, default=900, help="seconds a process (900)")
    parser.add_argument("--threads", type=int, default=0, help="0 = what each takes by itself (0)")
    parser.add_argument("--data", help="folder of evaluation data, instead of the shipped sample")
    parser.add_argument("--family", default="pfaust_m", help="of --data (pfaust_m)")
    parser.add_argument("--pair", type=int, default=0, help="of that family, from 0 (0)")
    parser.add_argument("--name", default="bench", help="of the files written (bench)")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the files")
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES.split(",")]
    if unknown:
        parser.error(f"--cases: {unknown[0]!r} is unknown; choose of {CASES}")
    for size in options.sizes:
        vertices(size)  # a typing error should not come up after hours
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(options, Path(scratch))
        for size in options.sizes:
            runner.measure(size)
            runner.write()
    print(f"written: {options.out / options.name}.json and .md")


if __name__ == "__main__":
    main()
