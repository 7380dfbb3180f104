"""Partial shapes with known truth (plane cuts, geodesic holes) and closed analytic meshes.

Every cut only drops faces. What is left keeps the parent's vertices and faces, in the parent's
order, so the ground truth of a cut is a list of indices and carries no error of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh, sum_at_vertices
from nho.geometry.subdivision import split_faces


@dataclass(frozen=True)
class Cut:
    """A partial mesh and where it comes from.

    Attributes
    ----------
    mesh : Mesh
        The partial shape.
    vertex_of_parent : (n_partial,) int array
        Index in the parent of every partial vertex, increasing.
    face_of_parent : (m_partial,) int array
        Index in the parent of every partial face, increasing.
    kept_vertices : (n_parent,) bool array
        Whether a parent vertex is still there.
    """

    mesh: Mesh
    vertex_of_parent: np.ndarray
    face_of_parent: np.ndarray
    kept_vertices: np.ndarray


def take_faces(mesh: Mesh, face_mask: np.ndarray) -> Cut:
    """The largest connected component (by area) of the chosen faces.

    Parameters
    ----------
    mesh : Mesh
    face_mask : (m,) bool array
        True for a face to keep. Faces are connected where they share an edge, not a mere vertex.
    """
    face_mask = np.asarray(face_mask)
    if face_mask.dtype != bool or face_mask.shape != (len(mesh.faces),):
        raise InputError(
            f"{mesh.name}: the face mask has shape {face_mask.shape} and type {face_mask.dtype}; "
            f"give one bool for each of the {len(mesh.faces)} faces"
        )
    if not face_mask.any():
        raise InputError(f"{mesh.name}: the cut leaves no face; cut away less")
    chosen = np.flatnonzero(face_mask)
    label = _edge_components(mesh.faces[chosen])
    area_of_component = np.bincount(label, weights=mesh.face_areas[chosen])
    face_of_parent = chosen[label == area_of_component.argmax()]
    faces = mesh.faces[face_of_parent]

    kept_vertices = np.zeros(len(mesh.vertices), dtype=bool)
    kept_vertices[faces] = True
    vertex_of_parent = np.flatnonzero(kept_vertices)
    new_index = np.cumsum(kept_vertices) - 1
    partial = Mesh(mesh.vertices[vertex_of_parent], new_index[faces], name=f"part of {mesh.name}")
    return Cut(partial, vertex_of_parent, face_of_parent, kept_vertices)


def cut_by_plane(
    mesh: Mesh,
    normal: np.ndarray,
    offset: float | None = None,
    keep_area: float | None = None,
) -> Cut:
    """Keep the faces that lie wholly on the positive side of a plane.

    Parameters
    ----------
    mesh : Mesh
    normal : (3,) float array
        Direction to keep; its length does not matter.
    offset : float, optional
        The plane is ``x . normal / |normal| = offset``, in the mesh's units.
    keep_area : float in (0, 1), optional
        Instead of ``offset``: the share of the area on the positive side. If the plane leaves
        several pieces, only the largest is kept, and the share is then smaller.
    """
    direction = np.asarray(normal, dtype=np.float64)
    if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
        raise InputError(f"The plane's normal is {normal}; give three finite numbers, not all 0")
    if (offset is None) == (keep_area is None):
        raise InputError("Give either the plane's offset or keep_area, one of the two")
    # Scaled by the largest entry first, so that tiny and huge normals keep their digits.
    direction = direction / np.abs(direction).max()
    height = mesh.vertices @ (direction / np.linalg.norm(direction))
    lowest = height[mesh.faces].min(axis=1)
    if keep_area is not None:
        if not 0 < keep_area < 1:
            raise InputError(f"keep_area is {keep_area}; give a share between 0 and 1")
        offset = _offset_for_area(lowest, mesh.face_areas, keep_area)
    if offset is None or not np.isfinite(offset):
        raise InputError(f"The plane's offset is {offset}; give a finite number")
    return take_faces(mesh, lowest >= offset)


def cut_by_balls(mesh: Mesh, count: int, radius: float, seed: int) -> Cut:
    """Cut ``count`` round holes: every face with a vertex inside a geodesic ball goes.

    Benchmarks of this kind (PFAUST) use 4 balls of radius 0.16, or 13 of radius 0.1.

    Parameters
    ----------
    mesh : Mesh
    count : int
        Number of balls; they may overlap.
    radius : float
        In units of the square root of the mesh's area, measured along edges.
    seed : int
        Draws the centres, without repetition, by the area around each vertex.
    """
    if not 1 <= count <= len(mesh.vertices):
        raise InputError(f"{count} balls; give between 1 and {len(mesh.vertices)} (the vertices)")
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"The balls' radius is {radius}; give a positive share of sqrt(area)")
    centres = ball_centres(mesh, count, seed)
    reach = radius * np.sqrt(mesh.area)
    removed = (distances_from(edge_graph(mesh), centres) <= reach).any(axis=0)
    return take_faces(mesh, ~removed[mesh.faces].any(axis=1))


def ball_centres(mesh: Mesh, count: int, seed: int) -> np.ndarray:
    """(count,) distinct random vertices, each as likely as the area around it."""
    # By area, so that a finely meshed hand does not collect the holes.
    around = sum_at_vertices(mesh, mesh.face_areas)
    if np.count_nonzero(around) < count:
        raise InputError(f"{mesh.name}: fewer than {count} vertices carry area; ask fewer balls")
    generator = np.random.default_rng(seed)
    return generator.choice(len(around), size=count, replace=False, p=around / around.sum())


def sphere(subdivisions: int = 3) -> Mesh:
    """Unit icosphere with ``10 * 4**subdivisions + 2`` vertices."""
    if not 0 <= subdivisions <= 8:
        raise InputError(f"{subdivisions} subdivisions; give 0 to 8")
    vertices, faces = _icosahedron()
    for _ in range(subdivisions):
        coarse = Mesh(vertices, faces)
        faces = split_faces(faces, len(vertices) + coarse.face_edges)
        vertices = np.vstack([vertices, vertices[coarse.edges].mean(axis=1)])
        vertices = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    return Mesh(vertices, faces, name="sphere")


def bumpy_sphere(n: int = 3, seed: int = 0) -> Mesh:
    """Sphere of ``n`` subdivisions with smooth seeded bumps, so that no symmetry is left."""
    ball = sphere(n)
    generator = np.random.default_rng(seed)
    directions = generator.normal(size=(6, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    heights = generator.uniform(-0.25, 0.35, size=6)
    bumps = np.exp(4 * (ball.vertices @ directions.T - 1)) @ heights
    return Mesh(ball.vertices * (1 + bumps)[:, None], ball.faces, "bumpy-sphere")


def torus(around: int = 32, across: int = 16, ratio: float = 0.4) -> Mesh:
    """Torus of ring radius 1 and tube radius ``ratio``, with ``around * across`` vertices."""
    if around < 3 or across < 3 or not 0 < ratio < 1:
        raise InputError("A torus needs 3 or more vertices each way and a ratio between 0 and 1")
    i, j = np.divmod(np.arange(around * across), across)
    ring, tube = 2 * np.pi * i / around, 2 * np.pi * j / across
    out = 1 + ratio * np.cos(tube)
    vertices = np.column_stack([out * np.cos(ring), out * np.sin(ring), ratio * np.sin(tube)])
    east, north = (i + 1) % around * across, (j + 1) % across
    a, b, c, d = i * across + j, east + j, east + north, i * across + north
    faces = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Mesh(vertices, faces, name="torus")


def _edge_components(faces: np.ndarray) -> np.ndarray:
    """(m,) component label of every face, through shared edges."""
    edges = np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, edge_id = np.unique(edges, axis=0, return_inverse=True)
    edge_id = edge_id.ravel()
    face_id = np.tile(np.arange(len(faces)), 3)
    # A graph of faces and edges together: no list of face pairs, however many meet at an edge.
    size = len(faces) + edge_id.max() + 1
    links = coo_matrix((np.ones(len(edge_id)), (face_id, len(faces) + edge_id)), shape=(size, size))
    return connected_components(links, directed=False)[1][: len(faces)]


def _offset_for_area(lowest: np.ndarray, areas: np.ndarray, keep_area: float) -> float:
    """Height above which the faces' summed area comes nearest to the wanted share."""
    order = np.argsort(-lowest, kind="stable")
    kept = np.cumsum(areas[order])
    # Faces of equal height stand or fall together: only the last of each tie is a real choice.
    last = np.flatnonzero(np.r_[np.diff(lowest[order]) != 0, True])
    best = last[np.abs(kept[last] - keep_area * kept[-1]).argmin()]
    return float(lowest[order[best]])


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    golden = (1 + np.sqrt(5)) / 2
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    flat = np.column_stack([np.zeros(4), signs[:, 0], signs[:, 1] * golden])
    vertices = np.vstack([np.roll(flat, k, axis=1) for k in range(3)])
    # Faces are the triples of mutual neighbours (edge length 2), facing outward.
    near = np.abs(np.linalg.norm(vertices[:, None] - vertices, axis=2) - 2) < 0.1
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    outward = [f if np.linalg.det(vertices[list(f)]) > 0 else (f[0], f[2], f[1]) for f in faces]
    return vertices / np.linalg.norm(vertices[0]), np.array(outward, dtype=np.int64)
