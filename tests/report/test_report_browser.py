"""The report in a real browser: it draws, answers the pointer, and asks the network for nothing."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nho.report import render_report
from tests.report.test_report import example

# Vertices seen on both shapes: [partial vertex, its place, its partner's place] in page pixels.
SEEN_ON_BOTH = """() => {
  const { partial, full } = nhoReport.views, found = [];
  const corner = (view) => view.overlay.getBoundingClientRect();
  for (let i = 0; i < partial.positions.length / 3; i++) {
    const there = nhoReport.partnerOf(i);
    if (!there) continue;
    const [p, q] = [partial.project(partial.vertex(i)), full.project(there)];
    if (p.hidden || q.hidden) continue;
    const [a, b] = [corner(partial), corner(full)];
    found.push([i, p.x + a.left, p.y + a.top, q.x + b.left, q.y + b.top]);
  }
  return found;
}"""

# Colour of both views at the given page places; drawn anew, as a shown picture cannot be read.
COLOURS_AT = """(places) => {
  nhoReport.drawNow();
  return ["partial", "full"].map((name, k) => {
    const view = nhoReport.views[name], box = view.overlay.getBoundingClientRect();
    const pixel = new Uint8Array(4), gl = view.gl;
    view.draw();
    const x = Math.floor((places[2 * k] - box.left) * view.dots);
    const y = Math.floor((box.bottom - places[2 * k + 1]) * view.dots);
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return [...pixel];
  });
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    partial, full, result = example(3)
    result = dataclasses.replace(result, suspect_anchors=(1,), next_anchor=6)
    path.write_text(render_report(partial, full, result), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    """The report, open; afterwards it must not have complained nor asked for anything else."""
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    requests: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(report.as_uri())
    opened.wait_for_function("window.nhoReport !== undefined")
    yield opened
    opened.wait_for_timeout(50)
    opened.close()
    assert problems == []
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]


def hide_marks(page: Any) -> None:
    page.locator("#show-anchors").uncheck()


def shown(page: Any, name: str) -> bytes:
    page.evaluate("nhoReport.drawNow()")
    return page.locator(f'.stage[data-shape="{name}"]').screenshot()


def test_both_shapes_are_drawn(page: Any) -> None:
    seen = page.evaluate(SEEN_ON_BOTH)
    assert len(seen) > 20
    opaque = [page.evaluate(COLOURS_AT, row[1:])[k][3] for row in seen[::9] for k in (0, 1)]
    # A vertex on the outline may fall beside the pixels it covers; all others are on the surface.
    assert sorted(opaque)[len(opaque) // 4] == 255
    assert page.locator("#no-webgl").is_hidden()


def test_partners_have_the_same_colour(page: Any) -> None:
    hide_marks(page)
    page.locator("#fade-outside").uncheck()
    gaps, others = [], []
    seen = page.evaluate(SEEN_ON_BOTH)
    for row, other in zip(seen[::5], seen[len(seen) // 2 :: 5], strict=False):
        ours, theirs = (colour[:3] for colour in page.evaluate(COLOURS_AT, row[1:]))
        elsewhere = page.evaluate(COLOURS_AT, other[1:])[1][:3]
        gaps.append(max(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
        others.append(max(abs(a - b) for a, b in zip(ours, elsewhere, strict=True)))
    assert sorted(gaps)[len(gaps) // 2] <= 6  # the median; an edge of the outline may differ
    assert sorted(others)[len(others) // 2] > 25


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["region", "score", "confidence"])
def test_the_selector_changes_what_is_shown(page: Any, mode: str) -> None:
    before = shown(page, "partial"), shown(page, "full")
    page.locator(f'label:has(input[value="{mode}"])').click()
    assert page.locator(f'[data-legend="{mode}"]').is_visible()
    assert page.locator("[data-legend]:visible").count() == 1
    assert shown(page, "partial") != before[0]
    assert shown(page, "full") != before[1]


@pytest.mark.slow
def test_pointing_at_the_partial_marks_the_partner(page: Any) -> None:
    hide_marks(page)
    result = example(3)[2]
    unmarked = shown(page, "full")
    right = 0
    for row in page.evaluate(SEEN_ON_BOTH)[3:60:7]:
        page.mouse.move(row[1], row[2])
        vertex = page.evaluate("nhoReport.hover.partial")
        right += vertex == row[0]
        if vertex >= 0 and result.vertex_map[vertex] >= 0:
            words = f"Partial vertex {vertex} → full vertex {result.vertex_map[vertex]}"
            assert words in page.locator("#readout").inner_text()
            assert shown(page, "full") != unmarked
    assert right >= 6  # of 8 or 9; near the outline a neighbour may be closer to the pixel
    page.mouse.move(2, 2)
    assert shown(page, "full") == unmarked


def test_anchors_can_be_hidden(page: Any) -> None:
    before = shown(page, "partial")
    hide_marks(page)
    assert shown(page, "partial") != before


@pytest.mark.slow
def test_cameras_turn_together_only_while_linked(page: Any) -> None:
    def drag() -> None:
        box = page.locator('.stage[data-shape="partial"]').bounding_box()
        page.mouse.move(box["x"] + 40, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 110, box["y"] + 70, steps=4)
        page.mouse.up()

    def rotations() -> list[list[float]]:
        return [page.evaluate(f"nhoReport.views.{name}.rotation") for name in ("partial", "full")]

    start = rotations()
    drag()
    linked = rotations()
    assert linked[0] != start[0] and linked[1] != start[1]
    page.locator("#link-cameras").uncheck()
    drag()
    alone = rotations()
    assert alone[0] != linked[0] and alone[1] == linked[1]
    page.locator("#reset-views").click()
    assert rotations() == start


@pytest.mark.slow
def test_the_wheel_zooms_about_the_pointer(page: Any) -> None:
    row = page.evaluate(SEEN_ON_BOTH)[10]
    page.mouse.move(row[1], row[2])
    page.mouse.wheel(0, -400)
    page.wait_for_function("nhoReport.views.partial.zoom > 1.5")
    after = next(other for other in page.evaluate(SEEN_ON_BOTH) if other[0] == row[0])
    assert after[1:3] == pytest.approx(row[1:3], abs=1.5)


def test_a_phone_shows_the_page_without_sideways_scrolling(browser: Any, report: Path) -> None:
    phone = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    phone.goto(report.as_uri())
    phone.wait_for_function("window.nhoReport !== undefined")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    phone.close()


@pytest.mark.slow
def test_without_webgl_the_page_says_so(browser: Any, report: Path) -> None:
    old = browser.new_page()
    old.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    old.goto(report.as_uri())
    assert old.locator("#no-webgl").is_visible()
    assert "WebGL2" in old.locator("#no-webgl").inner_text()
    assert old.locator("#settings").is_visible()
    old.close()
