"""Mesh files in and out as plain arrays.

The vertex order of the file is the meaning of the answer, so no reader here reorders, splits,
merges or drops a vertex; polygons become fans of triangles in the order of the file. The one
exception is STL, which has no shared vertices: see `nho.meshfiles.stl`.
"""

from nho.meshfiles.read import READABLE, read_arrays
from nho.meshfiles.write import WRITABLE, write_arrays

__all__ = ["READABLE", "WRITABLE", "read_arrays", "write_arrays"]
