"""The view of a result and the widget for anchors, in JupyterLab in a real browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.faults.running import wait_until

anywidget = pytest.importorskip("anywidget")

HOMES = ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
CELLS = (
    """
import numpy as np, nho
from nho.integrations.anchor_widget import AnchorWidget
scan, template = nho.Mesh.read("scan.ply"), nho.Mesh.read("template.ply")
widget = AnchorWidget(scan, template, np.load("pairs.npy"))
widget
""",
    "nho.match(scan, template, np.load('pairs.npy'))",
)


def widget_of(piece, whole, anchors=None):
    from nho.integrations.anchor_widget import AnchorWidget

    return AnchorWidget(piece.mesh, whole, anchors)


def ray_to(shape, vertex):
    """A ray from outside onto a face, next to its corner, in the coordinates of the stage."""
    centre, radius = shape.frame
    face = int(np.argmax((shape.mesh.faces == vertex).any(axis=1)))
    corners = shape.mesh.vertices[[vertex, *shape.mesh.faces[face]]]
    at = ([0.7, 0.1, 0.1, 0.1] @ corners - centre) / radius
    outside = at + 0.1 * shape.mesh.face_normals[face]
    return {"origin": outside.tolist(), "direction": (at - outside).tolist()}


def test_clicks_become_anchors_and_a_match(piece, whole, pairs):
    widget = widget_of(piece, whole)
    for partial, full in pairs:
        for side, vertex in (("partial", partial), ("full", full)):
            ray = ray_to(widget._shown[side], vertex)
            widget._receive(None, {"do": "place", "side": side, **ray}, None)
    found = widget.anchors.vertices(piece.mesh, whole)
    np.testing.assert_array_equal(found, pairs)
    widget._receive(None, {"do": "undo"}, None)
    assert len(widget.anchors) == len(pairs) - 1
    widget._receive(None, {"do": "match"}, None)
    assert widget.message.startswith("ok: ") and not widget.busy
    assert len(widget.colours["partial"]) == 3 * piece.mesh.n_vertices
    assert widget.result.status == "ok"


def test_what_is_wrong_is_said_in_the_widget(piece, whole, pairs):
    widget = widget_of(piece, whole, pairs[:2])
    widget._receive(None, {"do": "match"}, None)
    assert "at least 3" in widget.message and widget.result is None


def notebook(folder: Path) -> None:
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell{number}",
            "metadata": {},
            "outputs": [],
            "source": source.strip(),
        }
        for number, source in enumerate(CELLS)
    ]
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5})
    (folder / "match.ipynb").write_text(text, encoding="utf-8")


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def lab(tmp_path, piece, whole, pairs) -> Iterator[str]:
    """The address of a running JupyterLab with the notebook in it."""
    pytest.importorskip("jupyterlab")
    piece.mesh.write(tmp_path / "scan.ply")
    whole.write(tmp_path / "template.ply")
    np.save(tmp_path / "pairs.npy", pairs)
    notebook(tmp_path)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [
        "--IdentityProvider.token=",
        "--allow-root",
        f"--ServerApp.root_dir={tmp_path}",
    ]
    options += [f"--port={port}", "--ServerApp.port_retries=0"]
    options.append("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
    places = {name: str(tmp_path / name) for name in HOMES}
    server = subprocess.Popen(
        [*command, *options],
        cwd=tmp_path,
        env={**os.environ, **places},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/api/status"))
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def run_cell(page, number: int, shows: str) -> None:
    """Run a cell until it shows what it should.

    JupyterLab may ask for a new build because of other packages, and shows a widget as text while
    its own part that draws widgets is still loading.
    """
    shown = page.locator(shows)
    while not shown.count():
        if page.locator("dialog.jp-Dialog").count():
            page.keyboard.press("Escape")
        else:
            page.locator(".jp-CodeCell .cm-content").nth(number).click(force=True)
            page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(4_000)


def test_anchors_are_placed_and_matched_in_jupyterlab(lab, browser, tmp_path):
    page = browser.new_page(viewport={"width": 1300, "height": 1500})
    page.goto(f"{lab}lab/tree/match.ipynb")
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()
    run_cell(page, 0, ".nho-anchors")
    run_cell(page, 1, 'iframe[title="nho: both shapes in 3D"]')
    widget = page.locator(".nho-anchors")
    widget.wait_for()
    stage = widget.locator('.stage[data-shape="partial"] canvas.marks')
    stage.click(position={"x": 250, "y": 220})
    widget.locator('.stage[data-shape="full"] canvas.marks').click(position={"x": 250, "y": 220})
    message = widget.locator(".message")
    message.filter(has_text="9 pairs").wait_for()
    widget.locator("button", has_text="Undo").click()
    widget.locator("button", has_text="Match").click()
    message.filter(has_text="ok: ").wait_for()
    view = page.frame_locator('iframe[title="nho: both shapes in 3D"]')
    view.locator("canvas.shape >> nth=0").wait_for()
    view.locator("#no-webgl").wait_for(state="hidden")
    shown = os.environ.get("NHO_SCREENSHOTS")
    if shown:
        page.wait_for_timeout(1500)
        page.screenshot(path=Path(shown) / "notebook.png")
    page.close()
