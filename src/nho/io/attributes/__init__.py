"""Data on meshes: what mesh files and tables hold beside the surface, read and written.

>>> from nho.io.attributes import read_with_attributes, write_with_attributes
>>> mesh, attributes = read_with_attributes("template.obj")      # doctest: +SKIP
>>> attributes.vertex, attributes.face, attributes.uv            # doctest: +SKIP
"""

from nho.io.attributes.files import (
    DATA_FILES,
    WRITABLE,
    check_output_file,
    read_data,
    read_with_attributes,
    write_with_attributes,
)
from nho.io.meshes.model import (
    COLOUR,
    GREY,
    MASK,
    UV,
    Attributes,
    Kind,
    Texture,
    kind_of,
    with_nodata_value,
)

__all__ = [
    "COLOUR",
    "DATA_FILES",
    "GREY",
    "MASK",
    "UV",
    "WRITABLE",
    "Attributes",
    "Kind",
    "Texture",
    "check_output_file",
    "kind_of",
    "read_data",
    "read_with_attributes",
    "with_nodata_value",
    "write_with_attributes",
]
