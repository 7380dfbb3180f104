"""One HTTP request: is it ours, how large may it be, and what does it get."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from nho.errors import CannotWrite, InputError, NhoError
from nho.runtime.memory import readable_size
from nho.studio import routes

if TYPE_CHECKING:
    from nho.studio.server import Studio, StudioServer

log = logging.getLogger(__name__)

LARGEST_UPLOAD = 512 * 2**20  # bytes
LARGEST_MESSAGE = 64 * 2**10
_MOST_DROPPED = 8 * LARGEST_UPLOAD
_CHUNK = 2**20
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Refused(Exception):
    """A request that gets nothing but a status and a sentence."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Redirected(Exception):
    """A browser came by the one-time address, and is to go on to the studio's own."""


class Handler(BaseHTTPRequestHandler):
    """Checks first, then hands over to `routes`."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "nho", ""
    timeout = 60  # seconds for a request that does not go on

    server: StudioServer
    _unread = 0  # bytes of the request that are still to come

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
        self._unread = 0
        try:
            serve(*self._checked())
        except Refused as refusal:
            self.close_connection = True  # what is left of the request is not read
            self._send_error(str(refusal), refusal.status)
        except Redirected:
            self._send(b"", "text/plain", HTTPStatus.SEE_OTHER, to=self.studio.address)
        except NhoError as problem:
            self._send_error(str(problem), HTTPStatus.UNPROCESSABLE_ENTITY)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except MemoryError:
            self._send_error(
                "not enough memory for these meshes; simplify the meshes first",
                HTTPStatus.INSUFFICIENT_STORAGE,
            )
        except Exception:  # a fault of ours: the page learns that, the log learns which
            log.exception("%s", self.path.split("/", 2)[-1])
            self.close_connection = True
            self._send_error(
                "internal error; the terminal of nho studio shows the details",
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
            if self.command == "GET" and self.studio.spend(token):
                raise Redirected
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that nho studio printed")
        self.server.trust(self.connection)
        if not slash:  # what the page asks for would not be below its own address
            raise Refused(HTTPStatus.NOT_FOUND, "the address ends in a slash")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        return unquote(rest), query

    # ---- GET ---------------------------------------------------------------------------------

    def _get(self, path: str, query: dict[str, str]) -> None:
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # what follows is not the next request
        if path == "events":
            self._stream_events()
            return
        found = routes.get(self.studio, path, query)
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self._send(found.body, found.kind, name=found.name)

    def _stream_events(self) -> None:
        page = self.studio.pages.add(self.connection)
        if page is None:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open; close some")
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self._send_common("text/event-stream", None)
        self.end_headers()
        try:
            for text in page.texts():
                self.wfile.write(text.encode("utf-8"))
                self.wfile.flush()
        finally:
            self.studio.pages.remove(page)

    # ---- POST --------------------------------------------------------------------------------

    def _post(self, path: str, query: dict[str, str]) -> None:
        answer: dict[str, Any] | None
        if path == "upload":
            answer = routes.upload(self.studio, query, self._received(LARGEST_UPLOAD))
        else:
            try:
                about = decoded(b"".join(self._body(LARGEST_MESSAGE)))
            except InputError as problem:
                raise Refused(HTTPStatus.BAD_REQUEST, str(problem)) from None
            answer = routes.post(self.studio, path, about)
            if answer is None:
                raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self._send_json({"revision": self.studio.session.revision, **answer})

    def _body(self, most: int) -> Iterator[bytes]:
        """The request's body, part by part; refused at once if it is too long."""
        lengths = self.headers.get_all("Content-Length", [])
        if not lengths or "Transfer-Encoding" in self.headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the length is missing")
        if len(set(lengths)) > 1 or not re.fullmatch("[0-9]{1,15}", lengths[0]):
            raise Refused(HTTPStatus.BAD_REQUEST, "the length is not a number of bytes")
        self._unread = int(lengths[0])
        if self._unread > most:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"{readable_size(self._unread)} are too much; at most {readable_size(most)}",
            )
        return self._parts()

    def _parts(self) -> Iterator[bytes]:
        while self._unread:
            part = self.rfile.read(min(self._unread, _CHUNK))
            if not part:
                self._unread = 0
                raise Refused(HTTPStatus.BAD_REQUEST, "the upload was cut off; try again")
            self._unread -= len(part)
            yield part

    def _received(self, most: int) -> Path:
        """The request's body as a file of its own."""
        body = self._body(most)
        path = self.studio.scratch.path / secrets.token_hex(8)
        try:
            with open(path, "wb") as stream:
                stream.writelines(body)
            return path
        except BaseException as problem:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            lost = isinstance(problem, ConnectionError | TimeoutError)
            if isinstance(problem, OSError) and not lost:
                raise CannotWrite.to(path.parent, problem) from problem
            raise

    def _drop_rest(self) -> None:
        """Read what a page still sends: it looks for the answer only after that."""
        self._unread = min(self._unread, _MOST_DROPPED)
        while self._unread and (part := self.rfile.read(min(self._unread, _CHUNK))):
            self._unread -= len(part)

    # ---- responses ---------------------------------------------------------------------------

    def _send_error(self, reason: str, status: HTTPStatus) -> None:
        self._drop_rest()
        self._send_json({"error": reason}, status)

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value).encode("utf-8"), "application/json", status)

    def _send(
        self,
        body: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        name: str | None = None,
        to: str | None = None,
    ) -> None:
        self.send_response(status)
        self._send_common(kind, len(body))
        if name is not None:
            self.send_header("Content-Disposition", f'attachment; filename="{name}"')
        if to is not None:
            self.send_header("Location", to)
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
