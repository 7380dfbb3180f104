"""One of the two shapes as the solver sees it: its components, their order, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nho.geometry.mesh import Mesh, trusted_mesh
from nho.geometry.repair import Repaired, faces_to_flip

_DEBRIS = 0.002  # of the area: smaller components are not worth carrying along ...
_FEWEST_LOOSE = 50  # ... nor are those of fewer vertices
_MUCH = 0.01  # share of the vertices left out that a person should know of


@dataclass(frozen=True)
class PreparedShape:
    """One of the two shapes: as given, and as the solver sees it.

    Attributes
    ----------
    given : Mesh
    mesh : Mesh
        Repaired, without components that hold no anchor, in `canonical_order`, centred, in units
        of sqrt(area of the full shape).
    solver_of_given : (n_given,) int array
        -1 = the solver does not see this vertex.
    given_of_solver : (n,) int array
    given_face : (f,) int array
        Face of the given mesh for every face of the solver's.
    loose : PreparedShape, optional
        Components without an anchor that are no debris, in the same frame and unit.
    """

    given: Mesh
    mesh: Mesh
    solver_of_given: np.ndarray
    given_of_solver: np.ndarray
    given_face: np.ndarray
    loose: PreparedShape | None = None

    def moved(self, origin: np.ndarray) -> PreparedShape:
        """The same with another origin; `loose` stays where it is."""
        vertices = self.mesh.vertices - origin
        return replace(self, mesh=Mesh(vertices, self.mesh.faces, self.mesh.name))

    def scaled(self, factor: float) -> PreparedShape:
        """The same in another unit."""
        loose = None if self.loose is None else self.loose.scaled(factor)
        return replace(self, mesh=self.mesh.scaled(factor), loose=loose)

    def with_loose(self) -> PreparedShape:
        """One shape of all components; those of `loose` come last."""
        if self.loose is None:
            return self
        first, last = self.mesh, self.loose.mesh
        mesh = trusted_mesh(
            np.concatenate([first.vertices, last.vertices]),
            np.concatenate([first.faces, first.n_vertices + last.faces]),
            first.name,
        )
        loose = self.loose.solver_of_given
        return PreparedShape(
            self.given,
            mesh,
            np.where(loose >= 0, first.n_vertices + loose, self.solver_of_given),
            np.concatenate([self.given_of_solver, self.loose.given_of_solver]),
            np.concatenate([self.given_face, self.loose.given_face]),
        )

    def to_given(self, values: np.ndarray, missing: float | bool | int) -> np.ndarray:
        """Values per solver vertex -> values per given vertex."""
        known = self.solver_of_given >= 0
        shape = (len(self.solver_of_given), *values.shape[1:])
        out = np.full(shape, missing, dtype=values.dtype)
        out[known] = values[self.solver_of_given[known]]
        return out


def prepared_shape(
    given: Mesh,
    done: Repaired,
    anchored: np.ndarray,
    keep_loose: bool,
    notes: list[str],
    warnings: list[str],
) -> PreparedShape:
    """Keep components with an anchor (or the largest), make faces agree, reorder and centre.

    Notes and warnings are appended.
    """
    labels = done.mesh.components
    wanted = np.unique(labels[done.solver_of_given[anchored]])
    loose = np.empty(0, dtype=np.int64)
    why = "hold no anchor"
    areas = np.bincount(labels[labels >= 0], done.mesh.vertex_areas[labels >= 0])
    if len(anchored) and keep_loose:
        enough = np.bincount(labels[labels >= 0]) >= _FEWEST_LOOSE
        large = np.flatnonzero(enough & (areas > _DEBRIS * areas.sum()))
        loose = np.setdiff1d(large, wanted)
    if not len(anchored):
        wanted = np.array([areas.argmax()])
        why = "are smaller than the largest"
    count = labels.max() + 1
    keep = np.isin(labels, wanted)
    left_out = ~keep & ~np.isin(labels, loose)
    if left_out.any():
        (warnings if left_out.mean() > _MUCH else notes).append(
            f"{given.name}: {count - len(wanted) - len(loose)} of {count} connected components "
            f"{why} and are left out ({int(left_out.sum())} vertices, the first is "
            f"{done.given_of_solver[np.flatnonzero(left_out)[0]]})"
        )
    if len(wanted) > 1:
        warnings.append(
            f"{given.name}: the surface has {len(wanted)} connected components with anchors; "
            "the method is made for one, so check the result"
        )
    shape = _of_components(given, done, keep, notes)
    centre = shape.mesh.vertices.mean(axis=0)
    if len(loose):
        apart = _of_components(given, done, np.isin(labels, loose), notes)
        shape = replace(shape, loose=apart.moved(centre))
    return shape.moved(centre)


def _of_components(
    given: Mesh, done: Repaired, keep: np.ndarray, notes: list[str]
) -> PreparedShape:
    """Some components of a repaired mesh, by a mask of its vertices; notes are appended."""
    kept, kept_faces = np.flatnonzero(keep), np.flatnonzero(keep[done.mesh.faces[:, 0]])
    faces = done.mesh.faces[kept_faces]
    flipped = faces_to_flip(trusted_mesh(done.mesh.vertices, faces, given.name))
    if flipped.any():
        first = done.given_face[kept_faces[np.argmax(flipped)]]
        notes.append(
            f"{given.name}: flipped {int(flipped.sum())} of {len(flipped)} faces whose "
            f"orientation disagreed with their neighbours (first: face {first})"
        )
        faces = np.where(flipped[:, None], faces[:, [0, 2, 1]], faces)
    order = kept[canonical_order(done.mesh.vertices[kept])]
    place = np.full(done.mesh.n_vertices, -1)
    place[order] = np.arange(len(order))
    faces = place[faces]
    # Corners keep their order within a face, so barycentric weights stay what they were.
    face_order = np.lexsort(np.sort(faces, axis=1).T[::-1])
    mesh = trusted_mesh(done.mesh.vertices[order], faces[face_order], given.name)
    solver_of_given = np.where(done.solver_of_given >= 0, place[done.solver_of_given], -1)
    given_face = done.given_face[kept_faces[face_order]]
    return PreparedShape(given, mesh, solver_of_given, done.given_of_solver[order], given_face)


def canonical_order(vertices: np.ndarray) -> np.ndarray:
    """(n,) vertices by their distance to the mean vertex; ties, by symmetry, by coordinates.

    Training amplifies the rounding of sums, and sums depend on order. So the solver never sees the
    order of a file: a shuffled mesh gives the same bits, and a moved or scaled one the same order
    (unless it is symmetric). Anchors do not count, so that a spectrum kept from one match serves
    the next.
    """
    x, y, z = vertices.T
    centre = np.sort(vertices, axis=0).mean(axis=0)  # summed from small to large: order-free
    return np.lexsort((z, y, x, np.linalg.norm(vertices - centre, axis=1)))
