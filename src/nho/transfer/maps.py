"""The finished match as a map of surfaces: any point of one shape to a point of the other."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.result import HAS_PARTNER, MatchResult, stored_description
from nho.transfer.oriented import OrientedSurface

_ENOUGH = 0.5  # of a point's weight must be at matched corners, or inside the region
_JUMP = 3.0  # edges that the map stretches more than this are torn ...
_LEAST_JUMP = 2.0  # ... if they also get longer than so many mean edges of the full shape
_AT_VERTEX = 1 - 1e-9  # weight of a corner from which on a point is that corner


class SurfaceMap:
    """Points of the partial shape to points of the full one, and back.

    Vertices of the partial shape go where the match sends them. A point inside a triangle goes to
    the surface point nearest to the mean of the images of its corners; where the map is torn
    between the corners, it goes with the nearest corner. The way back is the closest point on the
    image of the partial surface.

    Parameters
    ----------
    min_confidence : float
        Partial vertices with less confidence count as unmatched.
    reach : float
        Points of the full shape farther than this from the image of the partial surface have no
        partner, in mean edge lengths (of the full mesh, or of the image if that is coarser).
    """

    def __init__(
        self,
        result: MatchResult,
        partial: MeshLike,
        full: MeshLike,
        *,
        min_confidence: float = 0.0,
        reach: float = 2.0,
    ) -> None:
        _check_limits(min_confidence, reach)
        partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
        result.check_meshes(partial, full)
        if result.face.max(initial=-1) >= full.n_faces:
            raise InputError(
                f"{full.name}: the result names face {result.face.max()} but the full mesh has "
                f"{full.n_faces}; give the mesh that was matched"
            )
        self.partial, self.full = partial, full
        self.reach, self.scale, self.region = reach, result.scale, result.region
        self.matched = (
            (result.face >= 0)
            & (result.vertex_map >= 0)
            & (result.confidence >= min_confidence)
            & np.isfinite(result.barycentric).all(axis=1)
        )
        self.has_partner = np.asarray(result.overlap >= HAS_PARTNER)
        self.vertices_on_full = result.points.where(self.matched)
        positions = self.vertices_on_full.positions(full)
        self.images = np.where(self.matched[:, None], positions, 0.0)

    def to_full(self, points: SurfacePoints) -> SurfacePoints:
        """Points on the full shape for points on the partial one; no point where unmatched."""
        faces, weights = np.maximum(points.face, 0), np.nan_to_num(points.barycentric)
        corners = self.partial.faces[faces]
        weights = np.where(self.matched[corners], weights, 0.0)
        total = weights.sum(axis=1)
        there = np.flatnonzero((points.face >= 0) & (total >= _ENOUGH))
        corners, weights = corners[there], weights[there] / total[there, None]
        # Torn, or at a corner: go with that corner.
        heaviest = weights.argmax(axis=1)
        alone = self._torn(corners, weights > 0) | (weights.max(axis=1) >= _AT_VERTEX)
        weights[alone] = np.eye(3)[heaviest[alone]]
        places = self.vertices_on_full[corners.ravel()]
        on_face = places.face.reshape(-1, 3)
        on_face = np.where(weights > 0, on_face, on_face[np.arange(len(there)), heaviest][:, None])
        inside = np.nan_to_num(places.barycentric).reshape(-1, 3, 3)
        mixed = np.einsum("nc,ncw->nw", weights, inside)
        one_face = (on_face == on_face[:, :1]).all(axis=1)
        found = SurfacePoints.none(len(points))
        rows = there[one_face]
        found.face[rows], found.barycentric[rows] = on_face[one_face, 0], mixed[one_face]
        rest = ~one_face
        if rest.any():
            normals = self.oriented_full.outside.face_normals[on_face[rest]]
            normals = _unit(np.einsum("nc,ncx->nx", weights[rest], normals))
            goal = np.einsum("nc,ncx->nx", weights[rest], self.images[corners[rest]])
            near, _ = self.oriented_full.nearest(goal, normals, on_face[rest])
            found.face[there[rest]], found.barycentric[there[rest]] = near.face, near.barycentric
        return found

    def to_partial(self, points: SurfacePoints) -> SurfacePoints:
        """Points on the partial shape for points on the full one; none outside the region."""
        found = SurfacePoints.none(len(points))
        corners = self.full.faces[np.maximum(points.face, 0)]
        weights = np.nan_to_num(points.barycentric)
        covered = (weights * self.region[corners]).sum(axis=1) >= _ENOUGH
        there = np.flatnonzero((points.face >= 0) & covered)
        if self._image is None or not len(there):
            return found
        goal = points[there].positions(self.full)
        around = self.oriented_full.outside.vertex_normals[corners[there]]
        normals = _unit(np.einsum("nc,ncx->nx", weights[there], around))
        near, closest = self._image.nearest(goal, normals)
        edge = max(self.full.mean_edge_length, self._image.mesh.mean_edge_length)
        close = np.linalg.norm(closest - goal, axis=1) <= self.reach * edge
        rows = there[close]
        found.face[rows] = self.mapped_faces[near.face[close]]
        found.barycentric[rows] = near.barycentric[close]
        return found

    @cached_property
    def oriented_full(self) -> OrientedSurface:
        """The full surface with one outside."""
        return OrientedSurface(self.full)

    @cached_property
    def mapped_faces(self) -> np.ndarray:
        """Faces of the partial shape whose image is a piece of surface: matched and not torn."""
        faces = self.partial.faces
        whole = self.matched[faces].all(axis=1)
        return np.flatnonzero(whole & ~self._torn(faces, np.ones(faces.shape, dtype=bool)))

    @cached_property
    def mapped_inside_out(self) -> np.ndarray:
        """(len(mapped_faces),) bool: the image of a face points inwards on the full surface.

        The meshes may be oriented in opposite ways.
        """
        corners = self.partial.faces[self.mapped_faces]
        a, b, c = (self.images[corners[:, corner]] for corner in range(3))
        full_normals = self.oriented_full.outside.face_normals
        below = full_normals[self.vertices_on_full.face[corners]].sum(axis=1)
        return np.asarray(np.einsum("nx,nx->n", np.cross(b - a, c - a), below) < 0)

    @cached_property
    def _image(self) -> OrientedSurface | None:
        """The partial surface at its images; None if there is none."""
        vertices, faces = np.unique(self.partial.faces[self.mapped_faces], return_inverse=True)
        if len(vertices) < 3:
            return None
        image = Mesh(self.images[vertices], faces.reshape(-1, 3), self.partial.name)
        return OrientedSurface(image, self.mapped_inside_out, self.full.mean_edge_length)

    def _torn(self, corners: np.ndarray, used: np.ndarray) -> np.ndarray:
        """(n,) bool: the map jumps between those corners that are ``used`` (n, 3)."""
        torn = np.zeros(len(corners), dtype=bool)
        least = _LEAST_JUMP * self.full.mean_edge_length
        for i, j in ((0, 1), (1, 2), (2, 0)):
            a, b = corners[:, i], corners[:, j]
            rest = np.linalg.norm(self.partial.vertices[a] - self.partial.vertices[b], axis=1)
            apart = np.linalg.norm(self.images[a] - self.images[b], axis=1)
            jump = (apart > _JUMP * self.scale * rest) & (apart > least)
            torn |= jump & used[:, i] & used[:, j]
        return torn


def _check_limits(min_confidence: float, reach: float) -> None:
    if not 0 <= min_confidence <= 1:
        raise InputError(f"min_confidence is {min_confidence:g}; give a number from 0 to 1")
    if not 0 < reach < float("inf"):
        raise InputError(f"reach is {reach:g}; give a number of edge lengths above 0")


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0))


def load_for(folder: str | Path, partial: Mesh, full: Mesh) -> MatchResult:
    """The result in a folder that `nho match` wrote; an `InputError` if it is of other meshes.

    The content of the meshes decides, not their names.
    """
    folder = Path(folder)
    result = MatchResult.load(folder)
    stored = _inputs(folder)
    meshes = {"partial": partial, "full": full}
    digests = {role: mesh.digest() for role, mesh in meshes.items()}
    known = {role: entry.get("blake2b") for role, entry in stored.items()}
    if known and (known.get("partial"), known.get("full")) == (digests["full"], digests["partial"]):
        raise InputError(
            f"{folder}: {partial.name} is its full shape and {full.name} its partial one; "
            "give the partial mesh first"
        )
    for role, mesh in meshes.items():
        if known.get(role) not in (None, digests[role]):
            raise InputError(
                f"{mesh.name}: this is not the {role} mesh of the result in {folder}, which was "
                f"made with {stored[role].get('name')!r} ({stored[role].get('vertices')} vertices);"
                " give the mesh that was matched, unchanged"
            )
    result.check_meshes(partial, full)
    return result


def _inputs(folder: Path) -> dict[str, dict[str, Any]]:
    """What result.json says about the meshes; nothing if it was saved without."""
    about = json.loads(stored_description(folder))
    inputs = about.get("inputs")
    if not isinstance(inputs, dict):
        return {}
    return {role: entry for role, entry in inputs.items() if isinstance(entry, dict)}
