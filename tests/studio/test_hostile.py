"""Requests that no page of ours would send, and names that no person would type."""

from __future__ import annotations

import errno
import http.client
import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.landmarks import FORMATS
from nho.studio import Studio, handler, uploads
from nho.studio.marks import MOST_PAIRS
from tests.studio.test_server import ask, opened, say, upload

NAMES = [
    "\ud800",
    "a\ud800b",
    "a\x00b",
    "a\r\nX-Evil: 1",
    "\x1b]0;title\x07",
    "../../etc/passwd",
    "a/b\\c",
    "x" * 10_000,
    "\N{FAMILY}\N{GRINNING FACE}",
    "\u202eevil\u202c",
    "<script>alert(1)</script>",
    '"; filename="evil.exe',
    "=1+1",
    "a,b;c\t'd'",
    "\ufffe\uffff",
]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_pair_is_called_every_download_works(
    studio: Studio, whole: Mesh, piece: Cut, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    opened(studio, whole, piece, 3)
    status, answer = say(studio, "rename", key=1, name=name)
    assert status == 200 or (status == 422 and "letter" in answer["error"])
    shown = json.loads(ask(studio, "state")[1])["pairs"][0]["name"]
    assert shown.isprintable() and len(shown) <= 80
    for suffix in FORMATS:
        status, _, headers = ask(studio, f"download/anchors{suffix}")
        assert status == 200, suffix
        assert headers["Content-Disposition"].startswith(f'attachment; filename="anchors{suffix}')
        assert "X-Evil" not in headers
    assert caplog.records == []


def test_names_of_an_older_autosave_are_cleaned_too(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    opened(studio, whole, piece, 1)
    (saved,) = (tmp_path / "state").iterdir()
    about = json.loads(saved.read_text())
    about["pairs"][0]["name"] = "\ud800"
    saved.write_text(json.dumps(about))
    studio.session.open("full", whole)
    assert [pair.name for pair in studio.session.marks.pairs] == ["1"]
    assert ask(studio, "download/anchors.csv")[0] == 200


@pytest.mark.parametrize(
    ("lengths", "status"),
    [
        (["-1"], 400),
        (["+5"], 400),
        (["1_0"], 400),
        (["9" * 5000], 400),
        (["\u0665"], 400),
        (["2", "3"], 400),
        (["2", "2"], 200),
        ([], 411),
    ],
)
def test_a_length_is_a_plain_number_given_once(
    studio: Studio, lengths: list[str], status: int
) -> None:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.putrequest("POST", f"/{studio.token}/clear")
    for length in lengths:
        link.putheader("Content-Length", length.encode("utf-8"))
    link.endheaders(b"{}" if lengths else None)
    answer = link.getresponse()
    assert answer.status == status
    assert status == 200 or "length" in json.loads(answer.read())["error"]


def test_a_body_in_chunks_is_refused(studio: Studio) -> None:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.putrequest("POST", f"/{studio.token}/clear")
    link.putheader("Transfer-Encoding", "chunked")
    link.endheaders()  # and no chunk: it could meet a connection that is closed already
    assert link.getresponse().status == 411


def test_the_body_of_a_get_is_not_the_next_request(studio: Studio) -> None:
    host = f"Host: 127.0.0.1:{studio.port}\r\n"
    inner = f"POST /{studio.token}/sample HTTP/1.1\r\n{host}Content-Length: 2\r\n\r\n{{}}"
    outer = f"GET /{studio.token}/state HTTP/1.1\r\n{host}Content-Length: {len(inner)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", studio.port), timeout=300) as link:
        link.sendall((outer + inner).encode())
        got = b""
        try:
            while part := link.recv(65536):
                got += part
        except ConnectionResetError:  # what was not read
            pass
    assert got.count(b"HTTP/1.1 200") == 1
    assert studio.session.shapes["full"] is None


def test_a_page_that_sends_too_much_reads_why_it_was_refused(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection closed while it still sends would be all that a browser sees."""
    monkeypatch.setattr(handler, "LARGEST_UPLOAD", 1000)
    for _ in range(3):
        status, answer = upload(studio, "a.ply", b"x" * 20_000_000, "partial")
        assert status == 413 and answer["error"] == "20.0 MB are too much; at most 1.0 kB"


def test_ranges_are_not_served_and_do_no_harm(studio: Studio) -> None:
    whole = ask(studio, "studio.js")[1]
    ranges = "bytes=" + ",".join(["0-"] * 2000)
    status, body, _ = ask(studio, "studio.js", headers={"Range": ranges})
    assert status == 200 and body == whole


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "<b>"])
def test_other_methods_get_nothing(studio: Studio, method: str) -> None:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.request(method, f"/{studio.token}/state")
    answer = link.getresponse()
    body = answer.read()
    assert answer.status == 501 and b"<b>" not in body and studio.token.encode() not in body


@pytest.mark.parametrize(
    ("path", "about"),
    [
        ("rename", {"key": True, "name": "x"}),
        ("rename", {"key": 1, "name": {"a": 1}}),
        ("rename", {"key": 1, "name": None}),
        ("rename", {"key": 10**300, "name": "x"}),
        ("match", {"preset": ["default"]}),
        ("place", {"side": "partial", "origin": [1e308] * 3, "direction": [0, 0, 0]}),
        ("place", {"side": ["partial"], "origin": [0, 0, 4], "direction": [0, 0, -1]}),
    ],
)
def test_values_of_another_kind_are_answered_with_a_sentence(
    studio: Studio,
    whole: Mesh,
    piece: Cut,
    path: str,
    about: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    opened(studio, whole, piece, 1)
    before = studio.session.marks
    status, answer = say(studio, path, **about)
    assert status == 422 and len(answer["error"]) > 10
    assert studio.session.marks == before and caplog.records == []


def test_a_file_of_more_points_than_a_page_can_show_is_refused(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    opened(studio, whole, piece)
    lines = ["partial,full"] + ["0,0"] * (MOST_PAIRS + 1)
    status, answer = upload(studio, "p.csv", "\n".join(lines).encode())
    assert status == 422 and f"at most {MOST_PAIRS}" in answer["error"]
    assert studio.session.marks.pairs == ()


@pytest.mark.parametrize(
    "name",
    ["\u6587" * 300, "e" + "\u0301" * 300, "\U0001f600" * 300, "CON", "nul.tar", "a" * 400],
)
def test_any_name_of_a_file_can_be_taken(
    studio: Studio, whole: Mesh, tmp_path: Path, name: str
) -> None:
    whole.write(tmp_path / "m.ply")
    body = (tmp_path / "m.ply").read_bytes()
    assert upload(studio, f"{name}.ply", body, "full")[0] == 200
    kept = uploads.safe_name(f"{name}.ply")
    assert len(kept.encode()) <= 200 and kept.endswith(".ply")
    assert not kept.lower().startswith(("con.", "nul."))


def test_a_folder_that_somebody_removed_is_made_again(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    whole.write(tmp_path / "m.ply")
    body = (tmp_path / "m.ply").read_bytes()
    for inner in (True, False):
        folder = studio.scratch.path
        shutil.rmtree(folder if inner else folder.parent)
        assert upload(studio, "m.ply", body, "full")[0] == 200
    opened(studio, whole, piece, 3)
    shutil.rmtree(studio.scratch.path.parent)
    assert ask(studio, "download/anchors.csv")[0] == 200


@pytest.mark.parametrize("where", ["open", "write"])
def test_a_full_disk_is_named(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def writelines(self, parts: Any) -> None:
            next(iter(parts))
            raise full

    def refuse(*_: object) -> Full:
        if where == "open":
            raise full
        return Full()

    monkeypatch.setattr(handler, "open", refuse, raising=False)
    status, answer = upload(studio, "a.ply", b"x" * 20_000_000, "partial")
    assert status == 422 and "No space left" in answer["error"] and "room" in answer["error"]
    assert caplog.records == []


def test_memory_that_runs_out_is_named(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(uploads, "read_with_attributes", refuse)
    status, answer = upload(studio, "a.ply", b"ply", "partial")
    assert status == 507 and "memory" in answer["error"] and caplog.records == []
