"""What matches give here, to compare with another machine, another setting or other versions.

    python tools/fingerprint.py --out here.json [--set threads=2]
    python tools/fingerprint.py --compare here.json there.json

Four pairs (the shipped one, three generated ones), both presets (`paper` with few steps): mean
geodesic error, IoU, and a hash of all bits of the answer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import nho
from nho.bench.datasets import Pair
from nho.bench.datasets.synthetic import load
from nho.groundtruth import GroundTruth
from nho.metrics import evaluate
from nho.outputs import versions
from nho.sample import load_sample
from nho.surface import SurfacePoints

GENERATED = ("body-plane", "bean-holes", "ring-plane")
FEW_STEPS = ["fit_steps=60", "rounds=2", "refine_last=60", "refine_increment=20"]
PRESETS = {"default": [], "paper": FEW_STEPS}


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
    measured = {"versions": versions(), "rows": dict(measure(asked.set))}
    text = json.dumps(measured, indent=1) + "\n"
    if asked.out:
        asked.out.write_text(text)
    else:
        print(text, end="")
    return 0


def pairs() -> Iterator[Pair]:
    """The shipped pair as `nho demo` matches it, and generated ones."""
    sample = load_sample("plane")
    points = SurfacePoints(sample.truth_face, sample.truth_barycentric)
    yield Pair("sample", sample.partial, sample.full, GroundTruth(points, sample.truth_region))
    yield from (load(None, name) for name in GENERATED)


def measure(changes: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Scores and hash of every pair and preset."""
    for pair in pairs():
        for name, steps in PRESETS.items():
            settings = nho.preset(name).with_text([*steps, *changes])
            result = nho.match(pair.partial, pair.full, pair.anchors(25), settings)
            scores = evaluate(result, pair.full, pair.truth)
            yield (
                f"{pair.name} {name}",
                {"error": scores.geodesic_error, "iou": scores.iou, "bits": bits(result)},
            )


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
