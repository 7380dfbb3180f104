"""Mesh files in and out: one module a format for its surface, attributes and textures.

The vertex order of the file is the meaning of the answer, so no reader here reorders, splits,
merges or drops a vertex; polygons become triangles in the order of the file. The one
exception is STL, which has no shared vertices: see `nho.io.meshes.stl`.
"""

from nho.io.meshes.files import READABLE, WRITABLE, read_surface, write_arrays

__all__ = ["READABLE", "WRITABLE", "read_surface", "write_arrays"]
