"""Why points do not lie on their mesh: other axes, or another unit?"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import project

_ON = 0.05  # of the mesh's diagonal: so close must all points come for a hint
_SPREAD = 0.05  # of the mesh's diagonal: points closer together than this lie on anything
_FLIP = np.array([-1.0, -1.0, 1.0])
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


def remedy(positions: np.ndarray, far: np.ndarray, mesh: Mesh, axes: str, side: str) -> str:
    """The end of a sentence that refuses points far from their mesh.

    Parameters
    ----------
    positions : (n, 3) float array
    far : (n,) bool array
        Which of them are too far away.
    axes : str
        What the file says of its axes.
    side : str
        ``"partial"``, ``"full"`` or unknown.
    """
    found = _change(positions, mesh)
    if found is None:
        if far.sum() == 1 and len(far) > 3:
            return "the other points lie on it, so correct or remove this one"
        return "check units (mm or m) and axes (LPS or RAS)"
    flip, factor = found
    changes, reasons, orders = [], [], []
    if flip:
        other = {"LPS": "RAS", "RAS": "LPS"}.get(axes, "")
        changes.append("x and y negated")
        reasons.append(
            f"the file says {axes}, the mesh seems to be {other}"
            if other
            else "one seems to be in LPS, the other in RAS"
        )
        orders.append(f"use --flip-anchors {side}" if side else "negate them")
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
    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    best, found = _ON * size, None
    for factor in _UNITS:
        spread = factor * float(np.linalg.norm(np.ptp(positions, axis=0)))
        if not _SPREAD * size <= spread <= 1.2 * size:
            continue
        for flip in (False, True) if factor != 1 else (True,):
            moved = factor * (positions * _FLIP if flip else positions)
            gap = float(project(mesh, moved)[1].max())
            # The simplest explanation comes first and stays unless another is clearly better.
            if gap < (best if found is None else 0.5 * best):
                best, found = gap, (flip, factor)
    return found
