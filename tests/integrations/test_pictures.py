"""The pictures of docs/integrations.md can be drawn, and show colours."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "integration_pictures.py"


@pytest.mark.parametrize(("draw", "needs"), [("pyvista", "pyvista"), ("slicer", "slicer_core")])
def test_a_picture_shows_matching_colours(draw, needs, tmp_path):
    pytest.importorskip(needs)
    spec = importlib.util.spec_from_file_location("integration_pictures", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    getattr(tool, f"draw_{draw}")(tmp_path / "drawn.png")
    from matplotlib.image import imread

    pixels = imread(tmp_path / "drawn.png")[:, :, :3]
    assert (np.ptp(pixels, axis=2) > 0.2).mean() > 0.05  # coloured, not grey
