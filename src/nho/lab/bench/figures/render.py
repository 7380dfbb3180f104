"""Pictures of coloured meshes without a display: a z-buffer in NumPy.

Which face is seen at every sample is decided first, for all faces side by side in batches of
similar size; colour and light are then computed once per seen sample. The eye and the light are
those of the report's 3D view, so a printed picture looks like the page.
"""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.report.views import frame, framed

_EYE = 4.0  # distance of the eye from the centre, in radii of the shape
_MARGIN = 0.02  # share of the picture left free on every side
_LIGHT = np.array([-0.45, 0.65, 0.9]) / np.linalg.norm([-0.45, 0.65, 0.9])
_INSIDE = 0.68  # light on the inner side of an open surface, against the outer one
_EDGE = 0.45  # light on a drawn edge, against the face beside it
_EDGE_WIDTH = 0.55  # pixels of the picture on either side of an edge

_SIZES = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96] + [128 * i for i in range(1, 129)])
_CANDIDATES = 1_000_000  # samples tried at once: bounds the memory
_FLAT = 1e-12  # area over squared length of a face that is seen edge-on, as float64 can tell
_ON_EDGE = 1e-9  # of a weight: a sample on the common edge of two faces must belong to one of them
_NO_SAMPLE = np.iinfo(np.uint64).max


def render(
    mesh: Mesh,
    colours: np.ndarray,
    view: np.ndarray,
    size: tuple[int, int] = (600, 600),
    *,
    transparent: bool = False,
    oversample: int = 2,
    crisp: bool = False,
    edges: bool = False,
) -> np.ndarray:
    """The mesh as large as the picture allows, seen under a rotation.

    Parameters
    ----------
    colours : (n, 3) uint8 array
        sRGB per vertex.
    view : (3, 3) float array
        Rows are the directions to the right, up, and towards the eye.
    size : (width, height) in pixels
    transparent : bool
        Leave the background out, instead of white.
    oversample : int
        Samples per pixel and direction.
    crisp : bool
        Give every point the colour of its nearest corner, as labels want it, instead of a mixture.
    edges : bool
        Draw the edges of the triangles.

    Returns
    -------
    (height, width, 4) uint8 array
        sRGB and opacity.
    """
    colours = np.asarray(colours)
    if colours.shape != (len(mesh.vertices), 3):
        raise InputError(
            f"{mesh.name}: colours of shape {colours.shape} do not fit its {mesh.n_vertices} "
            "vertices; give one row of red, green and blue for each"
        )
    width, height = size[0] * oversample, size[1] * oversample
    places, nearness = _projected(mesh, view, width, height)
    faces = _worth_drawing(places, mesh.faces)
    sample, face = _seen(places[faces], nearness[faces], width, height)
    if not len(sample):
        return _picture(sample, np.empty((0, 3)), size, oversample, transparent)
    corners = faces[face]
    at = places[corners]
    centre = np.stack([sample % width, sample // width], axis=1) + 0.5
    flat = _weights(at, centre)
    weights = flat * nearness[corners]  # undoes the perspective inside the triangle
    weights /= weights.sum(axis=1, keepdims=True)
    if crisp:
        nearest = np.argmax(weights, axis=1)
        shade = colours[corners[np.arange(len(corners)), nearest]].astype(np.float64)
    else:
        shade = np.einsum("sc,scx->sx", weights, colours[corners].astype(np.float64))
    outward = _outward(mesh)
    # Downwards is positive in the picture, which reverses the sense of rotation.
    front = (_doubled_areas(at) < 0) == (outward > 0)
    light = _light(mesh, view, corners, weights, outward, front)
    if edges:
        width_of_edge = _EDGE_WIDTH * oversample
        light = light * np.where(_edge_distance(at, flat) < width_of_edge, _EDGE, 1.0)
    shade = np.clip(shade * light[:, None], 0, 255)
    return _picture(sample, shade, size, oversample, transparent)


def _projected(
    mesh: Mesh, view: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) places in samples from the upper left corner, and (n,) one over the distance."""
    drawn = mesh.used_vertices
    seen = framed(mesh.vertices, frame(mesh, view)) @ np.asarray(view, dtype=np.float64).T
    seen[~drawn] = 0  # a stray vertex may lie behind the eye
    nearness = 1 / (_EYE - seen[:, 2])
    plane = seen[:, :2] * nearness[:, None]
    low, high = plane[drawn].min(axis=0), plane[drawn].max(axis=0)
    room = (1 - 2 * _MARGIN) * np.array([width, height])
    with np.errstate(divide="ignore"):
        scale = (room / (high - low)).min()
    if not np.isfinite(scale):
        scale = 0.0  # all of it is a single point
    places = (plane - (low + high) / 2) * [scale, -scale] + np.array([width, height]) / 2
    return places, nearness


def _worth_drawing(places: FloatArray, faces: IntArray) -> IntArray:
    """The faces that cover an area of the picture."""
    at = places[faces]
    length = ((at - np.roll(at, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    drawn: IntArray = faces[np.abs(_doubled_areas(at)) > _FLAT * length]
    return drawn


def _seen(
    places: np.ndarray, nearness: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray]:
    """Samples that a face covers, and the nearest face at each; of equally near ones the first.

    Parameters
    ----------
    places : (f, 3, 2), nearness : (f, 3)
        Of the corners of the faces.
    """
    buffer = np.full(width * height, _NO_SAMPLE, dtype=np.uint64)
    first = np.ceil(places.min(axis=1) - 0.5).astype(np.int64)
    count = np.floor(places.max(axis=1) - 0.5).astype(np.int64) - first + 1
    hit = np.flatnonzero((count > 0).all(axis=1))
    kind = np.searchsorted(_SIZES, count[hit])
    for across, down in np.unique(kind, axis=0):
        members = hit[(kind == (across, down)).all(axis=1)]
        box = int(_SIZES[across]), int(_SIZES[down])
        at_once = max(1, _CANDIDATES // (box[0] * box[1]))
        for start in range(0, len(members), at_once):
            batch = members[start : start + at_once]
            _draw(buffer, batch, places[batch], nearness[batch], first[batch], box, width)
    sample = np.flatnonzero(buffer != _NO_SAMPLE)
    return sample, (buffer[sample] & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _draw(
    buffer: np.ndarray,
    faces: np.ndarray,
    places: np.ndarray,
    nearness: np.ndarray,
    first: np.ndarray,
    box: tuple[int, int],
    width: int,
) -> None:
    """Enter a batch of faces whose samples all lie in boxes of one size from ``first`` on."""
    doubled = _doubled_areas(places)[:, None]
    (ax, ay), (bx, by), (cx, cy) = (places[:, corner].T[:, :, None] for corner in range(3))
    dx = first[:, :1] + np.arange(box[0]) + 0.5 - ax
    dy = first[:, 1:] + np.arange(box[1]) + 0.5 - ay
    # Weights are linear: a part of the column plus a part of the row.
    of_b = (dx * (cy - ay) / doubled)[:, None, :] - (dy * (cx - ax) / doubled)[:, :, None]
    of_c = (dy * (bx - ax) / doubled)[:, :, None] - (dx * (by - ay) / doubled)[:, None, :]
    inside = (of_b >= -_ON_EDGE) & (of_c >= -_ON_EDGE) & (of_b + of_c <= 1 + _ON_EDGE)
    row, down, across = np.nonzero(inside)
    near = nearness[row, 0]
    near = (
        near + of_b[inside] * (nearness[row, 1] - near) + of_c[inside] * (nearness[row, 2] - near)
    )
    # Distance above, face below in one number: the least of them is the nearest face.
    farness = np.clip(1 - 2 * near, 0, 1) * float(2**31)
    key = (farness.astype(np.uint64) << np.uint64(32)) | faces[row].astype(np.uint64)
    sample = (first[row, 1] + down) * width + first[row, 0] + across
    np.minimum.at(buffer, sample, key)


def _weights(at: FloatArray, points: FloatArray) -> FloatArray:
    """(s, 3) weights of the corners (s, 3, 2) of a triangle each at (s, 2) points in it."""
    doubled = _doubled_areas(at)
    from_a, ab, ac = points - at[:, 0], at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    of_b, of_c = _cross(from_a, ac) / doubled, _cross(ab, from_a) / doubled
    weights: FloatArray = np.clip(np.stack([1 - of_b - of_c, of_b, of_c], axis=1), 0, 1)
    return weights


def _doubled_areas(at: FloatArray) -> FloatArray:
    """(f,) twice the signed areas of triangles (f, 3, 2)."""
    return _cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    area: FloatArray = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return area


def _edge_distance(at: FloatArray, weights: FloatArray) -> FloatArray:
    """(s,) distance in samples to the nearest edge of the triangle around each."""
    opposite = np.linalg.norm(np.roll(at, -1, axis=1) - np.roll(at, 1, axis=1), axis=2)
    heights = weights * np.abs(_doubled_areas(at))[:, None] / opposite
    nearest: FloatArray = heights.min(axis=1)
    return nearest


def _outward(mesh: Mesh) -> float:
    """+1 if the faces look away from the middle of the shape, on the whole, else -1."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    total = mesh.face_areas.sum()
    if not total > 0:
        return 1.0
    areas = mesh.face_areas / total
    away = ((middle - areas @ middle) * mesh.face_normals).sum(axis=1)
    return -1.0 if areas @ away < 0 else 1.0


def _light(
    mesh: Mesh,
    view: np.ndarray,
    corners: np.ndarray,
    weights: np.ndarray,
    outward: float,
    front: np.ndarray,
) -> np.ndarray:
    """(s,) brightness, by smooth normals; both sides are lit, the inner one less."""
    towards_eye = np.where(front, outward, -outward)[:, None]
    normals = np.einsum("sc,scx->sx", weights, (mesh.vertex_normals @ view.T)[corners])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = towards_eye * normals / np.where(length > 0, length, 1)
    key = np.maximum(normals @ _LIGHT, 0)
    light: FloatArray = 0.50 + 0.42 * key + 0.14 * np.maximum(normals[:, 2], 0)
    return light * np.where(front, 1.0, _INSIDE)


def _picture(
    sample: np.ndarray,
    shade: np.ndarray,
    size: tuple[int, int],
    oversample: int,
    transparent: bool,
) -> np.ndarray:
    """Samples averaged to pixels; where nothing is seen, the background."""
    width, height = size
    row, column = np.divmod(sample, width * oversample)
    pixel = row // oversample * width + column // oversample
    count = np.bincount(pixel, minlength=width * height)
    sums = np.stack(
        [np.bincount(pixel, shade[:, i], minlength=width * height) for i in range(3)], axis=1
    )
    full = oversample**2
    if transparent:
        colour, opacity = sums / np.maximum(count, 1)[:, None], 255 * count / full
    else:
        colour, opacity = (sums + 255 * (full - count)[:, None]) / full, np.full(len(count), 255)
    picture = np.concatenate([colour, opacity[:, None]], axis=1)
    return np.round(picture).astype(np.uint8).reshape(height, width, 4)
