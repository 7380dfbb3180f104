"""The report of large meshes: small enough to open, and still true."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.result import MatchResult
from nho.report import render_report, scene
from nho.settings import Settings


@pytest.fixture
def example(monkeypatch) -> tuple[Mesh, Mesh, MatchResult]:
    """A known match of 2,562 vertices, with drawing limited to far fewer."""
    monkeypatch.setattr(scene, "_MOST", 1000)
    monkeypatch.setattr(scene, "_COARSE", 400)
    full = bumpy_sphere(4, seed=3)
    cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
    points = SurfacePoints.at_vertices(full, cut.vertex_of_parent)
    rows = np.array([1200, 7, 333, 801])
    result = MatchResult(
        vertex_map=cut.vertex_of_parent,
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.linspace(0, 1, len(points)),
        region=cut.kept_vertices,
        region_score=np.where(cut.kept_vertices, 0.9, 0.1),
        anchors=np.stack([rows, cut.vertex_of_parent[rows]], axis=1),
        settings=Settings(),
    )
    return Mesh(cut.mesh.vertices, cut.mesh.faces, "piece.ply"), full, result


def scene_of(text: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1])


def unpack(text: str, kind: str, columns: int = 1) -> np.ndarray:
    rows = np.frombuffer(base64.b64decode(text), dtype=kind)
    return rows if columns == 1 else rows.reshape(-1, columns)


def test_a_large_mesh_is_drawn_coarsely_with_everything_in_its_own_numbers(example):
    partial, full, result = example
    scene = scene_of(render_report(partial, full, dataclasses.replace(result, next_anchor=55)))
    number = {name: unpack(scene[name]["number"], "<u4") for name in ("partial", "full")}
    for name, mesh in (("partial", partial), ("full", full)):
        assert 250 < len(number[name]) < 600
        drawn = unpack(scene[name]["positions"], "<f4", 3).astype(float)
        faces = unpack(scene[name]["faces"], "<u4", 3)
        there = mesh.vertices[number[name]]
        # The same places up to the scale and shift that frame the shape.
        drawn, there = drawn - drawn.mean(axis=0), there - there.mean(axis=0)
        scale = (drawn * there).sum() / (there**2).sum()
        np.testing.assert_allclose(drawn, scale * there, atol=1e-5)
        assert faces.max() < len(number[name])
        for colours in scene[name]["colours"].values():
            assert len(unpack(colours, "u1", 3)) == len(number[name])
    rows = number["partial"]
    np.testing.assert_array_equal(unpack(scene["partnerVertex"], "<i4"), result.vertex_map[rows])
    np.testing.assert_allclose(unpack(scene["confidence"], "<f4"), result.confidence[rows])
    score = result.region_score[number["full"]]
    np.testing.assert_allclose(unpack(scene["regionScore"], "<f4"), score)
    anchors = np.array(scene["anchors"])
    np.testing.assert_array_equal(number["partial"][anchors[:, 0]], result.anchors[:, 0])
    np.testing.assert_array_equal(number["full"][anchors[:, 1]], result.anchors[:, 1])
    assert rows[scene["nextAnchor"]] == 55


def test_partners_are_those_of_the_vertices_drawn(example):
    partial, full, result = example
    scene = scene_of(render_report(partial, full, result))
    rows = unpack(scene["partial"]["number"], "<u4")
    partner = unpack(scene["partner"], "<f4", 3)
    drawn, number = (
        unpack(scene["full"]["positions"], "<f4", 3),
        unpack(scene["full"]["number"], "<u4"),
    )
    both = np.isin(result.vertex_map[rows], number)
    at = np.searchsorted(number, result.vertex_map[rows][both])
    assert both.sum() > 20
    np.testing.assert_allclose(partner[both], drawn[at], atol=1e-6)


def test_the_page_says_that_it_shows_a_coarse_version_and_only_then(example, monkeypatch):
    partial, full, result = example
    text = render_report(partial, full, result)
    assert "piece.ply and bumpy-sphere: too large to draw whole" in text
    assert "2,562" in text  # the figures are of the mesh as given
    monkeypatch.setattr(scene, "_MOST", 2000)
    assert "bumpy-sphere: too large" in render_report(partial, full, result)
    monkeypatch.setattr(scene, "_MOST", 3000)
    whole = render_report(partial, full, result)
    assert "too large" not in whole and len(whole) > 2 * len(text) - 60_000
    assert len(unpack(scene_of(whole)["full"]["number"], "<u4")) == 2562


def test_corners_that_only_lie_on_each_other_are_drawn_as_one_surface(example):
    """Every triangle with corners of its own, as an STL without welding would have them."""
    partial, full, result = example
    corners = full.faces.ravel()
    soup = Mesh(full.vertices[corners], np.arange(len(corners)).reshape(-1, 3), "soup")
    kept = np.array([5, 6, 4000])
    drawn = scene.drawn_part(soup, kept)
    assert np.isin(kept, drawn.vertex).all()
    np.testing.assert_array_equal(drawn.vertex[drawn.row(kept)], kept)
    surface = Mesh(soup.vertices[drawn.vertex], drawn.faces)
    assert surface.area > 0.95 * full.area
    assert 250 < len(drawn.vertex) < 600
