"""Matches whose map is known, for the tests of what is done with a match."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.synthetic import Cut
from nho.problem.result import MatchResult
from nho.settings import preset


def match_of(
    points: SurfacePoints,
    full: Mesh,
    region: np.ndarray,
    confidence: np.ndarray | None = None,
    scale: float = 1.0,
) -> MatchResult:
    """A finished match with the given map."""
    return MatchResult(
        vertex_map=points.nearest_vertex(full),
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.ones(len(points)) if confidence is None else confidence,
        region=region,
        region_score=region.astype(float),
        anchors=np.zeros((0, 2), dtype=np.int64),
        settings=preset("default"),
        scale=scale,
    )


def match_of_cut(
    cut: Cut, full: Mesh, confidence: np.ndarray | None = None, scale: float = 1.0
) -> MatchResult:
    """The true match of a piece that was cut out."""
    points = SurfacePoints.at_vertices(full, cut.vertex_of_parent)
    return match_of(points, full, cut.kept_vertices, confidence, scale)


def without(result: MatchResult, vertices: np.ndarray) -> MatchResult:
    """The same match with some partial vertices unmatched."""
    arrays = {name: array.copy() for name, array in result.arrays().items()}
    arrays["vertex_map"][vertices] = -1
    arrays["face"][vertices] = -1
    arrays["barycentric"][vertices] = np.nan
    return MatchResult(**arrays, anchors=result.anchors, settings=result.settings)


def random_points(mesh: Mesh, count: int, seed: int = 0) -> SurfacePoints:
    """Points inside random triangles."""
    random = np.random.default_rng(seed)
    return SurfacePoints(
        random.integers(0, mesh.n_faces, count), random.dirichlet([1, 1, 1], count)
    )


def tube(
    around: int, along: int, turn: float = 0.0, radius: float = 1.0, length: float = 2.0
) -> Mesh:
    """An open tube along z that looks outwards; its vertices go up first, then around."""
    angle, height = np.meshgrid(np.arange(around), np.arange(along + 1), indexing="ij")
    theta = 2 * np.pi * (angle / around + turn)
    across = radius * np.stack([np.cos(theta), np.sin(theta)], axis=2)
    vertices = np.concatenate([across, (length * height / along)[:, :, None]], axis=2)
    i, j = (
        grid.ravel() for grid in np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    )
    a, b = i * (along + 1) + j, (i + 1) % around * (along + 1) + j
    faces = np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)])
    return Mesh(vertices.reshape(-1, 3), faces, "tube")


def shell(around: int, along: int, thickness: float = 0.01) -> Mesh:
    """Two tubes, one in the other, the inner one looking inwards: a wall that is thin."""
    outer, inner = tube(around, along), tube(around, along, radius=1 - thickness)
    return Mesh(
        np.concatenate([outer.vertices, inner.vertices]),
        np.concatenate([outer.faces, inner.faces[:, ::-1] + outer.n_vertices]),
        "shell",
    )


def match_of_shells(coarse: Mesh, fine: Mesh) -> MatchResult:
    """Each side of a coarse shell on the same side of a fine one."""
    half, points = coarse.n_vertices // 2, []
    faces = fine.n_faces // 2
    for side in range(2):
        of_side = Mesh(fine.vertices, fine.faces[side * faces : (side + 1) * faces], "side")
        found, _ = project(of_side, coarse.vertices[side * half : (side + 1) * half])
        points.append(SurfacePoints(found.face + side * faces, found.barycentric))
    both = SurfacePoints(
        np.concatenate([of.face for of in points]),
        np.concatenate([of.barycentric for of in points]),
    )
    return match_of(both, fine, np.ones(fine.n_vertices, dtype=bool))
