"""Points as they are given (vertices, faces, coordinates) to points on a mesh.

Coordinates far from the mesh are refused with a hint: are they in other axes, or another unit?
"""

from collections.abc import Sequence

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.spikes import without_spikes
from nho.geometry.surface import SurfacePoints, project

WEIGHT_ERROR = 0.01  # by which weights in a face may miss their range: files hold few digits
# Shares of the mesh's diagonal: a point farther from the surface was not marked on it; so close
# must all points come for a hint; points closer together than this lie on anything.
_FAR, _ON, _TOGETHER = 0.1, 0.05, 0.05
FLIP = np.array([-1.0, -1.0, 1.0])  # between the axes LPS and RAS
OPPOSITE_AXES = {"LPS": "RAS", "RAS": "LPS", "": ""}
# Factor: (unit of the points, unit of the mesh) that it suggests.
_UNITS = {
    1.0: ("", ""),
    1000.0: ("m", "mm"),
    0.001: ("mm", "m"),
    10.0: ("cm", "mm"),
    0.1: ("mm", "cm"),
    25.4: ("inches", "mm"),
    1 / 25.4: ("mm", "inches"),
}


def index_pairs(pairs: object, names: Sequence[str], source: str) -> np.ndarray:
    """(m, 2) int64 vertex indices (partial, full); ``names`` are for the message and may be ()."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InputError(f"{source}: anchors must be pairs of vertex indices") from None
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{source}: anchors must be an (m, 2) array of vertex indices (partial, full), "
            f"not of shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        whole = np.zeros(array.shape, dtype=bool)
        if array.dtype.kind == "f":
            whole = (np.abs(array) < 2.0**53) & (array == np.floor(array))
        if not whole.all():
            row = int(np.flatnonzero(~whole.all(axis=1))[0])
            raise InputError(
                f"{source}: anchor {names[row] if len(names) else row + 1} is "
                f"{tuple(array[row].tolist())}, not a pair of vertex indices; give whole numbers"
            )
    return array.astype(np.int64)


def at_vertices(
    mesh: Mesh, vertices: np.ndarray, names: Sequence[str], source: str
) -> SurfacePoints:
    """(n,) vertex indices, which must belong to faces of the mesh."""
    bad = np.flatnonzero((vertices < 0) | (vertices >= len(mesh.vertices)))
    if len(bad):
        remedy = "indices count from 0"
        if vertices.min() > 0 and vertices.max() == len(mesh.vertices):
            remedy += ", and these seem to count from 1: subtract 1 from each"
        raise InputError(
            f"{source}: anchor {names[bad[0]]} refers to vertex {vertices[bad[0]]} of {mesh.name}, "
            f"which has vertices 0 to {len(mesh.vertices) - 1}; {remedy}"
        )
    loose = np.flatnonzero(~np.isin(vertices, mesh.faces))
    if len(loose):
        raise InputError(
            f"{source}: anchor {names[loose[0]]} refers to vertex {vertices[loose[0]]} of "
            f"{mesh.name}, which belongs to no face; pick a vertex on the surface"
        )
    return SurfacePoints.at_vertices(mesh, vertices)


def in_faces(
    mesh: Mesh, face: np.ndarray, barycentric: np.ndarray, names: Sequence[str], source: str
) -> SurfacePoints:
    """(n,) faces and (n, 3) weights, which are rounded into the face."""
    bad = np.flatnonzero((face < 0) | (face >= len(mesh.faces)))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} refers to face {face[bad[0]]} of {mesh.name}, "
            f"which has triangles 0 to {len(mesh.faces) - 1}; indices count from 0"
        )
    weights = np.clip(barycentric, 0, None)
    return SurfacePoints(face.copy(), weights / weights.sum(axis=1, keepdims=True))


def projected(
    mesh: Mesh,
    positions: np.ndarray,
    names: Sequence[str],
    source: str,
    axes: str = "",
    side: str = "",
) -> tuple[SurfacePoints, np.ndarray]:
    """(n, 3) coordinates on the surface, with the (n,) distances; far ones are refused."""
    # A NaN fails the comparison; beyond the square root of the largest number, squares of
    # distances overflow.
    near = np.abs(positions) < np.sqrt(np.finfo(np.float64).max) / 1024
    bad = np.flatnonzero(~near.all(axis=1))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} has no finite position on {mesh.name}; "
            "correct or remove it"
        )
    points, gap = project(mesh, positions)
    size = without_spikes(mesh).diagonal
    far = gap > _FAR * size
    if far.any():
        worst = int(np.argmax(gap))
        raise InputError(
            f"{source}: anchor {names[worst]} lies {gap[worst]:.4g} away from {mesh.name}, which "
            f"is only {size:.4g} across; {_remedy(positions, far, mesh, axes, side)}"
        )
    return points, gap


def _remedy(positions: np.ndarray, far: np.ndarray, mesh: Mesh, axes: str, side: str) -> str:
    """The end of a sentence that refuses points far from their mesh.

    ``positions`` are (n, 3), and ``far`` (n,) says which are too far away; ``axes`` are what the
    file says of its axes, and ``side`` is ``"partial"``, ``"full"`` or unknown.
    """
    found = _change(positions, mesh)
    if found is None:
        if far.sum() == 1 and len(far) > 3:
            return "the other points lie on it, so correct or remove this one"
        return "check units (mm or m) and axes (LPS or RAS)"
    flip, factor = found
    changes, reasons, orders = [], [], []
    if flip:
        other = OPPOSITE_AXES.get(axes, "")
        changes.append("x and y negated")
        reasons.append(
            f"the file says {axes}, the mesh seems to be {other}"
            if other
            else "one seems to be in LPS, the other in RAS"
        )
        way = "nho anchors convert --flip"
        if side:
            way = f"nho match --flip-anchors {side}, or {way} --side {side}"
        orders.append(f"negate them ({way})")
    if factor != 1:
        given, wanted = _UNITS[factor]
        number = "1/25.4" if factor == 1 / 25.4 else f"{factor:g}"
        changes.append(f"all coordinates multiplied by {number}")
        reasons.append(f"the file seems to be in {given}, the mesh in {wanted}")
        which = f" --side {side}" if side else ""
        orders.append(f"scale them (nho anchors convert --scale {factor:.15g}{which})")
    return (
        f"with {' and '.join(changes)} the points would lie on it: {', and '.join(reasons)}; "
        f"{' and '.join(orders)}"
    )


def _change(positions: np.ndarray, mesh: Mesh) -> tuple[bool, float] | None:
    """(flip x and y, factor) that brings all points closest to the surface, if that is close."""
    size = without_spikes(mesh).diagonal
    best, found = _ON * size, None
    for factor in _UNITS:
        extent = factor * float(np.linalg.norm(np.ptp(positions, axis=0)))
        if not _TOGETHER * size <= extent <= 1.2 * size:
            continue
        for flip in (False, True) if factor != 1 else (True,):
            moved = factor * (positions * FLIP if flip else positions)
            gap = float(project(mesh, moved)[1].max())
            # The simplest explanation comes first and stays unless another is clearly better.
            if gap < (best if found is None else 0.5 * best):
                best, found = gap, (flip, factor)
    return found
