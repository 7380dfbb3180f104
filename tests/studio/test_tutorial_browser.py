"""The tutorial for morphologists, step by step, from two files to a checked result."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.skull import BROKEN_OFF, PLACES, WRONG, surface, write

from nho.geometry.mesh import Mesh
from nho.io.landmarks import read_landmarks
from nho.problem.result import MatchResult
from tests.studio.test_anchors_browser import DRAWN, names_of
from tests.studio.test_projects_browser import downloaded, tmp_named
from tests.studio.test_studio_browser import settle, tab

__all__ = ["tab"]  # the fixture
pytestmark = pytest.mark.slow  # its steps have quicker tests of their own


def choose(page: Any, button: str, *files: Path) -> None:
    with page.expect_file_chooser() as asked:
        page.locator(button).click()
    asked.value.set_files(list(files))


def test_from_two_files_to_a_checked_result(tab: Any, tmp_path: Path) -> None:
    write(tmp_path, subdivisions=4)
    page = tab()
    for side, name in (("partial", "scan.ply"), ("full", "template.ply")):
        choose(page, f'figure[data-side="{side}"] .empty button', tmp_path / name)
        page.wait_for_function(f"() => nhoStudio.state().shapes.{side}")
    page.wait_for_function(DRAWN)
    choose(page, "#load-anchors", tmp_path / "template.csv", tmp_path / "scan.csv")
    both = len(PLACES) - len(BROKEN_OFF)
    settle(page, f"s.pairs.filter((p) => p.partial && p.full).length === {both}")
    assert sorted(names_of(page, "p.state === 'parked'")) == sorted(BROKEN_OFF)
    page.click("#match")
    settle(page, "s.outcome && s.outcome.warnings.length")
    first = page.locator("#warnings li").first.inner_text()
    assert first.startswith(f"anchor {WRONG} ") and "correct or remove it" in first
    row = page.locator("#pairs li.suspect")
    assert row.locator("input").input_value() == WRONG
    row.locator(".delete").click()
    settle(page, "s.outcome.stale")
    page.click("#match")
    settle(page, "s.outcome && !s.outcome.stale")
    page.wait_for_function("() => !document.querySelector('#warnings li')")
    # The landmarks that broke off, placed by the fitted template, near where they were.
    path = tmp_named(downloaded(page, "#more", "scan-landmarks.csv"), ".csv")
    found = read_landmarks(path)
    places = dict(zip(found.names, found.position, strict=True))
    true = surface(np.array(list(PLACES.values()), dtype=float), 1.0)
    own = np.array([places[name] for name in PLACES if name in places])
    apart = np.linalg.norm(own[:, None] - own, axis=2)
    rows = [row for row, name in enumerate(PLACES) if name in places]
    truly = np.linalg.norm(true[rows, None] - true[rows], axis=2)
    assert set(BROKEN_OFF) <= set(places)
    assert np.abs(apart - truly).max() < 15  # millimetres, of some 200
    with page.expect_download() as coming:
        page.click("#get-zip")
    zipfile.ZipFile(io.BytesIO(Path(coming.value.path()).read_bytes())).extractall(tmp_path)
    result = MatchResult.load(tmp_path / "result")
    assert result.status == "ok" and len(result.anchors) == both - 1
    assert Mesh.read(tmp_path / "result" / "partial.ply").n_vertices == len(result.vertex_map)
