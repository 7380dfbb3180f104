"""What arrays must be to make a mesh."""

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import check_range, whole_numbers

# Squares of coordinates, and sums of a few of them, must not overflow.
_LARGEST = float(np.sqrt(np.finfo(np.float64).max)) / 1024


def checked_vertices(given: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """(n, 3) finite coordinates, not too large; the mesh is called ``name`` in messages."""
    try:
        vertices = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: the vertices are not an array of real numbers ({error}); give shape (n, 3)"
        ) from error
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise InputError(
            f"{name}: the vertices have shape {vertices.shape} but (n, 3) is needed; give x, y, z"
        )
    if len(vertices) < 3:
        raise InputError(
            f"{name}: there are {len(vertices)} vertices but a mesh has at least 3; "
            "check what was exported"
        )
    finite = np.isfinite(vertices).all(axis=1)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise InputError(
            f"{name}: vertex {bad} is {tuple(vertices[bad].tolist())}, which is not finite; "
            "remove it or re-export the mesh"
        )
    too_large = np.abs(vertices).max(axis=1) > _LARGEST
    if too_large.any():
        bad = int(np.argmax(too_large))
        raise InputError(
            f"{name}: vertex {bad} is {tuple(vertices[bad].tolist())}, too large to compute areas "
            "with; correct it or give the mesh in another unit"
        )
    return vertices


def checked_faces(given: npt.ArrayLike, n_vertices: int, name: str) -> npt.NDArray[np.int64]:
    """(m, 3) indices of vertices that there are."""
    try:
        written = np.asarray(given)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise InputError(
            f"{name}: the faces are not one array ({error}); give triangles, shape (m, 3)"
        ) from error
    if written.size == 0:
        raise InputError(
            f"{name}: there are no faces; give triangles, or make a surface of the points with "
            "Mesh.from_points"
        )
    if written.ndim != 2 or written.shape[1] != 3:
        raise InputError(
            f"{name}: the faces have shape {written.shape} but (m, 3) is needed; triangulate first"
        )
    faces = whole_numbers(written.ravel())
    if faces is None:
        bad = next(i for i, face in enumerate(written) if whole_numbers(face) is None)
        raise InputError(
            f"{name}: face {bad} is {written[bad].tolist()}, not three whole numbers; "
            "give vertex indices"
        )
    check_range(faces, n_vertices, name, np.arange(0, len(faces), 3))
    return faces.reshape(-1, 3)
