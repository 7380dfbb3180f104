"""Errors of landmarks through a map on whole and cut skulls, and how often error bars hold.

python tools/measure_landmarks.py --data DIR [--strains 3]

DIR holds worlds/skulls (see docs/datasets.md). Every second landmark is an anchor; errors are taken
at the others. The bars are those of the package, which were fitted to these same skulls: the
coverage printed here is not held out; docs/shapes.md has the one that is.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.surface import project
from nho.geometry.synthetic import cut_by_plane, take_faces
from nho.io.landmarks import read_landmarks
from nho.transfer import carry_landmarks

CUTS = ("whole", "front", "back", "ball")
SUFFIX = ".mrk.json"


def cut_mesh(skull: nho.Mesh, marks: np.ndarray, cut: str, random: np.random.Generator) -> nho.Mesh:
    """Half of the area: by a plane across the long axis, or outside a ball."""
    if cut == "whole":
        return skull
    if cut == "ball":
        centre = skull.vertices[random.integers(skull.n_vertices)]
        away = np.linalg.norm(skull.vertices - centre, axis=1)[skull.faces].min(axis=1)
        order = np.argsort(away)
        area = np.cumsum(skull.face_areas[order])
        radius = away[order[np.searchsorted(area, 0.5 * area[-1])]]
        return take_faces(skull, away >= radius).mesh
    first = np.linalg.norm(marks - marks.mean(axis=0), axis=1).argmax()
    last = np.linalg.norm(marks - marks[first], axis=1).argmax()
    along = marks[first] - marks[last]
    along = along * np.sign(along @ (marks[0] - marks.mean(axis=0)))
    return cut_by_plane(skull, along if cut == "front" else -along, keep_area=0.5).mesh


def main() -> None:
    """Match, carry, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--strains", type=int, default=None, help="only so many")
    asked = parser.parse_args()
    files = sorted((asked.data / "worlds/skulls").glob(f"*{SUFFIX}"))
    full = nho.Mesh.read(str(files[0]).replace(SUFFIX, ".ply"))
    points, _ = read_landmarks(files[0]).on(full)
    partner = points.nearest_vertex(full)
    errors: dict[tuple[str, str], dict[int, float]] = {}
    held: dict[str, list[tuple[bool, bool]]] = {"measured": [], "predicted": []}
    for path in files[1:][: asked.strains]:
        name = path.name.removesuffix(SUFFIX)
        skull = nho.Mesh.read(str(path).replace(SUFFIX, ".ply"))
        marks = read_landmarks(path).position
        for cut in CUTS:
            random = np.random.default_rng(zlib.crc32(f"{name}{cut}".encode()))
            part = cut_mesh(skull, marks, cut, random)
            gap = project(part, marks)[1] - project(skull, marks)[1]
            there = gap < 1.5 * part.mean_edge_length
            rotation, shift = random_rotation(random), 10 * random.normal(size=3)
            scan = part.moved(part.vertices @ rotation.T + shift)
            truth = marks @ rotation.T + shift
            anchors = np.flatnonzero(there & (np.arange(len(marks)) % 2 == 0))
            own = project(scan, truth[anchors])[0].nearest_vertex(scan)
            result = nho.match(scan, full, np.stack([own, partner[anchors]], axis=1))
            names = [str(row) for row in range(len(marks))]
            found = carry_landmarks(result, scan, full, points, names, predict=True)
            away = np.linalg.norm(found.positions - truth, axis=1)
            judged = np.setdiff1d(np.arange(len(marks)), anchors)
            bars = found.errors
            for row in judged:
                bar = bool(away[row] <= bars.standard[row]), bool(away[row] <= bars.limit_95[row])
                held[found.status[row]].append(bar)
            shown = [row for row in judged if found.status[row] == "measured" and there[row]]
            errors[name, cut] = {row: float(away[row]) for row in shown}
            print(name, cut, result.status, f"{np.median(list(errors[name, cut].values())):.3f}")
    for cut in CUTS[1:]:
        pairs = [
            (error, errors[name, "whole"][row])
            for (name, other), found_errors in errors.items()
            if other == cut
            for row, error in found_errors.items()
            if row in errors[name, "whole"]
        ]
        half, whole = np.median(np.array(pairs), axis=0)
        print(f"{cut}: {half:.3f}, the same on whole skulls {whole:.3f}, ratio {half / whole:.2f}")
    for status, bars_held in held.items():
        share = 100 * np.mean(np.array(bars_held), axis=0)
        print(f"{status}: {share[0]:.0f} and {share[1]:.0f} % of {len(bars_held)} within the bars")


if __name__ == "__main__":
    main()
