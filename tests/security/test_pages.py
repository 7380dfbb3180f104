"""Names of files, anchors, methods and messages are text in every page, also for a real browser."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab.bench.figures.gallery import render_gallery
from nho.lab.bench.report_page import write_report_page
from nho.problem.anchors import read_anchors
from nho.report import render_report
from nho.report.result_folder import write_outputs
from tests.lab.bench.figures.test_pictures import known_case
from tests.lab.bench.test_report_page import hostile
from tests.report.test_report import example

EVIL = "</script><script>hit=1</script><img src=x onerror=hit=2><svg onload=hit=3>\"'{{ 7*7 }}&lt;"
FILE = "<img src=x onerror=hit=4>\"'{{ 7*7 }}.ply"  # a file's name has no slash


def real_match(folder: Path) -> Path:
    """The page of a match whose files and anchors are called so."""
    full = bumpy_sphere(2, seed=1)
    cut = cut_by_plane(full, np.array([1.0, 0.2, 0.0]), keep_area=0.6)
    names = [folder / f"partial{FILE}", folder / f"full{FILE}"]
    cut.mesh.scaled(7.0).write(names[0])
    full.write(names[1])
    chosen = np.linspace(0, len(cut.mesh.vertices) - 1, 9).astype(int)
    rows = [f'{p},{cut.vertex_of_parent[p]},"{p}{FILE}"' for p in (*chosen, chosen[0])]
    text = "partial,full,name\n" + "\n".join(row.replace("\"'", "'") for row in rows)
    (folder / "anchors.csv").write_text(text)
    partial, whole = map(Mesh.read, names)
    anchors = read_anchors(folder / "anchors.csv", partial, whole)
    result = nho.match(partial, whole, anchors, nho.preset("default").replace(rounds=0))
    assert any("onerror" in note for note in result.notes)
    write_outputs(folder / "out", partial, whole, result, {EVIL: EVIL})
    return folder / "out" / "report.html"


def made_up_match(folder: Path) -> Path:
    """The page of a result that somebody wrote by hand."""
    partial, full, result = example()
    partial = Mesh(partial.vertices, partial.faces, EVIL)
    full = Mesh(full.vertices, full.faces, EVIL)
    texts = {
        "status": EVIL,
        "warnings": (EVIL,),
        "notes": (EVIL,),
        "anchor_names": (EVIL,) * len(result.anchors),
        "timings": {EVIL: 1.0},
    }
    curves = {EVIL: [{EVIL: 1.0}, {EVIL: 2.0}]}
    result = dataclasses.replace(result, **texts, curves=curves)
    page = folder / "report.html"
    page.write_text(render_report(partial, full, result, {EVIL: EVIL}))
    return page


def gallery(folder: Path) -> Path:
    case = known_case(EVIL)
    case = dataclasses.replace(case, results={EVIL: case.results["good"]})
    page = folder / "gallery.html"
    page.write_text(render_gallery([case, case], EVIL))
    return page


def bench_index(folder: Path) -> Path:
    (folder / "main").mkdir(exist_ok=True)
    return write_report_page(folder, [hostile(folder)], {EVIL: EVIL})


PAGES = {"match": real_match, "result": made_up_match, "gallery": gallery, "bench": bench_index}


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names on Windows")
@pytest.mark.parametrize(
    "make",
    [pytest.param(PAGES[name], marks=[pytest.mark.slow] * (name == "bench")) for name in PAGES],
    ids=PAGES,
)
def test_no_name_runs_a_script_in_a_browser(
    browser: Any,
    tmp_path: Path,
    make: Callable[[Path], Path],
) -> None:
    path = make(tmp_path)
    page = browser.new_page()
    alarms: list[str] = []
    page.on("dialog", lambda dialog: alarms.append(dialog.message))
    page.on("console", lambda message: alarms.append(message.text))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_timeout(200)
    assert page.evaluate("typeof window.hit") == "undefined"
    # Elements that only the names could have made.
    made = "[...document.querySelectorAll('[onerror], [onload], img[src=x]')].length"
    assert page.evaluate(made) == 0
    words = page.evaluate("document.documentElement.innerText")
    assert "onerror=" in words and "{{ 7" in words and "49" not in page.title()
    page.close()
    assert [text for text in alarms if "WebGL" not in text and "GL Driver" not in text] == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
