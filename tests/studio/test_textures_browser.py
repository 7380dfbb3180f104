"""Textures in a real browser: the whole image is seen, not only its colours at vertices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, Texture, write_with_attributes
from nho.studio import Studio
from tests.checker_texture import checker_texture, colour_changes, picture_of
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_studio_browser import settle, tab
from tests.studio.test_tutorial_browser import choose

__all__ = ["tab"]  # the fixture


def slab(name: str) -> Mesh:
    """A thin slab: two triangles in front, two behind, eight around."""
    corners = np.array([[x, y, z] for z in (0.0, 0.05) for x in (0.0, 1.0) for y in (0.0, 0.8)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [half for a, b, c, d in sides for half in ((a, b, c), (a, c, d))]
    return Mesh(corners, np.array(faces), name)


def checkered(mesh: Mesh) -> Attributes:
    """Fine squares all over it, laid on by x and y."""
    uv = mesh.vertices[mesh.faces][:, :, :2] / (1.0, 0.8)
    return Attributes(uv=uv, textures=(checker_texture(),))


def pixels(page: Any, side: str) -> np.ndarray:
    """(h, w, 3) of the middle of a stage."""
    page.evaluate("() => Object.values(nhoStudio.stages).forEach((stage) => stage.drawNow())")
    return picture_of(page.locator(f'.stage[data-shape="{side}"]').screenshot())


@pytest.mark.parametrize(("suffix", "count"), [(".obj", 3), (".glb", 1)])
def test_a_fine_checker_on_two_triangles_is_really_seen(
    tab: Any, studio: Studio, tmp_path: Path, suffix: str, count: int
) -> None:
    for side in ("partial", "full"):
        mesh = slab(side)
        write_with_attributes(tmp_path / f"{side}{suffix}", mesh, checkered(mesh))
    page = tab()
    # As it lies on a disk: the mesh, its material and its image, chosen together.
    for side in ("partial", "full"):
        files = sorted(tmp_path.glob(f"{side}*"))
        assert len(files) == count
        choose(page, f'figure[data-side="{side}"] .empty button', *files)
        page.wait_for_function(f"() => nhoStudio.state().shapes.{side}")
    page.wait_for_function(DRAWN)
    for side in ("partial", "full"):
        page.wait_for_function(f"() => nhoStudio.stages.{side}.view.textured")
        face_on(page, side)
        seen = pixels(page, side)
        # Of the eight vertices none lies inside, so colours at vertices could not change there.
        assert colour_changes(seen) > 2, side
        assert (abs(seen[:, :, 0] - seen[:, :, 2]) > 60).mean() > 0.5
    if suffix == ".obj":
        works_as_before(page)


def face_on(page: Any, side: str) -> None:
    """Look at the large side."""
    page.evaluate(
        """(side) => {
          const view = nhoStudio.stages[side].view;
          view.rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];
          view.depthIsOld = true;
        }""",
        side,
    )


def works_as_before(page: Any) -> None:
    """Marks, cuts, opacity and plain colours on a textured shape."""
    box = page.locator('.stage[data-shape="partial"]').bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page, "s.pairs.length === 1")
    vertex = page.evaluate("() => nhoStudio.state().pairs[0].partial.position")
    assert vertex[:2] == pytest.approx([0.5, 0.4], abs=0.05)
    page.keyboard.press("Control+z")
    settle(page, "s.pairs.length === 0")
    before = pixels(page, "full")
    slide(page, "#fade-full", 70)
    assert (pixels(page, "full") != before).any(axis=2).mean() > 0.4
    slide(page, "#fade-full", 0)
    slide(page, "#cut-full", 60)
    assert colour_changes(pixels(page, "full")) == 0  # it lies before the plane as a whole
    slide(page, "#cut-full", 0)
    assert (pixels(page, "full") == before).all()
    page.click("#look summary")
    page.uncheck("#own-colours")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !nhoStudio.stages.full.view.textured")
    assert colour_changes(pixels(page, "full")) == 0


def slide(page: Any, slider: str, percent: int) -> None:
    page.click("#look summary")
    page.locator(slider).fill(str(percent))
    page.keyboard.press("Escape")  # the menu lies over the template


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"\x89PNG\r\n\x1a\n rubbish of some length", "too large"), (b"no image", "PNG or JPEG")],
)
def test_an_image_that_cannot_be_shown_is_told(
    tab: Any, studio: Studio, data: bytes, words: str
) -> None:
    mesh = slab("bad.obj")
    about = checkered(mesh).replace(textures=(Texture("skin.png", data),))
    page = tab()
    studio.session.open("partial", mesh, about)
    page.wait_for_function("() => nhoStudio.stages.partial.view")
    page.wait_for_function(
        f"() => document.querySelector('#notice').textContent.includes({words!r})"
    )
    assert "skin.png" in page.inner_text("#notice")


def test_an_image_that_breaks_off_is_told(tab: Any, studio: Studio) -> None:
    mesh = slab("bad.obj")
    whole = checkered(mesh)
    broken = Texture("skin.png", whole.textures[0].data[:60])
    page = tab()
    studio.session.open("partial", mesh, whole.replace(textures=(broken,)))
    page.wait_for_function("() => document.querySelector('#notice').className === 'error'")
    assert "skin.png: the texture cannot be read" in page.inner_text("#notice")
    page.wait_for_function("() => nhoStudio.stages.partial.view")  # and the shape is there
