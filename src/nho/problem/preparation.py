"""From what a user gives to what the solver needs, and the way back.

The solver sees two repaired meshes at unit area of the full one and anchors as vertex pairs.
Everything it returns is carried back to the vertices and faces as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh, trusted_mesh
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.geometry.repair import Repaired, faces_to_flip, repair, zero_area_faces
from nho.geometry.surface import SurfacePoints
from nho.problem.anchors import Anchors
from nho.problem.distinct_anchors import distinct_anchors

Files = str | Path | tuple[str | Path, str | Path]
AnchorsLike = Anchors | Files | np.ndarray | tuple[np.ndarray, np.ndarray]

_DEBRIS = 0.002  # of the area: smaller components are not worth carrying along ...
_FEWEST_LOOSE = 50  # ... nor are those of fewer vertices
_MUCH = 0.01  # share of the vertices left out that a person should know of
_SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny / np.finfo(np.float64).eps))


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


@dataclass(frozen=True)
class Problem:
    """A partial and a full shape at one scale, and their anchors.

    Attributes
    ----------
    anchors : (m, 2) int array
        Solver vertices, in an order of their own.
    anchor_rows : (m,) int array
        Row of each in ``given_anchors``.
    given_anchors : (m, 2) int array
        The same pairs as given, in the order given.
    anchor_names : tuple of str
        What the user calls them, in the order given.
    notes : tuple of str
        What was read, repaired and left out, which needs no action.
    warnings : tuple of str
        What a person should act on.
    anchors_by_index : bool
        They were given as vertices, not as coordinates.
    """

    partial: PreparedShape
    full: PreparedShape
    anchors: np.ndarray
    anchor_rows: np.ndarray
    given_anchors: np.ndarray
    anchor_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    anchors_by_index: bool = False

    def with_warnings(self, more: list[str]) -> Problem:
        """The same with further warnings in front."""
        return replace(self, warnings=(*more, *self.warnings))

    def given_points(self, points: SurfacePoints) -> SurfacePoints:
        """A map from the solver's partial mesh to its full one, between the given meshes."""
        side = self.full
        face = np.where(points.face >= 0, side.given_face[points.face], -1)
        # Welding renames corners and flipping a face swaps two: find each weight its corner.
        solver, given = side.mesh.faces, side.solver_of_given[side.given.faces]
        column = (given[face][:, :, None] == solver[points.face][:, None, :]).argmax(axis=2)
        weights = np.take_along_axis(points.barycentric, column, axis=1)
        to_given = self.partial.to_given
        return SurfacePoints(to_given(face, -1), to_given(weights, np.nan))


def prepare(
    partial: MeshLike, full: MeshLike, anchors: AnchorsLike | None, keep_loose: bool = False
) -> Problem:
    """Read, check, repair and scale; every fault is an `InputError`, every repair a note.

    Without anchors the largest component of each shape is kept. With ``keep_loose`` components of
    the partial shape without an anchor are kept apart (`PreparedShape.loose`), but for debris.
    """
    partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
    for mesh in (partial, full):
        _check_unit(mesh)
    repaired = [repair(partial), repair(full)]
    notes = [note for done in repaired for note in done.notes]
    warnings: list[str] = []
    pairs, names, by_index = np.empty((0, 2), dtype=np.int64), tuple[str, ...](), False
    if anchors is not None:
        anchors = as_anchors(anchors, partial, full)
        by_index = anchors.indices is not None and bool((anchors.indices >= 0).all())
        distinct = distinct_anchors(anchors, partial, full, repaired)
        pairs, names = distinct.pairs, distinct.names
        notes = [*anchors.notes, *distinct.notes, *notes]
        warnings += distinct.warnings
    sides = []
    for column, (mesh, done) in enumerate(zip((partial, full), repaired, strict=True)):
        loose = keep_loose and column == 0
        sides.append(_prepared(mesh, done, pairs[:, column], loose, notes, warnings))
    for side in sides:
        _check_area(side.mesh)
    unit = 1 / np.sqrt(sides[1].mesh.area)
    sides = [side.scaled(unit) for side in sides]
    solver_pairs = np.stack(
        [side.solver_of_given[pairs[:, column]] for column, side in enumerate(sides)], axis=1
    )
    order = np.argsort(solver_pairs[:, 0])  # by surface, not by row of the file
    return Problem(
        sides[0],
        sides[1],
        solver_pairs[order],
        order,
        pairs,
        names,
        tuple(notes),
        tuple(warnings),
        by_index,
    )


def as_anchors(anchors: AnchorsLike, partial: Mesh, full: Mesh) -> Anchors:
    """Anchors from anchors, files, (m, 2) vertices, or a pair of (m, 3) coordinates."""
    if isinstance(anchors, Anchors):
        return anchors
    if isinstance(anchors, str | Path):
        return Anchors.read(anchors, partial, full)
    if isinstance(anchors, tuple | list) and all(isinstance(one, str | Path) for one in anchors):
        return Anchors.read(cast(Files, anchors), partial, full)
    if _are_positions(anchors):
        return Anchors.from_positions(partial, full, *anchors)
    return Anchors.from_vertices(partial, full, anchors)  # type: ignore[arg-type]


def _are_positions(anchors: Any) -> TypeGuard[tuple[np.ndarray, np.ndarray]]:
    """Whether these are two lists of points."""
    return (
        hasattr(anchors, "__len__")
        and len(anchors) == 2
        and all(np.ndim(side) == 2 and np.shape(side)[1] == 3 for side in anchors)
    )


def _check_unit(mesh: Mesh) -> None:
    """Refuse coordinates whose squares have no digits left; `Mesh` refuses too large ones."""
    largest = float(np.abs(mesh.vertices).max())
    if 0 < largest < _SMALLEST:
        raise InputError(
            f"{mesh.name}: coordinates up to {largest:.3g} are too small to compute areas with; "
            "give the mesh in another unit"
        )


def _check_area(mesh: Mesh) -> None:
    """Refuse a surface without area."""
    if zero_area_faces(mesh).all():
        raise InputError(
            f"{mesh.name}: its area is zero, since the corners of every face lie on a line; "
            "give a surface"
        )


def _prepared(
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
