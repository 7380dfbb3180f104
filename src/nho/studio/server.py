"""The studio's server: this machine only, and only for those who know the address.

The address contains a token that is new at every start. Requests with another token, with a
host that is not ours (a web page that had its name point here) or from another origin are refused.
The browser is started with a door that opens once: other users can see how a program was started.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nho.errors import InputError
from nho.runtime.scratch import ScratchFolder
from nho.studio.autosave import state_folder
from nho.studio.handler import Handler
from nho.studio.pages import Pages
from nho.studio.session import Session

HOST = "127.0.0.1"  # this machine only; from another one, `ssh -L PORT:127.0.0.1:PORT` leads here
_MOST_STRANGERS = 64


class StudioServer(ThreadingHTTPServer):
    """An HTTP server that knows its studio.

    Every connection has a thread. Those that have not shown the token yet may be anybody's, of any
    number and as slow as they like: of more than a few, the oldest is closed.
    """

    daemon_threads = True
    request_queue_size = 128  # connections that wait to be taken; with five, a crowd holds all up
    allow_reuse_address = sys.platform != "win32"  # there, it would let others take the port over
    studio: Studio

    def __init__(self, address: tuple[str, int]) -> None:
        self._strangers: dict[socket.socket, None] = {}  # the oldest first
        self._lock = threading.Lock()
        super().__init__(address, Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own."""
        with self._lock:
            self._strangers[request] = None
            crowd = list(self._strangers)[:-_MOST_STRANGERS]
            for oldest in crowd:
                del self._strangers[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def trust(self, request: socket.socket) -> None:
        """Note that a connection has shown the token."""
        with self._lock:
            self._strangers.pop(request, None)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self.trust(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report nothing when a page closes in the middle of a response."""


class Studio:
    """A session and the server for its pages.

    Parameters
    ----------
    port : int
        0 = any free one.
    marks_folder : Path, optional
        Folder of the autosaved marks; the user's own by default.
    """

    def __init__(self, port: int = 0, marks_folder: Path | None = None) -> None:
        self.token = secrets.token_urlsafe(18)
        self._door = secrets.token_urlsafe(18)
        self._passing = threading.Lock()
        self.pages = Pages()
        self.session = Session(marks_folder or state_folder(), self.pages.send)
        self.scratch = ScratchFolder("studio")  # uploads and downloads on their way
        try:
            self._server = StudioServer((HOST, port))
        except (OSError, OverflowError) as problem:
            self.scratch.remove()
            raise InputError(
                f"cannot listen at port {port} ({problem}); choose another --port"
            ) from problem
        self._server.studio = self
        self._serving: threading.Thread | None = None
        self.port = int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def door(self) -> str:
        """An address that leads to the studio's own, once."""
        return f"http://{HOST}:{self.port}/{self._door}/"

    def pass_door(self, token: str) -> bool:
        """Whether this is the token of the door; afterwards it is not any more."""
        with self._passing:
            passed = secrets.compare_digest(token.encode(), self._door.encode())
            if passed:
                self._door = secrets.token_urlsafe(18)
            return passed

    @property
    def hosts(self) -> set[str]:
        """What the browser may call this server."""
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    def start(self) -> None:
        """Serve in the background."""
        self._serving = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._serving.start()

    def stop(self) -> None:
        """End everything."""
        if self._serving is not None:
            self._server.shutdown()
        self._server.server_close()
        self.pages.close()
        self.session.close()
        self.scratch.remove()
