"""An order of vertices and faces that only the surface and its anchors decide.

Training amplifies the rounding of sums, and sums depend on order. So the solver never sees the
order of a file: a shuffled mesh gives the same bits, and a moved or scaled one the same order.
"""

from __future__ import annotations

import numpy as np

from nho.geodesics import distances_from, edge_graph
from nho.mesh import Mesh

_LARGE = 50_000  # vertices from which straight distances do: 25 searches of a graph take long


def canonical_order(mesh: Mesh, anchored: np.ndarray) -> np.ndarray:
    """(n,) vertices by their summed distance to the anchored ones, nearest first.

    Distances are those of the edge graph, or straight ones in a large mesh. Ties, which only
    symmetry makes, are broken by coordinates.
    """
    x, y, z = mesh.vertices.T
    # Every sum goes from small to large or from left to right: free of the order of the anchors.
    if len(mesh.vertices) > _LARGE:
        total = np.zeros(len(mesh.vertices))
        for vertex in anchored[np.lexsort((z[anchored], y[anchored], x[anchored]))]:
            total += np.linalg.norm(mesh.vertices - mesh.vertices[vertex], axis=1)
    else:
        distances = distances_from(edge_graph(mesh), anchored)
        distances[np.isinf(distances)] = 0.0  # another component: its own anchors decide
        total = np.sort(distances, axis=0).sum(axis=0)
    return np.lexsort((z, y, x, total))


def reordered(mesh: Mesh, order: np.ndarray) -> tuple[Mesh, np.ndarray]:
    """The mesh with vertices in ``order`` and faces sorted, and the (m,) old index of each face.

    Corners keep their order within a face, so barycentric weights stay what they were.
    """
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    faces = place[mesh.faces]
    face_order = np.lexsort(np.sort(faces, axis=1).T[::-1])
    return Mesh(mesh.vertices[order], faces[face_order], mesh.name), face_order
