"""Landmark files as other programs save them, with the true pairs in them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from nho.geometry.mesh import Mesh
from tests.conformance.given import PAIRS, PIECE, WHOLE, Given, same_order

NAMES = tuple(f"mark {row}" for row in range(len(PAIRS)))
MESHES = (PIECE.mesh, WHOLE)
PLACES = tuple(mesh.vertices[PAIRS[:, side]] for side, mesh in enumerate(MESHES))
FLIP = np.array([-1.0, -1.0, 1.0])


def picked(places: np.ndarray, names: Sequence[str] = NAMES, gone: int = -1) -> str:
    """MeshLab's file; the row ``gone`` is not active."""
    points = "".join(
        f'<point x="{x!r}" y="{y!r}" z="{z!r}" active="{int(row != gone)}" name="{name}"/>\n'
        for row, (name, (x, y, z)) in enumerate(zip(names, places.tolist(), strict=True))
    )
    return f"<!DOCTYPE PickedPoints>\n<PickedPoints>\n{points}</PickedPoints>\n"


def markups(places: np.ndarray, axes: str = "LPS", names: Sequence[str] = NAMES) -> str:
    """Slicer's file."""
    points = [
        {"label": name, "position": place}
        for name, place in zip(names, places.tolist(), strict=True)
    ]
    return json.dumps({"markups": [{"coordinateSystem": axes, "controlPoints": points}]})


def fiducials(places: np.ndarray) -> str:
    """Slicer's older file."""
    head = "# Markups fiducial file version = 4.11\n# CoordinateSystem = LPS\n"
    rows = zip(NAMES, places.tolist(), strict=True)
    return head + "".join(f"1,{x!r},{y!r},{z!r},0,0,0,1,1,1,0,{n},,\n" for n, (x, y, z) in rows)


def labelled(places: np.ndarray) -> str:
    """landmarker.io's file."""
    labels = [{"label": name, "mask": [row]} for row, name in enumerate(NAMES)]
    marks = {"points": places.tolist(), "connectivity": []}
    return json.dumps({"version": 2, "labels": labels, "landmarks": marks})


def table(places: np.ndarray, names: Sequence[str] = NAMES) -> str:
    rows = zip(names, places.tolist(), strict=True)
    return "name,x,y,z\n" + "".join(f"{n},{x!r},{y!r},{z!r}\n" for n, (x, y, z) in rows)


def on_triangles(side: int) -> list[list[float]]:
    """Wrap's points: a triangle, u of its first corner and v of its second."""
    mesh: Mesh = MESHES[side]
    found = []
    for vertex in PAIRS[:, side].tolist():
        face, corner = np.argwhere(mesh.faces == vertex)[0].tolist()
        found.append([face, float(corner == 0), float(corner == 1)])
    return found


def wrapped(side: int) -> str:
    return json.dumps(dict(zip(NAMES, on_triangles(side), strict=True)))


def own_pairs() -> str:
    """All three kinds of points."""
    pairs = []
    for row, (p, q) in enumerate(PAIRS.tolist()):
        face, u, v = on_triangles(1)[row]
        inside = {"face": face, "barycentric": [u, v, 1 - u - v]}
        place = {"position": PLACES[0][row].tolist()}
        sides = {"partial": {"vertex": p}, "full": inside}
        sides = sides if row % 2 else {"partial": place, "full": {"vertex": q}}
        pairs.append({"name": NAMES[row], **sides})
    return json.dumps({"pairs": pairs})


def other_axes() -> Given:
    """The scan is in RAS, away from the origin; its landmarks are in LPS."""
    moved = PIECE.mesh.vertices + [40.0, 20, 0]
    scan = same_order(moved, PIECE.mesh.faces.copy(), len(moved))
    files = {"a.mrk.json": markups(moved[PAIRS[:, 0]] * FLIP), "b.pp": picked(PLACES[1])}
    return Given(partial=scan, anchors=files)
