"""How good is a match when the truth is known

The errors of the paper: distance along the template between the point found and the true one,
over the square root of its area, times 100; and how well the region overlaps the true one, by
area. `nho eval` prints the same for files.
"""

import numpy as np
from matplotlib.figure import Figure

import nho
from nho.evaluation.metrics import correct_share, geodesic_errors
from nho.evaluation.sample import load_sample

sample = load_sample("balls")
scan, template = sample.partial, sample.full
truth = nho.GroundTruth(
    nho.SurfacePoints(sample.truth_face, sample.truth_barycentric), sample.truth_region
)  # from a file: nho.read_ground_truth("pair.map", scan, template)

picked = nho.sample_vertices(scan, 20)
result = nho.match(scan, template, np.stack([picked, sample.truth_vertex[picked]], axis=1))

scores = nho.evaluate(result, template, truth)
for name, value in scores.as_dict().items():
    if np.isfinite(value):  # everything here has a partner, so there is none to find missing
        print(f"{name:>22} {value:6.2f}")

# Does confidence tell which matches are good? Errors of the surer and of the other half.
errors = 100 * geodesic_errors(template, result.points, truth.points)
surer = result.confidence >= np.median(result.confidence)
print(f"mean error: surer half {errors[surer].mean():.2f}, the rest {errors[~surer].mean():.2f}")

at = np.linspace(0, 5, 51)
figure = Figure(figsize=(6, 3), dpi=100, layout="constrained")
axes = figure.subplots()
for name, rows in (("surer half", surer), ("all", errors >= 0), ("other half", ~surer)):
    axes.plot(at, 100 * correct_share(errors[rows], at), label=name)
axes.set(xlabel="geodesic error x100", ylabel="% of vertices within", ylim=(0, 101), xlim=(0, 5))
axes.legend()
figure.savefig("06_metrics.png", metadata={"Software": None})
