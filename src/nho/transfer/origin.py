"""Do two meshes belong to a stored result? Their content tells, not their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.problem.result import MatchResult, stored_description


def load_for(folder: str | Path, partial: Mesh, full: Mesh) -> MatchResult:
    """The result in a folder that `nho match` wrote, if it is one of exactly these meshes."""
    folder = Path(folder)
    result = MatchResult.load(folder)
    stored = _inputs(folder)
    meshes = {"partial": partial, "full": full}
    digests = {role: mesh.digest() for role, mesh in meshes.items()}
    known = {role: entry.get("blake2b") for role, entry in stored.items()}
    if (
        known
        and known.get("partial") == digests["full"]
        and known.get("full") == digests["partial"]
    ):
        raise InputError(
            f"{folder}: {partial.name} is its full shape and {full.name} its partial one; "
            "give the partial mesh first"
        )
    for role, mesh in meshes.items():
        if known.get(role) not in (None, digests[role]):
            raise InputError(
                f"{mesh.name}: this is not the {role} mesh of the result in {folder}, which was "
                f"made with {stored[role].get('name')!r} ({stored[role].get('vertices')} vertices);"
                " give the mesh that was matched, unchanged"
            )
    result.check_meshes(partial, full)
    return result


def _inputs(folder: Path) -> dict[str, dict[str, Any]]:
    """What result.json says about the meshes; nothing if it was saved without."""
    about = json.loads(stored_description(folder).decode("utf-8"))
    inputs = about.get("inputs")
    if not isinstance(inputs, dict):
        return {}
    return {role: entry for role, entry in inputs.items() if isinstance(entry, dict)}
