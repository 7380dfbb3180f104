"""The open pages, and the events that they get."""

from __future__ import annotations

import json
import queue
import selectors
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_MOST_PAGES = 16
_MOST_WAITING = 1000  # events that a page may be behind before it is given up
_HEARTBEAT = 15.0  # seconds


@dataclass(frozen=True, eq=False)
class Page:
    """A page that listens, and the events it has not got yet; None is the last one."""

    connection: socket.socket
    waiting: queue.Queue[dict[str, Any] | None] = field(default_factory=queue.Queue)

    def texts(self) -> Iterator[str]:
        """Server-sent events, with a comment now and then so that a lost page is noticed."""
        yield ": hello\n\n"
        while True:
            try:
                event = self.waiting.get(timeout=_HEARTBEAT)
            except queue.Empty:
                yield ": still here\n\n"
                continue
            if event is None:
                return
            yield f"data: {json.dumps(event)}\n\n"

    @property
    def closed(self) -> bool:
        """Whether the browser has closed its end."""
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self.connection, selectors.EVENT_READ)
                return bool(selector.select(0)) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):  # reset, or closed on our side as well
            return True


class Pages:
    """All open pages."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self._lock = threading.Lock()

    def add(self, connection: socket.socket) -> Page | None:
        """A page that gets all events from now on; None if there are too many."""
        page = Page(connection)
        with self._lock:
            for other in [other for other in self._pages if other.closed]:
                self._give_up(other)
            if len(self._pages) >= _MOST_PAGES:
                return None
            self._pages.append(page)
        return page

    def remove(self, page: Page) -> None:
        """Send no more events to this page."""
        with self._lock:
            if page in self._pages:
                self._pages.remove(page)

    def send(self, event: dict[str, Any]) -> None:
        """Send an event to all pages."""
        with self._lock:
            for page in list(self._pages):
                if page.waiting.qsize() > _MOST_WAITING:
                    self._give_up(page)
                else:
                    page.waiting.put(event)

    def close(self) -> None:
        """Say goodbye to all pages."""
        with self._lock:
            for page in list(self._pages):
                self._give_up(page)

    def _give_up(self, page: Page) -> None:
        self._pages.remove(page)
        page.waiting.put(None)
