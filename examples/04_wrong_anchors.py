"""Wrong anchors are found

Four of twenty-four anchors are wrong: two partners exchanged (left for right, say), two at random
places. Anchors that contradict the others are named and not used, from eight anchors on.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_sample
from nho.report.colours import position_colours, transfer_colours

sample = load_sample("plane")
scan, template = sample.partial, sample.full
picked = nho.sample_vertices(scan, 24)
anchors = np.stack([picked, sample.truth_vertex[picked]], axis=1)

anchors[[3, 11], 1] = anchors[[11, 3], 1]
anchors[[7, 20], 1] = np.random.default_rng(0).choice(template.n_vertices, 2)

result = nho.match(scan, template, anchors)
for warning in result.warnings:
    print(warning)
print("named:", *(result.anchor_name(row) for row in result.suspect_anchors))

# How much they would have harmed: mean distance to the true points, in percent of sqrt(area), of
# what has a partner.
truth = nho.SurfacePoints(sample.truth_face, sample.truth_barycentric).positions(template)
believed = nho.match(scan, template, anchors, nho.preset("default").replace(anchor_limit=0.0))
errors = {}
for name, answer in (("with the check", result), ("without it", believed)):
    away = np.linalg.norm(answer.points.positions(template) - truth, axis=1)
    errors[name] = 100 * np.nanmean(away) / np.sqrt(template.area)
    lost = 100 * np.isnan(away).mean()
    print(f"{name}: off by {errors[name]:.2f} %, {lost:.0f} % without a partner")

colours = position_colours(template)
view, _ = pictures.views(scan, template, result)
pictures.save(
    "04_wrong_anchors.png",
    [
        (scan, transfer_colours(template, result, colours), "partners with the check", view),
        (scan, transfer_colours(template, believed, colours), "without it", view),
    ],
)
