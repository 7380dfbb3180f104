"""Which image an OBJ file puts on which face: `mtllib`, `usemtl`, and the material files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.io.attributes.model import Texture
from nho.io.attributes.shared import bytes_beside, is_beside, texture_beside
from nho.io.meshes.polygons import IntArray
from nho.io.meshes.text import TextRows, unix_text, without_comments

_OPTIONS = {  # of map_Kd, with the number of words that follow
    **{"-blendu": 1, "-blendv": 1, "-boost": 1, "-bm": 1, "-cc": 1, "-clamp": 1, "-imfchan": 1},
    **{"-mm": 2, "-texres": 1, "-type": 1, "-o": 3, "-s": 3, "-t": 3},
}


def read_materials(
    rows: TextRows, face_rows: IntArray, folder: Path, notes: list[str]
) -> tuple[tuple[Texture, ...], IntArray]:
    """The images, and for every `f` line the one it shows (-1 = none)."""
    image_of: dict[str, str] = {}
    for row in np.flatnonzero(rows.starts_with(b"mtllib")):
        for file in _library_names(_rest(rows, int(row)), folder):
            data = bytes_beside(folder, file, notes, "the material file")
            image_of.update({} if data is None else _images(data))
    uses = np.flatnonzero(rows.starts_with(b"usemtl"))
    files = [image_of.get(_rest(rows, int(row)), "") for row in uses]
    # A file that names no material for its faces means the only one there is.
    alone = next(iter(image_of.values())) if len(image_of) == 1 else ""
    textures: list[Texture] = []
    index_of = {"": -1}
    for file in [*files, alone]:
        if file not in index_of:
            texture = texture_beside(folder, file, notes)
            index_of[file] = len(textures) if texture is not None else -1
            textures += [] if texture is None else [texture]
    index = np.array([index_of[file] for file in [alone, *files]], dtype=np.int64)
    return tuple(textures), index[np.searchsorted(uses, face_rows)]


def _rest(rows: TextRows, row: int) -> str:
    """What follows the keyword of a row."""
    return b" ".join(rows.text(row).split()[1:]).decode("utf-8", "replace")


def _library_names(rest: str, folder: Path) -> list[str]:
    """One file whose name may have blanks, or several."""
    words = rest.split()
    return [rest] if len(words) < 2 or is_beside(folder, rest) else words


def _images(data: bytes) -> dict[str, str]:
    """File of the diffuse map by material name; "" for a material without."""
    images: dict[str, str] = {}
    material = ""
    for line in without_comments(unix_text(data)).decode("utf-8", "replace").split("\n"):
        words = line.split()
        if len(words) < 2:
            continue
        if words[0].lower() == "newmtl":
            material = " ".join(words[1:])
            images.setdefault(material, "")
        elif words[0].lower() == "map_kd":
            at = 1
            while at < len(words) - 1 and words[at].lower() in _OPTIONS:
                at += 1 + _OPTIONS[words[at].lower()]
            images[material] = " ".join(words[at:])
    return images
