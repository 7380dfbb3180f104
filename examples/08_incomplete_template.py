"""A template that is incomplete as well

The scan shows the upper half of a body, the template lacks the head and shoulders: only a part of
the scan has a partner at all. `overlap` tells which; the rest is given no match. Anchors must lie
in the common part.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_pair
from nho.geometry.synthetic import cut_by_plane
from nho.report.colours import position_colours, transfer_colours

pair = load_pair()
upwards = np.array([0.0, 1.0, 0.0])
upper = cut_by_plane(pair.posed, upwards, keep_area=0.6)
lower = cut_by_plane(pair.full, -upwards, keep_area=0.8)
scan, template = upper.mesh, lower.mesh

# The truth: where the scan's vertices lie on the template, if that part of it is there.
points = pair.posed_on_full[upper.vertex_of_parent]
face_left = np.full(pair.full.n_faces, -1)
face_left[lower.face_of_parent] = np.arange(template.n_faces)
common = face_left[points.face] >= 0

picked = nho.sample_vertices(scan, 20, candidates=np.flatnonzero(common))
partners = nho.SurfacePoints(face_left[points.face[picked]], points.barycentric[picked])
anchors = np.stack([picked, partners.nearest_vertex(template)], axis=1)
result = nho.match(scan, template, anchors)

found = result.overlap >= 0.5
right = (found == common).mean()
print(f"{common.mean():.0%} of the vertices have a partner, {found.mean():.0%} are given one")
print(f"the two agree at {right:.0%} of the vertices")

colours = position_colours(template)
scan_colours = transfer_colours(template, result, colours)  # grey where there is no partner
scan_view, template_view = pictures.views(scan, template, result)
pictures.save(
    "08_incomplete_template.png",
    [
        (scan, scan_colours, "scan; grey: no partner", scan_view),
        (template, colours, "template", template_view),
    ],
)
