"""A project in one file: meshes (inside or by reference), anchors, look, and the last result.

The file is an NPZ archive: arrays of the meshes, and files of the result as bytes.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError, NhoError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.attributes import Attributes, read_with_attributes
from nho.io.landmarks import clean_name
from nho.problem.result import DESCRIPTION, MatchResult, stored_description
from nho.runtime.input_file import read_bytes
from nho.runtime.npz import load_arrays, npz_bytes
from nho.studio.autosave import marks_from_json
from nho.studio.chosen_look import checked_look
from nho.studio.marks import SIDES, MarkedPair, Marks, Side, mark_at
from nho.studio.outcome import MatchOutcome
from nho.studio.project_mesh import ProjectMesh, packed_mesh, unpacked_mesh
from nho.studio.shape import ShownShape

SUFFIX = ".nho"
_FORMAT = 1
_RESULT_FILES = ("result.npz", DESCRIPTION)


@dataclass(frozen=True)
class Project:
    """What a project file holds.

    Attributes
    ----------
    result : MatchResult or None
        The last match, made of ``matched`` pairs.
    look : dict
        How it was shown; see `nho.studio.chosen_look`.
    """

    meshes: dict[Side, ProjectMesh]
    marks: Marks
    result: MatchResult | None
    matched: tuple[MarkedPair, ...]
    look: dict[str, Any] = field(default_factory=dict)


def project_bytes(
    shapes: dict[Side, ShownShape],
    data: dict[Side, Attributes],
    marks: Marks,
    outcome: MatchOutcome | None,
    look: dict[str, Any],
    inside: bool = True,
) -> bytes:
    """The content of a project file; ``inside`` = with meshes, else only where their files are."""
    arrays: dict[str, np.ndarray] = {}
    about: dict[str, Any] = {"nho_project": _FORMAT, "meshes": {}, "look": look, **asdict(marks)}
    about["format"] = 1  # of the marks
    for side, shape in shapes.items():
        about["meshes"][side], of_mesh = packed_mesh(side, shape, data[side], inside)
        arrays |= of_mesh
    if outcome is not None:
        about["matched"] = [asdict(pair) for pair in outcome.pairs]
        with tempfile.TemporaryDirectory() as folder:
            outcome.result.save(folder)
            for name in _RESULT_FILES:
                content = read_bytes(Path(folder) / name)
                arrays[f"file {name}"] = np.frombuffer(content, dtype=np.uint8)
    arrays["about"] = np.frombuffer(json.dumps(about).encode("utf-8"), dtype=np.uint8)
    return npz_bytes(arrays, compress=True)


def read_project(path: Path) -> Project:
    """Read a project file; whatever is wrong with it is an `InputError`."""
    try:
        arrays = load_arrays(path)
        about = json.loads(arrays["about"].tobytes())
        if about["nho_project"] != _FORMAT:
            raise ValueError("written by another version of nho")
        meshes = {
            side: unpacked_mesh(side, about["meshes"][side], arrays, path.name) for side in SIDES
        }
        faces = {str(side): found.mesh.n_faces for side, found in meshes.items()}
        matched = marks_from_json({"format": 1, "pairs": about.get("matched", [])}, faces)
        result = _result(arrays)
        if result is not None:
            result.check_meshes(meshes["partial"].mesh, meshes["full"].mesh)
        marks, look = marks_from_json(about, faces), checked_look(about.get("look", {}))
        return Project(meshes, marks, result, matched.pairs, look)
    except NhoError:
        raise
    except Exception as problem:  # damaged in whatever way, or no project at all
        raise InputError(
            f"{path.name}: this is no project of nho studio, or it is damaged ({problem}); "
            "save it again from the studio"
        ) from problem


def project_of_result(folder: Path) -> Project:
    """The folder of a result as a project: its shapes, its anchors and the match."""
    result = MatchResult.load(folder)
    meshes: dict[Side, ProjectMesh] = {}
    names = _input_names(folder)
    for side in SIDES:
        path = folder / f"{side}.ply"
        mesh, _ = read_with_attributes(path)  # its colours are those of the correspondence
        named = Mesh(mesh.vertices, mesh.faces, names.get(side, mesh.name))
        meshes[side] = ProjectMesh(named, Attributes(), path)
    result.check_meshes(meshes["partial"].mesh, meshes["full"].mesh)
    rows = np.asarray(result.anchors).reshape(-1, 2)
    own, other = (
        SurfacePoints.at_vertices(meshes[side].mesh, rows[:, column])
        for column, side in enumerate(SIDES)
    )
    marks = Marks()
    for row in range(len(rows)):
        marks = marks.added(mark_at(own, row), mark_at(other, row), result.anchor_name(row))
    return Project(meshes, marks, result, marks.pairs)


def _input_names(folder: Path) -> dict[str, str]:
    """What the meshes of a result were called before it named them ``partial`` and ``full``."""
    inputs = json.loads(stored_description(folder)).get("inputs")
    if not isinstance(inputs, dict):
        return {}
    found = {side: inputs[side].get("name") for side in SIDES if isinstance(inputs.get(side), dict)}
    return {
        side: clean_name(name) for side, name in found.items() if isinstance(name, str) and name
    }


def _result(arrays: dict[str, np.ndarray]) -> MatchResult | None:
    if f"file {DESCRIPTION}" not in arrays:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name in _RESULT_FILES:
            (Path(folder) / name).write_bytes(arrays[f"file {name}"].tobytes())
        return MatchResult.load(folder)
