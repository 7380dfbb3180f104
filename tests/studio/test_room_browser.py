"""Room in every window: menus inside it, buttons in sight, and colours that mean one thing."""

from __future__ import annotations

import re
from typing import Any

import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from nho.studio.outcome import MatchOutcome
from tests.studio.paired import open_pair, true_marks
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_placements import found
from tests.studio.test_studio_browser import settle, tab

__all__ = ["found", "tab"]  # the fixtures
# A laptop, a large screen, a laptop at 150 %, a narrow window.
WINDOWS = [(1366, 768), (1920, 1080), (911, 512), (480, 900)]


@pytest.fixture
def page(tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult) -> Any:
    """A match is shown, with a landmark that has no partner."""
    open_pair(studio, whole, piece)
    parked = true_marks(whole, piece, 15).pairs[1].full
    assert parked is not None
    studio.session.change(lambda marks: marks.with_landmarks("full", [("inion", parked)]))
    studio.session.outcome = MatchOutcome(*studio.session.both(), (), found, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    return page


def beyond(page: Any, selector: str, window: tuple[int, int]) -> list[float]:
    """By how many pixels an element leaves the window on each side."""
    box = page.locator(selector).bounding_box()
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return [
        max(0, -box["x"]),
        max(0, -box["y"]),
        max(0, right - window[0]),
        max(0, bottom - window[1]),
    ]


@pytest.mark.parametrize("window", WINDOWS)
def test_menus_windows_and_buttons_fit(page: Any, window: tuple[int, int]) -> None:
    page.set_viewport_size({"width": window[0], "height": window[1]})
    # Two rows of buttons below Match, so that there is room for the result above it.
    tops = {page.locator(one).bounding_box()["y"] for one in ("#get-zip", "#complete", "#more")}
    assert len(tops) == 2
    legend = page.locator("#legend")
    assert legend.evaluate("(one) => one.scrollWidth <= one.clientWidth"), "the legend is cut off"
    for button in ("#match", "#get-zip", "#complete", "#more summary"):
        assert beyond(page, button, window) == [0, 0, 0, 0], button
    for menu in ("#look", "#project", "#more"):
        page.click(f"{menu} summary")
        assert beyond(page, f"{menu} > div", window) == [0, 0, 0, 0], menu
        page.keyboard.press("Escape")
    for opener, dialog in (("#help", "#help-panel"), ("#complete", "#completed")):
        page.click(opener)
        assert beyond(page, dialog, window) == [0, 0, 0, 0], dialog
        assert page.evaluate(f"() => document.querySelector('{dialog}').scrollTop") == 0
        page.keyboard.press("Escape")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= window[0]


def test_a_mark_has_one_colour_in_the_list_and_on_the_shapes(page: Any) -> None:
    page.click("#parked summary")
    listed = page.evaluate(
        """() => nhoStudio.state().pairs.map(({ key }) => [key, getComputedStyle(
          document.querySelector(`#anchors li[data-key="${key}"] .dot`)).backgroundColor])"""
    )
    drawn = page.evaluate(
        """() => {
          const paint = document.createElement("p");
          document.body.append(paint);
          const marks = nhoStudio.page.marksOn("full").filter(({ key }) => key !== null);
          return marks.map(({ key, colour }) => {
            paint.style.background = colour;
            return [key, getComputedStyle(paint).backgroundColor];
          });
        }"""
    )
    assert listed == drawn
    assert len({colour for _, colour in drawn}) == 15
    for colour in page.evaluate("() => [...Array(500).keys()].map(markColour)"):
        assert 25 <= float(re.findall(r"[\d.]+", colour)[0]) <= 335  # red is for suspects


def test_far_and_sure_have_different_scales_of_colour(page: Any) -> None:
    page.keyboard.press("4")
    sure = page.locator("#legend .scale").evaluate("(one) => getComputedStyle(one).background")
    page.keyboard.press("5")
    page.wait_for_function("() => /0 .* units/.test(document.querySelector('#legend').textContent)")
    far = page.locator("#legend .scale").evaluate("(one) => getComputedStyle(one).background")
    assert sure != far


def test_a_search_is_not_called_a_match(page: Any) -> None:
    words = page.evaluate(
        """() => [[], nhoStudio.state().pairs].map((pairs) => {
          const job = { done: 0, next: 0.1, elapsed: 0, steps: 1, words: "", stage: "" };
          Object.assign(job, { loss: null, left: null });
          panel.showJob({ ...nhoStudio.state(), job, pairs }, true);
          return document.querySelector("#match").textContent;
        })"""
    )
    assert words == ["Searching…", "Matching…"]
