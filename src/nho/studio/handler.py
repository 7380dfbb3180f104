"""One HTTP request: is it ours, how large may it be, and what does it get."""

from __future__ import annotations

import json
import logging
import queue
import secrets
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from nho.errors import InputError, NhoError
from nho.runtime.memory import readable_size
from nho.studio import routes

if TYPE_CHECKING:
    from nho.studio.server import Studio, StudioServer

log = logging.getLogger(__name__)

LARGEST_UPLOAD = 512 * 2**20  # bytes
LARGEST_MESSAGE = 64 * 2**10
_CHUNK = 2**20
_HEARTBEAT = 15.0  # seconds
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Refused(Exception):
    """A request that gets nothing but a status and a sentence."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """Checks first, then hands over to `routes`."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "nho", ""
    timeout = 60  # seconds for a request that does not go on

    server: StudioServer

    @property
    def studio(self) -> Studio:
        """The studio whose server this is."""
        return self.server.studio

    def do_GET(self) -> None:
        """Send a file, an array, the state or the events."""
        self._respond(self._get)

    def do_POST(self) -> None:
        """Do what a page asks for."""
        self._respond(self._post)

    def _respond(self, serve: Callable[[str, dict[str, str]], None]) -> None:
        try:
            serve(*self._checked())
        except Refused as refusal:
            self.close_connection = True  # what is left of the request is not read
            self._send_json({"error": str(refusal)}, refusal.status)
        except NhoError as problem:
            self._send_json({"error": str(problem)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception:  # a fault of ours: the page learns that, the log learns which
            log.exception("%s", self.path.split("/", 2)[-1])
            self.close_connection = True
            self._send_json(
                {"error": "internal error; the terminal of nho studio shows the details"},
                HTTPStatus.INTERNAL_SERVER_ERROR,
            )

    def _checked(self) -> tuple[str, dict[str, str]]:
        """The address behind the token, and the query."""
        if self.headers.get("Host") not in self.studio.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "unknown host")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.studio.hosts}:
            raise Refused(HTTPStatus.FORBIDDEN, "another origin")
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise Refused(HTTPStatus.BAD_REQUEST, "not an address") from None
        token, slash, rest = parts.path.lstrip("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.studio.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that nho studio printed")
        if not slash:  # what the page asks for would not be below its own address
            raise Refused(HTTPStatus.NOT_FOUND, "the address ends in a slash")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        return unquote(rest), query

    # ---- GET ---------------------------------------------------------------------------------

    def _get(self, path: str, query: dict[str, str]) -> None:
        if path == "events":
            self._stream_events()
            return
        found = routes.get(self.studio, path, query)
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self._send(found.body, found.kind, name=found.name)

    def _stream_events(self) -> None:
        page = self.studio.listen()
        if page is None:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self._send_common("text/event-stream", None)
        self.end_headers()
        try:
            for text in _events(page):
                self.wfile.write(text.encode("utf-8"))
                self.wfile.flush()
        finally:
            self.studio.forget(page)

    # ---- POST --------------------------------------------------------------------------------

    def _post(self, path: str, query: dict[str, str]) -> None:
        if path == "upload":
            routes.upload(self.studio, query, self._received(LARGEST_UPLOAD))
        else:
            try:
                about = decoded(self.rfile.read(self._length(LARGEST_MESSAGE)))
            except InputError as problem:
                raise Refused(HTTPStatus.BAD_REQUEST, str(problem)) from None
            if not routes.post(self.studio, path, about):
                raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self._send_json({"revision": self.studio.session.revision})

    def _length(self, most: int) -> int:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the length is missing") from None
        if not 0 <= length <= most:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"{readable_size(length)} are too much; at most {readable_size(most)}",
            )
        return length

    def _received(self, most: int) -> Path:
        """The request's body as a file of its own."""
        left = self._length(most)
        path = self.studio.folder / secrets.token_hex(8)
        try:
            with open(path, "wb") as stream:
                while left:
                    part = self.rfile.read(min(left, _CHUNK))
                    if not part:
                        raise Refused(HTTPStatus.BAD_REQUEST, "the upload was cut off; try again")
                    stream.write(part)
                    left -= len(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    # ---- responses ---------------------------------------------------------------------------

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value).encode("utf-8"), "application/json", status)

    def _send(
        self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, name: str | None = None
    ) -> None:
        self.send_response(status)
        self._send_common(kind, len(body))
        if name is not None:
            self.send_header("Content-Disposition", f'attachment; filename="{name}"')
        self.end_headers()
        self.wfile.write(body)

    def _send_common(self, kind: str, length: int | None) -> None:
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Referrer-Policy", "no-referrer")  # the address contains the token
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")

    def log_message(self, format: str, *args: Any) -> None:
        """No log of requests: they contain the token."""


def decoded(message: bytes) -> dict[str, Any]:
    """A message of a page: a JSON object; an empty message is an empty one."""
    try:
        about = json.loads(message or b"{}")
    except (ValueError, RecursionError):
        raise InputError("the message is not JSON") from None
    if not isinstance(about, dict):
        raise InputError("the message is not a JSON object")
    return about


def _events(page: queue.Queue[dict[str, Any] | None]) -> Iterator[str]:
    """Server-sent events, with a comment now and then so that a lost page is noticed."""
    yield ": hello\n\n"
    while True:
        try:
            event = page.get(timeout=_HEARTBEAT)
        except queue.Empty:
            yield ": still here\n\n"
            continue
        if event is None:
            return
        yield f"data: {json.dumps(event)}\n\n"
