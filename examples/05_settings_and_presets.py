"""Settings, presets and baselines side by side

`default` is the preset to use, `paper` follows the paper, and every number of both is a setting
that can be changed. Here `paper` is cut short to one reciprocal round and plain ZoomOut; complete,
it takes 10 s and ends at an error of 22 and an IoU of 57 %. Baselines answer the same question with
less. In the picture green is right, orange too much, purple missed.
"""

import pictures

import nho
from nho.lab import baselines
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.figures.cases import support_colours

pair = FAMILIES["synthetic"].load(None, "body-plane-2")  # about 1,000 vertices, with the truth
scan, template, anchors = pair.partial, pair.full, pair.anchors(25)

default, paper = nho.preset("default"), nho.preset("paper")
both = [name for name in default.flat() if name in paper.flat()]
differing = [name for name in both if default.flat()[name] != paper.flat()[name]]
print("the presets differ in", ", ".join(differing))
one_round = paper.replace(rounds=1, refinement="zoomout")

results = {
    "default": nho.match(scan, template, anchors, default),
    "no bending": nho.match(scan, template, anchors, default.replace(bend=False)),
    "paper, one round": nho.match(scan, template, anchors, one_round),
    "anchor-distance": baselines.run("anchor-distance", scan, template, anchors),
    "nearest": baselines.run("nearest", scan, template, anchors),
}
errors, panels = {}, []
for name, result in results.items():
    score = nho.evaluate(result, template, pair.truth)
    errors[name] = score.geodesic_error
    print(f"{name:>16}: error {score.geodesic_error:5.2f}, IoU {score.iou:.1f} %")
    _, view = pictures.views(scan, template, results["default"])
    panels.append((template, support_colours(result.region, pair.truth.region), name, view))

pictures.save("05_settings_and_presets.png", panels, crisp=True)
