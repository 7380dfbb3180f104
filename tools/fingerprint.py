"""What matches give here, to compare with another machine, another setting or other versions.

    python tools/fingerprint.py --out here.json [--set threads=2]
    python tools/fingerprint.py --compare here.json there.json

A fixed set of runs on four pairs (the shipped one, three generated ones): both presets (`paper`
with few steps), many and few anchors, none, another unit, coarse surfaces. For each the mean
geodesic error, the IoU, and a hash of all bits of the answer. `tests/pipeline/test_same_bits.py`
compares every change with the reference beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import nho
from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.metrics import evaluate
from nho.evaluation.sample import load_sample
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.datasets.synthetic import load
from nho.report.result_folder import versions

NUMERIC = ("numpy", "scipy", "robust_laplacian")
GENERATED = ("body-plane", "bean-holes", "ring-plane")
FEW_STEPS = ("fit_steps=60", "rounds=2", "refine_last=60", "refine_increment=20")


@dataclass(frozen=True)
class Run:
    """One match of the fixed set."""

    pair: str
    preset: str = "default"
    anchors: int = 25  # 0 = found from nothing
    unit: float = 1.0  # factor on the coordinates of the partial shape
    changes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What tells it from the others."""
        anchors = f"{self.anchors} anchors" if self.anchors else "no anchors"
        unit = f"unit {self.unit:g}" if self.unit != 1 else ""
        return ", ".join(filter(None, (self.pair, self.preset, anchors, unit, *self.changes)))


RUNS = (
    *(Run(pair) for pair in ("sample", *GENERATED)),
    *(Run(pair, "paper", changes=FEW_STEPS) for pair in ("sample", *GENERATED)),
    *(Run(pair, anchors=5) for pair in ("sample", *GENERATED)),
    *(Run(pair, anchors=0) for pair in ("sample", "body-plane")),
    Run("body-plane", anchors=5, unit=1000.0),
    Run("bean-holes", anchors=25, unit=0.037),
    Run("sample", changes=("solve_vertices=400",)),
    Run("sample", "paper", changes=("solve_vertices=400", *FEW_STEPS)),
    Run("body-plane", anchors=8, changes=("coordinates=laplacian", "seed=3")),
    Run("body-plane", anchors=8, changes=("start=spline", "insulated=false")),
    Run("ring-plane", anchors=8, changes=("weight_topology=0.3", "weight_spectral=0.01")),
    Run("ring-plane", "paper", changes=("readout_operator=reduced", *FEW_STEPS)),
    Run("bean-holes", "paper", anchors=10, changes=("refinement=zoomout", *FEW_STEPS)),
    Run("body-plane", "paper", changes=("coordinates=laplacian", *FEW_STEPS)),
)


def main() -> int:
    """Measure, or compare two measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, help="JSON to write")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--compare", type=Path, nargs=2, metavar="JSON")
    asked = parser.parse_args()
    if asked.compare:
        first, second = (json.loads(path.read_text()) for path in asked.compare)
        print("\n".join(compared(first, second)))
        return 0
    found = {"machine": machine(), "rows": dict(measure(asked.set))}
    text = json.dumps(found, indent=1) + "\n"
    if asked.out:
        asked.out.write_text(text)
    else:
        print(text, end="")
    return 0


@cache
def pair_named(name: str) -> AnnotatedPair:
    """The shipped pair as `nho demo` matches it, or a generated one."""
    if name != "sample":
        return load(name)
    sample = load_sample("plane")
    points = SurfacePoints(sample.truth_face, sample.truth_barycentric)
    return AnnotatedPair(
        name, sample.partial, sample.full, GroundTruth(points, sample.truth_region)
    )


def measure(changes: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Scores and hash of every run."""
    yield from ((run.name, measured(run, changes)) for run in RUNS)


def measured(run: Run, changes: Sequence[str] = ()) -> dict[str, Any]:
    """Scores and hash of one run."""
    pair = pair_named(run.pair)
    settings = nho.preset(run.preset).with_text([*run.changes, *changes])
    anchors = pair.anchors(run.anchors) if run.anchors else "auto"
    partial = nho.Mesh(pair.partial.vertices * run.unit, pair.partial.faces)
    result = nho.match(partial, pair.full, anchors, settings)
    scores = evaluate(result, pair.full, pair.truth)
    return {"error": scores.geodesic_error, "iou": scores.iou, "bits": bits(result)}


def machine() -> str:
    """What the bits of an answer depend on beside this code: processor kernels and versions."""
    # Other libraries of a process (torch's OpenMP) have no part in an answer.
    kernels = sorted({pool["architecture"] for pool in threadpool_info() if "architecture" in pool})
    extensions: Any = np.show_config(mode="dicts")
    kernels += sorted(extensions["SIMD Extensions"].get("found", []))
    shown = [f"{name} {version}" for name, version in sorted(versions().items()) if name in NUMERIC]
    return ", ".join([platform.machine(), *kernels, *shown])


def bits(result: nho.MatchResult) -> str:
    """Hash of every array of an answer."""
    content = hashlib.blake2b(digest_size=16)
    for name, array in result.arrays().items():
        content.update(f"{name} {array.dtype.str} {array.shape}".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def compared(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    """A table, in Markdown."""
    yield "| pair, preset | error | other | IoU | other | bits |"
    yield "|---|---|---|---|---|---|"
    for name, one in first["rows"].items():
        other = second["rows"][name]
        same = "same" if one["bits"] == other["bits"] else "differ"
        scores = [f"{row[key]:.4f}" for key in ("error", "iou") for row in (one, other)]
        yield f"| {name} | {' | '.join(scores)} | {same} |"


if __name__ == "__main__":
    sys.exit(main())
