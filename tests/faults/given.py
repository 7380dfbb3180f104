"""Small pairs to match, and what a result folder holds."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

import nho
from nho.errors import InputError
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.result import MatchResult
from nho.report.result_folder import FILES

# With eight anchors: bending, spectra and operator, however sure the first pose is.
QUICK = ("fit_steps=2", "look_again_below=2", "own_anchors=0")


def changes(*settings: str) -> list[str]:
    """Options of the command for changed settings."""
    return [part for change in settings for part in ("--set", change)]


def make_pairs(folder: Path, count: int, level: int = 2, name: str = "p{:03d}") -> Path:
    """Write pairs of about 100 and 162 vertices with 8 anchors; returns their table."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["name,partial,full,anchors"]
    for i in range(count):
        full = bumpy_sphere(level, seed=i)
        cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
        full.write(folder / f"full{i}.ply")
        cut.mesh.write(folder / f"scan{i}.ply")
        chosen = nho.sample_vertices(cut.mesh, 8)
        anchors = np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)
        nho.write_anchors(folder / f"anchors{i}.csv", anchors)
        lines.append(f"{name.format(i)},scan{i}.ply,full{i}.ply,anchors{i}.csv")
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    return folder / "pairs.csv"


def match_words(folder: Path, number: int, out: Path, *more: object) -> list[object]:
    """The words of `nho match` for one of these pairs."""
    files = [folder / f"{name}{number}.ply" for name in ("scan", "full")]
    anchors = ["--anchors", folder / f"anchors{number}.csv"]
    return ["match", *files, *anchors, "--out", out, *changes(*QUICK), *more]


def names(folder: Path) -> list[str]:
    """Everything in a folder."""
    return sorted(entry.name for entry in folder.iterdir())


def result_in(folder: Path, report: bool = True) -> dict[str, str] | None:
    """Digests of a result that loads and is complete, without what differs from run to run.

    None if there is no result; an `AssertionError` if it loads although it is not complete.
    """
    try:
        MatchResult.load(folder)
    except InputError as problem:
        assert not folder.exists() or not names(folder), f"{folder}: {problem}"
        return None
    there = [name for name in names(folder) if not name.startswith(".nho-")]
    wanted = [name for name in FILES if report or name != "report.html"]
    assert there == sorted(wanted), f"{folder} holds {there}"
    about = json.loads((folder / "result.json").read_text())
    del about["timings"]
    if report:
        assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    found = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("result.npz", "partial.ply", "full.ply")
    }
    return {**found, "result.json": json.dumps(about, sort_keys=True)}
