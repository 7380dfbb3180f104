"""The studio in a real browser, used in another order than the one it was made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.studio import Studio, handler
from nho.studio.marks import Marks, mark_at
from tests.faults.running import wait_until
from tests.studio.test_studio_browser import DRAWN, drop, settle, tab

__all__ = ["tab"]  # the fixture
pytestmark = pytest.mark.slow


def with_pairs(studio: Studio, whole: Mesh, piece: Cut, count: int) -> None:
    """Both meshes and some true pairs."""
    studio.session.open("partial", piece.mesh)
    studio.session.open("full", whole)
    rows = np.linspace(0, len(piece.mesh.vertices) - 1, count).astype(int)
    of_partial = SurfacePoints.at_vertices(piece.mesh, rows)
    of_full = SurfacePoints.at_vertices(whole, piece.vertex_of_parent[rows])
    marks = Marks()
    for row in range(count):
        marks = marks.added(mark_at(of_partial, row), mark_at(of_full, row), f"point {row}")
    studio.session.change(lambda _: marks)


def middle(page: Any, side: str) -> tuple[float, float]:
    box = page.locator(f'.stage[data-shape="{side}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_another_mesh_after_a_match_leaves_nothing_of_the_old_one(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    with_pairs(studio, whole, piece, 14)
    page = tab()
    page.wait_for_function(DRAWN)
    page.click("#match")
    page.wait_for_function(
        """() => document.querySelector('input[value="correspondence"]').checked"""
    )
    settle(page, "s.outcome && !s.outcome.stale")
    # The template knows the way back, and its score.
    page.mouse.move(*middle(page, "full"))
    page.wait_for_function("() => nhoStudio.stages.full.ring")
    assert "region score" in page.inner_text("#readout")
    # Another name is no other anchor.
    page.locator("#pairs input").first.fill("nose")
    page.keyboard.press("Enter")
    settle(page, "s.pairs[0].name === 'nose'")
    assert not page.evaluate("() => nhoStudio.state().outcome.stale")
    asked: list[str] = []
    answers = iter([False, True])

    def answer(dialog: Any) -> None:
        asked.append(dialog.message)
        if next(answers):
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    Mesh(2 * whole.vertices, whole.faces).write(tmp_path / "other.ply")
    drop(page, "full", tmp_path / "other.ply")
    wait_until(lambda: asked or page.wait_for_timeout(20))  # meanwhile the page goes on
    assert "not been downloaded" in asked[0] and studio.session.outcome is not None
    drop(page, "full", tmp_path / "other.ply")
    settle(page, "s.outcome === null && s.shapes.full.name === 'other.ply'")
    page.wait_for_function("() => nhoStudio.stages.full.version === 3")
    assert page.locator('input[value="shape"]').is_checked()
    assert page.locator("#notice.error").count() == 0
    page.mouse.move(*middle(page, "partial"))
    page.wait_for_function("() => nhoStudio.stages.partial.ring")
    assert "→" not in page.inner_text("#readout")


def test_a_keyboard_is_enough(tab: Any, studio: Studio, whole: Mesh, piece: Cut) -> None:
    studio.session.open("partial", piece.mesh)
    studio.session.open("full", whole)
    page = tab()
    page.wait_for_function(DRAWN)
    for side in ("partial", "full"):
        page.focus(f'.stage[data-shape="{side}"] canvas.marks')
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Enter")
        settle(page, f"s.pairs.length === 1 && s.pairs[0].{side}")
    before = page.evaluate("() => [...nhoStudio.stages.full.view.rotation]")
    page.keyboard.press("f")
    assert page.evaluate("() => [...nhoStudio.stages.full.view.rotation]") != before
    # A name that is given up stays what it was.
    page.keyboard.press("F2")
    page.keyboard.type("never mind")
    page.keyboard.press("Escape")
    assert page.locator("#pairs input").input_value() == "1"
    page.keyboard.press("F2")
    page.keyboard.type("nose")
    page.keyboard.press("Enter")
    settle(page, "s.pairs[0].name === 'nose'")
    page.keyboard.press("Delete")
    settle(page, "s.pairs.length === 0")


def test_two_fingers_place_nothing_and_one_does(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    studio.session.open("partial", piece.mesh)
    studio.session.open("full", whole)
    page = tab()
    page.wait_for_function(DRAWN)
    x, y = middle(page, "partial")
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": at[0], "y": at[1], "id": number} for number, at in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    for rest in (40, 60):  # fingers that only rest, then fingers that zoom
        fingers("touchStart", (x, y))
        fingers("touchStart", (x, y), (x + rest, y))
        if rest == 40:
            fingers("touchEnd")
    for step in range(5):  # the first finger rests
        fingers("touchMove", (x, y), (x + 60 + 10 * step, y))
    fingers("touchEnd")
    page.wait_for_function("() => nhoStudio.stages.partial.view.zoom > 1")
    assert page.evaluate("() => nhoStudio.state().pairs.length") == 0
    fingers("touchStart", (x, y))
    fingers("touchEnd")
    settle(page, "s.pairs.length === 1")


def test_landmarks_of_one_side_wait_for_their_partners_one_by_one(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    studio.session.open("partial", piece.mesh)
    page = tab()
    lines = [
        f"{name},{x},{y},{z}" for name, (x, y, z) in zip("ab", piece.mesh.vertices, strict=False)
    ]
    (tmp_path / "scan.csv").write_text("name,x,y,z\n" + "\n".join(lines) + "\n")
    drop(page, "partial", tmp_path / "scan.csv")
    settle(page, "s.pairs.length === 2")
    assert "open the template" in page.inner_text("#next-step")
    whole.write(tmp_path / "full.ply")
    drop(page, "full", tmp_path / "full.ply")
    page.wait_for_function(DRAWN)
    x, y = middle(page, "full")
    page.click("#parked summary")
    for name, shift in (("a", 0), ("b", 40)):
        page.locator("#parked-list li").first.locator(".state").click()
        page.wait_for_function(
            f"() => document.querySelector('#next-step').textContent.includes('“{name}”')"
        )
        assert page.locator("#parked-list li.chosen input").input_value() == name
        page.mouse.click(x + shift, y)
        settle(page, f"s.pairs.find((p) => p.name === '{name}').full")
    settle(page, "s.open === null && s.pairs.length === 2")
    # Pointing at a mark tells its name on both shapes.
    page.mouse.move(x, y)
    page.wait_for_function("() => nhoStudio.page.pointed() === 1")
    # The same file anywhere else fits both shapes, so the page asks.
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "scan.csv"));
          const about = { dataTransfer: data, bubbles: true, cancelable: true };
          document.querySelector("aside").dispatchEvent(new DragEvent("drop", about));
        }""",
        (tmp_path / "scan.csv").read_text(),
    )
    page.locator("#which").wait_for()
    page.keyboard.press("Escape")
    page.locator("#which").wait_for(state="hidden")


def test_marks_are_drawn_without_drawing_the_shape_again(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    with_pairs(studio, whole, piece, 3)
    page = tab()
    page.wait_for_function(DRAWN)
    page.evaluate(
        """() => {
          window.drawn = 0;
          for (const { view } of Object.values(nhoStudio.stages)) {
            const draw = view.draw.bind(view);
            view.draw = () => { window.drawn += 1; draw(); };
          }
        }"""
    )

    def nothing_is_drawn_any_more() -> bool:
        page.evaluate("() => { window.drawn = 0; }")
        page.wait_for_timeout(200)
        return page.evaluate("() => window.drawn") == 0

    wait_until(nothing_is_drawn_any_more)
    x, y = middle(page, "full")
    page.mouse.move(x, y)
    page.mouse.move(x + 30, y, steps=3)
    page.wait_for_function("() => nhoStudio.stages.full.ring")
    page.mouse.click(x + 30, y)
    settle(page, "s.pairs.length === 4")
    assert page.evaluate("() => window.drawn") == 0
    page.mouse.wheel(0, -200)
    page.wait_for_function("() => window.drawn > 0")


def test_a_page_that_outlives_its_studio_says_so(tab: Any, studio: Studio) -> None:
    page = tab()
    studio.stop()
    page.wait_for_function("() => !document.querySelector('#notice').hidden")
    page.evaluate("() => nhoStudio.page.choose(null)")  # it stays, whatever is done
    assert "still running" in page.inner_text("#notice")


@pytest.mark.parametrize("hidden", [True, False])
def test_a_page_that_nobody_sees_holds_no_connection(
    tab: Any, studio: Studio, hidden: bool
) -> None:
    page = tab()
    page.evaluate(
        f"""() => {{
          Object.defineProperty(document, "hidden", {{ value: {str(hidden).lower()} }});
          document.dispatchEvent(new Event("visibilitychange"));
        }}"""
    )
    studio.session.change(lambda marks: marks, "hello")
    if hidden:
        page.wait_for_timeout(400)
        assert "hello" not in page.inner_text("aside")
    else:
        page.wait_for_function("() => document.querySelector('aside').innerText.includes('hello')")


def test_a_file_that_is_too_large_is_refused_in_words(
    tab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "LARGEST_UPLOAD", 1000)
    page = tab()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(20000000)], "large.ply"));
          const about = { dataTransfer: data, bubbles: true, cancelable: true };
          const stage = document.querySelector('.stage[data-shape="full"]');
          stage.dispatchEvent(new DragEvent("drop", about));
        }"""
    )
    page.wait_for_function("() => document.querySelector('#notice').className === 'error'")
    assert page.inner_text("#notice") == "20.0 MB are too much; at most 1.0 kB"


def test_the_one_time_address_shows_the_studio(browser: Any, studio: Studio) -> None:
    page = browser.new_page()
    page.goto(studio.one_time_address)
    assert page.url == studio.address
    page.close()
