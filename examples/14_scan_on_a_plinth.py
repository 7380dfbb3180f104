"""A scan that shows more than the template has

The scan shows the upper half of a body on a plinth; the template is a whole body, and has no
plinth. `overlap` tells which part of the scan has a partner at all, and the plinth pulls at
nothing.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_pair
from nho.geometry.foreign import PROFILES, stitched_on
from nho.geometry.synthetic import cut_by_plane
from nho.report.colours import position_colours, transfer_colours

pair = load_pair()
upwards = np.array([0.0, 1.0, 0.0])
upper = cut_by_plane(pair.posed, upwards, keep_area=0.6)
bust, template = upper.mesh, pair.full
unit = np.sqrt(template.area)
scan = stitched_on(bust, bust.boundary_vertices, upwards, PROFILES["plinth"], unit)

picked = nho.sample_vertices(bust, 20)
partners = pair.posed_on_full[upper.vertex_of_parent[picked]]
anchors = np.stack([picked, partners.nearest_vertex(template)], axis=1)
result = nho.match(scan, template, anchors)

plinth = np.arange(scan.n_vertices) >= bust.n_vertices
found = result.overlap < 0.5
print(f"{plinth.mean():.0%} of the vertices are plinth, {found.mean():.0%} are given no partner")
print(f"{found[plinth].mean():.0%} of the plinth is found, {found[~plinth].mean():.1%} of the body")

# The template, fitted to the scan without being pulled by the plinth.
fitted = result.fit().mesh
print(f"fitted: {fitted.n_vertices} vertices, {fitted.n_faces} faces, as the template has")

colours = position_colours(template)
scan_colours = transfer_colours(template, result, colours)  # grey where there is no partner
scan_view, template_view = pictures.views(scan, template, result)
pictures.save(
    "14_scan_on_a_plinth.png",
    [
        (scan, scan_colours, "scan; grey: no partner", scan_view),
        (template, colours, "template", template_view),
    ],
)
