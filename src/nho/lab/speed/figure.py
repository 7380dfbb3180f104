"""Time against size, drawn from the reports of all runs in one folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nho.lab.bench.figures.plotstyle import save, styled
from nho.runtime.input_file import read_text

LABELS = {
    "floor": "two eigendecompositions alone (eigsh)",
    "default": "nho",
    "default-5": "nho, 5 anchors",
    "default-none": "nho, no anchors",
    "default-cloud": "nho, scan as points",
    "similarity+icp": "similarity + ICP",
    "tps": "thin-plate spline",
    "tps+meshmonk": "spline + meshmonk",
    "rustcpd": "rustcpd",
    "pyfm": "pyFM: fit + ZoomOut",
    "geomfum": "geomfum: fit + ZoomOut",
    "neural-zoomout": "geomfum: Neural ZoomOut",
    "nricp": "trimesh: non-rigid ICP",
    "paper": "nho, preset paper",
    "torch-reference": "the paper's loop in plain torch",
}
_OURS = "default"
_ROOM = 1.3  # around the lines, as a factor


def time_against_size(reports: list[dict[str, Any]], case: str) -> list[tuple[int, float]]:
    """(vertices of the full shape, median CPU seconds), by size; most repeats count."""
    found: dict[int, tuple[int, float]] = {}
    for report in reports:
        for size, rows in report["table"].items():
            row = rows.get(case, {})
            if "cpu_seconds" in row:
                vertices = report["pairs"][size]["full_vertices"]
                if row["repeats"] > found.get(vertices, (0, 0.0))[0]:
                    found[vertices] = (row["repeats"], row["cpu_seconds"])
    return [(vertices, seconds) for vertices, (_, seconds) in sorted(found.items())]


@styled
def draw_speed(folder: Path) -> list[Path]:
    """One line a case, on logarithmic axes, to ``speed.png`` in the folder of the reports.

    Nothing is drawn where no report has CPU seconds against vertices.
    """
    from matplotlib.figure import Figure

    reports = [json.loads(read_text(path)) for path in sorted(folder.glob("*.json"))]
    lines = {case: time_against_size(reports, case) for case in LABELS}
    if not any(lines.values()):
        return []
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    looks = iter([f"C{number}" for number in range(10)] * 2)
    for case, label in LABELS.items():
        known = lines[case]
        if known:
            ours = case.startswith(_OURS)
            width = 2.5 if case == _OURS else 1.2
            style = ":" if case == "floor" else "-" if ours else "--"
            colour = "0.4" if case == "floor" else next(looks)
            x, y = zip(*known, strict=True)
            axes.plot(x, y, style, marker="o", ms=3, lw=width, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="vertices of the full shape")
    axes.set_ylabel("CPU seconds")
    axes.set_yticks([0.1, 1, 10, 60, 600], ["0.1", "1", "10", "60", "600"])
    sizes = [1000, 5000, 25_000, 100_000, 1_000_000]
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    drawn = np.concatenate([line.get_xydata() for line in axes.lines])
    (left, low), (right, high) = drawn.min(axis=0) / _ROOM, drawn.max(axis=0) * _ROOM
    axes.set(xlim=(left, right), ylim=(low, high))
    figure.legend(loc="outside right upper")
    return save(figure, folder / "speed", ("png",))


@styled
def draw_many_anchors(folder: Path) -> list[Path]:
    """Time against the number of anchors, by preset, to ``anchors.png``; nothing if not measured.

    The largest pair of all reports counts.
    """
    from matplotlib.figure import Figure

    reports = [json.loads(read_text(path)) for path in sorted(folder.glob("*.json"))]
    pairs = [pair for report in reports for pair in report["pairs"].values()]
    measured = [pair for pair in pairs if "many_anchors" in pair]
    if not measured:
        return []
    pair = max(measured, key=lambda one: int(one["full_vertices"]))
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for colour, (preset, rows) in zip(("C0", "C1"), pair["many_anchors"].items(), strict=False):
        x, y = [row["anchors"] for row in rows], [row["by_first"] for row in rows]
        label = f"{preset} ({rows[0]['cpu_seconds']:.1f} s at {x[0]})"
        axes.plot(x, y, marker="o", ms=3, color=colour, label=label)
    axes.set(xscale="log", xlabel="anchors", ylabel="CPU time, as a multiple", ylim=(0, None))
    axes.set_xticks(x, [f"{count:,}" for count in x])
    axes.minorticks_off()
    axes.legend()
    return save(figure, folder / "anchors", ("png",))
