"""One number and one name everywhere: page, report, files and command."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nho
from nho.cli.match import print_summary
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.problem.result import DESCRIPTION, MatchResult
from nho.studio import Studio
from nho.studio.outcome import MatchOutcome
from tests.studio.paired import open_pair
from tests.studio.test_anchors_browser import DRAWN
from tests.studio.test_placements import found
from tests.studio.test_studio_browser import settle, tab

__all__ = ["found", "tab"]  # the fixtures


def test_confidence_warnings_and_names_are_the_same_wherever_they_are_told(
    tab: Any,
    studio: Studio,
    whole: Mesh,
    piece: Cut,
    found: nho.MatchResult,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    open_pair(studio, whole, piece)
    studio.session.change(lambda marks: marks.renamed(3, "left porion"))
    pairs = studio.session.marks.complete
    names = tuple(pair.name for pair in pairs)
    told = replace(
        found, anchor_names=names, warnings=("look at left porion",), suspect_anchors=(2,),
        notes=("housekeeping",),
    )  # fmt: skip
    studio.session.outcome = MatchOutcome(*studio.session.both(), pairs, told, 1)
    page = tab()
    page.wait_for_function(DRAWN)
    settle(page, "s.outcome && document.querySelector('input[value=correspondence]').checked")
    with page.expect_download() as coming:
        page.click("#get-zip")
    zipfile.ZipFile(coming.value.path()).extractall(tmp_path)
    out = tmp_path / "result"

    mean = f"{told.summary()['mean_confidence']:.2f}"
    figures = page.inner_text("#figures")
    assert f"Mean confidence\n{mean}" in figures
    report = (out / "report.html").read_text(encoding="utf-8")
    assert re.search(rf"<dt>Mean confidence</dt><dd>{mean}<", report)
    assert f"{MatchResult.load(out).summary()['mean_confidence']:.2f}" == mean
    print_summary(told, out)
    printed = capsys.readouterr()
    assert f"mean confidence {mean}" in printed.out

    assert page.locator("#warnings li").all_inner_texts() == ["look at left porion"]
    assert "warning: look at left porion" in printed.err and "(1 note in it)" in printed.out
    about = json.loads((out / DESCRIPTION).read_text(encoding="utf-8"))
    assert about["warnings"] == ["look at left porion"] and about["notes"] == ["housekeeping"]

    listed = page.evaluate("() => nhoStudio.state().pairs.map(({ name }) => name)")
    assert listed == list(names) == about["anchor_names"]
    suspect = page.locator("#pairs li.suspect input").input_value()
    assert suspect == "left porion" and "left porion" in report
    viewer = json.loads(re.findall(r'<script[^>]*id="scene"[^>]*>(.*?)</script>', report, re.S)[0])
    assert viewer["names"] == listed and viewer["suspects"] == [2]
    anchors = json.loads((out / "anchors.json").read_text(encoding="utf-8"))
    assert "left porion" in json.dumps(anchors)
