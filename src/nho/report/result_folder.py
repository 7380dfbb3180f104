"""The folder that a match leaves behind: all of it, or nothing."""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite, InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes
from nho.problem.result import DESCRIPTION, FORMER_DESCRIPTION, MatchResult, holds_result
from nho.report import render_report
from nho.report.colours import view_colours
from nho.runtime.atomic_folder import MOVING, PREFIX, whole_folder
from nho.runtime.input_file import read_bytes
from nho.runtime.input_protection import NO_INPUTS, InputFiles

FILES = ("result.npz", DESCRIPTION, "partial.ply", "full.ply", "report.html")
KNOWN_FILES = (*FILES, FORMER_DESCRIPTION)  # of this version and of older ones


def write_outputs(
    folder: str | Path,
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    metrics: Mapping[str, object] | None = None,
    *,
    report: bool = True,
    inputs: InputFiles = NO_INPUTS,
    ours: bool = False,
    files: tuple[Attributes, Attributes] | None = None,
) -> bytes:
    """Write result, settings, coloured meshes and report into ``folder``.

    Everything is written beside the folder first and moved into place at the end. An earlier
    result there is replaced; a folder with anything else in it is refused (`check_folder`).

    Parameters
    ----------
    metrics : mapping, optional
        More values for the report, by name.
    report : bool
        Whether to write ``report.html``, by far the largest file.
    inputs, ours
        As of `check_folder`.
    files
        As of `render_report`.

    Returns
    -------
    bytes
        What was written as ``result.json``; another process may have replaced it since.
    """
    result.check_meshes(partial, full)

    def check(folder: Path) -> None:
        check_folder(folder, inputs, ours)

    with whole_folder(Path(folder), DESCRIPTION, check) as staging:
        result.save(staging, inputs=_inputs(partial, full), versions=versions())
        colours = view_colours(full, result)
        partial.write(staging / "partial.ply", colours["partial"]["correspondence"])
        full.write(staging / "full.ply", colours["full"]["faded"])
        if report:
            page = render_report(partial, full, result, metrics, colours, files=files)
            (staging / "report.html").write_text(page, encoding="utf-8")
        return read_bytes(staging / DESCRIPTION)


def check_folder(folder: str | Path, inputs: InputFiles = NO_INPUTS, ours: bool = False) -> None:
    """Refuse an output folder that cannot be written or holds anything but an earlier result.

    Parameters
    ----------
    inputs : InputFiles
        What the command reads: none of it may lie in the folder.
    ours : bool
        Files with the names of a result are known to be ours, though the result is damaged.
    """
    folder = Path(folder)
    check_folder_writable(folder)
    inputs.refuse_folder(folder)
    there = _files(folder)
    others = [name for name in there if name not in KNOWN_FILES and not name.startswith(PREFIX)]
    if others:
        raise InputError(
            f"{folder}: holds other files ({others[0]}); give a new or empty folder for --out"
        )
    while not (ours or MOVING in there or holds_result(folder)):
        before, there = there, _files(folder)
        known = [name for name in there if name in KNOWN_FILES]
        if not known:
            return
        if there == before:  # else another process is exchanging it this moment
            raise InputError(
                f"{folder}: holds {known[0]} but no result that nho wrote; give a new or empty "
                "folder for --out"
            )


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """What is in a folder, by name, with what tells a file from another one in its place."""
    found = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            about = entry.stat(follow_symlinks=False)
            found[entry.name] = about.st_ino, about.st_mtime_ns
    return found


def files_in(folder: Path) -> list[Path]:
    """The files of a result, there or not."""
    return [folder / name for name in KNOWN_FILES]


def check_folder_writable(folder: Path) -> None:
    """Refuse an output folder that is a file or cannot be written."""
    nearest = next(
        place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()
    )
    found = _identity(nearest)
    if found is None:
        return  # another process is exchanging it this moment
    if not stat.S_ISDIR(found.st_mode):
        raise InputError(f"{folder}: {nearest.name} is a file; give a folder for --out")
    writable = os.access(nearest, os.W_OK)
    now = _identity(nearest)
    if not writable and now is not None and os.path.samestat(found, now):
        raise CannotWrite(
            f"{folder}: cannot be written (no permission in {nearest}); give another place"
        )


def _identity(path: Path) -> os.stat_result | None:
    """What is there now; None = nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Versions of what the answer depends on."""
    names = ("nho", "numpy", "scipy", "robust_laplacian")
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in names},
    }


@cache  # a batch asks for every pair, and metadata takes longer to read than a small result
def _version(name: str) -> str:
    return version(name)


def _inputs(partial: Mesh, full: Mesh) -> dict[str, dict[str, Any]]:
    """What was matched, by name, size and content hash."""
    return {
        role: {
            "name": mesh.name,
            "vertices": len(mesh.vertices),
            "faces": len(mesh.faces),
            "blake2b": mesh.digest(),
        }
        for role, mesh in (("partial", partial), ("full", full))
    }
