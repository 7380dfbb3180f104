"""Projects, downloads and the table of a batch, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nho
from nho.batch.summary import SummaryRow, write_summary
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.landmarks import read_landmarks
from nho.problem.result import MatchResult
from nho.report.result_folder import write_outputs
from nho.studio import Studio
from nho.studio.opening import open_place
from nho.studio.outcome import MatchOutcome
from tests.faults.running import wait_until
from tests.studio.paired import open_pair, true_marks
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_placements import found
from tests.studio.test_studio_browser import READY, settle, tab

__all__ = ["found", "tab"]  # the fixtures


def downloaded(page: Any, menu: str, name: str) -> Path:
    page.click(f"{menu} summary")
    with page.expect_download() as coming:
        page.click(f'{menu} a[href="download/{name}"]')
    page.keyboard.press("Escape")
    assert coming.value.suggested_filename == name.split("?")[0]
    return Path(coming.value.path())


@pytest.mark.slow  # test_projects.py has its parts
def test_a_project_is_saved_opened_and_survives_a_restart(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    open_pair(studio, whole, piece)
    page = tab()
    page.wait_for_function(DRAWN)
    page.click("#match")
    settle(page, "s.outcome")
    before = studio.session.outcome
    assert before is not None
    saved = downloaded(page, "#project", "project.nho").read_bytes()
    (tmp_path / "mine.nho").write_bytes(saved)
    # What the match makes possible, as files.
    landmarks = read_landmarks(tmp_named(downloaded(page, "#more", "scan-landmarks.csv"), ".csv"))
    assert landmarks.names == tuple(str(n) for n in range(1, 15))
    fitted = Mesh.read(tmp_named(downloaded(page, "#more", "fitted-template.ply"), ".ply"))
    assert fitted.n_vertices == whole.n_vertices
    page.click("#more summary")
    page.click('#more a[href="download/scan-with-data.ply"]')
    page.wait_for_function("() => document.querySelector('#notice').className === 'error'")
    assert "nothing on it to transfer" in page.inner_text("#notice")
    # Another start of the studio offers it again.
    wait_until(lambda: bool(studio.session.recent.listed()))
    again = Studio(marks_folder=tmp_path / "state")
    again.start()
    try:
        page = page.context.new_page()
        page.goto(again.address)
        page.wait_for_function(READY)
        page.locator("#recent button").click()
        settle(page, "s.outcome && s.pairs.length === 14")
        after = again.session.outcome
        assert after is not None
        np.testing.assert_array_equal(after.result.vertex_map, before.result.vertex_map)
        again.session.outcome = None
        again.session.change(lambda marks: marks.removed(1))
        page.once("dialog", lambda dialog: dialog.accept())
        with page.expect_file_chooser() as asked:
            page.click("#project summary")
            page.click("#open-project")
        asked.value.set_files([tmp_path / "mine.nho"])
        settle(page, "s.outcome && !s.outcome.stale && s.pairs.length === 14")
    finally:
        again.stop()


LOOK = """() => {
  const about = { view: document.querySelector('input[name="view"]:checked').value };
  for (const box of document.querySelectorAll("#look input, #look select, #preset, #link")) {
    if (box.id !== "swipe") about[box.id] = box.type === "checkbox" ? box.checked : box.value;
  }
  for (const side of ["partial", "full"]) {
    const { cut, fade, size, zoom, rotation } = nhoStudio.stages[side].view;
    about[side] = [cut, fade, size, zoom, ...rotation].map((one) => one.toFixed(5)).join();
  }
  return about;
}"""


def test_a_project_brings_back_all_that_was_chosen_to_be_seen(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult, tmp_path: Path
) -> None:
    open_pair(studio, Mesh(2 * whole.vertices, whole.faces, "t"), piece)
    studio.session.outcome = MatchOutcome(*studio.session.both(), (), found, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    at_first = page.evaluate(LOOK)
    page.keyboard.press("3")
    page.locator("#preset").select_option("paper-fast")
    page.uncheck("#link")
    page.click("#look summary")
    for switch in ("#checker", "#doubt", "#same-size"):
        page.check(switch)
    page.locator("#unit").select_option("cm")
    for number, slider in enumerate(("cut-partial", "cut-full", "fade-partial", "fade-full")):
        page.locator(f"#{slider}").fill(str(20 + number))
    page.keyboard.press("Escape")
    page.locator('.stage[data-shape="full"] .marks').focus()
    for key in ("ArrowLeft", "ArrowUp", "+"):
        page.keyboard.press(key)
    chosen = page.evaluate(LOOK)
    assert [key for key in chosen if chosen[key] == at_first[key]] == [
        "own-colours",
        "measure",
        "compare",
    ]
    (tmp_path / "mine.nho").write_bytes(downloaded(page, "#project", "project.nho").read_bytes())
    again = Studio(marks_folder=tmp_path / "other")
    again.start()
    try:
        open_place(again.session, tmp_path / "mine.nho")
        page = page.context.new_page()
        page.set_viewport_size({"width": 1400, "height": 850})
        page.goto(again.address)
        page.wait_for_function(READY)
        page.wait_for_function(DRAWN)
        settle(page, "document.querySelector('input[value=region]').checked")
        assert page.evaluate(LOOK) == chosen
        # Another project, opened in this page, brings its own; and a page that is loaded anew
        # shows what was shown last.
        page.keyboard.press("4")
        page.wait_for_function("() => nhoStudio.state().look")
        wait_until(lambda: again.session.look.get("view") == "confidence")
        page.reload()
        page.wait_for_function(READY)
        page.wait_for_function(DRAWN)
        settle(page, "document.querySelector('input[value=confidence]').checked")
        assert page.evaluate(LOOK) == {**chosen, "view": "confidence"}
        open_place(again.session, tmp_path / "mine.nho")
        settle(page, "document.querySelector('input[value=region]').checked")
        assert page.evaluate(LOOK) == chosen
    finally:
        again.stop()


def tmp_named(path: Path, suffix: str) -> Path:
    """A download has no name of its own; readers go by the suffix."""
    named = path.with_suffix(suffix)
    named.write_bytes(path.read_bytes())
    return named


@pytest.fixture
def batch(tmp_path: Path, whole: Mesh, piece: Cut) -> Path:
    """The folder of a batch: a good pair, a bad one and one that failed."""
    out = tmp_path / "results"
    rows = [SummaryRow("absent", "failed", error="no such file", seconds=0.1)]
    quick = nho.preset("default").replace(rounds=0, own_anchors=0, threads=1)
    for name, count in (("good", 14), ("poor", 5)):
        marks = true_marks(whole, piece, count)
        result = nho.match(piece.mesh, whole, marks.anchors(piece.mesh, whole), quick)
        write_outputs(out / name, piece.mesh, whole, result, report=False)
        rows.append(SummaryRow.of_result(name, result))
    write_summary(out, rows)
    return out


def test_a_row_of_a_batch_is_opened_corrected_and_matched_again(
    tab: Any, studio: Studio, batch: Path
) -> None:
    open_place(studio.session, batch)
    page = tab()
    page.locator("#batch-rows tr").nth(2).wait_for()
    assert page.locator("#batch-rows button").all_inner_texts() == ["absent", "poor", "good"]
    page.wait_for_function(
        "() => [...document.querySelectorAll('#batch img')].every((one) => one.naturalWidth > 50)"
    )
    assert page.locator("#batch-rows button").first.is_disabled()
    page.get_by_role("button", name="good").click()
    settle(page, "s.outcome && s.pairs.length === 14")
    page.wait_for_function(DRAWN)
    page.locator("#pairs .delete").first.click()
    settle(page, "s.outcome.stale")
    page.click("#match")
    settle(page, "s.outcome && !s.outcome.stale")
    wait_until(lambda: len(MatchResult.load(batch / "good").anchors) == 13)
    page.click("#to-batch")
    assert page.locator("#batch").is_visible()
