"""What can be seen, in a real browser: colours of the file, cuts, checker, measures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.attributes import COLOUR, Attributes
from nho.studio import Studio
from tests.faults.running import wait_until
from tests.studio.paired import open_pair
from tests.studio.test_anchors_browser import DRAWN, seen
from tests.studio.test_studio_browser import settle, tab

__all__ = ["tab"]  # the fixture


def shot(page: Any, side: str) -> bytes:
    return page.locator(f'.stage[data-shape="{side}"]').screenshot()


def changes(page: Any, side: str, act: Any) -> bytes:
    """The picture after something that must change it."""
    before = shot(page, side)
    act()
    wait_until(lambda: shot(page, side) != before)
    return shot(page, side)


def test_colours_cuts_opacity_size_and_measures(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    red = np.tile(np.array([200, 30, 30], dtype=np.uint8), (piece.mesh.n_vertices, 1))
    scan = Mesh(piece.mesh.vertices / 2, piece.mesh.faces, "scan.ply")
    studio.session.open("partial", scan, Attributes(vertex={COLOUR: red}))
    studio.session.open("full", whole)
    page = tab()
    page.wait_for_function(DRAWN)
    page.click("#look summary")
    assert page.locator("#own-colours").is_checked()  # sutures and pigment are what people click on
    changes(page, "partial", lambda: page.uncheck("#own-colours"))
    changes(page, "partial", lambda: page.locator("#cut-partial").fill("45"))
    # Where the front is cut away, a click reaches what lies behind it.
    assert page.evaluate("() => nhoStudio.stages.partial.view.cut") == 0.45
    changes(page, "full", lambda: page.locator("#fade-full").fill("60"))
    page.locator("#cut-partial").fill("0")
    page.check("#same-size")
    sizes = page.evaluate("() => ['partial', 'full'].map((s) => nhoStudio.stages[s].view.size)")
    assert sizes[1] == 1 and 0.3 < sizes[0] < 0.7
    changes(page, "full", lambda: page.locator("#unit").select_option("mm"))  # on the scale bar
    # Two clicks on the template measure it.
    page.check("#measure")
    page.keyboard.press("Escape")
    places = seen(page, "full", whole)
    (first, start), (last, end) = places[0], places[-1]
    page.mouse.click(*start)
    page.wait_for_function(
        "() => document.querySelector('#measured').textContent.includes('second')"
    )
    page.mouse.click(*end)
    page.wait_for_function("() => document.querySelector('#measured').textContent.includes('mm')")
    told = page.inner_text("#measured")
    straight, along = map(float, re.findall(r"([\d.]+) mm", told))
    truth = np.linalg.norm(whole.vertices[first] - whole.vertices[last])
    assert straight == pytest.approx(truth, abs=2 * whole.mean_edge_length)
    assert straight <= along < 2.5 * straight
    assert page.evaluate("() => nhoStudio.state().pairs.length") == 0


@pytest.mark.slow  # test_placements.py asks the studio for the same colours
def test_checker_doubt_misfit_and_the_match_before(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    open_pair(studio, whole, piece, 14)
    page = tab()
    page.wait_for_function(DRAWN)
    page.click("#match")
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    assert page.locator("#compare").is_disabled()
    changes(page, "full", lambda: page.keyboard.press("c"))
    changes(page, "partial", lambda: page.keyboard.press("c"))
    page.click("#look summary")
    changes(page, "partial", lambda: page.check("#doubt"))
    page.uncheck("#doubt")
    page.keyboard.press("Escape")
    changes(page, "partial", lambda: page.keyboard.press("5"))
    page.wait_for_function(
        "() => /0 .* \\d\\S* units/.test(document.querySelector('#legend').textContent)"
    )
    # Another match, and how it differs from the one before.
    page.locator("#pairs .delete").first.click()
    settle(page, "s.outcome.stale")
    page.click("#match")
    settle(page, "s.comparable && s.outcome && !s.outcome.stale")
    page.keyboard.press("2")
    page.click("#look summary")
    page.locator("#compare").select_option("change")
    page.wait_for_function(
        "() => document.querySelector('#legend').textContent.includes('two matches')"
    )
    page.locator("#compare").select_option("swipe")
    page.wait_for_function("() => nhoStudio.stages.partial.view.swipe > 0")
    assert page.locator("#swipe").is_visible()
    # A line shows where one match ends and the other begins.
    page.evaluate("() => nhoStudio.stages.partial.drawNow()")
    assert page.evaluate(
        """() => {
          const { overlay, view } = nhoStudio.stages.partial, column = Math.round(view.swipe);
          const { data } = overlay.getContext("2d").getImageData(column, 0, 1, overlay.height);
          return data.filter((_, i) => i % 4 === 3 && data[i] > 100).length === overlay.height;
        }"""
    )
