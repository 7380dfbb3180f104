"""The studio in a real browser, used as a person would: with pointer and keys."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.evaluation.sample import Sample, load_sample
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.result import MatchResult
from nho.studio import Studio
from tests.faults.running import wait_until

READY = "() => window.nhoStudio && nhoStudio.state()"
DRAWN = "() => nhoStudio.stages.partial.view && nhoStudio.stages.full.view"
# Rows seen on both shapes: [partial vertex, its place, its true partner's place], in page pixels.
SEEN_ON_BOTH = """(truth) => {
  const { partial, full } = nhoStudio.stages, found = [];
  const [a, b] = [partial, full].map((stage) => stage.overlay.getBoundingClientRect());
  // Well inside the outline, where a click cannot pass beside the surface.
  const inside = (view, at) => [[-4, 0], [4, 0], [0, -4], [0, 4]].every(([dx, dy]) => {
    const near = view.surfaceNear(at.x + dx, at.y + dy);
    return near && near.exact;
  });
  truth.forEach((to, i) => {
    const p = partial.view.project(partial.view.vertex(i));
    const q = full.view.project(full.view.vertex(to));
    if (p.hidden || q.hidden || !inside(partial.view, p) || !inside(full.view, q)) return;
    found.push([i, p.x + a.left, p.y + a.top, q.x + b.left, q.y + b.top]);
  });
  return found;
}"""


@pytest.fixture(scope="module")
def sample() -> Sample:
    return load_sample("plane")


def opened_page(context: Any, studio: Studio, problems: list[str], urls: list[str]) -> Any:
    page = context.new_page()
    page.set_viewport_size({"width": 1400, "height": 850})
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: urls.append(request.url))
    page.goto(studio.address)
    page.wait_for_function(READY)
    return page


@pytest.fixture
def tab(browser: Any, studio: Studio) -> Iterator[Any]:
    """Opens tabs; afterwards none of them may have failed or asked another address."""
    problems: list[str] = []
    urls: list[str] = []
    context = browser.new_context(accept_downloads=True)
    yield lambda: opened_page(context, studio, problems, urls)
    context.close()
    assert problems == []
    assert {url for url in urls if not url.startswith((studio.address, "data:", "blob:"))} == set()


@pytest.fixture
def page(tab: Any, studio: Studio, sample: Sample) -> Any:
    """The shipped pair, opened by the button that a newcomer presses."""
    page = tab()
    page.click("#sample")
    page.wait_for_function(DRAWN)
    return page


def spread_out(sample: Sample, rows: list[list[float]], count: int) -> list[list[float]]:
    """Some rows whose vertices lie far from each other."""
    places = sample.partial.vertices[[int(row[0]) for row in rows]]
    chosen = [0]
    away = np.linalg.norm(places - places[0], axis=1)
    while len(chosen) < count:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return [rows[row] for row in chosen]


def settle(page: Any, condition: str) -> None:
    page.wait_for_function(f"() => {{ const s = nhoStudio.state(); return {condition}; }}")


def mark(page: Any, rows: list[list[float]]) -> None:
    """Click pairs: a point, then its partner."""
    done = page.evaluate("() => nhoStudio.state().pairs.length")
    for number, (_, px, py, qx, qy) in enumerate(rows, start=done + 1):
        page.mouse.click(px, py)
        settle(page, f"s.pairs.length === {number}")
        page.mouse.click(qx, qy)
        settle(page, "s.open === null")


def marked(page: Any) -> list[list[int]]:
    return page.evaluate(
        "() => nhoStudio.state().pairs.map((p) => [p.partial.vertex, p.full.vertex])"
    )


def test_from_nothing_to_a_downloaded_result(page: Any, sample: Sample, tmp_path: Path) -> None:
    rows = spread_out(sample, page.evaluate(SEEN_ON_BOTH, sample.truth_vertex.tolist()), 6)
    assert page.locator("#match").is_disabled()
    mark(page, rows)
    # What was clicked is what was meant, to about the width of a triangle.
    true = sample.truth_vertex[[pair[0] for pair in marked(page)]]
    gaps = np.linalg.norm(
        sample.full.vertices[[pair[1] for pair in marked(page)]] - sample.full.vertices[true],
        axis=1,
    )
    assert gaps.max() < 4 * sample.full.edge_lengths.mean()
    page.click("#match")
    page.wait_for_function("() => !document.querySelector('#job').hidden")
    page.wait_for_function(
        """() => document.querySelector('input[value="correspondence"]').checked"""
    )
    # Hovering shows the partner.
    page.mouse.move(*rows[2][1:3])
    page.wait_for_function("() => nhoStudio.stages.full.ring")
    assert "template vertex" in page.inner_text("#readout")
    assert "confidence" in page.inner_text("#readout")
    stage = page.locator('.stage[data-shape="full"]')
    shown: list[bytes] = []
    for key in "234":  # each shows what none before it has shown
        page.keyboard.press(key)
        wait_until(lambda: stage.screenshot() not in shown)
        shown.append(stage.screenshot())
    with page.expect_download() as coming:
        page.click("#get-zip")
    archive = zipfile.ZipFile(io.BytesIO(Path(coming.value.path()).read_bytes()))
    archive.extractall(tmp_path)
    result = MatchResult.load(tmp_path / "result")
    truth = SurfacePoints(sample.truth_face, sample.truth_barycentric).positions(sample.full)
    errors = np.linalg.norm(result.points.positions(sample.full) - truth, axis=1)
    assert np.median(errors) < 0.03 * np.sqrt(sample.full.area)
    with page.expect_download() as coming:
        page.locator("#save-anchors").select_option(".csv")
    assert Path(coming.value.path()).read_text().count("\n") == 7
    # One more anchor where the page suggests it: the old result is marked as old.
    page.keyboard.press("n")
    page.locator("#suggestion").wait_for()
    page.keyboard.press("Control+z")
    settle(page, "s.outcome.stale")


@pytest.mark.slow
def test_marks_are_corrected_renamed_deleted_undone_and_kept(
    page: Any, tab: Any, sample: Sample
) -> None:
    rows = spread_out(sample, page.evaluate(SEEN_ON_BOTH, sample.truth_vertex.tolist()), 5)
    mark(page, rows[:3])
    first = marked(page)
    # Drag the first mark to another place.
    page.mouse.move(*rows[0][1:3])
    page.mouse.down()
    page.mouse.move(*rows[3][1:3], steps=5)
    page.mouse.up()
    settle(page, f"s.pairs[0].partial.vertex !== {first[0][0]}")
    moved = sample.partial.vertices[marked(page)[0][0]]
    wanted = sample.partial.vertices[int(rows[3][0])]
    assert np.linalg.norm(moved - wanted) < 3 * sample.partial.edge_lengths.mean()
    page.keyboard.press("Control+z")
    settle(page, "s.canRedo")
    assert marked(page) == first
    # A name, typed.
    page.locator("#pairs input").nth(1).fill("left <b>knee</b>")
    page.keyboard.press("Enter")
    settle(page, "s.pairs[1].name === 'left <b>knee</b>'")
    assert page.locator("#pairs b").count() == 0
    # Delete by key, back by undo.
    page.locator("#pairs li").nth(2).locator(".dot").click()
    page.keyboard.press("Delete")
    settle(page, "s.pairs.length === 2")
    page.keyboard.press("r")  # the colour in the list has rotated both shapes
    page.click("#undo")
    settle(page, "s.pairs.length === 3")
    # Half a pair, given up.
    page.mouse.click(*rows[4][1:3])
    settle(page, "s.open !== null")
    assert "partner" in page.inner_text("#next-step")
    page.keyboard.press("Escape")
    settle(page, "s.open === null && s.pairs.length === 3")
    # A second tab shows the same and follows.
    other = tab()
    other.wait_for_function(DRAWN)
    assert marked(other) == first
    other.locator("#pairs .delete").first.click()
    settle(page, "s.pairs.length === 2")
    # Nothing is lost by a reload.
    page.reload()
    page.wait_for_function(READY)
    settle(page, "s.pairs.length === 2 && s.pairs[0].name === 'left <b>knee</b>'")


@pytest.mark.slow
def test_a_running_match_can_be_cancelled(page: Any, sample: Sample, studio: Studio) -> None:
    rows = spread_out(sample, page.evaluate(SEEN_ON_BOTH, sample.truth_vertex.tolist()), 4)
    mark(page, rows)
    page.locator("#preset").select_option("paper")
    page.keyboard.press("Escape")
    page.click("#match")
    settle(page, "s.job && s.job.stage !== 'starting'")
    assert page.inner_text("#stage-name")
    page.click("#cancel")
    settle(page, "s.job === null")
    assert "cancelled" in page.inner_text("#notice")
    assert studio.session.outcome is None
    assert page.locator("#match").is_enabled()


def test_turning_and_zooming_place_nothing(page: Any) -> None:
    box = page.locator('.stage[data-shape="partial"] canvas.marks').bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.evaluate("() => [...nhoStudio.stages.partial.view.rotation]")
    other = page.evaluate("() => [...nhoStudio.stages.full.view.rotation]")
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 90, middle[1], steps=4)
    page.mouse.up()
    page.mouse.wheel(0, -300)
    page.wait_for_function("() => nhoStudio.stages.partial.view.zoom > 1")
    assert page.evaluate("() => [...nhoStudio.stages.partial.view.rotation]") != before
    assert page.evaluate("() => [...nhoStudio.stages.full.view.rotation]") == other
    page.keyboard.press("l")
    page.mouse.down()
    page.mouse.move(middle[0], middle[1], steps=4)
    page.mouse.up()
    assert page.evaluate("() => [...nhoStudio.stages.full.view.rotation]") != other
    assert page.evaluate("() => nhoStudio.state().pairs.length") == 0
    page.keyboard.press("?")
    assert page.locator("#help-panel").is_visible()
    assert "undo" in page.inner_text("#help-keys")
    page.keyboard.press("Escape")
    assert page.locator("#help-panel").is_hidden()


@pytest.mark.slow
def test_files_are_dropped_and_bad_ones_refused(
    tab: Any, whole: Mesh, piece: Any, tmp_path: Path
) -> None:
    page = tab()
    for side, mesh in (("partial", piece.mesh), ("full", whole)):
        mesh.write(tmp_path / f"{side}.ply")
        drop(page, side, tmp_path / f"{side}.ply")
    page.wait_for_function(DRAWN)
    assert "partial.ply, 385 vertices" in page.inner_text('figure[data-side="partial"] figcaption')
    rows = np.arange(0, 300, 60)
    lines = [f"{row},{piece.vertex_of_parent[row]}" for row in rows]
    (tmp_path / "pairs.csv").write_text("partial,full\n" + "\n".join(lines) + "\n")
    drop(page, "partial", tmp_path / "pairs.csv")
    settle(page, "s.pairs.length === 5")
    (tmp_path / "broken.obj").write_text("v 1 2\nf 1 2 3\n")
    drop(page, "full", tmp_path / "broken.obj")
    page.wait_for_function("() => document.querySelector('#notice').className === 'error'")
    assert "broken.obj" in page.inner_text("#notice")
    assert page.evaluate("() => nhoStudio.state().pairs.length") == 5


def drop(page: Any, side: str, path: Path) -> None:
    """Let a file fall on a shape, as the desktop does it."""
    page.evaluate(
        """([side, name, bytes]) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes)], name));
          const box = document.querySelector(`.stage[data-shape="${side}"]`);
          for (const kind of ["dragover", "drop"]) {
            const about = { dataTransfer: data, bubbles: true, cancelable: true };
            box.dispatchEvent(new DragEvent(kind, about));
          }
        }""",
        [side, path.name, list(path.read_bytes())],
    )
