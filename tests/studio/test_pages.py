"""Open pages: closed ones make room at once, and slow strangers keep nobody out."""

from __future__ import annotations

import socket
import threading
import time

from nho.studio import Studio
from nho.studio import pages as open_pages
from nho.studio import server as studio_server
from tests.studio.test_server import ask


def listening(studio: Studio) -> socket.socket:
    """A page that has got its first event."""
    link = socket.create_connection(("127.0.0.1", studio.port), timeout=60)
    head = f"GET /{studio.token}/events HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n\r\n"
    link.sendall(head.encode())
    got = b""
    while b": hello" not in got:
        part = link.recv(4096)
        if not part:
            raise ConnectionError(got.decode())
        got += part
    return link


def test_after_as_many_pages_as_are_allowed_close_at_once_the_next_one_is_served(
    studio: Studio,
) -> None:
    links = [listening(studio) for _ in range(open_pages._MOST_PAGES)]
    status, body, _ = ask(studio, "events")
    assert status == 503 and b"close some" in body
    for link in links:
        link.close()
    listening(studio).close()


def test_a_page_that_is_given_up_gets_an_end(studio: Studio) -> None:
    link = listening(studio)
    studio.pages.close()
    while link.recv(4096):
        pass
    link.close()


def test_slow_strangers_keep_nobody_out_and_take_few_threads(studio: Studio) -> None:
    before = threading.active_count()
    most = studio_server._MOST_STRANGERS
    slow = []
    for _ in range(most + 40):
        slow.append(socket.create_connection(("127.0.0.1", studio.port), timeout=60))
        slow[-1].sendall(b"GET / HTTP/1.1\r\nX: ")
    for link in slow[:40]:  # the oldest are closed
        assert link.recv(1) == b""
    assert ask(studio, "state")[0] == 200
    deadline = time.monotonic() + 60
    while threading.active_count() > before + most + 5:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for link in slow:
        link.close()


def test_who_knows_the_token_is_never_closed_for_strangers(studio: Studio) -> None:
    page = listening(studio)
    for _ in range(2 * studio_server._MOST_STRANGERS):
        socket.create_connection(("127.0.0.1", studio.port), timeout=60).close()
    studio.session.change(lambda marks: marks, "hello")
    got = b""
    while b"revision" not in got:
        part = page.recv(4096)
        assert part
        got += part
    page.close()
