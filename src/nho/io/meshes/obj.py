"""Wavefront OBJ: vertices, faces, vertex colours, texture coordinates, materials and images."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.columns import left_out
from nho.io.meshes.model import (
    COLOUR,
    Array,
    Attributes,
    ParsedMesh,
    Texture,
    Written,
    kind_of,
    uint8_colours,
)
from nho.io.meshes.polygons import FloatArray, IntArray, Triangles, triangulate, whole_numbers
from nho.io.meshes.text import TextRows, unix_text, without_comments
from nho.io.meshes.textures import bytes_beside, image_files, is_beside, texture_beside

_OPTIONS = {  # of map_Kd, with the number of words that follow
    **{"-blendu": 1, "-blendv": 1, "-boost": 1, "-bm": 1, "-cc": 1, "-clamp": 1, "-imfchan": 1},
    **{"-mm": 2, "-texres": 1, "-type": 1, "-o": 3, "-s": 3, "-t": 3},
}


@dataclass(frozen=True)
class _Statements:
    """The statements of an OBJ file.

    Attributes
    ----------
    rows : all of them; is_vertex, is_face : (rows,) bool.
    written : all numbers on `v` lines; columns : (n,) how many stand on each.
    counts : (p,) corners of each polygon.
    """

    rows: TextRows
    is_vertex: npt.NDArray[np.bool_]
    is_face: npt.NDArray[np.bool_]
    written: FloatArray
    columns: IntArray
    counts: IntArray

    def vertex_numbers(self, first: int, last: int) -> FloatArray:
        """(n, last - first) numbers of every `v` line; the lines must be as long as that."""
        begin = np.cumsum(self.columns) - self.columns
        numbers: FloatArray = self.written[begin[:, None] + np.arange(first, last)]
        return numbers

    def face_line(self, corner: int) -> str:
        """Where a corner stands, corners being counted through all polygons, for a message."""
        face = int(np.searchsorted(np.cumsum(self.counts), corner, side="right"))
        line = self.rows.line(int(np.flatnonzero(self.is_face)[face]))
        return f"{self.rows.name}: line {line}: face {face}"

    def zero_based(
        self, written: FloatArray, keyword: npt.NDArray[np.bool_]
    ) -> tuple[IntArray | None, npt.NDArray[np.bool_]]:
        """Indices from 0 out of OBJ's 1, 2, ... and -1, -2, ..., and which are wrong.

        ``keyword`` says which rows are counted; -1 stands for the index 0, "none". The indices are
        None if one is not a whole number.
        """
        numbers = whole_numbers(written)
        if numbers is None:
            return None, ~(np.abs(written) < 2.0**53) | (written != np.floor(written))
        so_far = np.cumsum(keyword, dtype=np.int64)[self.is_face]
        index = np.where(numbers < 0, np.repeat(so_far, self.counts) + numbers, numbers - 1)
        return index, (index >= keyword.sum()) | ((index < 0) & (numbers != 0))


def read_obj(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """The surface of an OBJ file, in the order of its `v` lines.

    Objects, groups and materials do not touch the numbering; negative indices count back from the
    vertices read so far.
    """
    text = without_comments(unix_text(data))
    if b"\\\n" in text:
        text = text.replace(b"\\\n", b" ")  # a statement may go on after a backslash
    rows = TextRows(text, name)
    if len(rows) == 0:
        raise InputError(f"{name}: there is nothing in it but blank lines; re-export the mesh")
    is_vertex, is_face = rows.starts_with(b"v"), rows.starts_with(b"f")
    if not is_vertex.any():
        raise InputError(
            f"{name}: there are no vertices (`v` lines); give it the suffix of its "
            "real format or re-export it"
        )
    flat, columns = rows.numbers_after_keyword(is_vertex, b"v")
    rows.check_vertices(np.flatnonzero(is_vertex), columns, 3)
    written, counts = rows.numbers_after_keyword(is_face, b"f", part=0)
    statements = _Statements(rows, is_vertex, is_face, flat, columns, counts)
    vertices = statements.vertex_numbers(0, 3)
    corners = _corners(statements, written, len(vertices))
    cut = triangulate(corners, counts, vertices, name)
    return ParsedMesh(vertices, cut.faces, lambda: _attributes(statements, cut, folder), cut.notes)


def _corners(statements: _Statements, written: FloatArray, n_vertices: int) -> IntArray:
    """The vertex of every corner."""
    index, wrong = statements.zero_based(written, statements.is_vertex)
    if index is not None:
        wrong |= index < 0
        if not wrong.any():
            return index
    at = int(np.argmax(wrong))
    shown = f"{written[at]:g}" if index is None else str(int(written[at]))
    raise InputError(
        f"{statements.face_line(at)} refers to vertex {shown} but the {n_vertices} vertices are "
        f"numbered 1-{n_vertices}; re-export the mesh"
    )


def _attributes(statements: _Statements, cut: Triangles, folder: Path) -> Attributes:
    """Colours of the vertices, texture coordinates of the corners, and images."""
    notes: list[str] = []
    colours, uv = _colours(statements), _corner_uv(statements)
    textures, shown = _materials(statements, folder, notes)
    return Attributes(
        vertex={} if colours is None else {COLOUR: colours},
        uv=None if uv is None else uv[cut.corners],
        textures=textures,
        texture_of_face=shown[cut.polygon] if textures else None,
        notes=tuple(notes),
    )


def _colours(statements: _Statements) -> Array | None:
    """(n, 3) uint8 if every `v` line has three more numbers that can be colours."""
    if statements.columns.min() < 6:
        return None
    written = statements.vertex_numbers(3, 6)
    whole = whole_numbers(written)  # some programs write 0 to 255
    colours = uint8_colours(written)
    return uint8_colours(whole) if colours is None and whole is not None else colours


def _corner_uv(statements: _Statements) -> Array | None:
    """(corners, 2) texture coordinates, NaN where a corner has none; None if no corner has any."""
    rows = statements.rows
    is_texture = rows.starts_with(b"vt")
    flat, columns = rows.numbers_after_keyword(is_texture, b"vt")
    written, _ = rows.numbers_after_keyword(statements.is_face, b"f", part=1)
    index, wrong = statements.zero_based(written, is_texture)
    if index is None or wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{statements.face_line(at)} refers to texture coordinate {written[at]:g} but there "
            f"are {len(columns)} (`vt` lines); re-export the mesh"
        )
    if not (index >= 0).any():
        return None
    if columns.min() < 1:
        line = rows.line(int(np.flatnonzero(is_texture)[np.argmax(columns < 1)]))
        raise InputError(f"{rows.name}: line {line}: `vt` without numbers; re-export the mesh")
    begin = np.cumsum(columns) - columns
    pairs = np.full((len(columns) + 1, 2), np.nan)  # the last row is taken by index -1
    pairs[:-1, 0] = flat[begin]
    pairs[:-1, 1] = np.where(columns > 1, flat[np.minimum(begin + 1, len(flat) - 1)], 0.0)
    return pairs[index]


def _materials(
    statements: _Statements, folder: Path, notes: list[str]
) -> tuple[tuple[Texture, ...], IntArray]:
    """The images, and for every `f` line the one it shows (-1 = none)."""
    rows = statements.rows
    image_of: dict[str, str] = {}
    for row in np.flatnonzero(rows.starts_with(b"mtllib")):
        rest = _rest(rows, int(row))
        words = rest.split()  # one file whose name may have blanks, or several
        for file in [rest] if len(words) < 2 or is_beside(folder, rest) else words:
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
    return tuple(textures), index[np.searchsorted(uses, np.flatnonzero(statements.is_face))]


def _rest(rows: TextRows, row: int) -> str:
    """What follows the keyword of a row."""
    return b" ".join(rows.text(row).split()[1:]).decode("utf-8", "replace")


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


def write_obj(vertices: Array, faces: Array, attributes: Attributes, stem: str) -> Written:
    """The text of an OBJ file, with one colour per vertex; materials and images go beside it."""
    colour = next((k for k, v in attributes.vertex.items() if kind_of(v) == "colour"), None)
    images = image_files(attributes.textures, stem)
    lines = [f"mtllib {stem}.mtl"] if images else []
    if colour is None:
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    else:
        # Colours after the coordinates are a custom of OBJ, as fractions and without alpha.
        rgb = (attributes.vertex[colour][:, :3] / 255.0).tolist()
        lines += [
            f"v {x!r} {y!r} {z!r} {r:.6g} {g:.6g} {b:.6g}"
            for (x, y, z), (r, g, b) in zip(vertices.tolist(), rgb, strict=True)
        ]
    lines += _face_lines(faces, attributes, bool(images))
    beside = dict(images)
    if images:
        materials = ["newmtl plain", "Kd 0.8 0.8 0.8"]
        for number, name in enumerate(images):
            materials += [f"newmtl image{number}", "Kd 1 1 1", f"map_Kd {name}"]
        beside[f"{stem}.mtl"] = ("\n".join(materials) + "\n").encode()
    lost = [name for name in attributes.vertex if name != colour] + list(attributes.face)
    notes = left_out(lost, "OBJ holds one colour per vertex and texture coordinates")
    return Written(("\n".join(lines) + "\n").encode(), beside, notes)


def _face_lines(faces: Array, attributes: Attributes, with_materials: bool) -> list[str]:
    """`vt`, `usemtl` and `f` lines; the faces keep their order."""
    corners = (faces + 1).tolist()
    if attributes.uv is None:
        return [f"f {i} {j} {k}" for i, j, k in corners]
    known = attributes.textured_faces(len(faces))
    pairs, index = np.unique(attributes.uv[known].reshape(-1, 2), axis=0, return_inverse=True)
    lines = [f"vt {u!r} {v!r}" for u, v in pairs.tolist()]
    of_corner: Array = np.zeros(faces.shape, dtype=np.int64)
    of_corner[known] = index.reshape(-1, 3) + 1
    shown: list[int] = attributes.texture_indices(len(faces)).tolist()
    last = None
    for (i, j, k), (a, b, c), image in zip(corners, of_corner.tolist(), shown, strict=True):
        if with_materials and image != last:
            lines.append(f"usemtl {'plain' if image < 0 else f'image{image}'}")
            last = image
        lines.append(f"f {i}/{a} {j}/{b} {k}/{c}" if a else f"f {i} {j} {k}")
    return lines
