"""Which faces run the other way round than their neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nho.geometry.mesh import BoolArray, Mesh


def faces_to_turn(mesh: Mesh) -> BoolArray:
    """(m,) bool: the fewest faces to turn over so that neighbours run the same way round.

    Neighbours share an edge that no third face uses. Patches that cannot be made to agree, such
    as a Moebius strip, are left as they are.
    """
    first, second, agree = _neighbours(mesh)
    m = len(mesh.faces)
    if agree.all():
        return np.zeros(m, dtype=bool)
    # Every face stands for two nodes, as it is (f) and turned over (f + m). An edge joins the
    # states that agree, so a component is a choice for a whole patch, and has a mirror image.
    other = np.where(agree, second, second + m)
    mirrored = np.where(agree, second + m, second)
    start, end = np.concatenate([first, first + m]), np.concatenate([other, mirrored])
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(2 * m, 2 * m))
    _, label = connected_components(graph, directed=False)
    as_it_is, turned = label[:m], label[m:]
    faces_kept = np.bincount(as_it_is, minlength=label.max() + 1)
    more_kept = faces_kept[turned] - faces_kept[as_it_is]
    # In a tie the choice that leaves the first face of the patch alone, which has the lower label.
    to_turn: BoolArray = (more_kept > 0) | ((more_kept == 0) & (turned < as_it_is))
    return to_turn


def _neighbours(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of faces at an edge of two (first, second), and whether they run the same way round."""
    m = len(mesh.faces)
    start, end = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    face = np.repeat(np.arange(m), 3)
    key = np.minimum(start, end) * mesh.n_vertices + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    key, face, upward = key[order], face[order], (start < end)[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    uses = np.diff(begins, append=len(key))
    pairs = begins[uses == 2]
    # Seen from the same side, two neighbours run along their edge in opposite directions.
    return face[pairs], face[pairs + 1], upward[pairs] != upward[pairs + 1]
