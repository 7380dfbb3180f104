"""What the page can download: the result in all its forms, and the marks in every format."""

from __future__ import annotations

import io
import tempfile
import threading
import zipfile
from pathlib import Path
from weakref import WeakKeyDictionary

from nho.errors import CannotWrite, InputError
from nho.io.landmarks import (
    FORMATS,
    PAIR_FILES,
    LandmarkPairs,
    Landmarks,
    write_landmarks,
    write_pairs,
)
from nho.report.result_folder import FILES, write_outputs
from nho.runtime.input_file import read_bytes
from nho.studio.marks import Marks, points_of
from nho.studio.outcome import MatchOutcome
from nho.studio.products import PRODUCTS
from nho.studio.project import SUFFIX
from nho.studio.session import Session
from nho.studio.shape import ShownShape

_KINDS = {".zip": "application/zip", ".html": "text/html; charset=utf-8"}
_BYTES = "application/octet-stream"
PROJECT = f"project{SUFFIX}"
# Files of a result; dropped with it.
_written: WeakKeyDictionary[MatchOutcome, dict[str, bytes]] = WeakKeyDictionary()
_writing = threading.Lock()


def download(
    session: Session, name: str, scratch: Path, query: dict[str, str] | None = None
) -> tuple[bytes, str, str]:
    """(body, kind, file name) of a download, by its name; ``scratch`` is for temporary files."""
    try:
        if name == PROJECT:
            inside = (query or {}).get("meshes") != "outside"
            return session.project(inside), _BYTES, name
        if name in PRODUCTS:
            with tempfile.TemporaryDirectory(dir=scratch) as inside_scratch:
                path = Path(inside_scratch) / name
                PRODUCTS[name](session, path)
                made = {file.name: read_bytes(file) for file in sorted(path.parent.iterdir())}
                if len(made) > 1:  # with the legend of its labels
                    return _zipped(made, ""), _KINDS[".zip"], f"{path.stem}.zip"
                return made[name], _BYTES, name
        return _download(session, name, scratch)
    except OSError as problem:
        raise CannotWrite.to(scratch, problem) from problem


def _download(session: Session, name: str, scratch: Path) -> tuple[bytes, str, str]:
    if name.startswith("anchors"):
        return _marks_file(session, name.removeprefix("anchors"), scratch)
    outcome = session.outcome
    if outcome is None:
        raise InputError("there is no result yet; press Match first")
    if name == "result.zip":
        return _zipped(_kept_files(outcome, scratch), "result/"), _KINDS[".zip"], name
    if name in FILES:
        return _kept_files(outcome, scratch)[name], _KINDS.get(Path(name).suffix, _BYTES), name
    raise InputError(f"{name}: there is no such download")


def formats() -> list[tuple[str, str]]:
    """(suffix, words) of the formats that marks can be saved in."""
    return [
        (suffix, f"{file.title} ({suffix}{'' if suffix in PAIR_FILES else ', two files'})")
        for suffix, file in FORMATS.items()
    ]


def _kept_files(outcome: MatchOutcome, scratch: Path) -> dict[str, bytes]:
    """Written once a result: the page has four links to it, and large meshes take their time."""
    with _writing:
        if outcome not in _written:
            _written[outcome] = _result_files(outcome, scratch)
        return _written[outcome]


def _result_files(outcome: MatchOutcome, scratch: Path) -> dict[str, bytes]:
    """The files that `nho match` would have written."""
    with tempfile.TemporaryDirectory(dir=scratch) as inside:
        folder = Path(inside) / "result"
        shapes = outcome.partial, outcome.full
        files_of = outcome.partial.attributes, outcome.full.attributes
        write_outputs(folder, shapes[0].mesh, shapes[1].mesh, outcome.result, files=files_of)
        files = {name: read_bytes(folder / name) for name in FILES}
    # JSON, since it keeps names and points inside of faces.
    marks = Marks(outcome.pairs)
    files["anchors.json"] = _written_pairs(marks, outcome.partial, outcome.full, ".json", scratch)
    return files


def _marks_file(session: Session, suffix: str, scratch: Path) -> tuple[bytes, str, str]:
    """The marks in the format of a suffix; formats of one shape come as two files in an archive."""
    partial, full = session.both()
    marks = session.marks
    if not marks.pairs:
        raise InputError("there are no marks to save yet")
    if suffix in PAIR_FILES:
        body = _written_pairs(marks, partial, full, suffix, scratch)
        return body, _BYTES, f"anchors{suffix}"
    if suffix not in FORMATS:
        raise InputError(f"{suffix}: not a format of landmarks; choose {', '.join(FORMATS)}")
    files = {}
    for side, shape in (("partial", partial), ("full", full)):
        named = [
            (pair.name, mark)
            for pair in marks.pairs
            if (mark := pair.mark(side)) is not None  # type: ignore[arg-type]
        ]
        points = points_of(mark for _, mark in named)
        landmarks = Landmarks.at(shape.mesh, points, [name for name, _ in named])
        with tempfile.TemporaryDirectory(dir=scratch) as inside:
            path = Path(inside) / f"{side}{suffix}"
            write_landmarks(path, landmarks, shape.mesh)
            files[path.name] = read_bytes(path)
    return _zipped(files, ""), _KINDS[".zip"], f"anchors{suffix}.zip"


def _written_pairs(
    marks: Marks, partial: ShownShape, full: ShownShape, suffix: str, scratch: Path
) -> bytes:
    pairs = marks.complete
    names = tuple(pair.name for pair in pairs)
    both = LandmarkPairs(
        Landmarks.at(partial.mesh, points_of(pair.partial for pair in pairs), names),
        Landmarks.at(full.mesh, points_of(pair.full for pair in pairs), names),
        names,
    )
    with tempfile.TemporaryDirectory(dir=scratch) as inside:
        path = Path(inside) / f"anchors{suffix}"
        write_pairs(path, both, partial.mesh, full.mesh)
        return read_bytes(path)


def _zipped(files: dict[str, bytes], folder: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(folder + name, body)
    return stream.getvalue()
