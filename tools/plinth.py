"""A scan on a plinth for the tutorial: `python tools/plinth.py FOLDER`.

Writes `scan.ply`, the upper half of a body that stands on a plinth, `template.ply`, a whole body in
another pose, and `anchors.csv`, twenty pairs of vertices. None of them is on the plinth.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from nho.evaluation.sample import load_pair
from nho.geometry.foreign import PROFILES, stitched_on
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import cut_by_plane
from nho.io.attributes import Attributes, write_with_attributes

UP = np.array([0.0, 1.0, 0.0])


def write(folder: Path) -> None:
    """The three files."""
    pair = load_pair()
    cut = cut_by_plane(pair.posed, UP, keep_area=0.6)
    bust, unit = cut.mesh, float(np.sqrt(pair.full.area))
    scan = stitched_on(bust, bust.boundary_vertices, UP, PROFILES["plinth"], unit)
    chosen = sample_vertices(bust, 20)
    partners = pair.posed_on_full[cut.vertex_of_parent[chosen]].nearest_vertex(pair.full)
    folder.mkdir(parents=True, exist_ok=True)
    for name, mesh in (("scan", scan), ("template", pair.full)):
        write_with_attributes(folder / f"{name}.ply", mesh, Attributes())
    rows = [f"{own},{other}\n" for own, other in zip(chosen, partners, strict=True)]
    (folder / "anchors.csv").write_text("partial,full\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "plinth"))
