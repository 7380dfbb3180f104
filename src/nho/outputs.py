"""The folder that a match leaves behind: all of it, or nothing."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nho.colours import position_colours, region_colours, transfer_colours
from nho.errors import InputError
from nho.mesh import Mesh
from nho.report import render_report
from nho.result import MatchResult

FILES = ("result.npz", "settings.json", "partial.ply", "full.ply", "report.html")


def write_outputs(
    folder: str | Path,
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    extra: dict[str, Any] | None = None,
) -> None:
    """Write result, settings, coloured meshes and report into ``folder``.

    Everything is written beside the folder first and moved into place at the end. An earlier
    result there is replaced; a folder with anything else in it is refused (`check_folder`).

    Parameters
    ----------
    extra : dict, optional
        More entries for the report, such as ``metrics``.
    """
    folder = Path(folder)
    check_folder(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as problem:
        raise InputError(f"{folder}: cannot be written ({problem.strerror})") from problem
    try:
        os.chmod(staging, 0o777 & ~_umask())
        result.save(staging, inputs=_inputs(partial, full), versions=versions())
        colours = position_colours(full)
        partial_colours = transfer_colours(full, result, colours)
        partial.write(staging / "partial.ply", partial_colours)
        full.write(staging / "full.ply", region_colours(colours, result.region))
        report = render_report(partial, full, result, extra)
        (staging / "report.html").write_text(report, encoding="utf-8")
        _swap(staging, folder)
    except OSError as problem:
        raise InputError(f"{folder}: cannot be written ({problem.strerror})") from problem
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def check_folder(folder: str | Path) -> None:
    """Refuse an output folder that is a file, or that holds anything but an earlier result."""
    folder = Path(folder)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder for --out")
    others = sorted(entry.name for entry in folder.iterdir() if entry.name not in FILES)
    if others:
        raise InputError(
            f"{folder}: holds other files ({others[0]}); give a new or empty folder for --out"
        )


def versions() -> dict[str, str]:
    """Versions of what the answer depends on."""
    names = ("nho", "numpy", "scipy", "robust_laplacian")
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in names},
    }


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


def _swap(staging: Path, folder: Path) -> None:
    """Put the finished folder in place; an earlier result goes only once the new one is there."""
    if not folder.exists():
        os.rename(staging, folder)
        return
    old = staging.with_name(staging.name + ".old")
    os.rename(folder, old)
    try:
        os.rename(staging, folder)
    except OSError:
        os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
