"""The report shows the shapes as they were scanned, when it is given what their files hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.io.attributes import COLOUR, Attributes
from nho.report import own_look, render_report
from tests.checker_texture import checker_texture, colour_changes, picture_of
from tests.report.test_report import example


def textured(mesh: Mesh) -> Attributes:
    """A few repeats of the image across the shape, whose triangles are larger than its squares."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    return Attributes(
        uv=((mesh.vertices - low) / (high - low))[mesh.faces][:, :, :2],
        textures=(checker_texture(),),
    )


def opened(browser: Any, path: Path, files: tuple[Attributes, Attributes] | None) -> Any:
    path.write_text(render_report(*example(2), files=files), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_function("window.nhoReport !== undefined")
    return page


def seen(page: Any, name: str) -> np.ndarray:
    page.locator("#show-anchors").uncheck()
    page.evaluate("nhoReport.drawNow()")
    return picture_of(page.locator(f'.stage[data-shape="{name}"]').screenshot(), 80)


def test_textures_and_colours_of_the_files_are_a_view_of_their_own(
    browser: Any, tmp_path: Path
) -> None:
    partial, full, _ = example(2)
    blue = np.tile(np.array([30, 30, 220], dtype=np.uint8), (partial.n_vertices, 1))
    files = Attributes(vertex={COLOUR: blue}), textured(full)
    page = opened(browser, tmp_path / "report.html", files)
    page.wait_for_function("nhoReport.views.full.texture")
    before = seen(page, "full")
    page.get_by_text("As scanned").click()
    assert colour_changes(seen(page, "full")) > 5
    scan = seen(page, "partial")
    assert (scan[:, :, 2] > scan[:, :, 0] + 60).mean() > 0.5
    assert "Colours and textures of the files" in page.inner_text("#viewer")
    page.get_by_text("Correspondence", exact=True).click()
    np.testing.assert_array_equal(seen(page, "full"), before)
    page.close()


def test_without_them_there_is_no_such_view(browser: Any, tmp_path: Path) -> None:
    for files in (None, (Attributes(), Attributes())):
        page = opened(browser, tmp_path / "report.html", files)
        assert page.get_by_text("As scanned").count() == 0
        page.close()


def test_images_that_are_too_large_or_damaged_stay_out_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, full, _ = example(2)
    given = textured(full)
    assert own_look.packed_texture(full, given) is not None
    damaged = given.replace(textures=(given.textures[0].__class__("a.png", b"rubbish"),))
    assert own_look.packed_texture(full, damaged) is None
    monkeypatch.setattr(own_look, "MOST_IMAGES", 100)
    assert own_look.packed_texture(full, given) is None
