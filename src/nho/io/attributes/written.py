"""What the writers share: the files that come out, and numbers that a format has room for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import Array, Texture

_PNG, _JPEG = b"\x89PNG", b"\xff\xd8\xff"


@dataclass
class Written:
    """A file ready to be written.

    Attributes
    ----------
    content : bytes of the file itself.
    beside : name and bytes of further files that belong to it (materials, images).
    notes : what the format has no room for, one sentence each.
    """

    content: bytes
    beside: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def image_files(textures: tuple[Texture, ...], stem: str) -> dict[str, bytes]:
    """The images under names of their own, which no other file of the user has."""
    files = {}
    for number, texture in enumerate(textures):
        which = "" if len(textures) == 1 else str(number)
        files[f"{stem}_texture{which}{image_suffix(texture)}"] = texture.data
    return files


def image_suffix(texture: Texture) -> str:
    """Suffix of an image file, by its first bytes, else by its name."""
    if texture.data.startswith(_PNG):
        return ".png"
    if texture.data.startswith(_JPEG):
        return ".jpg"
    ending = texture.name.rpartition(".")[2]
    return f".{ending}" if "." in texture.name and ending.isalnum() and ending.isascii() else ".img"


def as_numbers(values: Array, kinds: Iterable[str], name: str) -> Array | None:
    """The values in the first of some types that holds them all; None if they are words.

    A float becomes a smaller float only if there is no other.
    """
    if values.dtype.kind == "U":
        return None
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    own = values.dtype.newbyteorder("=")
    allowed = [np.dtype(kind) for kind in kinds]
    if own in allowed:
        return values
    if own.kind == "f":
        floats = [kind for kind in allowed if kind.kind == "f"]
        return values.astype(next((k for k in floats if k.itemsize > own.itemsize), floats[-1]))
    least, largest = int(values.min(initial=0)), int(values.max(initial=0))
    for kind in allowed:
        if kind.kind in "iu" and np.iinfo(kind).min <= least and largest <= np.iinfo(kind).max:
            return values.astype(kind)
    raise InputError(
        f"attribute {name!r} has numbers from {least} to {largest}, which this format has no "
        "room for; write .npz or .csv"
    )


def left_out(names: Iterable[str], what: str) -> list[str]:
    """A note about attributes that a format cannot hold."""
    lost = ", ".join(names)
    return [f"{what}: left out {lost}"] if lost else []
