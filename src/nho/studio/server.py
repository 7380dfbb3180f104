"""The studio's server: this machine only, and only for those who know the address.

The address contains a token that is new at every start. Requests with another token, with a
host that is not ours (a web page that had its name point here) or from another origin are refused.
"""

from __future__ import annotations

import queue
import secrets
import tempfile
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nho.errors import InputError
from nho.studio.autosave import state_folder
from nho.studio.handler import Handler
from nho.studio.session import Session

HOST = "127.0.0.1"  # this machine only; from another one, `ssh -L PORT:127.0.0.1:PORT` leads here
_MOST_PAGES = 16
_MOST_WAITING = 1000  # events that a page may be behind before it is given up


class StudioServer(ThreadingHTTPServer):
    """An HTTP server that knows its studio."""

    daemon_threads = True
    allow_reuse_address = True
    studio: Studio

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
        self._pages: list[queue.Queue[dict[str, Any] | None]] = []
        self._pages_lock = threading.Lock()
        self.session = Session(marks_folder or state_folder(), self.broadcast)
        self._uploads = tempfile.TemporaryDirectory(prefix="nho-studio-")
        self.folder = Path(self._uploads.name)
        try:
            self._server = StudioServer((HOST, port), Handler)
        except (OSError, OverflowError) as problem:
            self._uploads.cleanup()
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
        with self._pages_lock:
            for page in self._pages:
                page.put(None)
        self.session.close()
        self._uploads.cleanup()

    def broadcast(self, event: dict[str, Any]) -> None:
        """Send an event to all open pages."""
        with self._pages_lock:
            for page in list(self._pages):
                if page.qsize() > _MOST_WAITING:
                    self._pages.remove(page)
                    page.put(None)
                else:
                    page.put(event)

    def listen(self) -> queue.Queue[dict[str, Any] | None] | None:
        """A page's events from now on, None being the last; None if there are too many pages."""
        with self._pages_lock:
            if len(self._pages) >= _MOST_PAGES:
                return None
            page: queue.Queue[dict[str, Any] | None] = queue.Queue()
            self._pages.append(page)
            return page

    def forget(self, page: queue.Queue[dict[str, Any] | None]) -> None:
        """Send no more events to this page."""
        with self._pages_lock:
            if page in self._pages:
                self._pages.remove(page)
