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

_STAGING = ".nho-"  # prefix of unfinished folders
FILES = ("result.npz", "settings.json", "partial.ply", "full.ply", "report.html")


def write_outputs(
    folder: str | Path,
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    extra: dict[str, Any] | None = None,
    *,
    report: bool = True,
) -> None:
    """Write result, settings, coloured meshes and report into ``folder``.

    Everything is written beside the folder first and moved into place at the end. An earlier
    result there is replaced; a folder with anything else in it is refused (`check_folder`).

    Parameters
    ----------
    extra : dict, optional
        More entries for the report, such as ``metrics``.
    report : bool
        Whether to write ``report.html``, by far the largest file.
    """
    folder = Path(folder)
    check_folder(folder)
    result.check_meshes(partial, full)
    place = folder.resolve()  # a link, or ".", stands for the folder it leads to
    made = _first_missing(place.parent)
    # A mount point cannot be renamed: there, the files are moved in one by one.
    inside = place.is_mount()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place if inside else place.parent
        staging = Path(tempfile.mkdtemp(prefix=f"{_STAGING}{folder.name}.", dir=beside))
    except OSError as problem:
        _remove_empty(made, place.parent)
        raise InputError(f"{folder}: cannot be written ({problem.strerror})") from problem
    try:
        os.chmod(staging, 0o777 & ~_umask())
        result.save(staging, inputs=_inputs(partial, full), versions=versions())
        colours = position_colours(full)
        partial_colours = transfer_colours(full, result, colours)
        partial.write(staging / "partial.ply", partial_colours)
        full.write(staging / "full.ply", region_colours(colours, result.region))
        if report:
            page = render_report(partial, full, result, {**_hints(result), **(extra or {})})
            (staging / "report.html").write_text(page, encoding="utf-8")
        (_move_files if inside else _swap)(staging, place)
        made = None
    except OSError as problem:
        raise InputError(f"{folder}: cannot be written ({problem.strerror})") from problem
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        _remove_empty(made, place.parent)


def check_folder(folder: str | Path) -> None:
    """Refuse an output folder that cannot be written or holds anything but an earlier result."""
    folder = Path(folder)
    nearest = next(
        place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()
    )
    if not nearest.is_dir():
        raise InputError(f"{folder}: {nearest.name} is a file; give a folder for --out")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"{folder}: cannot be written (no permission in {nearest})")
    if not folder.exists():
        return
    others = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name not in FILES and not entry.name.startswith(_STAGING)
    )
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


def _hints(result: MatchResult) -> dict[str, Any]:
    """What the report tells the user to look at next."""
    hints: dict[str, Any] = {}
    if result.suspect_anchors:
        hints["suspect_anchors"] = list(result.suspect_anchors)
    if result.next_anchor >= 0:
        hints["next_anchor"] = result.next_anchor
    return hints


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


def _move_files(staging: Path, folder: Path) -> None:
    """Replace file by file; settings.json, without which nothing reads as a result, comes last."""
    (folder / "settings.json").unlink(missing_ok=True)
    for name in sorted(FILES, key=lambda name: name == "settings.json"):
        if (staging / name).exists():
            os.replace(staging / name, folder / name)
        else:  # no report wanted: an earlier one would be of another result
            (folder / name).unlink(missing_ok=True)


def _first_missing(folder: Path) -> Path | None:
    """The topmost ancestor (or the folder itself) that does not exist yet."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    return missing[-1] if missing else None


def _remove_empty(top: Path | None, bottom: Path) -> None:
    """Remove the empty folders that were made from ``top`` down to ``bottom``."""
    if top is None:
        return
    for place in (bottom, *bottom.parents):
        try:
            place.rmdir()
        except OSError:
            return
        if place == top:
            return


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
