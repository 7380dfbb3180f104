"""Repair a mesh for the solver and keep the index maps to the given numbering and back."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nho.errors import InputError
from nho.geometry.mesh import BoolArray, IntArray, Mesh, trusted_mesh
from nho.geometry.mesh_measures import lengths_of
from nho.geometry.seams import close_seams
from nho.geometry.spikes import spikes
from nho.io.meshes.polygons import equal_points

_LOOKED_AT = 1 << 16  # faces at once, where one with an area is enough


@dataclass(frozen=True, eq=False)
class Repaired:
    """A mesh to compute on, and the way back to the given numbering.

    Attributes
    ----------
    mesh : the solver's mesh; vertices and faces keep the given order.
    solver_of_given : (n_given,) int, solver vertex of every given vertex; -1 = no face uses it.
    spikes : (n_given,) bool, vertices left out since they lie far off the surface.
    given_of_solver : (n_solver,) int, given vertex of every solver vertex, ascending.
    given_face : (m_solver,) int, given face of every solver face, ascending.
    notes : one sentence for everything that was changed or is worth knowing; given indices.
    """

    mesh: Mesh
    solver_of_given: IntArray
    spikes: BoolArray
    given_of_solver: IntArray
    given_face: IntArray
    notes: tuple[str, ...]


def repair(mesh: Mesh) -> Repaired:
    """Weld equal vertices and open seams, drop bad faces, spikes and unused vertices.

    Triangles without area and edges with more than two faces stay, since the Laplacian deals with
    them; they are noted. A clean mesh comes back as it is, without notes.

    Raises
    ------
    InputError
        If no face is left.
    """
    first, group = equal_points(mesh.vertices)
    welded = first[group] != np.arange(mesh.n_vertices)
    exact = mesh
    if welded.any():
        exact = trusted_mesh(mesh.vertices, first[group][mesh.faces], mesh.name)
    joined, gap = close_seams(exact)
    seam = joined != np.arange(mesh.n_vertices)
    if seam.any():
        first, group = np.unique(joined[first[group]], return_inverse=True)
    faces = group[mesh.faces]
    degenerate = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
    duplicate = _repeats(faces) & ~degenerate
    sound = ~(degenerate | duplicate)
    spike = spikes(mesh.vertices[first], faces[sound])[group]
    at_spike = sound & spike[mesh.faces].any(axis=1)
    given_face = np.flatnonzero(sound & ~at_spike)
    if len(given_face) == 0:
        raise InputError(
            f"{mesh.name}: all {mesh.n_faces} faces have a repeated vertex, so no surface is left; "
            "re-export the mesh"
        )

    used = np.zeros(mesh.n_vertices, dtype=bool)
    used[mesh.faces[given_face]] = True
    # Of equal vertices the first that a kept face uses stands for all of them.
    representative = np.full(len(first), -1, dtype=np.int64)
    used_descending = np.flatnonzero(used)[::-1]
    representative[group[used_descending]] = used_descending
    given_of_solver = np.sort(representative[representative >= 0])
    solver_of_group = np.full(len(first), -1, dtype=np.int64)
    solver_of_group[group[given_of_solver]] = np.arange(len(given_of_solver))
    solver_of_given = solver_of_group[group]

    notes = [
        *_spike_note(spike, at_spike),
        *_note(
            welded,
            "welded {} lying exactly on another one",
            "vertex",
            lambda vertex: f"vertex {vertex} on vertex {first[group[vertex]]}",
        ),
        *_note(
            seam,
            f"closed seams that were open by up to {gap:.1g}, with {{}} welded on another one",
            "vertex",
            lambda vertex: f"vertex {vertex} on vertex {first[group[vertex]]}",
        ),
        *_note(degenerate, "dropped {} with a repeated vertex", "face"),
        *_note(duplicate, "dropped {} with the vertices of an earlier face", "face"),
        *_note((solver_of_given < 0) & ~spike, "left out {} that no face uses", "vertex"),
    ]
    repaired = mesh
    if notes:
        solver_faces = solver_of_group[faces[given_face]]
        repaired = trusted_mesh(mesh.vertices[given_of_solver], solver_faces, mesh.name)

    def between(edge: int) -> str:
        start, end = given_of_solver[repaired.edges[edge]]
        return f"between vertices {start} and {end}"

    notes += _note(
        repaired.edge_face_counts > 2, "kept {} with more than two faces", "edge", between
    )
    notes += _note(
        zero_area_faces(repaired),
        "kept {} without area",
        "face",
        lambda face: f"face {given_face[face]}",
    )
    for array in (solver_of_given, spike, given_of_solver, given_face):
        array.setflags(write=False)
    notes = [f"{mesh.name}: {note}" for note in (*mesh.notes, *notes)]
    return Repaired(repaired, solver_of_given, spike, given_of_solver, given_face, tuple(notes))


def zero_area_faces(mesh: Mesh, rows: slice = slice(None)) -> BoolArray:
    """(m,) whether the area of a triangle is no larger than the rounding of its coordinates."""
    # One row a coordinate: several times as fast as small vectors, and in less memory.
    vertices = np.ascontiguousarray(mesh.vertices.T) / (np.abs(mesh.vertices).max() or 1.0)
    a, b, c = np.ascontiguousarray(mesh.faces[rows].T)
    u, v, w = ([of[i] - of[j] for of in vertices] for i, j in ((a, c), (b, a), (c, b)))
    longest = np.maximum.reduce([lengths_of(*side) for side in (u, v, w)])
    crosses = (u[i] * v[j] - u[j] * v[i] for i, j in ((1, 2), (2, 0), (0, 1)))
    # Each coordinate is off by half an eps of its own size, which moves the area by that much
    # times the longest side.
    largest = np.abs(vertices).max(axis=0)
    largest = np.maximum(np.maximum(largest[a], largest[b]), largest[c])
    rounding = 4 * np.finfo(np.float64).eps * largest
    zero: BoolArray = lengths_of(*crosses) <= rounding * longest
    return zero


def has_area(mesh: Mesh) -> bool:
    """Whether one face at least has an area."""
    starts = range(0, mesh.n_faces, _LOOKED_AT)  # one of the first has, but for odd meshes
    return any(not zero_area_faces(mesh, slice(at, at + _LOOKED_AT)).all() for at in starts)


def faces_to_flip(mesh: Mesh) -> BoolArray:
    """(m,) bool: the fewest faces to flip so that neighbours run the same way round.

    Neighbours share an edge that no third face uses. Patches that cannot be made to agree, such
    as a Moebius strip, are left as they are.
    """
    first, second, agree = neighbouring_faces(mesh)
    m = len(mesh.faces)
    if agree.all():
        return np.zeros(m, dtype=bool)
    label = both_states(m, first, second, agree)
    as_it_is, flipped = label[:m], label[m:]
    faces_kept = np.bincount(as_it_is, minlength=label.max() + 1)
    more_kept = faces_kept[flipped] - faces_kept[as_it_is]
    # In a tie the choice that leaves the first face of the patch alone, which has the lower label.
    to_flip: BoolArray = (more_kept > 0) | ((more_kept == 0) & (flipped < as_it_is))
    return to_flip


def both_states(count: int, first: IntArray, second: IntArray, agree: BoolArray) -> IntArray:
    """(2 count,) component of every face as it is, then flipped, joined to the states that agree.

    A component is a choice for a whole patch, and has a mirror image; where it is its own, the
    patch has only one side.
    """
    other = np.where(agree, second, second + count)
    mirrored = np.where(agree, second + count, second)
    start, end = np.concatenate([first, first + count]), np.concatenate([other, mirrored])
    shape = (2 * count, 2 * count)
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=shape)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _repeats(faces: IntArray) -> BoolArray:
    """(m,) whether an earlier face has the same three vertices, in whatever order."""
    corners = np.sort(faces, axis=1)
    order = np.lexsort(corners.T[::-1])
    ordered = corners[order]
    repeats = np.zeros(len(faces), dtype=bool)
    repeats[order[1:]] = np.all(ordered[1:] == ordered[:-1], axis=1)
    return repeats


def neighbouring_faces(mesh: Mesh) -> tuple[IntArray, IntArray, BoolArray]:
    """Pairs of faces at an edge of two (first, second), and whether they run the same way round."""
    m = len(mesh.faces)
    start, end = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    face = np.repeat(np.arange(m), 3)
    key = np.minimum(start, end) * mesh.n_vertices + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    key, face, upward = key[order], face[order], (start < end)[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    uses = np.diff(begins, append=len(key))
    pairs = begins[uses == 2]
    # Seen from the same side, two neighbours run along their edge in opposite directions.
    return face[pairs], face[pairs + 1], upward[pairs] != upward[pairs + 1]


def _spike_note(spike: BoolArray, at_spike: BoolArray) -> list[str]:
    """A sentence on spikes, if there are any: how many, which, and what became of them."""
    found = np.flatnonzero(spike).tolist()
    if not found:
        return []
    named = ", ".join(map(str, found[:5])) + (", ..." if len(found) > 5 else "")
    what, these = ("1 spike", "vertex") if len(found) == 1 else (f"{len(found)} spikes", "vertices")
    return [
        f"left out {what}, thrown far off the surface ({these} {named}), with the "
        f"{int(at_spike.sum())} faces there; correct or remove them"
    ]


def _note(
    rows: BoolArray, what: str, noun: str, where: Callable[[int], str] | None = None
) -> list[str]:
    """A sentence on marked rows, if there are any: how many, and where the first one is."""
    count = int(rows.sum())
    if not count:
        return []
    first = int(np.argmax(rows))
    nouns = noun if count == 1 else {"vertex": "vertices"}.get(noun, f"{noun}s")
    place = f"{noun} {first}" if where is None else where(first)
    return [f"{what.format(f'{count} {nouns}')} (first: {place})"]
