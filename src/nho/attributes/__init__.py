"""Data on meshes: what mesh files and tables hold beside the surface, read and written.

>>> from nho.attributes import read_with_attributes, write_with_attributes
>>> mesh, attributes = read_with_attributes("template.obj")      # doctest: +SKIP
>>> attributes.vertex, attributes.face, attributes.uv            # doctest: +SKIP
"""

from nho.attributes.data import DATA_FILES, read_data
from nho.attributes.model import Attributes, Kind, Texture, kind_of
from nho.attributes.read import read_with_attributes
from nho.attributes.write import WRITABLE, write_with_attributes

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
