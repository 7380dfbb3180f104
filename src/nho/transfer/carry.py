"""`Transfer`: data of one shape carried to the other through a finished match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp

from nho.errors import InputError
from nho.geometry.mesh_like import MeshLike
from nho.geometry.surface import SurfacePoints
from nho.io.attributes import COLOUR, MASK, Attributes
from nho.problem.result import MatchResult
from nho.transfer.maps import SurfaceMap
from nho.transfer.matrices import interpolation
from nho.transfer.oriented import OrientedSurface
from nho.transfer.textures import carry_uv, painted
from nho.transfer.values import Carried, face_data_at, vertex_data_at

Side = Literal["partial", "full"]


class Transfer:
    """Carries whatever is on the source shape to the other one, the target.

    Parameters
    ----------
    result : MatchResult
        Of these two meshes.
    source : {"full", "partial"}
        The shape that has the data.
    min_confidence : float
        Matches below this confidence (0 to 1) carry nothing.
    reach : float
        From partial to full: how far from the image of the partial surface a full vertex may
        be to get data, in mean edge lengths.

    Attributes
    ----------
    source, target : Mesh
    """

    def __init__(
        self,
        result: MatchResult,
        partial: MeshLike,
        full: MeshLike,
        source: Side = "full",
        *,
        min_confidence: float = 0.0,
        reach: float = 2.0,
    ) -> None:
        if source not in ("partial", "full"):
            raise InputError(f"data come from 'full' or 'partial', not from {source!r}")
        self.map = SurfaceMap(result, partial, full, min_confidence=min_confidence, reach=reach)
        self._from_full = source == "full"
        pair = self.map.full, self.map.partial
        self.source, self.target = pair if self._from_full else pair[::-1]

    @cached_property
    def vertex_places(self) -> SurfacePoints:
        """(n_target,) where on the source every vertex of the target lies."""
        if self._from_full:
            return self.map.vertices_on_full
        every = np.arange(self.target.n_vertices)
        return self.map.to_partial(SurfacePoints.at_vertices(self.target, every))

    @cached_property
    def face_places(self) -> SurfacePoints:
        """(m_target,) where on the source the middle of every face of the target lies."""
        count = self.target.n_faces
        middles = SurfacePoints(np.arange(count), np.full((count, 3), 1 / 3))
        return self.map.to_full(middles) if self._from_full else self.map.to_partial(middles)

    def vertices(self, values: np.ndarray, known: np.ndarray | None = None) -> Carried:
        """Vertex data of the source on the vertices of the target.

        Parameters
        ----------
        values : (n_source,) or (n_source, k) array
            Floats and colours (``uint8`` of 3 or 4 columns) are interpolated; other integers,
            texts (labels) and bools (selections) are decided by majority.
        known : (n_source,) bool array, optional
            Source vertices that have data; NaN is no data either way.
        """
        return vertex_data_at(self.vertex_places, self.source, values, known)

    def faces(self, values: np.ndarray, known: np.ndarray | None = None) -> Carried:
        """Face data of the source on the faces of the target: what is at their middles."""
        return face_data_at(self.face_places, self.source, values, known)

    def points(self, points: SurfacePoints) -> SurfacePoints:
        """Points on the source (landmarks, say) as points on the target; none where unmatched."""
        return self.map.to_partial(points) if self._from_full else self.map.to_full(points)

    def matrix(self) -> sp.csr_array:
        """(n_target, n_source) sparse matrix M: ``M @ values`` are vertex values on the target.

        Rows sum to one; a row of zeros = no partner.
        """
        return interpolation(self.vertex_places, self.source)

    def uv(self, uv: np.ndarray, texture_of_face: np.ndarray | None = None) -> np.ndarray:
        """(m_target, 3, 2) texture coordinates of the target's corners; NaN = none.

        Parameters
        ----------
        uv : (m_source, 3, 2) float array
            Of the source's corners; never mixed across a seam.
        texture_of_face : (m_source,) int array, optional
            The image that each face of the source shows.
        """
        shown = texture_of_face
        if shown is None:
            shown = np.zeros(self.source.n_faces, dtype=np.int64)
        surface = self.map.oriented_full if self._from_full else OrientedSurface(self.source)
        return carry_uv(surface, uv, shown, self.target, self.vertex_places, self.face_places)

    def texture_colours(self, attributes: Attributes) -> Carried:
        """(n_target, 3) colours of the source's texture on the vertices of the target."""
        return painted(self.vertex_places, self.source, attributes)

    def attributes(self, attributes: Attributes, *, bake: bool = False) -> Attributes:
        """Everything on the source, with a mask (`transferred`) of where data came.

        Parameters
        ----------
        bake : bool
            Carry the texture as vertex colours (`color`) instead of texture coordinates.
        """
        attributes.check(self.source.n_vertices, self.source.n_faces, self.source.name)
        vertex = _all(attributes.vertex, self.vertices)
        face = _all(attributes.face, self.faces)
        if bake:
            vertex[COLOUR] = self.texture_colours(attributes).values
            vertex.setdefault(MASK, self.vertex_places.face >= 0)
        if attributes.uv is None or bake:
            return Attributes(vertex, face)
        uv = self.uv(attributes.uv, attributes.texture_of_face)
        shown = None
        if attributes.texture_of_face is not None:
            at = self.face_places.face
            shown = np.where(at >= 0, attributes.texture_of_face[at], -1)
        return Attributes(vertex, face, uv, attributes.textures, shown)


def _all(arrays: Mapping[str, np.ndarray], carry: Callable[..., Carried]) -> dict[str, np.ndarray]:
    """Every array carried, and where anything came; an earlier mask is respected."""
    if not arrays:
        return {}
    earlier, known = arrays.get(MASK), None
    if earlier is not None and earlier.ndim == 1 and earlier.dtype.kind in "biu":
        known = earlier != 0
    out = {name: carry(values, known).values for name, values in arrays.items() if name != MASK}
    every = np.ones(len(next(iter(arrays.values()))), dtype=bool)
    out[MASK] = carry(every, known).known
    return out
