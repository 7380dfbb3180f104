"""How far to trust each match, and where one more anchor would help most.

Confidence is the estimated probability that a match is less than `RADIUS` off, by a logistic
model of five signals. `python -m nho.lab.bench.fit_confidence` fits its numbers and draws how well
they hold on pairs that were left out of the fit.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.recipes.guided.distance_evidence import AnchorDistances

RADIUS = 0.03  # along the full shape, as a share of the square root of its area

_LEAST = 2e-3  # signals below it say no more
# One number a signal (of its logarithm), and a constant.
WEIGHTS = np.array([-0.541, -1.349, -0.602, -0.767, -0.867])
_CONSTANT = -9.648
# The same where anchors were found and not marked: to be near one means nothing then.
WEIGHTS_FOUND = np.array([0.0, -1.177, -0.233, -0.233, -0.868])
_CONSTANT_FOUND = -5.162
_ASKED = 60  # vertices that are considered for the next anchor
_REACH = 0.25  # of the present spacing: what a further anchor settles
_FARTHEST = 6.0  # reaches, beyond which it settles nothing that could be told


def signals(
    nearest: np.ndarray,
    distortion: np.ndarray,
    moved: np.ndarray,
    disagreement: np.ndarray,
    strain: float,
) -> np.ndarray:
    """(n_partial, 5) logarithms of what tells good matches from bad ones.

    Parameters
    ----------
    nearest : (n_partial,) float array
        Distance to the nearest anchor: far from all of them is less certain.
    distortion : (n_partial,) float array
        Relative elastic misfit of the final pose, averaged over a neighbourhood.
    moved : (n_partial,) float array
        From the first image (of the map the surface was bent from) to the last.
    disagreement : (n_partial,) float array
        Between the last image and the one proposed by the operator.
    strain : float
        Of the pose as a whole: where shapes differ more, all of their matches are less certain.
    """
    everywhere = np.full(len(nearest), strain)
    return np.log(_LEAST + np.stack([nearest, distortion, moved, disagreement, everywhere], axis=1))


def confidence(found: np.ndarray, pinned: bool = True) -> np.ndarray:
    """(n_partial,) probability, 0 to 1, that a match is less than `RADIUS` off.

    Parameters
    ----------
    found : (n_partial, 5) float array
        The `signals`.
    pinned : bool
        Whether the anchors could be relied on (setting ``pin_anchors``).
    """
    weights, constant = WEIGHTS, _CONSTANT
    if not pinned:
        weights, constant = WEIGHTS_FOUND, _CONSTANT_FOUND
    logit = np.clip(constant + found @ weights, -50, 50)
    return np.asarray(1 / (1 + np.exp(-logit)))


def where_to_add(trust: np.ndarray, distances: AnchorDistances, partial: Mesh) -> int:
    """Partial vertex where an anchor would remove most doubt.

    Every vertex doubts by what it lacks in trust; an anchor settles what is nearer to it than a
    quarter of the present spacing, and the better the nearer.
    """
    doubt = (1 - trust) * partial.vertex_areas
    order = np.argsort(-doubt, kind="stable")
    asked = order[np.linspace(0, max(len(order) // 2 - 1, 0), _ASKED).astype(np.int64)]
    reach = _REACH * distances.spacing
    away = distances_from(edge_graph(partial), asked, _FARTHEST * reach) / reach
    return int(asked[np.argmax(np.exp(-(away**2)) @ doubt)])
