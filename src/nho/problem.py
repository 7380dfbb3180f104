"""From what a user gives to what the solver needs, and the way back.

The solver sees two repaired meshes at unit area of the full one and anchors as vertex pairs.
Everything it returns is carried back to the vertices and faces as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nho.anchor_files import read_anchors
from nho.anchors import FEWEST, Anchors
from nho.errors import InputError
from nho.mesh import Mesh
from nho.repair import Repaired, repair
from nho.surface import SurfacePoints

MeshLike = Mesh | str | Path | tuple[np.ndarray, np.ndarray]
AnchorsLike = Anchors | str | Path | np.ndarray


@dataclass(frozen=True)
class Side:
    """One of the two shapes: as given, and as the solver sees it.

    Attributes
    ----------
    given : Mesh
    mesh : Mesh
        Repaired, without components that hold no anchor, centred, in units of sqrt(area of the
        full shape).
    solver_of_given : (n_given,) int array
        -1 = the solver does not see this vertex.
    given_of_solver : (n,) int array
    given_face : (f,) int array
        Face of the given mesh for every face of the solver's.
    """

    given: Mesh
    mesh: Mesh
    solver_of_given: np.ndarray
    given_of_solver: np.ndarray
    given_face: np.ndarray

    def spread(self, values: np.ndarray, missing: float | bool | int) -> np.ndarray:
        """Values per solver vertex -> values per given vertex."""
        known = self.solver_of_given >= 0
        shape = (len(self.solver_of_given), *values.shape[1:])
        out = np.full(shape, missing, dtype=values.dtype)
        out[known] = values[self.solver_of_given[known]]
        return out


@dataclass(frozen=True)
class Problem:
    """A partial and a full shape at one scale, and their anchors as (m, 2) solver vertices."""

    partial: Side
    full: Side
    anchors: np.ndarray
    given_anchors: np.ndarray
    warnings: tuple[str, ...]

    def given_points(self, points: SurfacePoints) -> SurfacePoints:
        """Points on the solver's full mesh, one per solver vertex of the partial shape, as points
        on the given full mesh, one per given vertex of the partial shape."""
        side = self.full
        face = np.where(points.face >= 0, side.given_face[points.face], -1)
        # Welding may have renamed the corners, never their order.
        return SurfacePoints(
            self.partial.spread(face, -1), self.partial.spread(points.barycentric, np.nan)
        )


def prepare(partial: MeshLike, full: MeshLike, anchors: AnchorsLike) -> Problem:
    """Read, check, repair and scale; every fault is an `InputError`, every repair a warning."""
    partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
    if isinstance(anchors, str | Path):
        anchors = read_anchors(anchors, partial, full)
    elif not isinstance(anchors, Anchors):
        anchors = Anchors.from_vertices(partial, full, anchors)
    warnings = _gap_warnings(anchors, partial, full)
    pairs, notes = _distinct(anchors.vertices(partial, full), anchors.names)
    warnings += notes
    repaired = [repair(partial), repair(full)]
    warnings += [
        note for mesh, done in zip((partial, full), repaired, strict=True) for note in done.notes
    ]
    scale = 1 / np.sqrt(repaired[1].mesh.area)
    if not np.isfinite(scale):
        raise InputError(f"{full.name}: its area is zero; every face is degenerate")
    sides = []
    for column, (mesh, done) in enumerate(zip((partial, full), repaired, strict=True)):
        side, note = _side(mesh, done, pairs[:, column], scale)
        sides.append(side)
        warnings += note
    solver_pairs = np.stack(
        [side.solver_of_given[pairs[:, column]] for column, side in enumerate(sides)], axis=1
    )
    return Problem(sides[0], sides[1], solver_pairs, pairs, tuple(warnings))


def as_mesh(mesh: MeshLike, role: str) -> Mesh:
    """A mesh from a mesh, a path or a pair (vertices, faces)."""
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, str | Path):
        return Mesh.read(mesh)
    try:
        vertices, faces = mesh
    except (TypeError, ValueError):
        raise InputError(
            f"{role}: give a Mesh, a file name or a pair (vertices, faces), not "
            f"{type(mesh).__name__}"
        ) from None
    return Mesh(vertices, faces, role)


def _distinct(pairs: np.ndarray, names: tuple[str, ...]) -> tuple[np.ndarray, list[str]]:
    """Drop repeated pairs, refuse contradictions, and insist on enough of them."""
    warnings: list[str] = []
    kept: dict[tuple[int, int], str] = {}
    partner: dict[int, tuple[int, str]] = {}
    for (p, q), name in zip(pairs.tolist(), names, strict=True):
        if (p, q) in kept:
            warnings.append(f"anchor {name} repeats anchor {kept[p, q]}; it is counted once")
            continue
        if p in partner:
            other, first = partner[p]
            raise InputError(
                f"anchors {first} and {name} contradict each other: both start at partial vertex "
                f"{p}, one ends at full vertex {other}, one at {q}; remove the wrong one"
            )
        partner[p] = (q, name)
        kept[p, q] = name
    by_target: dict[int, str] = {}
    for (_, q), name in kept.items():
        if q in by_target:
            warnings.append(
                f"anchors {by_target[q]} and {name} end at the same full vertex {q}; both are kept"
            )
        by_target[q] = name
    if len(kept) < FEWEST:
        raise InputError(
            f"{len(kept)} distinct anchor{'s' * (len(kept) != 1)} given, at least {FEWEST} are "
            "needed; mark more matching points"
        )
    return np.array(list(kept), dtype=np.int64).reshape(-1, 2), warnings


def _gap_warnings(anchors: Anchors, partial: Mesh, full: Mesh) -> list[str]:
    """Say how far given coordinates had to be moved to reach the surfaces."""
    warnings = []
    for column, mesh in enumerate((partial, full)):
        gaps = anchors.gaps[:, column]
        if len(gaps) and gaps.max() > 0:
            worst = int(np.argmax(gaps))
            warnings.append(
                f"anchor points were projected to {mesh.name}: mean distance {gaps.mean():.4g}, "
                f"largest {gaps[worst]:.4g} (anchor {anchors.names[worst]})"
            )
    return warnings


def _side(
    given: Mesh, done: Repaired, anchored: np.ndarray, scale: float
) -> tuple[Side, list[str]]:
    """Keep the components that hold an anchor; centre and scale."""
    labels = done.mesh.components
    wanted = np.unique(labels[done.solver_of_user[anchored]])
    count = labels.max() + 1
    notes: list[str] = []
    keep = np.isin(labels, wanted)
    if not keep.all():
        notes.append(
            f"{given.name}: {count - len(wanted)} of {count} connected components hold no anchor "
            f"and are left out ({int((~keep).sum())} vertices, the first is "
            f"{done.user_of_solver[np.flatnonzero(~keep)[0]]})"
        )
    if len(wanted) > 1:
        notes.append(
            f"{given.name}: the surface has {len(wanted)} connected components with anchors; "
            "the method is made for one, so check the result"
        )
    renumber = np.cumsum(keep) - 1
    kept_faces = keep[done.mesh.faces[:, 0]]
    faces = renumber[done.mesh.faces[kept_faces]]
    vertices = done.mesh.vertices[keep]
    mesh = Mesh((vertices - vertices.mean(axis=0)) * scale, faces, given.name)
    solver = done.solver_of_user
    solver_of_given = np.where((solver >= 0) & keep[solver], renumber[solver], -1)
    return (
        Side(
            given,
            mesh,
            solver_of_given,
            done.user_of_solver[keep],
            done.face_of_solver[kept_faces],
        ),
        notes,
    )
