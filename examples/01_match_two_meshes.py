"""Match two meshes

A scan of a part of a body in one pose, a template of the whole body in another, and 25 pairs of
matching vertices. Out come a partner on the template for every scan vertex, the region of the
template that the scan covers, and a confidence. In the picture the same colour is the same point.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_sample
from nho.report.colours import position_colours, region_colours, transfer_colours

sample = load_sample("plane")  # yours: nho.Mesh.read("scan.ply"), nho.Mesh.read("template.obj")
scan, template = sample.partial, sample.full

# The anchors come from you; here the known truth of the sample stands in for you.
picked = nho.sample_vertices(scan, 25)
anchors = np.stack([picked, sample.truth_vertex[picked]], axis=1)  # (scan, template) vertices

result = nho.match(scan, template, anchors)

print(f"{(result.vertex_map >= 0).sum()} of {scan.n_vertices} scan vertices have a partner")
print(f"the scan covers {result.region.mean():.0%} of the template's vertices")
print(f"mean confidence {result.confidence.mean():.2f}")

nho.write_outputs("01_result", scan, template, result)  # result.npz, coloured PLYs, report.html

colours = position_colours(template)
scan_view, template_view = pictures.views(scan, template, result)
scan_colours = transfer_colours(template, result, colours)
template_colours = region_colours(colours, result.region)
pictures.save(
    "01_match_two_meshes.png",
    [
        (scan, scan_colours, "scan, in the colours of its partners", scan_view),
        (template, template_colours, "template; grey: not covered", template_view),
    ],
)
