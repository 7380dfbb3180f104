"""Files that a person chooses together, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.io.landmarks import Landmarks, write_landmarks
from nho.studio import Studio
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_studio_browser import settle, tab
from tests.studio.test_tutorial_browser import choose

__all__ = ["tab"]  # the fixture


def written(folder: Path, whole: Mesh, piece: Cut) -> None:
    rows = np.linspace(0, piece.mesh.n_vertices - 1, 5).astype(int)
    names = [f"p{row}" for row in range(5)]
    for name, mesh, at in (
        ("b_scan", piece.mesh, rows),
        ("a_template", Mesh(whole.vertices + 10, whole.faces), piece.vertex_of_parent[rows]),
    ):
        mesh.write(folder / f"{name}.ply")
        points = SurfacePoints.at_vertices(mesh, at)
        write_landmarks(folder / f"{name}.csv", Landmarks.at(mesh, points, names), mesh)


def test_two_meshes_and_their_landmarks_are_opened_at_once(
    tab: Any, studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    written(tmp_path, whole, piece)
    page = tab()
    choose(page, 'figure[data-side="full"] .empty button', *sorted(tmp_path.iterdir()))
    assert "Which of the two is the scan?" in page.inner_text("#which-scan")
    page.get_by_role("button", name="b_scan.ply").click()
    page.wait_for_function(DRAWN)
    settle(page, "s.pairs.filter((p) => p.partial && p.full).length === 5")
    shapes = page.evaluate("() => nhoStudio.state().shapes")
    assert (shapes["partial"]["name"], shapes["full"]["name"]) == ("b_scan.ply", "a_template.ply")
    # Who closes the question opens nothing.
    studio.session.mirror("partial")
    settle(page, "s.shapes.partial.name.startsWith('mirrored')")
    choose(page, 'figure[data-side="full"] figcaption .open', *sorted(tmp_path.glob("*.ply")))
    page.keyboard.press("Escape")
    assert not page.locator("#which-scan").is_visible()
    assert page.evaluate("() => nhoStudio.state().shapes.partial.name") == "mirrored b_scan.ply"


def test_an_image_without_its_mesh_is_told_what_it_needs(tab: Any, tmp_path: Path) -> None:
    (tmp_path / "skin.png").write_bytes(b"any")
    page = tab()
    choose(page, 'figure[data-side="full"] .empty button', tmp_path / "skin.png")
    page.wait_for_function("() => document.querySelector('#notice').className === 'error'")
    assert page.inner_text("#notice") == "skin.png belongs to a mesh: drop or choose both together."
