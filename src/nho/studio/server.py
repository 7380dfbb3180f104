"""The studio's server: this machine only, and only for those who know the address.

The address contains a token that is new at every start. Requests with another token, with a
host that is not ours (a web page that had its name point here) or from another origin are refused.
The browser is started with an address that works once: other users can list the words that a
program was started with.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
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

    def server_bind(self) -> None:
        """Take the port, for this process alone, and ask nobody for the name of the machine."""
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

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
        self._one_time_token = secrets.token_urlsafe(18)
        self._spending = threading.Lock()
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
    def one_time_address(self) -> str:
        """An address that leads to the studio's own, once."""
        return f"http://{HOST}:{self.port}/{self._one_time_token}/"

    def spend(self, token: str) -> bool:
        """Whether this is the token that works once; from now on it does not."""
        with self._spending:
            known = secrets.compare_digest(token.encode(), self._one_time_token.encode())
            if known:
                self._one_time_token = secrets.token_urlsafe(18)
            return known

    @property
    def hosts(self) -> set[str]:
        """What the browser may call this server."""
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    def start(self) -> None:
        """Serve in the background."""
        often = {"poll_interval": 0.05}  # seconds, until `stop` is seen
        self._serving = threading.Thread(
            target=self._server.serve_forever, kwargs=often, daemon=True
        )
        self._serving.start()

    def stop(self) -> None:
        """End everything."""
        if self._serving is not None:
            self._server.shutdown()
        self._server.server_close()
        self.pages.close()
        self.session.close()
        self.scratch.remove()
