"""What every address of the studio does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nho.errors import InputError
from nho.report.scene import VIEWER, packaged_text
from nho.studio import downloads, uploads
from nho.studio.marks import SIDES, Marks, Side

if TYPE_CHECKING:
    from nho.studio.server import Studio
    from nho.studio.session import Session

_BYTES = "application/octet-stream"
_SCRIPT, _STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
_SCRIPTS = ("server.js", "stage.js", "panel.js", "hover.js", "files.js", "keys.js", "studio.js")
_PAGE = "text/html; charset=utf-8"
# Files of the page by address: package, name there, media type.
_FILES = {
    "": ("nho.studio", "page/studio.html", _PAGE),
    "studio.css": ("nho.studio", "page/studio.css", _STYLE),
    **{name: ("nho.report", name, _SCRIPT) for name in VIEWER},
    **{name: ("nho.studio", f"page/{name}", _SCRIPT) for name in _SCRIPTS},
}


@dataclass(frozen=True)
class Response:
    """A body, its kind and, for a download, the name of the file."""

    body: bytes
    kind: str
    name: str | None = None


def get(studio: Studio, path: str, query: dict[str, str]) -> Response | None:
    """What is at an address; None = nothing."""
    if path in _FILES:
        package, name, kind = _FILES[path]
        return Response(packaged_text(name, package).encode("utf-8"), kind)
    session = studio.session
    if path == "state":
        return Response(_json(session.state()), "application/json")
    if path == "formats":
        return Response(_json(downloads.formats()), "application/json")
    where, _, name = path.partition("/")
    if where == "mesh":
        return _mesh_array(session, name, query)
    if where == "outcome":
        return _outcome_array(session, name, query)
    if where == "download":
        return Response(*downloads.download(session, name, studio.scratch.path))
    return None


def post(studio: Studio, path: str, about: dict[str, Any]) -> bool:
    """Do what a page asks for; False = there is no such thing."""
    session = studio.session
    doing: dict[str, Callable[[], None]] = {
        "place": lambda: session.place(_side(about), *_ray(about), _key_or_none(about)),
        "move": lambda: session.move(_key(about), _side(about), *_ray(about)),
        "rename": lambda: session.change(
            lambda marks: marks.renamed(_key(about), _text(about, "name", ""))
        ),
        "remove": lambda: session.change(lambda marks: marks.removed(_key(about))),
        "clear": lambda: session.change(lambda marks: Marks()),
        "undo": session.undo,
        "redo": session.redo,
        "match": lambda: session.match(_text(about, "preset", "default")),
        "cancel": session.cancel,
        "sample": lambda: uploads.open_sample(session),
    }
    if path not in doing:
        return False
    doing[path]()
    return True


def upload(studio: Studio, query: dict[str, str], received: Path) -> None:
    """A file from the page: a mesh for one side, or landmarks."""
    try:
        side = _side(query) if "side" in query else None
        uploads.take(studio.session, received, query.get("name", ""), side)
    finally:
        received.unlink(missing_ok=True)


def _mesh_array(session: Session, name: str, query: dict[str, str]) -> Response | None:
    side, _, array = name.partition("/")
    shape = session.shapes.get(side)  # type: ignore[call-overload]
    if shape is None or not _meant(shape.version, query):
        return None
    body = shape.array(array)
    return None if body is None else Response(body, _BYTES)


def _outcome_array(session: Session, name: str, query: dict[str, str]) -> Response | None:
    outcome = session.outcome
    kind, _, rest = name.partition("/")
    if outcome is None or not _meant(outcome.version, query):
        return None
    body = outcome.colours(kind, rest) if kind in SIDES else outcome.array(name)
    return None if body is None else Response(body, _BYTES)


def _meant(version: int, query: dict[str, str]) -> bool:
    """A page that loads several arrays must not get some of another mesh or result."""
    return query.get("version", str(version)) == str(version)


def _side(about: dict[str, Any]) -> Side:
    for side in SIDES:
        if about.get("side") == side:
            return side
    raise InputError("the side is missing; it is partial or full")


def _key(about: dict[str, Any]) -> int:
    key = about.get("key")
    if not isinstance(key, int) or isinstance(key, bool):
        raise InputError("the pair is missing")
    return key


def _text(about: dict[str, Any], name: str, default: str) -> str:
    text = about.get(name, default)
    if not isinstance(text, str):
        raise InputError(f"the {name} is no text")
    return text


def _key_or_none(about: dict[str, Any]) -> int | None:
    return None if about.get("key") is None else _key(about)


def _ray(about: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    try:
        ray = np.array([about["origin"], about["direction"]], dtype=np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        ray = np.empty(0)
    if ray.shape != (2, 3) or not np.isfinite(ray).all():
        raise InputError("the ray is missing: an origin and a direction of three numbers each")
    return ray[0], ray[1]


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode("utf-8")
