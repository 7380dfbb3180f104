"""The page for everybody: axe-core finds nothing, in light and dark, and Mesa draws it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from tests.studio.paired import open_pair, true_marks
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_studio_browser import READY, settle

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RULES = """async () => {
  const about = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] };
  const found = await axe.run(document, about);
  const html = (fault) => fault.nodes.map((node) => node.html.slice(0, 90)).join(" | ");
  return found.violations.map((fault) => `${fault.id}: ${html(fault)}`);
}"""
DRIVER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
}"""


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def page(request: Any, browser: Any, studio: Studio) -> Iterator[Any]:
    context = browser.new_context(color_scheme=request.param, bypass_csp=True)
    page = context.new_page()
    page.goto(studio.address)
    page.wait_for_function(READY)
    yield page
    context.close()


def faults(page: Any) -> list[str]:
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm install)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RULES)


def test_nothing_shuts_anybody_out(page: Any, studio: Studio, whole: Mesh, piece: Cut) -> None:
    assert faults(page) == []  # the start page
    open_pair(studio, whole, piece)
    parked = true_marks(whole, piece, 15).pairs[1].full
    assert parked is not None
    studio.session.change(lambda marks: marks.with_landmarks("full", [("inion", parked)]))
    page.wait_for_function(DRAWN)
    settle(page, "s.pairs.length === 15")
    page.click("#match")
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    page.click("#parked summary")
    assert faults(page) == []
    for menu in ("#look", "#project", "#more"):
        page.click(f"{menu} summary")
        assert faults(page) == [], menu
        page.keyboard.press("Escape")
    page.click("#complete")
    page.wait_for_function("() => document.querySelector('#completed-legend').textContent")
    assert faults(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert faults(page) == []
    page.keyboard.press("Escape")
    # And what would shut somebody out is found.
    page.evaluate("() => document.querySelector('#help').removeAttribute('aria-label')")
    page.evaluate("() => { document.querySelector('#get-zip').style.color = '#777'; }")
    assert any(fault.startswith("color-contrast") for fault in faults(page))


def test_all_is_reached_by_keys(page: Any, studio: Studio, whole: Mesh, piece: Cut) -> None:
    open_pair(studio, whole, piece)
    page.wait_for_function(DRAWN)
    settle(page, "s.pairs.length === 14")
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("() => document.activeElement.id || document.activeElement.className")
        )
    wanted = {"marks", "find", "load-anchors", "save-anchors", "clear", "match", "preset", "dot"}
    assert wanted <= reached, wanted - reached
    # A menu is opened, used and left without a pointer.
    page.locator("#look summary").focus()
    page.keyboard.press("Enter")
    page.locator("#same-size").focus()
    page.keyboard.press("Space")
    assert page.locator("#same-size").is_checked()
    page.keyboard.press("Escape")
    assert page.locator("#look[open]").count() == 0


def test_software_draws_no_more_pixels_than_it_must(browser: Any, studio: Studio) -> None:
    context = browser.new_context(device_scale_factor=2)
    page = context.new_page()
    page.goto(studio.address)
    page.wait_for_function(READY)
    page.click("#sample")
    page.wait_for_function(DRAWN)
    driver = page.evaluate(DRIVER)
    if "llvmpipe" not in driver and "SwiftShader" not in driver:
        pytest.skip(f"{driver} is no software")
    assert page.evaluate("() => devicePixelRatio") == 2
    page.wait_for_function("() => nhoStudio.stages.full.view.dots === 1")
    context.close()
