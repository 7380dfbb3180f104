"""Found anchors in a real browser: placements side by side, and what lies inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from tests.studio.paired import open_pair
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_placements import found, offer
from tests.studio.test_studio_browser import settle, tab

__all__ = ["found", "tab"]  # the fixtures


def test_the_user_takes_one_of_several_placements(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    page = tab()
    offer(studio, whole, piece, found)
    page.locator("#choices .card").nth(1).wait_for()
    assert "chance 60 %" in page.inner_text("#choices .card >> nth=0")
    pictures = page.locator("#choices canvas").evaluate_all(
        "(all) => all.map((c) => c.toDataURL())"
    )
    assert len(set(pictures)) == 4 and min(map(len, pictures)) > 1000
    page.locator("#choices .card").nth(1).click()
    settle(page, "s.outcome && s.pairs.length === 12 && !s.choices.length")
    page.locator("#choices").wait_for(state="hidden")
    assert studio.session.outcome is not None
    np.testing.assert_array_equal(
        studio.session.outcome.result.vertex_map, found.alternatives[0].vertex_map
    )
    page.keyboard.press("Control+z")
    settle(page, "s.pairs.length === 0")


def test_a_few_pairs_are_completed(tab: Any, studio: Studio, whole: Mesh, piece: Cut) -> None:
    open_pair(studio, whole, piece, 4)
    page = tab()
    page.wait_for_function(DRAWN)
    settle(page, "s.pairs.length === 4")
    assert page.inner_text("#find") == "Add what is missing"
    page.click("#find")
    settle(page, "s.outcome && s.pairs.length === 12")
    told = "() => document.querySelector('#notice').textContent.includes('8 pairs were found')"
    page.wait_for_function(told)


def test_a_suggestion_inside_opens_the_shape(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_pair(studio, whole, piece, 3)
    inside = {"vertex": 0, "position": [0, 0, 0], "at": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    told = {"why": "far from the other anchors", "at": [0, 0, 0], "mark": inside, "inside": True}
    monkeypatch.setattr("nho.studio.session_state.suggested_anchor", lambda *_: told)
    studio.session.change(lambda marks: marks.renamed(1, "first"))
    page = tab()
    page.wait_for_function(DRAWN)
    page.keyboard.press("n")
    page.wait_for_function("() => nhoStudio.stages.partial.view.cut > 0.2")
    seen = "() => !nhoStudio.stages.partial.view.project([0, 0, 0]).hidden"
    page.wait_for_function(seen)
    assert float(page.input_value("#cut-partial")) > 20


@pytest.mark.slow  # a search; the tests above take its result as given
def test_anchors_are_found_by_the_shapes_alone(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    studio.session.open("partial", Mesh(piece.mesh.vertices, piece.mesh.faces, "scan.ply"))
    studio.session.open("full", Mesh(whole.vertices, whole.faces, "template.ply"))
    page = tab()
    page.set_default_timeout(180_000)
    page.wait_for_function(DRAWN)
    assert page.inner_text("#find") == "Find anchors"
    page.click("#find")
    settle(page, "s.job")
    settle(page, "!s.job && (s.outcome || s.choices.length)")
    if page.evaluate("() => nhoStudio.state().choices.length"):
        page.locator("#choices .card").first.click()
    settle(page, "s.outcome && s.pairs.length === 12 && !s.choices.length")
    page.locator("#pairs li").nth(11).wait_for()
    pairs = studio.session.marks.anchors(piece.mesh, whole)
    true = whole.vertices[piece.vertex_of_parent[pairs.partial.nearest_vertex(piece.mesh)]]
    gaps = np.linalg.norm(pairs.full.positions(whole) - true, axis=1)
    assert np.median(gaps) < 0.1 * np.sqrt(whole.area)
