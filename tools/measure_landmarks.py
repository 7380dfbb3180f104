"""Errors of landmarks through a map on whole and cut skulls, and how often error bars hold.

python tools/measure_landmarks.py --data DIR [--store DIR] [--strains 3]

DIR holds worlds/skulls (see docs/datasets.md). Every second landmark is an anchor; errors are taken
at the others. The bars of the package were fitted to these same skulls, so how often they hold is
not held out; the same fit to all strains but one, judged by that one, is. docs/shapes.md has the
figures. Errors are kept in the store, so that a second run takes seconds.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.symmetry import find_symmetry
from nho.geometry.synthetic import cut_by_plane, take_faces
from nho.io.landmarks import read_landmarks
from nho.transfer import carry_landmarks, fit_template
from nho.transfer.error_bars import NEAR, doubt
from nho.transfer.landmarks import distance_from_data

CUTS = ("whole", "front", "back", "ball", "side")
SUFFIX = ".mrk.json"
Errors = dict[str, np.ndarray]


def cut_mesh(skull: nho.Mesh, marks: np.ndarray, cut: str, random: np.random.Generator) -> nho.Mesh:
    """Half of the area: by a plane across or along the long axis, or outside a ball."""
    if cut == "whole":
        return skull
    if cut == "ball":
        centre = skull.vertices[random.integers(skull.n_vertices)]
        away = np.linalg.norm(skull.vertices - centre, axis=1)[skull.faces].min(axis=1)
        order = np.argsort(away)
        area = np.cumsum(skull.face_areas[order])
        radius = away[order[np.searchsorted(area, 0.5 * area[-1])]]
        return take_faces(skull, away >= radius).mesh
    if cut == "side":
        across = find_symmetry(skull).plane.normal * random.choice([-1, 1])
        return cut_by_plane(skull, across, keep_area=0.5).mesh
    first = np.linalg.norm(marks - marks.mean(axis=0), axis=1).argmax()
    last = np.linalg.norm(marks - marks[first], axis=1).argmax()
    along = marks[first] - marks[last]
    along = along * np.sign(along @ (marks[0] - marks.mean(axis=0)))
    return cut_by_plane(skull, along if cut == "front" else -along, keep_area=0.5).mesh


def measured_errors(path: Path, cut: str, full: nho.Mesh, points: SurfacePoints) -> Errors:
    """Errors, bars, and what bars depend on, at the landmarks of a skull that are no anchors."""
    name = path.name.removesuffix(SUFFIX)
    skull = nho.Mesh.read(str(path).replace(SUFFIX, ".ply"))
    marks = read_landmarks(path).position
    random = np.random.default_rng(zlib.crc32(f"{name}{cut}".encode()))
    part = cut_mesh(skull, marks, cut, random)
    there = project(part, marks)[1] - project(skull, marks)[1] < 1.5 * part.mean_edge_length
    rotation, shift = random_rotation(random), 10 * random.normal(size=3)
    scan = part.moved(part.vertices @ rotation.T + shift)
    truth = marks @ rotation.T + shift
    anchors = np.flatnonzero(there & (np.arange(len(marks)) % 2 == 0))
    own = project(scan, truth[anchors])[0].nearest_vertex(scan)
    result = nho.match(scan, full, np.stack([own, points.nearest_vertex(full)[anchors]], axis=1))
    fit = fit_template(result, scan, full)
    names = [str(row) for row in range(len(marks))]
    found = carry_landmarks(result, scan, full, points, names, predict=True, fit=fit)
    measured = found.status == "measured"
    away = points.interpolate(full, distance_from_data(fit, full))
    unit = np.sqrt(full.area) * fit.size / result.scale
    rows = np.setdiff1d(np.arange(len(marks)), anchors)
    columns = {
        "row": np.arange(len(marks)),
        "off": np.linalg.norm(found.positions - truth, axis=1),
        "standard": found.errors.standard,
        "limit_95": found.errors.limit_95,
        "measured": measured,
        "there": there,
        "of": np.where(measured, doubt(found.errors.confidence), away + NEAR),
        "unit": np.full(len(marks), unit),
    }
    return {column: values[rows] for column, values in columns.items()}


def all_errors(data: Path, store: Path | None, strains: int | None) -> dict[str, dict[str, Errors]]:
    """Errors by strain and cut; those in the store are taken from there."""
    first, *files = sorted((data / "worlds/skulls").glob(f"*{SUFFIX}"))
    full = nho.Mesh.read(str(first).replace(SUFFIX, ".ply"))
    points, _ = read_landmarks(first).on(full)
    found: dict[str, dict[str, Errors]] = {}
    for path in files[:strains]:
        name = path.name.removesuffix(SUFFIX)
        found[name] = {}
        for cut in CUTS:
            kept = store / f"landmarks_{name}_{cut}.npz" if store else None
            if kept and kept.exists():
                errors = dict(np.load(kept, allow_pickle=False))
            else:
                errors = measured_errors(path, cut, full, points)
                if kept:
                    np.savez(kept, **errors)  # type: ignore[arg-type]
            found[name][cut] = errors
            shown = errors["off"][errors["measured"] & errors["there"]]
            print(name, cut, f"{np.median(shown):.3f}", flush=True)
    return found


def print_ratios(found: dict[str, dict[str, Errors]]) -> None:
    """Medians on cut skulls, and at the same landmarks of whole ones."""
    together: list[np.ndarray] = []
    for cut in CUTS[1:]:
        pairs = np.concatenate([_pairs(each[cut], each["whole"]) for each in found.values()])
        together += [pairs] if cut != "side" else []
        _print_ratio(cut, pairs)
        lost = [each[cut]["off"][~each[cut]["measured"]] for each in found.values()]
        print(f"{cut}: landmarks that are lost {np.median(np.concatenate(lost)):.3f}")
    _print_ratio("front, back, ball", np.concatenate(together))


def _pairs(half: Errors, whole: Errors) -> np.ndarray:
    """(n, 2) errors at landmarks that were measured on both."""
    known = whole["measured"] & whole["there"]
    on_whole = dict(zip(whole["row"][known], whole["off"][known], strict=True))
    rows = np.flatnonzero(half["measured"] & half["there"])
    pairs = np.array([[half["off"][i], on_whole.get(half["row"][i], np.nan)] for i in rows])
    return pairs[np.isfinite(pairs).all(axis=1)]


def _print_ratio(cut: str, pairs: np.ndarray) -> None:
    half, whole = np.median(pairs, axis=0)
    print(f"{cut}: {half:.3f}, the same on whole skulls {whole:.3f}, ratio {half / whole:.2f}")


def fit_quantile(of: np.ndarray, off: np.ndarray, share: float) -> tuple[float, float]:
    """Logarithm of the factor, and power, below which this share of errors lies.

    Quantile regression (Koenker and Bassett, 1978) of logarithms, as a linear programme.
    """
    n = len(of)
    lines = np.stack([np.ones(n), np.log(of)], axis=1)
    equal = np.hstack([lines, np.eye(n), -np.eye(n)])
    cost = np.r_[0, 0, np.full(n, share), np.full(n, 1 - share)]
    bounds = [(None, None)] * 2 + [(0, None)] * (2 * n)
    factor, power = linprog(cost, A_eq=equal, b_eq=np.log(off), bounds=bounds).x[:2]
    return float(factor), float(power)


def print_bars(found: dict[str, dict[str, Errors]]) -> None:
    """How often the bars of the package hold, and bars fitted to the other strains."""
    strains = {
        name: {
            column: np.concatenate([cut[column] for cut in cuts.values()])
            for column in cuts["whole"]
        }
        for name, cuts in found.items()
    }
    for status in ("measured", "predicted"):
        kept = {name: _only(each, status == "measured") for name, each in strains.items()}
        every = _joined(list(kept.values()))
        one, two = (100 * (every["off"] <= every[bar]).mean() for bar in ("standard", "limit_95"))
        print(f"{status}: the bars hold for {one:.1f} and {two:.1f} % of {len(every['off'])}")
        fitted = [_fit(every, share) for share in (0.68, 0.95)]
        print(f"{status}: fitted to all strains", [tuple(np.round(each, 3)) for each in fitted])
        if len(kept) < 3:
            continue
        held = [
            _held(each, _joined([kept[other] for other in kept if other != name]))
            for name, each in kept.items()
        ]
        one, two = 100 * np.concatenate(held).mean(axis=0)
        print(f"{status}: fitted to the other strains, they hold for {one:.1f} and {two:.1f} %")


def _only(errors: Errors, measured: bool) -> Errors:
    return {column: values[errors["measured"] == measured] for column, values in errors.items()}


def _joined(errors: list[Errors]) -> Errors:
    return {column: np.concatenate([each[column] for each in errors]) for column in errors[0]}


def _fit(errors: Errors, share: float) -> tuple[float, float]:
    return fit_quantile(errors["of"], errors["off"] / errors["unit"], share)


def _held(errors: Errors, others: Errors) -> np.ndarray:
    """(n, 2) whether errors lie below bars that are fitted to others."""
    bars = [_fit(others, share) for share in (0.68, 0.95)]
    off = np.log(errors["off"] / errors["unit"])
    return np.stack(
        [off <= factor + power * np.log(errors["of"]) for factor, power in bars], axis=1
    )


def main() -> None:
    """Match, carry, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path, default=None, help="folder for errors")
    parser.add_argument("--strains", type=int, default=None, help="only so many")
    asked = parser.parse_args()
    if asked.store:
        asked.store.mkdir(parents=True, exist_ok=True)
    found = all_errors(asked.data, asked.store, asked.strains)
    print_ratios(found)
    print_bars(found)


if __name__ == "__main__":
    main()
