"""Data on meshes: what mesh files and tables hold beside the surface, read and written.

>>> from nho.io.attributes import read_with_attributes, write_with_attributes
>>> mesh, attributes = read_with_attributes("template.obj")      # doctest: +SKIP
>>> attributes.vertex, attributes.face, attributes.uv            # doctest: +SKIP
"""

from nho.io.attributes.data import DATA_FILES, read_data
from nho.io.attributes.model import Attributes, Kind, Texture, kind_of
from nho.io.attributes.read import read_with_attributes
from nho.io.attributes.write import WRITABLE, write_with_attributes

__all__ = [
    "DATA_FILES",
    "WRITABLE",
    "Attributes",
    "Kind",
    "Texture",
    "kind_of",
    "read_data",
    "read_with_attributes",
    "write_with_attributes",
]
