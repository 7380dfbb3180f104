"""Meshes to PLY, OFF and OBJ files, with or without vertex colours.

A file appears under its name only when it is complete. All three formats keep the order of the
vertices and every bit of their coordinates.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import FloatArray, IntArray
from nho.runtime.atomic_file import write_whole

Colors = npt.NDArray[np.uint8]


def write_arrays(
    path: str | os.PathLike[str],
    vertices: FloatArray,
    faces: IntArray,
    colors: npt.ArrayLike | None = None,
) -> None:
    """Write a triangle mesh; the suffix of `path` chooses the format.

    Parameters
    ----------
    vertices : (n, 3) float64; faces : (m, 3) int64.
    colors : (n, 3) or (n, 4), uint8 or float 0..1, optional.
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"{path.name}: meshes are written as {', '.join(WRITABLE)}, not as {path.suffix!r}; "
            "choose one of these"
        )
    checked = None if colors is None else as_colors(colors, len(vertices), path.name)
    write_whole(path, writer(vertices, faces, checked))


def as_colors(colors: npt.ArrayLike, n_vertices: int, name: str) -> Colors:
    """Colours as uint8, from uint8 or from floats between 0 and 1."""
    array = np.asarray(colors)
    if array.ndim != 2 or array.shape[0] != n_vertices or array.shape[1] not in (3, 4):
        raise InputError(
            f"{name}: colours have shape {array.shape} but ({n_vertices}, 3) or ({n_vertices}, 4) "
            "is needed; give one colour per vertex"
        )
    if array.dtype == np.uint8:
        return array
    # A NaN fails both comparisons and is refused with the rest.
    if array.dtype.kind != "f" or not np.all((array >= 0) & (array <= 1)):
        raise InputError(f"{name}: colours must be uint8 or floats from 0 to 1; convert them")
    return np.rint(array.astype(np.float64) * 255).astype(np.uint8)


def _ply(vertices: FloatArray, faces: IntArray, colors: Colors | None) -> bytes:
    # 32-bit indices are what other programs read.
    if len(vertices) > np.iinfo(np.int32).max:
        raise InputError(f"{len(vertices)} vertices are too many for a PLY file; simplify the mesh")
    channels = ("red", "green", "blue", "alpha")[: 0 if colors is None else colors.shape[1]]
    rows = np.empty(len(vertices), dtype=[("xyz", "<f8", 3), ("color", "u1", (len(channels),))])
    rows["xyz"] = vertices
    if colors is not None:
        rows["color"] = colors
    triangles = np.empty(len(faces), dtype=[("corners", "u1"), ("indices", "<i4", 3)])
    triangles["corners"], triangles["indices"] = 3, faces
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(vertices)}",
        *(f"property double {axis}" for axis in "xyz"),
        *(f"property uchar {channel}" for channel in channels),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header\n",
    ]
    return "\n".join(header).encode() + rows.tobytes() + triangles.tobytes()


def _off(vertices: FloatArray, faces: IntArray, colors: Colors | None) -> bytes:
    lines = [f"{'OFF' if colors is None else 'COFF'}\n{len(vertices)} {len(faces)} 0"]
    if colors is None:
        lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    else:
        # COFF has four channels, so opaque is said.
        opaque = np.full((len(colors), 1), 255, dtype=np.uint8)
        rgba = np.column_stack([colors, opaque])[:, :4].tolist()
        lines += [
            f"{x!r} {y!r} {z!r} {r} {g} {b} {a}"
            for (x, y, z), (r, g, b, a) in zip(vertices.tolist(), rgba, strict=True)
        ]
    lines += [f"3 {i} {j} {k}" for i, j, k in faces.tolist()]
    return ("\n".join(lines) + "\n").encode()


def _obj(vertices: FloatArray, faces: IntArray, colors: Colors | None) -> bytes:
    if colors is None:
        lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    else:
        # Colours after the coordinates are a custom of OBJ, as fractions and without alpha.
        rgb = (colors[:, :3] / 255.0).tolist()
        lines = [
            f"v {x!r} {y!r} {z!r} {r:.6g} {g:.6g} {b:.6g}"
            for (x, y, z), (r, g, b) in zip(vertices.tolist(), rgb, strict=True)
        ]
    lines += [f"f {i} {j} {k}" for i, j, k in (faces + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


_WRITERS: dict[str, Callable[[FloatArray, IntArray, Colors | None], bytes]] = {
    ".ply": _ply,
    ".off": _off,
    ".obj": _obj,
}
WRITABLE = tuple(_WRITERS)
