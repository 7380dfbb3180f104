"""A mirrored shape and a completed scan, by the buttons of the page in a real browser."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from nho.studio.outcome import MatchOutcome
from tests.studio.paired import open_pair
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_look_browser import changes
from tests.studio.test_placements import found
from tests.studio.test_projects_browser import downloaded, tmp_named
from tests.studio.test_studio_browser import settle, tab

__all__ = ["found", "tab"]  # the fixtures


def turn_between(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """(3, 3) orthogonal matrix that lays (n, 3) points best on others; may be a reflection."""
    left, _, right = np.linalg.svd((source - source.mean(0)).T @ (target - target.mean(0)))
    return left @ right


def test_a_shape_is_mirrored_by_its_button(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut
) -> None:
    studio.session.open("partial", Mesh(piece.mesh.vertices, piece.mesh.faces, "scan.ply"))
    studio.session.open("full", Mesh(whole.vertices, whole.faces, "template.ply"))
    page = tab()
    page.wait_for_function(DRAWN)

    def mirror() -> None:
        page.click("#project summary")
        page.click('.mirror[data-side="partial"]')
        settle(page, "s.shapes.partial.name === 'mirrored scan.ply'")

    changes(page, "partial", mirror)
    assert "mirrored scan.ply" in page.inner_text('figure[data-side="partial"] figcaption')
    assert "mirrored" not in page.inner_text('figure[data-side="full"] figcaption')
    # The same shape by a reflection, its triangles still facing outwards.
    image = studio.session.shape("partial").mesh
    turn = turn_between(piece.mesh.vertices, image.vertices)
    assert np.linalg.det(turn) < 0
    np.testing.assert_allclose(
        (piece.mesh.vertices - piece.mesh.vertices.mean(0)) @ turn,
        image.vertices - image.vertices.mean(0),
        atol=1e-6,
    )
    assert (piece.mesh.faces != image.faces).any()


def test_a_scan_is_completed_by_its_link(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    open_pair(studio, whole, piece)
    studio.session.outcome = MatchOutcome(*studio.session.both(), (), found, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    made = Mesh.read(tmp_named(downloaded(page, "#more", "complete.ply"), ".ply"))
    # It holds the scan, and goes on where the scan ends.
    _, gaps = project(made, piece.mesh.vertices)
    assert np.median(gaps) < 0.02 * np.sqrt(whole.area)
    lost = np.setdiff1d(np.arange(whole.n_vertices), piece.vertex_of_parent)
    _, gaps = project(made, whole.vertices[lost])
    _, gaps_before = project(piece.mesh, whole.vertices[lost])
    assert np.median(gaps) < 0.25 * np.median(gaps_before)


def test_a_completed_scan_is_seen_in_two_colours(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    open_pair(studio, whole, piece)
    studio.session.outcome = outcome = MatchOutcome(*studio.session.both(), (), found, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    page.locator("#complete").click()
    page.wait_for_function("() => document.querySelector('#completed-legend').textContent")
    told = page.inner_text("#completed-legend")
    share = round(outcome.completion.summary()["measured_percent"])
    assert f"measured, {share} % of the area" in told and "predicted by the template" in told
    assert re.search(r"within [\d.]+ units of the true surface", told)
    # The scan is a cap of the shape: from its side teal is seen, from the other orange.
    near, far = stage_pixels(page), stage_pixels(page, half_turn=True)
    assert teal(near) > 5 * teal(far) and orange(far) > 5 * orange(near) and orange(far) > 2000
    # It turns by keys as well, and goes away.
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(50)
    assert (stage_pixels(page) != far).any()
    with page.expect_download() as coming:
        page.click('#completed a[href="download/complete.ply"]')
    made = Mesh.read(tmp_named(Path(coming.value.path()), ".ply"))
    assert made.n_vertices == outcome.completion.mesh.n_vertices
    page.keyboard.press("Escape")
    assert not page.locator("#completed").is_visible()


def stage_pixels(page: Any, half_turn: bool = False) -> np.ndarray:
    if half_turn:
        page.locator("#completed .marks").focus()
        for _ in range(26):  # of 0.12 radians each
            page.keyboard.press("ArrowRight")
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    shot = page.locator("#completed .stage").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def teal(picture: np.ndarray) -> int:
    return int((picture[:, :, 2] > picture[:, :, 0] + 40).sum())


def orange(picture: np.ndarray) -> int:
    return int((picture[:, :, 0] > picture[:, :, 2] + 60).sum())
