"""An order of vertices and faces that only the surface decides.

Training amplifies the rounding of sums, and sums depend on order. So the solver never sees the
order of a file: a shuffled mesh gives the same bits, and a moved or scaled one the same order
(unless it is symmetric). Anchors do not count, so that a spectrum kept from one match serves the
next.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh


def canonical_order(mesh: Mesh) -> np.ndarray:
    """(n,) vertices by their distance to the mean vertex, nearest first.

    Ties, which only symmetry makes, are broken by coordinates.
    """
    x, y, z = mesh.vertices.T
    centre = np.sort(mesh.vertices, axis=0).mean(axis=0)  # summed from small to large: order-free
    return np.lexsort((z, y, x, np.linalg.norm(mesh.vertices - centre, axis=1)))


def reordered(mesh: Mesh, order: np.ndarray) -> tuple[Mesh, np.ndarray]:
    """The mesh with vertices in ``order`` and faces sorted, and the (m,) old index of each face.

    Corners keep their order within a face, so barycentric weights stay what they were.
    """
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    faces = place[mesh.faces]
    face_order = np.lexsort(np.sort(faces, axis=1).T[::-1])
    return Mesh(mesh.vertices[order], faces[face_order], mesh.name), face_order
