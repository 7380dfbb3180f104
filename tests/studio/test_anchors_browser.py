"""Anchors in a real browser: landmark files, parked landmarks, the suggested anchor, room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from nho.studio.marks import Marks, mark_at
from tests.studio.test_studio_browser import drop, settle, tab

__all__ = ["tab"]  # the fixture

# The place of a vertex on the page, if it is seen: [x, y].
PLACE = """([side, row]) => {
  const stage = nhoStudio.stages[side], box = stage.overlay.getBoundingClientRect();
  const at = stage.view.project(stage.view.vertex(row));
  const inside = [[-6, 0], [6, 0], [0, -6], [0, 6]].every(([dx, dy]) => {
    const near = stage.view.surfaceNear(at.x + dx, at.y + dy);
    return near && near.exact;
  });
  return at.hidden || !inside ? null : [at.x + box.left, at.y + box.top];
}"""
DRAWN = """() => ["partial", "full"].every((side) =>
  nhoStudio.stages[side].view && nhoStudio.stages[side].number.length)"""


@pytest.fixture
def page(tab: Any, studio: Studio, whole: Mesh, piece: Cut) -> Any:
    """A piece of a shape, moved far away from the shape."""
    studio.session.open("partial", Mesh(piece.mesh.vertices + 50, piece.mesh.faces, "scan.ply"))
    studio.session.open("full", Mesh(whole.vertices, whole.faces, "template.ply"))
    page = tab()
    page.wait_for_function(DRAWN)
    return page


def landmarks(path: Path, positions: np.ndarray, names: str) -> Path:
    named = zip(names, positions.tolist(), strict=True)
    rows = [f"{name},{x!r},{y!r},{z!r}" for name, (x, y, z) in named]
    path.write_text("name,x,y,z\n" + "\n".join(rows) + "\n")
    return path


def seen(page: Any, side: str, mesh: Mesh) -> list[tuple[int, list[float]]]:
    """Vertices that face the eye, with their places, some way from the outline."""
    every = range(0, mesh.n_vertices, 7)
    places = [(row, page.evaluate(PLACE, [side, row])) for row in every]
    return [(row, place) for row, place in places if place]


def names_of(page: Any, condition: str) -> list[str]:
    return page.evaluate(
        f"() => nhoStudio.state().pairs.filter((p) => {condition}).map((p) => p.name)"
    )


def test_parked_landmarks_never_take_a_click(
    page: Any, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    on_template = seen(page, "full", whole)
    rows = [row for row, _ in on_template[:3]]
    drop(page, "full", landmarks(tmp_path / "t.csv", whole.vertices[rows], "ABC"))
    settle(page, "s.pairs.length === 3 && s.open === null")
    assert page.inner_text("#parked summary") == "3 without a partner"
    # A click begins a pair of its own.
    on_scan = seen(page, "partial", piece.mesh)
    page.mouse.click(*on_scan[0][1])
    settle(page, "s.pairs.length === 4 && s.open === 4")
    assert names_of(page, "p.partial && p.full") == []
    # A parked landmark that is clicked is its partner, and gives it its name.
    page.mouse.click(*page.evaluate(PLACE, ["full", rows[1]]))
    settle(page, "s.pairs.length === 3 && s.open === null")
    assert names_of(page, "p.partial && p.full") == ["B"]
    # One that is chosen in the list gets the next click ...
    page.click("#parked summary")
    page.locator("#parked-list li").first.locator(".state").click()
    page.wait_for_function("() => document.querySelector('#next-step').textContent.includes('“A”')")
    page.keyboard.press("Escape")
    page.wait_for_function(
        "() => !document.querySelector('#next-step').textContent.includes('“A”')"
    )
    settle(page, "s.pairs.length === 3")
    page.locator("#parked-list li").first.locator(".state").click()
    page.mouse.click(*on_scan[-1][1])
    settle(page, "s.pairs.filter((p) => p.partial && p.full).length === 2")
    assert sorted(names_of(page, "p.partial && p.full")) == ["A", "B"]
    # ... and one that broke off is said to be absent.
    page.locator("#parked-list .absent").click()
    settle(page, "s.pairs.some((p) => p.name === 'C' && p.state === 'absent')")
    assert "not on scan" in page.inner_text("#parked-list")
    page.keyboard.press("Control+z")
    settle(page, "s.pairs.some((p) => p.name === 'C' && p.state === 'parked')")


def test_two_landmark_files_go_to_the_shapes_that_they_fit(
    page: Any, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    own = np.arange(0, 300, 60)
    scan = landmarks(tmp_path / "one.csv", piece.mesh.vertices[own] + 50, "abcde")
    template = landmarks(
        tmp_path / "two.csv", whole.vertices[[*piece.vertex_of_parent[own[:4]], 0]], "abcdF"
    )
    with page.expect_file_chooser() as asked:
        page.click("#load-anchors")
    asked.value.set_files([template, scan])
    settle(page, "s.pairs.length === 6")
    assert names_of(page, "p.partial && p.full") == list("abcd")
    assert sorted(names_of(page, "p.state === 'parked'")) == ["F", "e"]


def test_a_landmark_file_that_fits_both_shapes_is_asked_about(
    page: Any, whole: Mesh, tmp_path: Path
) -> None:
    (tmp_path / "v.csv").write_text("name,vertex\na,3\nb,7\n")
    with page.expect_file_chooser() as asked:
        page.click("#load-anchors")
    asked.value.set_files([tmp_path / "v.csv"])
    page.locator("#which").wait_for()
    assert "v.csv" in page.inner_text("#which")
    page.click("#which button[value=full]")
    settle(page, "s.pairs.length === 2 && s.pairs.every((p) => p.full && !p.partial)")


def test_what_is_needed_is_in_sight_in_every_window(
    page: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    own = np.linspace(0, piece.mesh.n_vertices - 1, 30).astype(int)
    ends = (
        SurfacePoints.at_vertices(piece.mesh, own),
        SurfacePoints.at_vertices(whole, piece.vertex_of_parent[own]),
    )
    marks = Marks()
    for row in range(len(own)):
        marks = marks.added(*(mark_at(points, row) for points in ends))
    studio.session.change(lambda _: marks)
    settle(page, "s.pairs.length === 30")
    page.click("#match")
    page.locator("#get-zip").wait_for()
    for width, height in ((1920, 1080), (1366, 768), (911, 512), (480, 800)):
        page.set_viewport_size({"width": width, "height": height})
        for needed in ("#match", "#get-zip"):
            box = page.locator(needed).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= height, (needed, width)
            assert box["x"] >= 0 and box["x"] + box["width"] <= width, (needed, width)
    # The words of progress are plain, and all pairs are deleted only after a question.
    page.set_viewport_size({"width": 1366, "height": 768})
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.click("#clear")
    settle(page, "s.pairs.length === 30")
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("#clear")
    settle(page, "s.pairs.length === 0")


def test_the_suggested_anchor_is_shown_and_can_be_clicked(
    page: Any, studio: Studio, piece: Cut
) -> None:
    page.mouse.click(*seen(page, "partial", piece.mesh)[0][1])
    settle(page, "s.pairs.length === 1 && s.suggestion")
    page.keyboard.press("Escape")
    settle(page, "s.pairs.length === 0")
    page.keyboard.press("Control+z")
    settle(page, "s.pairs.length === 1 && s.suggestion")
    page.keyboard.press("n")
    at = page.wait_for_function(
        """() => {
          const { partial } = nhoStudio.stages, at = nhoStudio.state().suggestion.mark.at;
          const place = partial.view.project(at), box = partial.overlay.getBoundingClientRect();
          return !partial.view.moving && !place.hidden && [place.x + box.left, place.y + box.top];
        }"""
    ).json_value()
    wanted = page.evaluate("() => nhoStudio.state().suggestion.mark.position")
    page.keyboard.press("Escape")
    settle(page, "s.pairs.length === 0")
    page.mouse.click(*at)
    settle(page, "s.pairs.length === 1")
    hit = page.evaluate("() => nhoStudio.state().pairs[0].partial.position")
    away = np.linalg.norm(np.subtract(hit, wanted))
    assert away < 3 * piece.mesh.mean_edge_length
