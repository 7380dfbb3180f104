"""Labels carried over, and the template fitted to the scan

The template has labels; through the match the scan gets them, never mixed at their borders. And
the whole template, deformed onto the scan, is a guess of what the scan lacks, with the template's
vertices and faces. `nho transfer` and `nho fit` do both for files.
"""

import numpy as np
import pictures
from matplotlib import colormaps

import nho
from nho.evaluation.sample import load_sample
from nho.geometry.geodesics import distances_from, edge_graph
from nho.transfer import Transfer, fit_template

sample = load_sample("plane")
scan, template = sample.partial, sample.full
picked = nho.sample_vertices(scan, 25)
result = nho.match(scan, template, np.stack([picked, sample.truth_vertex[picked]], axis=1))

# Labels of the template: eight parts, each around a vertex. Yours come with the file.
centres = nho.sample_vertices(template, 8)
labels = distances_from(edge_graph(template), centres).argmin(axis=0)

carry = Transfer(result, scan, template, source="full")
carried = carry.vertices(labels)
print(
    f"{carried.known.mean():.0%} of the scan's vertices have a label, {np.unique(carried.values)}"
)

fit = fit_template(result, scan, template)
fit.mesh.write("09_fitted.ply")
for name, value in fit.summary().items():
    print(f"{name:>22} {value:.4g}")

palette = (255 * np.array(colormaps["Set2"].colors)).astype(np.uint8)
scan_view, template_view = pictures.views(scan, template, result)
there = np.where(fit.on_scan[:, None], (0, 158, 115), (215, 215, 215)).astype(np.uint8)
pictures.save(
    "09_transfer_and_fit.png",
    [
        (template, palette[labels], "template with labels", template_view),
        (scan, palette[carried.values], "scan with its labels", scan_view),
        (fit.mesh, there, "fitted template; green: on the scan", scan_view),
    ],
    crisp=True,
)
