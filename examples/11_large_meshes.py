"""Large meshes

Beyond 10,000 vertices (`solve_vertices`) both shapes are made coarse, matched, and the answer is
carried up to every vertex. Nothing has to be decimated beforehand; a million vertices take about
as long as reading them. Here: 20,000 vertices against 30,000.
"""

import numpy as np

import nho
from nho.evaluation.sample import load_sample
from nho.geometry.subdivision import subdivided

sample = load_sample("plane")
picked = nho.sample_vertices(sample.partial, 20)
anchors = np.stack([picked, sample.truth_vertex[picked]], axis=1)

# Finer meshes of the same shapes; the first vertices are the old ones, so the anchors still hold.
scan = subdivided(sample.partial, 20_000).mesh
template = subdivided(sample.full, 30_000).mesh

result = nho.match(scan, template, anchors, progress=lambda event: None)
print(f"{scan.n_vertices} against {template.n_vertices} vertices")
for note in result.notes:
    print(note)
for stage, seconds in result.timings.items():
    share = seconds / result.timings["total"]
    print(f"{stage:>11} {share:4.0%}")

# The old vertices have a known truth: how far are they off, in percent of sqrt(area)?
truth = nho.SurfacePoints(sample.truth_face, sample.truth_barycentric).positions(sample.full)
found = result.points.positions(template)[: sample.partial.n_vertices]
error = 100 * np.linalg.norm(found - truth, axis=1).mean() / np.sqrt(sample.full.area)
print(f"mean error {error:.2f} %")
