"""The same surface with fewer vertices, all of them vertices it had before.

The dual of a Voronoi diagram on the surface: evenly distributed vertices are chosen, every other
vertex joins the nearest of them along edges, and where three of these cells meet there is a
triangle. The rim and the orientation are kept; triangles are nearly equilateral and of one size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from nho.geometry.geodesics import edge_graph, nearest_source
from nho.geometry.mesh import Mesh

_AREA_PER_VERTEX = 0.78  # spacing = sqrt(0.78 area / vertices); measured in canonical order
_RIM_SPACING = 0.7  # of the spacing inside: dense enough that only rim cells touch the rim
_ALLOWED = (0.8, 1.15)  # of the vertices asked for; outside, another spacing is tried
_SPACINGS_TRIED = 4
_FEWEST_IN_COMPONENT = 60  # vertices of a small component that must be kept
_MENDING_ROUNDS = 3
_LOOK_AHEAD = 4096


@dataclass(frozen=True)
class Coarse:
    """A coarser mesh and its index maps to the fine one.

    Attributes
    ----------
    mesh : Mesh
        In the order of the fine vertices; faces sorted.
    vertex : (n_coarse,) int array
        Fine vertex of every coarse one, ascending.
    cell : (n_fine,) int array
        Coarse vertex of the cell each fine vertex belongs to; -1 = no face connects it to one.
    face : (m_coarse,) int array
        A fine face inside every coarse one, with the corners in the same order.
    """

    mesh: Mesh
    vertex: np.ndarray
    cell: np.ndarray
    face: np.ndarray


def coarsened(mesh: Mesh, count: int, keep: np.ndarray) -> Coarse:
    """The mesh with about ``count`` vertices.

    Parameters
    ----------
    count : int
        Where the mesh is too coarse already, its own vertices stay.
    keep : (k,) int array
        Vertices that must survive, and so must the components they are in.
    """
    graph = edge_graph(mesh)
    sampler = _Sampler(mesh, np.unique(keep))
    spacing = np.sqrt(_AREA_PER_VERTEX * mesh.area / count)
    for _ in range(_SPACINGS_TRIED):
        chosen = sampler.chosen(spacing)
        share = len(chosen) / min(count, len(mesh.vertices))
        if _ALLOWED[0] < share < _ALLOWED[1]:
            break
        spacing *= np.sqrt(share)
    cells = _Cells(mesh, graph, chosen)
    for number in range(1, _MENDING_ROUNDS + 1):
        faulty = cells.faulty()
        if not faulty.any():
            break
        inside = (cells.cell >= 0) & faulty[cells.cell]
        chosen = sampler.denser(spacing / 2**number, chosen, inside)
        cells = _Cells(mesh, graph, chosen)
    return cells.without_unused().coarse()


class _Sampler:
    """Choose vertices no closer to each other than a spacing, none farther from all of them.

    One after the other, each covers what is near it and faces its way; a vertex that is not yet
    covered is the next. The order of the vertices decides, so the result is as canonical as they.
    """

    def __init__(self, mesh: Mesh, keep: np.ndarray) -> None:
        self._mesh, self._keep = mesh, keep
        self._tree = cKDTree(mesh.vertices)
        self._rim = np.flatnonzero(mesh.boundary_vertices)
        self._used = np.zeros(len(mesh.vertices), dtype=bool)
        self._used[mesh.faces] = True
        # A component smaller than a triangle would vanish: a bound on the spacing for each.
        labels = mesh.components
        area = np.bincount(labels[mesh.faces[:, 0]], mesh.face_areas, minlength=labels.max() + 1)
        bound = np.full(len(area), np.inf)
        kept = np.unique(labels[keep])
        bound[kept] = np.sqrt(_AREA_PER_VERTEX * area[kept] / _FEWEST_IN_COMPONENT)
        self._bound = bound[labels]

    def chosen(self, spacing: float) -> np.ndarray:
        """(k,) vertices: those to keep, a dense row along the rim, then all over."""
        spacings = np.minimum(spacing, self._bound)
        covered, found = ~self._used, self._keep.tolist()
        self._cover(covered, found, _RIM_SPACING * spacings)
        self._fill(covered, found, self._rim, _RIM_SPACING * spacings)
        self._cover(covered, found, spacings)
        self._fill(covered, found, np.arange(len(covered)), spacings)
        return np.unique(found)

    def denser(self, spacing: float, before: np.ndarray, where: np.ndarray) -> np.ndarray:
        """(k,) vertices: those of before, and further ones in a mask at a smaller spacing."""
        spacings = np.minimum(spacing, self._bound)
        inside = cKDTree(self._mesh.vertices[where])
        near = inside.query(self._mesh.vertices[before], distance_upper_bound=spacing)[0] < np.inf
        covered, found = ~(self._used & where), before.tolist()
        self._cover(covered, before[near], spacings)
        self._fill(covered, found, np.arange(len(covered)), spacings)
        return np.unique(found)

    def _cover(self, covered: np.ndarray, chosen: Iterable[int], radius: np.ndarray) -> None:
        vertices, normals = self._mesh.vertices, self._mesh.vertex_normals
        for vertex in chosen:
            ball = self._tree.query_ball_point(vertices[vertex], radius[vertex])
            near = np.array(ball, dtype=np.int64)
            # The two sides of a thin part are two surfaces.
            covered[near[normals[near] @ normals[vertex] > 0]] = True
            covered[vertex] = True

    def _fill(
        self, covered: np.ndarray, found: list[int], order: np.ndarray, radius: np.ndarray
    ) -> None:
        """Choose, in order, every vertex that none before it covers."""
        place = 0
        while place < len(order):
            ahead = covered[order[place : place + _LOOK_AHEAD]]
            step = int(ahead.argmin())
            if ahead[step]:
                place += len(ahead)
                continue
            place += step
            found.append(int(order[place]))
            self._cover(covered, found[-1:], radius)


class _Cells:
    """Every vertex with the nearest chosen one, and the triangles where three cells meet."""

    def __init__(self, mesh: Mesh, graph: sp.csr_matrix, chosen: np.ndarray) -> None:
        self._mesh, self._graph, self._chosen = mesh, graph, chosen
        place = np.full(len(mesh.vertices) + 1, -1)  # the last stands for "no source"
        place[chosen] = np.arange(len(chosen))
        self.cell = place[nearest_source(graph, chosen)]
        corners = self.cell[mesh.faces]
        self._meeting = np.flatnonzero((corners != np.roll(corners, 1, axis=1)).all(axis=1))
        corners = corners[self._meeting]
        ordered = np.sort(corners, axis=1)
        order = np.lexsort(ordered.T[::-1])
        again = np.zeros(len(order), dtype=bool)
        again[1:] = (ordered[order[1:]] == ordered[order[:-1]]).all(axis=1)
        self._repeated = np.unique(corners[order[again]])
        self._meeting, self._corners = (rows[order[~again]] for rows in (self._meeting, corners))

    def faulty(self) -> np.ndarray:
        """(k,) bool: cells too large for what they lie on.

        Such are cells without a triangle, triples that meet twice, edges of more than two triangles
        and edges of one that are not on the rim.
        """
        fault = np.ones(len(self._chosen), dtype=bool)
        fault[self._corners] = False
        fault[self._repeated] = True
        mesh = self._mesh
        at_rim = np.zeros(len(self._chosen), dtype=bool)
        rim = self.cell[mesh.boundary_vertices]
        at_rim[rim[rim >= 0]] = True  # a component without a chosen vertex has no cell
        dual = Mesh(mesh.vertices[self._chosen], self._corners, mesh.name)
        torn = (dual.edge_face_counts == 1) & ~at_rim[dual.edges].all(axis=1)
        fault[dual.edges[torn | (dual.edge_face_counts > 2)]] = True
        return fault

    def without_unused(self) -> _Cells:
        """The same without vertices that are in no triangle."""
        used = np.unique(self._corners)
        if len(used) == len(self._chosen):
            return self
        return _Cells(self._mesh, self._graph, self._chosen[used])

    def coarse(self) -> Coarse:
        """As a mesh."""
        mesh = Mesh(self._mesh.vertices[self._chosen], self._corners, self._mesh.name)
        return Coarse(mesh, self._chosen, self.cell, self._meeting)
