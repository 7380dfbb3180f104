"""Where does a fragment belong

Sometimes only the place matters: which part of the whole is this broken piece? `region` marks it
vertex by vertex, `region_score` says by how much, and the areas tell whether it can be true.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_pair
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.synthetic import take_faces

pair = load_pair()
template = pair.full

# A piece of the posed body: what lies within 0.2 sqrt(area) of a vertex of the face.
posed = pair.posed
away = distances_from(edge_graph(posed), np.array([2001]))[0]
near = away < 0.2 * np.sqrt(posed.area)
cut = take_faces(posed, near[posed.faces].all(axis=1))
fragment, truth = cut.mesh, pair.posed_on_full[cut.vertex_of_parent]

picked = nho.sample_vertices(fragment, 6)
anchors = np.stack([picked, truth[picked].nearest_vertex(template)], axis=1)
result = nho.match(fragment, template, anchors)

area = template.vertex_areas[result.region].sum()
print(f"the fragment has {fragment.area / template.area:.1%} of the template's area")
print(f"its region has {area / template.area:.1%}, {result.region.sum()} vertices")

grey, green = (205, 205, 205), (0, 158, 115)
colours = np.where(result.region[:, None], green, grey).astype(np.uint8)
template.write("07_region.ply", colours)  # open it in MeshLab or Blender

fragment_view, template_view = pictures.views(fragment, template, result)
plain = np.full((fragment.n_vertices, 3), green, dtype=np.uint8)
pictures.save(
    "07_region_of_a_fragment.png",
    [
        (fragment, plain, "fragment", fragment_view),
        (template, colours, "where it belongs", template_view),
    ],
    crisp=True,
)
