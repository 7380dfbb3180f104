"""A shape space of partial shapes

Twelve generated shapes differ in two ways. Half of each is hidden; the shape space finds both ways
from what is left, with a standard error for every score, and completes a half that it has not seen.
`nho shapes results --out shapes` does the same for the scans of a batch, with a page to look at.
"""

import numpy as np

import nho
from nho.geometry.synthetic import bumpy_sphere

template = bumpy_sphere(3)
random = np.random.default_rng(0)
nose = np.exp(3 * (template.vertices[:, [2]] - 1))


def shape(longer, wider):
    """A longer nose, a wider head, and a scanner that is not exact."""
    exact = template.vertices * (1 + 0.15 * longer * nose) * [1 + 0.06 * wider, 1, 1]
    return exact + 0.002 * random.normal(size=exact.shape)


truth = random.normal(size=(12, 2))
positions = np.stack([shape(*each) for each in truth])
side = positions @ random.normal(size=3)
known = (side < np.median(side, axis=1, keepdims=True)).astype(float)  # 0 = not seen

space = nho.ShapeSpace.fit(positions, template, known)
print(f"{len(space.model.variances)} components explain {100 * space.explained.sum():.0f} %")
print("scores of the first shape:", np.round(space.scores[0], 4))
print("their standard errors:", np.round(space.score_errors[0], 4))

new = shape(1.0, -1.0)
seen = (template.vertices[:, 0] > 0).astype(float)
found = space.estimate(new, seen)
error = np.linalg.norm(found.positions - new, axis=1)[seen == 0]
print(f"unseen half: off by {np.median(error):.3f}, size of the shape {found.size:.2f}")
