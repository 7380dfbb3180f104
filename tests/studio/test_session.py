"""The session: everything a page can do, without a page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.studio.marks import Side, mark_at
from nho.studio.session import Session
from nho.studio.shape import ShownShape


class Opened:
    """A session with the events that it sent to its pages."""

    def __init__(self, memory: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self._news = threading.Event()
        self.session = Session(memory, self._take)

    def _take(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self._news.set()

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait for events until ``holds``, which may take the session's lock: none is held here."""
        deadline = time.monotonic() + 300
        self._news.clear()
        while not holds():
            assert self._news.wait(deadline - time.monotonic())
            self._news.clear()

    def click(self, side: Side, vertex: int) -> None:
        """A click on a vertex, from outside along its normal."""
        shape = self.session.shapes[side]
        assert shape is not None
        at = np.array(shape.described_mark(_at_vertex(shape.mesh, vertex))["at"])
        normal = shape.mesh.vertex_normals[vertex]
        self.session.place(side, at + 1e-3 * normal, -normal)

    def pair(self, partial: int, full: int) -> None:
        self.click("partial", partial)
        self.click("full", full)

    def pairs(self) -> list[tuple[int, int]]:
        return [
            (pair["partial"]["vertex"], pair["full"]["vertex"])
            for pair in self.session.state()["pairs"]
        ]


def _at_vertex(mesh: Mesh, vertex: int) -> Any:
    return mark_at(SurfacePoints.at_vertices(mesh, np.array([vertex])), 0)


@pytest.fixture
def opened(tmp_path: Path, whole: Mesh, piece: Cut) -> Iterator[Opened]:
    made = Opened(tmp_path / "state")
    made.session.open("partial", piece.mesh)
    made.session.open("full", whole)
    yield made
    made.session.close()


def some_pairs(piece: Cut, count: int = 6) -> list[tuple[int, int]]:
    """Well spread, and off the rim, where a ray may pass beside the surface."""
    inner = np.flatnonzero(~piece.mesh.boundary_vertices)
    rows = sample_vertices(piece.mesh, count, candidates=inner)
    return [(int(row), int(piece.vertex_of_parent[row])) for row in rows]


def test_clicks_become_pairs_of_the_vertices_clicked(opened: Opened, piece: Cut) -> None:
    chosen = some_pairs(piece)
    for pair in chosen:
        opened.pair(*pair)
    assert opened.pairs() == chosen
    mark = opened.session.state()["pairs"][0]["partial"]
    np.testing.assert_allclose(mark["position"], piece.mesh.vertices[chosen[0][0]], atol=1e-6)
    assert sum(mark["barycentric"]) == pytest.approx(1)


def test_every_change_can_be_undone_and_redone(opened: Opened, piece: Cut) -> None:
    session, (first, second, *_) = opened.session, some_pairs(piece)
    opened.pair(*first)
    key = session.state()["pairs"][0]["key"]
    session.change(lambda marks: marks.renamed(key, "nose"))
    normal = piece.mesh.vertex_normals[second[0]]
    shape = session.shapes["partial"]
    assert shape is not None
    at = np.array(shape.described_mark(_at_vertex(piece.mesh, second[0]))["at"])
    session.move(key, "partial", at + 1e-3 * normal, -normal)
    session.change(lambda marks: marks.removed(key))
    seen = []
    while session.state()["canUndo"]:
        session.undo()
        pairs = session.state()["pairs"]
        seen.append([(p["name"], p["partial"] and p["partial"]["vertex"]) for p in pairs])
    assert seen == [
        [("nose", second[0])],
        [("nose", first[0])],
        [("1", first[0])],
        [("1", first[0])],
        [],
    ]
    while session.state()["canRedo"]:
        session.redo()
    assert session.state()["pairs"] == []


def test_marks_come_back_with_the_same_meshes_and_only_with_them(
    opened: Opened, piece: Cut, whole: Mesh, tmp_path: Path
) -> None:
    chosen = some_pairs(piece)
    for pair in chosen:
        opened.pair(*pair)
    later = Opened(tmp_path / "state")
    later.session.open("partial", piece.mesh)
    assert later.session.state()["pairs"] == []
    later.session.open("full", whole)
    assert later.pairs() == chosen
    assert "from the last session" in later.session.state()["notice"]["text"]
    other = Opened(tmp_path / "state")
    other.session.open("partial", piece.mesh)
    other.session.open("full", Mesh(2 * whole.vertices, whole.faces))
    assert other.session.state()["pairs"] == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1, "pairs": [{"key": 1}]}', '{"format": 99, "pairs": []}']
)
def test_a_damaged_autosave_is_as_good_as_none(
    opened: Opened, piece: Cut, whole: Mesh, tmp_path: Path, text: str
) -> None:
    opened.pair(*some_pairs(piece)[0])
    (saved,) = (tmp_path / "state").iterdir()
    saved.write_text(text)
    later = Opened(tmp_path / "state")
    later.session.open("partial", piece.mesh)
    later.session.open("full", whole)
    assert later.session.state()["pairs"] == []


def test_a_folder_that_cannot_be_written_stops_nobody(
    whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    made = Opened(tmp_path / "file")
    made.session.open("partial", piece.mesh)
    made.session.open("full", whole)
    made.pair(*some_pairs(piece)[0])
    assert len(made.pairs()) == 1


def test_another_mesh_takes_its_marks_along(opened: Opened, whole: Mesh, piece: Cut) -> None:
    opened.pair(*some_pairs(piece)[0])
    opened.session.open("full", Mesh(3 * whole.vertices, whole.faces))
    (pair,) = opened.session.state()["pairs"]
    assert pair["full"] is None and pair["partial"] is not None


def test_the_first_suggestion_is_far_from_all_marks(opened: Opened, piece: Cut) -> None:
    assert opened.session.state()["suggestion"] is None
    opened.pair(*some_pairs(piece)[0])
    shown = opened.session.state()["suggestion"]
    mesh = piece.mesh
    away = np.linalg.norm(mesh.vertices - mesh.vertices[some_pairs(piece)[0][0]], axis=1)
    assert away[shown["mark"]["vertex"]] > 0.8 * away.max()
    assert "partner" not in shown


def test_a_mesh_that_is_being_prepared_holds_nobody_up(
    opened: Opened, whole: Mesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(_: ShownShape) -> None:
        begun.set()
        go_on.wait(300)

    monkeypatch.setattr(ShownShape, "prepare", slowly)
    opening = threading.Thread(target=opened.session.open, args=("full", whole))
    opening.start()
    assert begun.wait(300)
    states: list[Any] = []
    asking = threading.Thread(target=lambda: states.append(opened.session.state()))
    asking.start()
    asking.join(300)
    go_on.set()
    opening.join(300)
    assert states and states[0]["shapes"]["full"]["version"] == 2
    assert opened.session.state()["shapes"]["full"]["version"] == 3


def test_a_name_makes_no_result_old(opened: Opened, piece: Cut) -> None:
    opened.pair(*some_pairs(piece)[0])
    marks = opened.session.marks
    assert marks.renamed(1, "nose").places == marks.places
    assert marks.removed(1).places != marks.places
