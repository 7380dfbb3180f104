"""Mesh files in and out as plain arrays.

The vertex order of the file is the meaning of the answer, so no reader here reorders, splits,
merges or drops a vertex; polygons become fans of triangles in the order of the file. The one
exception is STL, which has no shared vertices: see `nho.io.meshes.stl`.
"""

from nho.io.meshes.read import READABLE, read_arrays
from nho.io.meshes.write import WRITABLE, write_arrays

__all__ = ["READABLE", "WRITABLE", "read_arrays", "write_arrays"]
