"""What every address of the studio does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nho.errors import InputError
from nho.report.scene import VIEWER, packaged_text
from nho.studio import downloads, uploads
from nho.studio.marks import SIDES, Marks, Side

if TYPE_CHECKING:
    from nho.studio.outcome import MatchOutcome
    from nho.studio.server import Studio
    from nho.studio.session import Session
    from nho.studio.shape import ShownShape

_BYTES = "application/octet-stream"
_SCRIPT, _STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
_PAGE_FILES = sorted(file.name for file in files("nho.studio").joinpath("page").iterdir())
_PAGE = "text/html; charset=utf-8"
# Files of the page by address: package, name there, media type.
_FILES = {
    "": ("nho.studio", "page/studio.html", _PAGE),
    "studio.css": ("nho.studio", "page/studio.css", _STYLE),
    **{name: ("nho.report", name, _SCRIPT) for name in VIEWER},
    **{
        name: ("nho.studio", f"page/{name}", _SCRIPT)
        for name in _PAGE_FILES
        if name.endswith(".js")
    },
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
    if where == "picture" and session.batch is not None:
        return Response(session.batch.picture(name), "image/png")
    if where == "choice":
        return _choice_colours(session, name)
    if where == "outcome":
        return _outcome_array(session, name, query)
    if where == "download":
        return Response(*downloads.download(session, name, studio.scratch.path, query))
    return None


def post(studio: Studio, path: str, about: dict[str, Any]) -> dict[str, Any] | None:
    """Do what a page asks for, and what it gets to know of it; None = there is no such thing."""
    session = studio.session
    doing: dict[str, Callable[[], dict[str, Any] | None]] = {
        "place": lambda: session.place(_side(about), *_ray(about), _key_or_none(about)),
        "move": lambda: session.move(_key(about), _side(about), *_ray(about)),
        "rename": lambda: session.change(
            lambda marks: marks.renamed(_key(about), _text(about, "name", ""))
        ),
        "remove": lambda: session.change(lambda marks: marks.removed(_key(about))),
        "join": lambda: session.change(
            lambda marks: marks.joined(_key(about), _key({"key": about.get("parked")}))
        ),
        "put": lambda: session.change(
            lambda marks: marks.put(_key(about), _text(about, "state", ""))
        ),
        "measure": lambda: session.measure(
            _side(about), [_ray(_part(about, end)) for end in ("start", "end")]
        ),
        "look": lambda: session.show_as(about),
        "clear": lambda: session.change(lambda marks: Marks()),
        "undo": session.undo,
        "redo": session.redo,
        "match": lambda: session.match(_text(about, "preset", "default")),
        "cancel": session.cancel,
        "find": session.find_anchors,
        "row": lambda: session.open_row(_text(about, "name", "")),
        "mirror": lambda: session.mirror(_side(about)),
        "recent": lambda: session.open_project(session.recent.read(_text(about, "key", ""))),
        "choose": lambda: session.choose(_key(about)),
        "dismiss": session.dismiss,
        "sample": lambda: uploads.open_sample(session),
    }
    if path not in doing:
        return None
    return doing[path]() or {}


def upload(studio: Studio, query: dict[str, str], received: Path) -> dict[str, str]:
    """A file from the page: a mesh for one side, or landmarks; says where it went.

    A file that comes with ``more`` waits for the others of its ``drop``.
    """
    try:
        side = _side(query) if "side" in query else None
        name, drop = query.get("name", ""), query.get("drop", "")
        path = uploads.keep(received, studio.scratch.path, name, drop)
        return {"side": "" if "more" in query else uploads.take(studio.session, path, side)}
    finally:
        received.unlink(missing_ok=True)


def _mesh_array(session: Session, name: str, query: dict[str, str]) -> Response | None:
    side, _, array = name.partition("/")
    shape = session.shapes.get(side)  # type: ignore[call-overload]
    if shape is None or not _meant(shape.version, query):
        return None
    if array.startswith("image/"):
        return _image(shape, array.removeprefix("image/"))
    body = shape.array(array)
    return None if body is None else Response(body, _BYTES)


def _image(shape: ShownShape, number: str) -> Response | None:
    images = shape.texture.images if shape.texture is not None else ()
    if not (number.isascii() and number.isdigit() and int(number) < len(images)):
        return None
    return Response(images[int(number)].data, images[int(number)].kind)


def _choice_colours(session: Session, name: str) -> Response | None:
    """How one of the found placements looks: ``choice/NUMBER/SIDE``."""
    number, _, side = name.partition("/")
    choices = session.choices
    if not (number.isascii() and number.isdigit() and int(number) < len(choices)):
        return None
    body = choices[int(number)].colours(side, "faded") if side in SIDES else None
    return None if body is None else Response(body, _BYTES)


def _outcome_array(session: Session, name: str, query: dict[str, str]) -> Response | None:
    outcome = session.outcome
    kind, _, rest = name.partition("/")
    if outcome is None or not _meant(outcome.version, query):
        return None
    if kind in ("misfit", "change", "earlier"):
        return _compared(session, outcome, kind)
    if kind == "completed":
        if rest == "about":
            return Response(_json(outcome.about_completion), "application/json")
        body = outcome.completed_array(rest)
    else:
        body = outcome.colours(kind, rest) if kind in SIDES else outcome.array(name)
    return None if body is None else Response(body, _BYTES)


def _compared(session: Session, outcome: MatchOutcome, kind: str) -> Response | None:
    """The scan coloured by a distance, or as an earlier match saw it.

    The length at the end of the scale comes in the last four bytes.
    """
    earlier = session.earlier
    if kind == "misfit":
        values = outcome.misfit
    elif earlier is None or earlier.full is not outcome.full:
        return None
    elif kind == "change":
        values = outcome.change(earlier)
    else:
        colours = earlier.colours("partial", "correspondence")
        return None if colours is None else Response(colours, _BYTES)
    body, most = outcome.measured_colours(values)
    return Response(body + np.float32(most).tobytes(), _BYTES)


def _meant(version: int, query: dict[str, str]) -> bool:
    """A page that loads several arrays must not get some of another mesh or result."""
    return query.get("version", str(version)) == str(version)


def _side(about: dict[str, Any]) -> Side:
    for side in SIDES:
        if about.get("side") == side:
            return side
    raise InputError("the side is missing; it is partial or full")


def _part(about: dict[str, Any], name: str) -> dict[str, Any]:
    part = about.get(name)
    return part if isinstance(part, dict) else {}


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
