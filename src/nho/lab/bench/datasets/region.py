"""Which vertices of the full shape a partial one shows: the one rule for all data sets."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.evaluation.ground_truth import region_around
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints


def true_region(
    full: Mesh,
    points: SurfacePoints,
    annotated: np.ndarray | None = None,
    kept: np.ndarray | None = None,
) -> np.ndarray:
    """(n_full,) bool: the part of the full shape that the partial one shows.

    No data set ships it; it follows from the true map, in one of two ways.

    *With template rows* (PFAUST, TOSCA): the full shape has annotated vertices of which it is known
    whether they were cut away. A vertex is in the region if the annotated vertex nearest to it,
    along edges, was kept. What is missing is known as well as what is there, so the rim is found to
    within half the distance of two annotated vertices, on either side.

    *With images only* (SHREC'16, PFARM): a vertex is in the region if it lies within 1.5 mean edge
    lengths of the full shape, along edges, of the image of some partial vertex. Less reach would
    leave gaps between the images where the partial mesh is the coarser one; this much puts the rim
    up to 1.5 edges too far out.

    Generated pairs do without: their cut is known on the very surface (`datasets.synthetic`).

    Parameters
    ----------
    full : Mesh
    points : SurfacePoints
        True image on ``full`` of every partial vertex; face -1 = not known.
    annotated : (k,) int array, optional
        Vertices of ``full`` that belong to template rows.
    kept : (k,) bool array, optional
        Whether the partial shape still has that row.
    """
    if annotated is None or kept is None:
        return region_around(full, points)
    _, _, source = dijkstra(
        edge_graph(full),
        directed=False,
        indices=annotated,
        min_only=True,
        return_predecessors=True,
    )
    is_kept = np.zeros(len(full.vertices), dtype=bool)
    is_kept[annotated[kept]] = True
    return np.where(source >= 0, is_kept[source], False)
