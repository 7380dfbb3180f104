"""Anchors from coordinates and from files of other programs

Points that were clicked in another program are coordinates, not vertices, and lie a little off
the surface. They are projected to it. Files of 3D Slicer (`.mrk.json`, `.fcsv`), MeshLab (`.pp`)
and others come one a shape, and their points are paired by name.
"""

import numpy as np

import nho
from nho.evaluation.sample import load_sample

sample = load_sample("plane")
scan, template = sample.partial, sample.full

# Named points on either shape, as if clicked: up to 2 mm off.
picked = nho.sample_vertices(scan, 14)
names = tuple(f"point {number}" for number in range(1, 15))
off = np.random.default_rng(0).uniform(-0.002, 0.002, (2, 14, 3))  # the sample is in metres
on_scan = scan.vertices[picked] + off[0]
on_template = template.vertices[sample.truth_vertex[picked]] + off[1]

anchors = nho.Anchors.from_positions(scan, template, on_scan, on_template, names)
print(f"{len(anchors)} anchors, at most {1000 * anchors.gaps.max():.1f} mm off the surfaces")

# To files and back: the scan's points for 3D Slicer, the template's for MeshLab ...
files = ("02_scan.mrk.json", "02_template.pp")
nho.write_anchors(files, anchors, scan, template)
from_programs = nho.read_anchors(files, scan, template)
print("paired by name:", ", ".join(from_programs.names[:3]), "...")

# ... or both in one table of vertices.
vertices = from_programs.vertices(scan, template)
nho.write_anchors("02_pairs.csv", vertices)
from_table = nho.read_anchors("02_pairs.csv", scan, template)

result = nho.match(scan, template, from_programs)
print(f"mean confidence {result.confidence.mean():.2f}")
