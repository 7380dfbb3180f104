"""Shape spaces of faces and skulls: completion, matching, scores and their errors, from parts.

python tools/measure_shapes.py --data DIR --store DIR faces|skulls

DIR holds worlds/faces and worlds/skulls (see docs/datasets.md). Fits are kept in the store, so that
a second run takes minutes. Everything is held out by individual: the shape space that a face or
skull is judged with has seen no scan of it. docs/shapes.md has the figures.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from measure_landmarks import SUFFIX, cut_mesh
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist

import nho
from nho.batch.half_fits import fit_half
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import farthest_points
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.symmetry import find_symmetry
from nho.geometry.synthetic import cut_by_plane, take_faces
from nho.io.landmarks import read_landmarks
from nho.lab.bench.datasets.faces import meshed_anew
from nho.pipeline.shape_prior import expected_template, stretch
from nho.settings import preset
from nho.shapes import PartFit
from nho.shapes.prior import known_weights
from nho.shapes.procrustes import normalised, pose_onto, procrustes_mean
from nho.transfer import fit_template

FEWER, PREDICTED = 0.45, 0.01  # vertices of a scan; weight of vertices that the template predicts
REMATCHED = ("neutral", "smile_open")  # expressions; a match takes long
Stored = dict[str, np.ndarray]


def fitted(
    out: Path, scan: Mesh, full: Mesh, anchors: np.ndarray, more: dict[str, np.ndarray]
) -> None:
    """Match, fit, and keep what is measured later."""
    result = nho.match(scan, full, anchors)
    fit = fit_template(result, scan, full)
    weights = known_weights(result, scan, full, fit, PREDICTED)
    places = {"positions": fit.mesh.vertices, "weights": weights, "on_scan": fit.on_scan}
    np.savez(out, **places, **more, vertices=scan.vertices, faces=scan.faces, anchors=anchors)  # type: ignore[arg-type]
    print(out.stem, result.status, flush=True)


def make_face(path: Path, full: Mesh, cut: str, count: int, out: Path) -> None:
    """A head, whole or half of its area by a random plane, meshed anew, rotated, and fitted."""
    head = nho.Mesh.read(path)
    random = np.random.default_rng(zlib.crc32(f"{path.stem}{cut}".encode()))
    whole = take_faces(head, np.ones(head.n_faces, dtype=bool))
    part = whole if cut == "whole" else cut_by_plane(head, random.normal(size=3), keep_area=0.5)
    size = int(FEWER * head.n_vertices * part.mesh.area / head.area)
    scan = meshed_anew(part.mesh, size, random)
    on, _ = project(part.mesh, scan.vertices)
    points = SurfacePoints(part.face_of_parent[on.face], on.barycentric)
    rotation, shift = random_rotation(random), 10 * random.normal(size=3)
    truth = head.vertices @ rotation.T + shift
    scan = scan.moved(scan.vertices @ rotation.T + shift)
    rows = farthest_points(scan.vertices, count)
    anchors = np.stack([rows, points.nearest_vertex(full)[rows]], axis=1)
    known = np.zeros(head.n_vertices, dtype=bool)
    known[part.vertex_of_parent] = True
    more = {"true_face": points.face, "true_bary": points.barycentric}
    fitted(out, scan, full, anchors, {"truth": truth, "known": known, **more})


def make_half(face: Stored, full: Mesh, seed: int, out: Path) -> None:
    """Half of a scan again, matched and fitted as `nho shapes --halves` does."""
    scan = nho.Mesh(face["vertices"], face["faces"], out.stem)
    part = fit_half(scan, full, face["anchors"], preset("default"), seed)
    np.savez(out, positions=part.positions, weights=part.weights)


def part_fit(whole: Stored, half: Stored) -> PartFit:
    """The fit to half of a scan, in the pose of the fit to the whole."""
    truth = half["truth"]
    pose = pose_onto(truth, whole["truth"], np.ones(len(truth)))
    weights = np.where(half["on_scan"], half["weights"], 0.0)
    return PartFit(pose.apply(half["positions"]), weights)


def faces(data: Path, store: Path) -> None:
    """Missing halves completed, and half faces with five anchors matched, with a shape space."""
    folder = data / "worlds/faces"
    full = nho.Mesh.read(folder / "generic_neutral.ply")
    heads = sorted(folder.glob("id*.ply"))
    stored: dict[tuple[str, str], Stored] = {}
    for path in heads:
        for cut, count in (("whole", 25), ("half", 25), ("half", 5)):
            out = store / f"face_{path.stem}_{cut}_{count}.npz"
            if not out.exists():
                make_face(path, full, cut, count, out)
            stored[path.stem, f"{cut}_{count}"] = dict(np.load(out, allow_pickle=False))
        out = store / f"face_{path.stem}_half_of_half.npz"
        if not out.exists():
            make_half(stored[path.stem, "half_25"], full, zlib.crc32(path.stem.encode()), out)
        stored[path.stem, "half_of_half"] = dict(np.load(out, allow_pickle=False))
    names = [path.stem for path in heads]
    limit = np.mean([nearest(name, names, stored, full) for name in names])
    print(f"the nearest that heads of others make, all known: {limit:.2f}", flush=True)
    for train, left_out in (("half_25", False), ("whole_25", True)):
        same_people(names, stored, train, full, left_out)
    people = sorted({name[:4] for name in names})
    for train, count in (("whole_25", 16), ("whole_25", None), ("half_25", None)):
        spaces = {of: face_space(of, names, stored, train, full, count) for of in people}
        rows = [completed(spaces[name[:4]], stored[name, "half_25"], full) for name in names]
        mean, template, model, exact, one, two = np.mean(rows, axis=0)
        print(
            f"space of others, {train}, {count or 'few'} components: missing half off by "
            f"{mean:.2f} (mean), {template:.2f} (template), {model:.2f} (space), "
            f"{exact:.2f} (space, exact fits); errors hold for "
            f"{100 * one:.0f} and {100 * two:.0f} %",
            flush=True,
        )
        if train == "whole_25" and count is None:
            some = [name for name in names if name.endswith(REMATCHED)]
            pairs = [rematched(spaces[name[:4]], stored[name, "half_5"], full) for name in some]
            before, after, taken = np.mean(pairs, axis=0)
            print(
                f"five anchors: error x100 {before:.3f}, {after:.3f} with the space, which "
                f"stretches {100 * taken:.0f} % of {len(some)} scans less",
                flush=True,
            )


def same_people(
    names: list[str],
    stored: dict[tuple[str, str], Stored],
    train: str,
    full: Mesh,
    left_out: bool,
) -> None:
    """Missing halves by a space of all scans, or of all others, of the same people."""
    rows = []
    every = None if left_out else fitted_space(names, stored, train, full, 16)
    for name in names:
        others = [other for other in names if other != name]
        space = every or fitted_space(others, stored, train, full, 16)
        rows.append(completed(space, stored[name, "half_25"], full))
    mean, _, model, exact, one, two = np.mean(rows, axis=0)
    print(
        f"space of {'all other' if left_out else 'all'} scans, {train}, 16 components: missing "
        f"half off by {mean:.2f} (mean), {model:.2f} (space), {exact:.2f} (space, exact fits), "
        f"{model / mean:.2f} of the mean's; errors hold for {100 * one:.0f} and {100 * two:.0f} %",
        flush=True,
    )


def fitted_space(
    names: list[str],
    stored: dict[tuple[str, str], Stored],
    train: str,
    full: Mesh,
    components: int,
) -> nho.ShapeSpace:
    """The space of some faces, as `nho shapes --symmetric --individuals _` makes it."""
    fits = [stored[name, train] for name in names]
    return nho.ShapeSpace.fit(
        np.stack([each["positions"] for each in fits]),
        full,
        np.stack([each["weights"] for each in fits]),
        names,
        components,
        symmetry=find_symmetry(full),
        groups=[name[:4] for name in names],
    )


def face_space(
    person: str,
    names: list[str],
    stored: dict[tuple[str, str], Stored],
    train: str,
    full: Mesh,
    components: int | None,
) -> nho.ShapeSpace:
    """The space of all faces but those of one individual."""
    others = [other for other in names if other[:4] != person]
    fits = [stored[other, train] for other in others]
    if train == "whole_25":
        parts = {of: part_fit(stored[of, train], stored[of, "half_25"]) for of in others}
    else:
        parts = {of: PartFit(**stored[of, "half_of_half"]) for of in others}
    return nho.ShapeSpace.fit(
        np.stack([each["positions"] for each in fits]),
        full,
        np.stack([each["weights"] for each in fits]),
        others,
        components,
        symmetry=find_symmetry(full),
        groups=[other[:4] for other in others],
        parts=parts,
    )


def nearest(
    name: str, names: list[str], stored: dict[tuple[str, str], Stored], full: Mesh
) -> float:
    """Error at hidden vertices of the nearest combination of true heads of other people."""
    areas = full.vertex_areas / full.area
    root = np.sqrt(areas)[:, None]
    others = [stored[other, "half_25"]["truth"] for other in names if other[:4] != name[:4]]
    start = normalised(full.vertices, areas)[0]
    mean = procrustes_mean(np.stack(others), np.ones((len(others), len(areas))), areas, start)
    away = [root * (pose_onto(each, mean, areas).apply(each) - mean) for each in others]
    basis = np.linalg.svd(np.stack(away).reshape(len(away), -1), full_matrices=False)[2]
    face = stored[name, "half_25"]
    pose = pose_onto(face["truth"], mean, areas)
    own = (root * (pose.apply(face["truth"]) - mean)).ravel()
    left = ((own - basis.T @ (basis @ own)).reshape(-1, 3) / root / pose.scale)[~face["known"]]
    return float(np.sqrt((left**2).sum(axis=1).mean()))


def completed(space: nho.ShapeSpace, face: Stored, full: Mesh) -> list[float]:
    """Errors of missing vertices by mean, template, space and space with exact fits; coverage."""
    weights = np.where(face["on_scan"], face["weights"], 0.0)
    truth, hidden = face["truth"], ~face["known"]
    mean = space.model.mean
    laid = pose_onto(mean, face["positions"], weights * space.model.areas).apply(mean)
    found, exact = (space.estimate(face[of], weights) for of in ("positions", "truth"))
    off = np.linalg.norm(found.positions - truth, axis=1)[hidden] / found.errors[hidden]
    places = (laid, face["positions"], found.positions, exact.positions)
    errors = [np.sqrt(((at - truth)[hidden] ** 2).sum(axis=1).mean()) for at in places]
    return [*map(float, errors), float((off < 1).mean()), float((off < 2).mean())]


def rematched(space: nho.ShapeSpace, face: Stored, full: Mesh) -> tuple[float, float, bool]:
    """Error of the map without and with the expected template, and whether that stretches less."""
    scan = nho.Mesh(face["vertices"], face["faces"], "scan")
    truth = SurfacePoints(face["true_face"], face["true_bary"]).positions(full)
    plain = nho.match(scan, full, face["anchors"])
    expected = expected_template(plain, scan, full, space)
    second = nho.match(scan, expected, face["anchors"])
    away = [each.points.positions(full) - truth for each in (plain, second)]
    unit = np.sqrt(full.area) / 100
    before, after = (float(np.nanmean(np.linalg.norm(each, axis=1)) / unit) for each in away)
    less = stretch(second, scan, expected) < 0.95 * stretch(plain, scan, full)
    return before, after, less


def make_skull(path: Path, full: Mesh, partner: np.ndarray, cut: str, odd: int, out: Path) -> None:
    """A skull, whole or cut, rotated, and fitted by every second landmark."""
    skull = nho.Mesh.read(str(path).replace(SUFFIX, ".ply"))
    marks = read_landmarks(path).position
    name = path.name.removesuffix(SUFFIX)
    kept = "whole" if cut == "whole" else "half"
    random = np.random.default_rng(zlib.crc32(f"{name}{kept}".encode()))
    part = cut_mesh(skull, marks, cut, random)
    there = project(part, marks)[1] - project(skull, marks)[1] < 1.5 * part.mean_edge_length
    rotation, shift = random_rotation(random), 10 * random.normal(size=3)
    scan = part.moved(part.vertices @ rotation.T + shift)
    rows = np.flatnonzero(there & (np.arange(len(marks)) % 2 == odd))
    own = project(scan, marks[rows] @ rotation.T + shift)[0].nearest_vertex(scan)
    more = {"truth": marks @ rotation.T + shift, "known": there}
    fitted(out, scan, full, np.stack([own, partner[rows]], axis=1), more)


def skulls(data: Path, store: Path) -> None:
    """The space of halves against that of whole skulls, and against other anchors."""
    first, *files = sorted((data / "worlds/skulls").glob(f"*{SUFFIX}"))
    full = nho.Mesh.read(str(first).replace(SUFFIX, ".ply"))
    marks_on = read_landmarks(first).on(full)[0]
    partner = marks_on.nearest_vertex(full)
    sets: dict[str, list[Stored]] = {"whole_0": [], "whole_1": [], "half_0": []}
    for number, path in enumerate(files):
        for kind, group in sets.items():
            out = store / f"skull_{path.name.removesuffix(SUFFIX)}_{kind}.npz"
            cut = "whole" if kind.startswith("whole") else ("front", "back", "ball")[number % 3]
            if not out.exists():
                make_skull(path, full, partner, cut, int(kind[-1]), out)
            group.append(dict(np.load(out, allow_pickle=False)))
    whole = skull_space(sets["whole_0"], full)
    masked = [
        {**each, "weights": np.where(half["on_scan"], each["weights"], PREDICTED)}
        for each, half in zip(sets["whole_0"], sets["half_0"], strict=True)
    ]
    error = whole.validation.hidden_error.mean(axis=0)
    print("error at hidden halves with 0, 1, 2 components:", error.round(4))
    compare(whole, skull_space(sets["whole_1"], full), "whole, other anchors")
    compare(whole, skull_space(masked, full), "whole fits, seen in halves")
    compare(whole, skull_space(sets["half_0"], full), "halves")
    ratios: dict[str, list[np.ndarray]] = {"half_0": [], "whole_1": []}
    held = []
    for i in range(len(files)):
        others = [j for j in range(len(files)) if j != i]
        parts = {str(j): part_fit(sets["whole_0"][j], sets["half_0"][j]) for j in others}
        named = {str(j): sets["whole_0"][j] for j in others}
        space = skull_space(list(named.values()), full, ["template", *named], parts)
        held.append(landmarks_held(space, sets["half_0"][i], marks_on))
        scores = scores_of(space, sets["whole_0"][i])[0]
        for kind, found in ratios.items():
            other, bars = scores_of(space, sets[kind][i])
            found.append(np.abs(other - scores) / bars)
    one, two = 100 * np.concatenate(held).mean(axis=0)
    print(f"errors of predicted landmarks hold for {one:.0f} and {two:.0f} %")
    for kind, found in ratios.items():
        one, two = (100 * (np.array(found) < limit).mean() for limit in (1, 2))
        print(f"scores of {kind} within one and two standard errors: {one:.0f} and {two:.0f} %")


def landmarks_held(space: nho.ShapeSpace, half: Stored, marks: SurfacePoints) -> np.ndarray:
    """(n, 2) whether landmarks that a half has lost are within one and two standard errors."""
    found = space.estimate(half["positions"], np.where(half["on_scan"], half["weights"], 0.0))
    places = marks.positions(nho.Mesh(found.positions, space.faces, "expected"))
    errors = (found.errors[space.faces[marks.face]] * marks.barycentric).sum(axis=1)
    off = (np.linalg.norm(places - half["truth"], axis=1) / errors)[~half["known"]]
    return np.stack([off < 1, off < 2], axis=1)


def skull_space(
    fits: list[Stored],
    full: Mesh,
    names: Sequence[str] = (),
    parts: Mapping[str, PartFit] = MappingProxyType({}),
) -> nho.ShapeSpace:
    """The space of the template and the fits, with two components."""
    positions = np.stack([full.vertices, *(each["positions"] for each in fits)])
    weights = np.stack([np.ones(full.n_vertices), *(each["weights"] for each in fits)])
    return nho.ShapeSpace.fit(positions, full, weights, names, components=2, parts=parts)


def scores_of(space: nho.ShapeSpace, fit: Stored) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a fit and their standard errors."""
    found = space.estimate(fit["positions"], np.where(fit["on_scan"], fit["weights"], 0.0))
    return found.scores, found.score_errors


def compare(one: nho.ShapeSpace, other: nho.ShapeSpace, what: str) -> None:
    """Print angles between the first components and the correlation of distances of scores."""
    root = np.sqrt(one.model.areas)[:, None]
    flat = [(root * each.model.modes).reshape(2, -1).T for each in (one, other)]
    first = np.rad2deg(np.arccos(abs(flat[0][:, 0] @ flat[1][:, 0])))
    both = np.rad2deg(subspace_angles(*flat))
    same = np.corrcoef(pdist(one.scores), pdist(other.scores))[0, 1]
    print(
        f"{what}: first component {first:.0f} degrees off, the first two {both.min():.0f} and "
        f"{both.max():.0f}; distances of scores correlate by {same:.2f}",
        flush=True,
    )


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True, help="folder for fits")
    parser.add_argument("what", choices=["faces", "skulls"])
    asked = parser.parse_args()
    asked.store.mkdir(parents=True, exist_ok=True)
    {"faces": faces, "skulls": skulls}[asked.what](asked.data, asked.store)


if __name__ == "__main__":
    main()
