"""What was requested of a pair, and whether its folder answers it.

The folder holds the result; a small record beside the folders holds the request it answers (the
settings in a result are those that were used, which may have fewer modes than requested).
A record is written last, so a result with a matching record is complete.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nho.errors import InputError, MissingFile
from nho.problem.result import DESCRIPTION, MatchResult, stored_description
from nho.report.result_folder import FILES
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import read_text
from nho.settings import Settings

STATE = ".batch"  # folder for lock and records; no pair can have this name


@dataclass(frozen=True)
class PairRequest:
    """Settings and inputs of a pair, ready for JSON.

    Attributes
    ----------
    settings : dict
        As requested, without ``threads``, on which the result does not depend.
    inputs : dict
        Content hashes of ``partial``, ``full`` and ``anchors``.
    """

    settings: dict[str, Any]
    inputs: dict[str, str]

    @classmethod
    def of(cls, settings: Settings, partial: str, full: str, anchors: str) -> PairRequest:
        """The request for these settings and content hashes."""
        inputs = {"partial": partial, "full": full, "anchors": anchors}
        return cls(_without_threads(settings), inputs)


@dataclass(frozen=True)
class Found:
    """A result that answers the request, or why the folder holds none (empty: nothing there)."""

    result: MatchResult | None
    why: str = ""


@dataclass(frozen=True)
class PastFailure:
    """An earlier failure of the same request."""

    error: str
    seconds: float


def find_result(out: Path, name: str, request: PairRequest, report: bool) -> Found:
    """The finished result of a pair, if it is complete and of this request."""
    folder = out / name
    try:
        description = stored_description(folder)
    except MissingFile:
        return Found(None)
    except InputError:
        description = b""
    record = _read(_record(out, name))
    if record is None:
        return Found(None, "not written by a batch")
    if _present_form(record.get("settings")) != request.settings:
        return Found(None, "other settings")
    if record.get("inputs") != request.inputs:
        return Found(None, "other inputs")
    left_out = (DESCRIPTION,) if report else (DESCRIPTION, "report.html")
    wanted = [file for file in FILES if file not in left_out]
    if report and not (folder / "report.html").exists():
        return Found(None, "no report")
    try:
        sizes = [(folder / file).stat().st_size for file in wanted]
        untouched = bytes_digest(description) == record.get("result")
        if untouched and all(sizes):
            return Found(MatchResult.load(folder))
    except (OSError, InputError):
        pass
    return Found(None, "damaged or replaced")


def record_result(out: Path, name: str, request: PairRequest, written: bytes) -> None:
    """Note which request the folder answers; to be called once the folder is complete.

    ``written`` is its ``result.json`` as the caller wrote it: somebody else may have put another
    result in its place since.
    """
    _write(_record(out, name), {**asdict(request), "result": bytes_digest(written)})


def was_written(out: Path, name: str) -> bool:
    """Whether a batch has written the folder of this pair, whatever became of it since."""
    return _read(_record(out, name)) is not None


def find_failure(out: Path, name: str, request: PairRequest) -> PastFailure | None:
    """How the same request failed earlier, if it did."""
    record = _read(_failure(out, name))
    if record is None or record.get("inputs") != request.inputs:
        return None
    if _present_form(record.get("settings")) != request.settings:
        return None
    seconds = record.get("seconds")
    if not isinstance(seconds, int | float) or not 0 <= seconds <= sys.float_info.max:
        seconds = 0.0
    return PastFailure(str(record.get("error")), float(seconds))


def record_failure(
    out: Path, name: str, request: PairRequest, failure: PastFailure, details: str = ""
) -> None:
    """Note a failure, so that the next run need not meet it again."""
    about = {"error": failure.error, "seconds": failure.seconds, "details": details.splitlines()}
    _write(_failure(out, name), {**asdict(request), **about})


def forget_failure(out: Path, name: str) -> None:
    """The pair succeeded, or is to be tried again."""
    _failure(out, name).unlink(missing_ok=True)


def bytes_digest(content: bytes) -> str:
    """Hash of a file's content."""
    return hashlib.blake2b(content, digest_size=32).hexdigest()


def state_folders(out: Path) -> list[Path]:
    """Where the records of a batch lie."""
    return [out / STATE, _record(out, "").parent, _failure(out, "").parent]


def _record(out: Path, name: str) -> Path:
    return out / STATE / "done" / f"{name}.json"


def _failure(out: Path, name: str) -> Path:
    return out / STATE / "failed" / f"{name}.json"


def _write(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, json.dumps(content, indent=2) + "\n", parents=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(read_text(path))
    except (InputError, ValueError, RecursionError):  # the last for brackets without end
        return None
    return content if isinstance(content, dict) else None


def _without_threads(settings: Settings) -> dict[str, Any]:
    """Plain values of all settings on which the answer depends."""
    return {name: value for name, value in settings.as_dict().items() if name != "threads"}


def _present_form(recorded: Any) -> dict[str, Any] | None:
    """Recorded settings as this version writes them; None if they are none."""
    try:
        return _without_threads(Settings.from_dict(recorded))
    except (InputError, TypeError, AttributeError):
        return None
