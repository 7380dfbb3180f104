"""Matches of a session: begun, followed, cancelled, failed, and never in the way."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import nho
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.studio.marks import Marks
from tests.studio.test_session import Opened, _at_vertex, opened, some_pairs

__all__ = ["opened"]  # the fixture


def test_a_match_is_reported_step_by_step_and_then_shown(
    opened: Opened, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = nho.preset("default").replace(look_again_below=2.0)  # however sure it is
    monkeypatch.setattr("nho.studio.jobs.preset", lambda name: looking)
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.match()
    with pytest.raises(InputError, match="running"):
        session.match()
    opened.wait_until(lambda: session.outcome is not None)
    jobs = [event["job"] for event in opened.events if "job" in event]
    assert {"distances", "bending"} <= {job["stage"] for job in jobs}
    done = [job["done"] for job in jobs]
    assert done == sorted(done) and done[-1] > done[0]
    assert any(job["loss"] is not None for job in jobs)
    state = session.state()
    outcome = session.outcome
    assert outcome is not None and state["job"] is None
    assert state["outcome"]["matched"] == 1 and not state["outcome"]["stale"]
    right = outcome.result.vertex_map == piece.vertex_of_parent
    assert right.mean() > 0.9
    rows = len(piece.mesh.vertices)
    assert len(outcome.colours("partial", "confidence") or b"") == 3 * rows
    assert len(outcome.array("partner") or b"") == 12 * rows
    assert state["suggestion"]["partner"] is not None
    # One more anchor: the result is out of date now, and can be made anew.
    opened.pair(*some_pairs(piece, 9)[3])
    assert session.state()["outcome"]["stale"]
    session.match()
    opened.wait_until(lambda: session.outcome is not outcome)
    assert not session.state()["outcome"]["stale"]


def test_too_few_pairs_or_shapes_are_reported(opened: Opened, piece: Cut, tmp_path: Path) -> None:
    opened.pair(*some_pairs(piece)[0])
    with pytest.raises(InputError, match="at least 3"):
        opened.session.match()
    with pytest.raises(InputError, match="scan"):
        Opened(tmp_path / "other").session.match()


def test_a_cancelled_match_ends_at_once_and_the_next_one_works(opened: Opened, piece: Cut) -> None:
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.match("paper")  # long enough to be caught
    opened.wait_until(lambda: any("job" in event for event in opened.events))
    process = session._jobs._worker._process.process
    session.cancel()
    assert not process.is_alive()
    state = session.state()
    assert state["job"] is None and state["outcome"] is None
    assert "cancelled" in state["notice"]["text"]
    session.cancel()  # nothing to cancel, nothing happens
    session.match()
    opened.wait_until(lambda: session.outcome is not None)


def test_a_match_that_fails_or_dies_is_reported_in_one_sentence(
    opened: Opened, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened.session
    vertex = some_pairs(piece)[0]
    same = Marks()
    for _ in range(3):  # three times the same pair is one pair
        same = same.added(
            _at_vertex(piece.mesh, vertex[0]), _at_vertex(session.both()[1].mesh, vertex[1])
        )
    session.change(lambda _: same)
    session.match()
    opened.wait_until(lambda: session.state()["job"] is None)
    notice = session.state()["notice"]
    assert notice["kind"] == "error" and notice["text"]
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.match("paper")
    opened.wait_until(lambda: any("job" in event for event in opened.events))
    session._jobs._worker._process.process.kill()
    opened.wait_until(lambda: session.state()["job"] is None)
    assert "process died" in session.state()["notice"]["text"]


def test_a_process_that_died_before_the_match_does_not_lock_the_studio(
    opened: Opened, piece: Cut
) -> None:
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.warm_up()
    process = session._jobs._worker._process.process
    process.kill()
    process.join()
    process.is_alive = lambda: True  # it has not been noticed yet
    session.match()
    opened.wait_until(lambda: session.state()["job"] is None)
    assert "process died" in session.state()["notice"]["text"]
    session.match()
    opened.wait_until(lambda: session.outcome is not None)


def test_a_match_that_cannot_begin_does_not_run(
    opened: Opened, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)

    def refuse(*_: Any) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(session._jobs._worker, "match", refuse)
    with pytest.raises(OSError):
        session.match()
    assert session.state()["job"] is None


def test_beginning_and_ending_a_match_wait_for_nobody(
    opened: Opened, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that does not read yet must not hold up the page."""
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.warm_up()
    stuck = threading.Event()
    monkeypatch.setattr(session._jobs._worker._process.connection, "send", lambda _: stuck.wait())
    done = threading.Thread(target=lambda: (session.match(), session.state(), session.cancel()))
    done.start()
    done.join(300)
    alive = done.is_alive()
    stuck.set()
    assert not alive
    assert session.state()["job"] is None


def test_another_mesh_stops_the_match_of_the_old_one_and_says_so(
    opened: Opened, piece: Cut, whole: Mesh
) -> None:
    session = opened.session
    for pair in some_pairs(piece, 5):
        opened.pair(*pair)
    session.match("paper")
    session.open("full", Mesh(3 * whole.vertices, whole.faces))
    state = session.state()
    assert state["job"] is None and "stopped" in state["notice"]["text"]
    assert session._jobs._worker._process.process.is_alive()  # ready for the next one
