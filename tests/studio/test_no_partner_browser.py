"""What has no partner on the template, in a real browser: the headline, the colour, the legend."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nho
from nho.evaluation.sample import load_pair
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, cut_by_plane
from nho.report.colours import NO_PARTNER
from nho.studio import Studio
from nho.studio.marks import Marks, mark_at
from nho.studio.outcome import MatchOutcome
from tests.studio.paired import open_pair
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_placements import found
from tests.studio.test_studio_browser import settle, tab

__all__ = ["found", "tab"]  # the fixtures


def chosen_view(page: Any, name: str) -> np.ndarray:
    """(n, 3) colours of the scan in a view."""
    with page.expect_response(lambda answer: f"outcome/partial/{name}" in answer.url) as coming:
        page.locator(f'input[value="{name}"]').check(force=True)
    return np.frombuffer(coming.value.body(), dtype=np.uint8).reshape(-1, 3)


def test_what_has_no_partner_is_told_and_has_a_colour_of_its_own(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    alone = piece.mesh.vertices[:, 0] > np.quantile(piece.mesh.vertices[:, 0], 0.7)
    parted = replace(
        found,
        overlap=np.where(alone, 0.1, 0.9),
        vertex_map=np.where(alone, -1, found.vertex_map),
        face=np.where(alone, -1, found.face),
    )
    open_pair(studio, whole, piece)
    studio.session.outcome = MatchOutcome(*studio.session.both(), (), parted, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    area = piece.mesh.face_areas @ alone[piece.mesh.faces].mean(axis=1) / piece.mesh.area
    page.locator("#headline").wait_for()
    told = page.inner_text("#headline")
    assert (
        told.strip() == f"{round(100 * area)} % of the scan’s area has no partner on the template"
    )
    own = studio.session.shape("partial").drawn.vertex
    for view in ("region", "confidence"):
        painted = (chosen_view(page, view) == NO_PARTNER).all(axis=1)
        np.testing.assert_array_equal(painted, alone[own])
        assert "no partner on the template" in page.inner_text("#legend")
        shown = page.locator("#legend .swatch").last.evaluate(
            "(swatch) => getComputedStyle(swatch).backgroundColor"
        )
        assert tuple(map(int, re.findall(r"\d+", shown))) == NO_PARTNER
    # Where everything has a partner, nothing is said of it.
    studio.session.outcome = MatchOutcome(*studio.session.both(), (), found, 2)
    studio.session.change(lambda marks: marks)
    page.locator("#headline").wait_for(state="hidden")
    page.wait_for_function(
        "() => !document.querySelector('#legend').textContent.includes('no partner')"
    )


@pytest.mark.slow  # a match of the shipped sample; the test above has its parts
def test_a_template_that_is_incomplete_as_well(tab: Any, studio: Studio) -> None:
    pair, upwards = load_pair(), np.array([0.0, 1.0, 0.0])
    upper = cut_by_plane(pair.posed, upwards, keep_area=0.6)
    lower = cut_by_plane(pair.full, -upwards, keep_area=0.8)
    on_full = pair.posed_on_full[upper.vertex_of_parent]
    face_left = np.full(pair.full.n_faces, -1)
    face_left[lower.face_of_parent] = np.arange(lower.mesh.n_faces)
    common = face_left[on_full.face] >= 0
    rows = nho.sample_vertices(upper.mesh, 20, candidates=np.flatnonzero(common))
    partners = nho.SurfacePoints(face_left[on_full.face[rows]], on_full.barycentric[rows])
    marks = Marks()
    for row, own in enumerate(rows):
        at = nho.SurfacePoints.at_vertices(upper.mesh, np.array([own]))
        marks = marks.added(mark_at(at, 0), mark_at(partners, row))
    studio.session.open("partial", Mesh(upper.mesh.vertices, upper.mesh.faces, "upper.ply"))
    studio.session.open("full", Mesh(lower.mesh.vertices, lower.mesh.faces, "lower.ply"))
    studio.session.change(lambda _: marks)
    page = tab()
    page.set_default_timeout(120_000)
    page.wait_for_function(DRAWN)
    page.click("#match")
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    page.locator("#headline").wait_for()
    (told,) = re.findall(r"(\d+) % of the scan’s area has no partner", page.inner_text("#headline"))
    mesh = upper.mesh
    true = mesh.face_areas @ (~common)[mesh.faces].mean(axis=1) / mesh.area
    assert abs(int(told) / 100 - true) < 0.05
