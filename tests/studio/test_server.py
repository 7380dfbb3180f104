"""The server: who gets in, what is refused, and that files come and go whole."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.problem.result import MatchResult
from nho.studio import Studio, handler
from nho.studio.marks import Marks, mark_at


def ask(
    studio: Studio,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    token: str | None = None,
) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers of a request."""
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    address = f"/{studio.token if token is None else token}/{path}"
    link.request("GET" if body is None else "POST", address, body, headers or {})
    answer = link.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def say(studio: Studio, path: str, **about: Any) -> tuple[int, dict[str, Any]]:
    status, body, _ = ask(studio, path, json.dumps(about).encode())
    return status, json.loads(body)


def upload(
    studio: Studio, name: str, body: bytes, side: str = "", **query: str
) -> tuple[int, dict[str, Any]]:
    where = f"upload?name={quote(name)}" + (f"&side={side}" if side else "")
    where += "".join(f"&{key}={quote(value)}" for key, value in query.items())
    status, answer, _ = ask(studio, where, body)
    return status, json.loads(answer)


def opened(studio: Studio, whole: Mesh, piece: Cut, pairs: int = 0) -> None:
    studio.session.open("partial", piece.mesh)
    studio.session.open("full", whole)
    marks = Marks()
    rows = sample_vertices(piece.mesh, max(pairs, 1))[:pairs]
    of_partial = SurfacePoints.at_vertices(piece.mesh, rows)
    of_full = SurfacePoints.at_vertices(whole, piece.vertex_of_parent[rows])
    for row in range(pairs):
        marks = marks.added(mark_at(of_partial, row), mark_at(of_full, row), f"point {row}")
    studio.session.change(lambda _: marks)


def test_the_address_holds_a_token_of_this_start_and_of_this_machine(studio: Studio) -> None:
    other = Studio(marks_folder=studio.scratch.path)
    try:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{24}/", studio.address)
        assert studio.token != other.token
        with pytest.raises(InputError, match="--port"):
            Studio(port=studio.port)
    finally:
        other._server.server_close()
    # Nobody but this machine can reach it.
    outside = socket.gethostbyname(socket.gethostname())
    if not outside.startswith("127."):
        with pytest.raises(OSError):
            socket.create_connection((outside, studio.port), timeout=2).close()


@pytest.mark.parametrize("token", ["", "x", "A" * 24, "%00", "..", "état"])
def test_without_the_token_nothing_is_sent_or_done(studio: Studio, token: str) -> None:
    for path, body in (("", None), ("state", None), ("events", None), ("clear", b"{}")):
        status, answer, _ = ask(studio, path, body, token=quote(token))
        assert status == 403 and studio.token.encode() not in answer


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_hosts_and_origins_are_refused(studio: Studio, headers: dict[str, str]) -> None:
    assert ask(studio, "state", headers=headers)[0] == 403
    assert ask(studio, "clear", b"{}", headers)[0] == 403
    ours = {"Origin": f"http://127.0.0.1:{studio.port}"}
    assert ask(studio, "clear", b"{}", ours)[0] == 200


def test_every_answer_forbids_foreign_content_and_is_not_kept(studio: Studio) -> None:
    for path in ("", "state", "studio.js", "nothing-here"):
        _, _, headers = ask(studio, path)
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_asks_for_nothing_from_elsewhere(studio: Studio) -> None:
    page = ask(studio, "")[1].decode()
    parts = re.findall(r'(?:src|href)="([^"]+)"', page)
    for name in parts:
        if not name.startswith(("data:", "download/")):
            assert ask(studio, name)[0] == 200, name
    texts = [page] + [ask(studio, name)[1].decode() for name in parts if name.endswith("js")]
    assert not any(re.search(r"https?://", text) for text in texts)


@pytest.mark.parametrize(
    "path",
    ["../state", "mesh/partial/../../secret", "..%2f..%2fetc/passwd", "mesh/other/faces", "a//b"],
)
def test_there_is_nothing_at_other_addresses(studio: Studio, path: str) -> None:
    assert ask(studio, path)[0] in (403, 404)


def test_a_request_that_is_too_large_or_has_no_length_is_refused(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(studio, "clear", b"{" + b" " * handler.LARGEST_MESSAGE)[0] == 413
    monkeypatch.setattr(handler, "LARGEST_UPLOAD", 1000)
    status, answer = upload(studio, "a.ply", b"x" * 1001, "partial")
    assert status == 413
    assert answer["error"] == "1.0 kB are too much; at most 1.0 kB"
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.putrequest("POST", f"/{studio.token}/clear")
    link.endheaders()
    assert link.getresponse().status == 411
    assert list(studio.scratch.path.iterdir()) == []


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 60_000])
def test_a_message_that_is_no_object_is_refused(studio: Studio, body: bytes) -> None:
    assert ask(studio, "clear", body)[0] == 400


@pytest.mark.parametrize(
    ("path", "about"),
    [
        ("place", {}),
        ("place", {"side": "partial"}),
        ("place", {"side": "partial", "origin": [0, 0, 1], "direction": [0, None, 1]}),
        ("place", {"side": "partial", "origin": [[0]], "direction": "up"}),
        ("place", {"side": "both", "origin": [0, 0, 1], "direction": [0, 0, 1]}),
        ("move", {"key": "1"}),
        ("rename", {"key": 5, "name": "x"}),
        ("remove", {"key": 5}),
        ("match", {"preset": "../../etc"}),
        ("match", {}),
    ],
)
def test_what_makes_no_sense_is_answered_with_a_sentence(
    studio: Studio, path: str, about: dict[str, Any]
) -> None:
    status, answer = say(studio, path, **about)
    assert status == 422 and len(answer["error"]) > 10


def test_an_unknown_verb_is_not_found(studio: Studio) -> None:
    assert say(studio, "open-the-door")[0] == 404


def test_a_page_never_gets_arrays_of_another_mesh_than_it_asked_for(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    opened(studio, whole, piece)
    assert ask(studio, "mesh/full/faces?version=2")[0] == 200
    studio.session.open("full", whole)
    assert ask(studio, "mesh/full/faces?version=2")[0] == 404
    assert ask(studio, "mesh/full/faces?version=3")[0] == 200


@pytest.mark.parametrize("path", ["//[", "/[::1", "//[x]:y/"])
def test_an_address_that_is_none_is_refused(
    studio: Studio, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.request("GET", path, headers={"Origin": f"http://127.0.0.1:{studio.port}"})
    assert link.getresponse().status in (400, 403)
    assert ask(studio, "state", headers={"Origin": "http://["})[0] == 403
    assert caplog.records == []


def test_the_page_is_only_where_its_files_are(studio: Studio) -> None:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.request("GET", f"/{studio.token}")
    answer = link.getresponse()
    assert answer.status == 404 and b"slash" in answer.read()


def test_there_is_nothing_to_download_before_there_is_something(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    for name in ("result.zip", "report.html", "anchors.csv", "secret"):
        assert ask(studio, f"download/{name}")[0] == 422
    opened(studio, whole, piece)
    assert b"no marks" in ask(studio, "download/anchors.csv")[1]
    assert ask(studio, "download/anchors.exe")[0] == 422
    assert ask(studio, "outcome/partner")[0] == 404


def test_a_match_by_hand_downloads_what_nho_match_would_write(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    opened(studio, whole, piece, 8)
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    link.request("GET", f"/{studio.token}/events")
    events = link.getresponse()
    assert say(studio, "match")[0] == 200
    shown = []
    while studio.session.outcome is None:
        line = events.readline()
        if line.startswith(b"data: "):
            shown.append(json.loads(line[6:]))
    assert any("job" in event for event in shown)
    status, body, _ = ask(studio, "download/result.zip")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        names = archive.namelist()
        assert all(name.startswith("result/") and ".." not in name for name in names)
        archive.extractall(tmp_path)
    result = MatchResult.load(tmp_path / "result")
    np.testing.assert_array_equal(result.vertex_map, studio.session.outcome.result.vertex_map)
    assert (tmp_path / "result" / "anchors.json").exists()
    assert ask(studio, "download/report.html")[1].startswith(b"<!doctype html>")
    assert ask(studio, "download/partial.ply")[1].startswith(b"ply")
    assert len(ask(studio, "outcome/full/faded")[1]) == 3 * len(whole.vertices)


def test_the_one_time_address_leads_to_the_other_once(studio: Studio) -> None:
    once = studio.one_time_address.split("/")[-2]
    assert once != studio.token and studio.address not in studio.one_time_address
    assert ask(studio, "clear", b"{}", token=once)[0] == 403  # nothing is done behind it
    assert ask(studio, "", headers={"Host": "evil.example"}, token=once)[0] == 403
    status, body, headers = ask(studio, "", token=once)
    assert status == 303 and headers["Location"] == studio.address and body == b""
    status, body, _ = ask(studio, "", token=once)
    assert status == 403 and b"that nho studio printed" in body
    assert studio.one_time_address.split("/")[-2] != once
