"""Draw time against size from the files that ``python -m benchmarks`` wrote.

    python -m benchmarks.figure docs/images/speed.png benchmarks/results/scale.json \\
        benchmarks/results/large.json benchmarks/results/peers.json

Where two files have a case at one size, the first one counts. Needs the extra ``bench``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

LABELS = {
    "floor": "two eigendecompositions alone (eigsh)",
    "default": "nho",
    "default-warm": "nho, spectra cached",
    "paper": "nho, preset paper",
    "pyfm": "pyFM: fit + ZoomOut",
    "neural-zoomout": "geomfum: Neural ZoomOut",
    "nricp": "trimesh: non-rigid ICP",
    "torch-reference": "the paper's loop in plain torch",
}
COLOURS = ("0.55", "C0", "C9", "C1", "C2", "C3", "C4", "C5")


def points(reports: list[dict], case: str) -> list[tuple[int, float]]:
    """(vertices of the full shape, median seconds), by size; the first report that has it wins."""
    found: dict[int, float] = {}
    for report in reports:
        for size, rows in report["table"].items():
            if "seconds" in rows.get(case, {}):
                vertices = report["pairs"][size]["full_vertices"]
                found.setdefault(vertices, rows[case]["seconds"])
    return sorted(found.items())


def draw(path: Path, reports: list[dict]) -> None:
    """One line a case, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for (case, label), colour in zip(LABELS.items(), COLOURS, strict=True):
        known = points(reports, case)
        if known:
            width = 2.5 if case == "default" else 1.2
            style = "--" if case == "floor" else "-"
            x, y = zip(*known, strict=True)
            axes.plot(x, y, style, marker="o", ms=3, lw=width, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="vertices of the full shape", ylabel="seconds")
    axes.set_yticks([0.1, 1, 10, 60, 600], ["0.1", "1", "10", "60", "600"])
    axes.set_xticks([1e3, 1e4, 1e5, 1e6], ["1,000", "10,000", "100,000", "1,000,000"])
    axes.minorticks_off()
    axes.grid(color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("image", type=Path)
    parser.add_argument("reports", type=Path, nargs="+")
    options = parser.parse_args()
    draw(options.image, [json.loads(path.read_text()) for path in options.reports])


if __name__ == "__main__":
    main()
