"""What a page draws in 3D: geometry, colours and the map, packed for the browser."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup

from nho.geometry.coarsening import coarsened
from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.io.meshes.polygons import equal_points
from nho.problem.result import MatchResult
from nho.report.colours import ViewColours
from nho.report.views import first_view, frame, framed, view_beside

# What draws and rotates a shape, in order.
VIEWER = ("webgl.js", "labels.js", "depth.js", "texture.js", "shapeview.js", "steering.js")
_MOST = 60_000  # vertices a shape: a report of about ten megabytes
_COARSE = 40_000  # about so many of a larger one, and in proportion where fewer are allowed


@dataclass(frozen=True)
class DrawnPart:
    """What is drawn of a mesh.

    Attributes
    ----------
    vertex : (k,) int array
        Vertices of the mesh, ascending.
    faces : (f, 3) int array
        Triangles between them, as rows of ``vertex``.
    """

    vertex: IntArray
    faces: IntArray

    def row(self, vertices: np.ndarray | int) -> IntArray:
        """Rows of vertices that are drawn."""
        return np.searchsorted(self.vertex, vertices)


def too_large(mesh: Mesh, most: int | None = None) -> bool:
    """Whether only a part of the mesh is drawn."""
    return len(mesh.vertices) > (_MOST if most is None else most)


def drawn_part(mesh: Mesh, keep: IntArray, most: int | None = None) -> DrawnPart:
    """All of a mesh of ordinary size; of a larger one a coarse version with those to keep.

    Parameters
    ----------
    keep : (k,) int array
        Vertices that are drawn in any case.
    most : int, optional
        Vertices of the largest mesh that is drawn as a whole.
    """
    if not too_large(mesh, most):
        return DrawnPart(np.arange(len(mesh.vertices)), mesh.faces)
    # Corners that lie on each other are one surface, which one of them stands for.
    first, group = equal_points(mesh.vertices)
    welded = Mesh(mesh.vertices[first], group[mesh.faces], mesh.name)
    count = _COARSE if most is None else most * _COARSE // _MOST
    coarse = coarsened(welded, count, group[keep])
    vertex = first[coarse.vertex]
    # A vertex to keep is drawn even if no triangle uses it, or another one stands for it.
    every = np.union1d(vertex, keep)
    return DrawnPart(every, np.searchsorted(every, vertex)[coarse.mesh.faces])


def viewer_data(
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    colours: ViewColours,
    most: int | None = None,
) -> dict[str, Any]:
    """Everything the viewer needs, ready for JSON; arrays are little-endian base64."""
    anchors = np.asarray(result.anchors).reshape(-1, 2)
    next_anchor = [result.next_anchor] if result.next_anchor >= 0 else []
    kept = np.append(anchors[:, 0], next_anchor).astype(np.int64)
    partial_part, full_part = drawn_part(partial, kept, most), drawn_part(full, anchors[:, 1], most)
    rows = partial_part.vertex
    full_view = first_view(full)
    partial_view = view_beside(partial, full, full_view, result.points, result.confidence)
    partners = framed(result.points[rows].positions(full), frame(full, full_view))
    pairs = [partial_part.row(anchors[:, 0]), full_part.row(anchors[:, 1])]
    return {
        "partial": drawn_shape(partial, partial_part, partial_view, colours["partial"]),
        "full": drawn_shape(full, full_part, full_view, colours["full"]),
        "partner": packed(partners, "<f4"),
        "partnerVertex": packed(result.vertex_map[rows], "<i4"),
        "confidence": packed(result.confidence[rows], "<f4"),
        "regionScore": packed(result.region_score[full_part.vertex], "<f4"),
        "anchors": np.stack(pairs, axis=1).tolist(),
        "names": [result.anchor_name(row) for row in range(len(anchors))],
        "suspects": sorted(result.suspect_anchors),
        "nextAnchor": int(partial_part.row(next_anchor[0])) if next_anchor else None,
    }


def drawn_shape(
    mesh: Mesh, part: DrawnPart, view: FloatArray, colours: dict[str, np.ndarray]
) -> dict[str, Any]:
    """One shape for a `ShapeView`; ``number`` holds the vertices as the user numbers them."""
    return {
        "positions": packed(framed(mesh.vertices[part.vertex], frame(mesh, view)), "<f4"),
        "faces": packed(part.faces, "<u4"),
        "number": packed(part.vertex, "<u4"),
        "rotation": view.tolist(),
        "colours": {name: packed(rows[part.vertex], "u1") for name, rows in colours.items()},
    }


def packed(array: np.ndarray, kind: str) -> str:
    """The array's numbers as base64, for `unpack` of webgl.js."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def json_for_html(value: Any) -> Markup:
    """JSON that cannot end, or be taken for markup in, the script element around it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # No sign of markup is left in it.
    return Markup(text)  # nosec B704


def packaged_text(name: str, package: str = "nho.report") -> str:
    """The text of a style, script or template that is shipped with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
