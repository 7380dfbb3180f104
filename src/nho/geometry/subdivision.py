"""The same surface with more vertices, for measuring how things grow with size.

Old vertices keep their place and their index, so whatever is known about them stays true. New
ones lie in the middle of edges, lifted onto the smooth surface that the vertex normals suggest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh


@dataclass(frozen=True)
class Subdivided:
    """A finer mesh and where its vertices come from.

    Attributes
    ----------
    mesh : Mesh
        The first vertices are those of the mesh that was subdivided.
    steps : tuple of (k, 2) int arrays
        One array a step: the ends of the edges in whose middles the next k vertices lie.
    """

    mesh: Mesh
    steps: tuple[np.ndarray, ...]

    def grown(self, mask: np.ndarray) -> np.ndarray:
        """A bool per old vertex -> a bool per vertex: a middle is in where both ends are."""
        for ends in self.steps:
            mask = np.concatenate([mask, mask[ends].all(axis=1)])
        return mask


def subdivided(mesh: Mesh, count: int) -> Subdivided:
    """The mesh with ``count`` vertices: all edges are halved as often as fits, then the longest.

    Parameters
    ----------
    count : int
        At least the number of vertices the mesh has.
    """
    if count < len(mesh.vertices):
        raise InputError(
            f"{mesh.name}: cannot be subdivided to {count} vertices, it has {len(mesh.vertices)}"
        )
    steps = []
    while len(mesh.vertices) < count:
        missing = count - len(mesh.vertices)
        chosen = np.arange(len(mesh.edges))
        if missing < len(chosen):
            # A tie goes to the edge that comes first.
            chosen = np.sort(np.argsort(-mesh.edge_lengths, kind="stable")[:missing])
        steps.append(mesh.edges[chosen])
        mesh = with_middles(mesh, chosen)
    return Subdivided(mesh, tuple(steps))


def with_middles(mesh: Mesh, chosen: np.ndarray) -> Mesh:
    """Split the chosen edges, and the triangles beside them in two, three or four."""
    start, end = mesh.edges[chosen].T
    along = mesh.vertices[end] - mesh.vertices[start]
    normals = mesh.vertex_normals
    # The middle of the cubic that leaves either end within the tangent plane there.
    rise = [normals[i] * (normals[i] * along).sum(axis=1)[:, None] for i in (start, end)]
    middles = (mesh.vertices[start] + mesh.vertices[end]) / 2 + (rise[1] - rise[0]) / 8
    new_index = np.full(len(mesh.edges) + 1, -1)  # the last stands for "no edge"
    new_index[chosen] = len(mesh.vertices) + np.arange(len(chosen))
    faces = split_faces(mesh.faces, new_index[mesh.face_edges])
    return Mesh(np.concatenate([mesh.vertices, middles]), faces, mesh.name)


def split_faces(faces: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Triangles from faces and the (m, 3) vertices on their sides (-1 = not split)."""
    rows = np.arange(len(faces))[:, None]
    marked = middle >= 0
    number = marked.sum(axis=1)
    # Rotate the corners of every face so that a lone split side, or a lone whole one, comes first.
    first = np.where(number == 1, marked.argmax(axis=1), (~marked).argmax(axis=1))
    order = (first[:, None] + np.arange(3)) % 3
    a, b, c = faces[rows, order].T
    ab, bc, ca = middle[rows, order].T
    zero, one, two, three = (number == k for k in range(4))
    pieces = [(zero, a, b, c), (one, a, ab, c), (one, ab, b, c)]
    pieces += [(two, a, b, bc), (two, a, bc, ca), (two, ca, bc, c)]
    pieces += [(three, a, ab, ca), (three, b, bc, ab), (three, c, ca, bc), (three, ab, bc, ca)]
    return np.concatenate([np.stack([x[m], y[m], z[m]], axis=1) for m, x, y, z in pieces])
