"""Where to add an anchor

With few anchors some parts are less certain than others. `confidence` tells where, and
`next_anchor` names the scan vertex at which one more anchor would help most. Mark its partner,
match again, and repeat until you are content.
"""

import numpy as np
import pictures

import nho
from nho.evaluation.sample import load_sample
from nho.report.colours import scalar_colours

sample = load_sample("plane")
scan, template = sample.partial, sample.full
picked = list(nho.sample_vertices(scan, 5))

panels, mean_confidence, chosen = [], [], []
for _ in range(2):
    anchors = np.stack([picked, sample.truth_vertex[picked]], axis=1)
    result = nho.match(scan, template, anchors)
    sure = (result.confidence > 0.8).mean()
    mean_confidence.append(result.confidence.mean())
    print(
        f"{len(picked)} anchors: mean confidence {mean_confidence[-1]:.2f}, {sure:.0%} of the "
        f"vertices above 0.8; the next anchor belongs at scan vertex {result.next_anchor}"
    )
    view, _ = pictures.views(scan, template, result)
    words = f"{len(picked)} anchors (yellow: sure, violet: doubtful)"
    panels.append((scan, scalar_colours(result.confidence), words, view))

    chosen.append(result.next_anchor)
    picked.append(result.next_anchor)  # you would now mark its partner on the template

pictures.save("03_confidence_and_next_anchor.png", panels)
