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
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.geometry.repair import has_area, repair
from nho.geometry.surface import SurfacePoints
from nho.problem.anchors import Anchors
from nho.problem.distinct_anchors import distinct_anchors
from nho.problem.prepared_shape import PreparedShape, prepared_shape

Files = str | Path | tuple[str | Path, str | Path]
AnchorsLike = Anchors | Files | np.ndarray | tuple[np.ndarray, np.ndarray]

_SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny / np.finfo(np.float64).eps))


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
        sides.append(prepared_shape(mesh, done, pairs[:, column], loose, notes, warnings))
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
    if not has_area(mesh):
        raise InputError(
            f"{mesh.name}: its area is zero, since the corners of every face lie on a line; "
            "give a surface"
        )
