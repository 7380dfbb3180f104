"""Legacy VTK files: POLYDATA, and UNSTRUCTURED_GRID made of flat cells; text and binary."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import FloatArray, IntArray, ragged, triangulate, whole_numbers
from nho.io.meshes.text import parse_numbers, shown, token_starts, unix_text, without_mark

# Binary legacy files are always big-endian.
TYPES = {
    **{"float": ">f4", "double": ">f8", "char": "i1", "signed_char": "i1", "unsigned_char": "u1"},
    **{"short": ">i2", "unsigned_short": ">u2", "int": ">i4", "unsigned_int": ">u4"},
    **{"long": ">i8", "unsigned_long": ">u8", "vtkidtype": ">i4", "vtktypeint64": ">i8"},
    **{"vtktypeuint64": ">u8", "vtktypeint32": ">i4", "vtktypeuint32": ">u4"},
}
_CELL_SECTIONS = ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS")
_FLAT_CELLS, _THIN_CELLS = (5, 7, 9), (1, 2, 3, 4)  # triangle, polygon, quad; points and lines

AnyArray = npt.NDArray[np.generic]
Cells = tuple[AnyArray, IntArray]


class Cursor:
    """Reads lines and arrays from a legacy file one after the other."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name, self.at = name, 0
        self.data = data = without_mark(data)
        for _ in range(2):  # version and title; the title may be anything
            self.raw_line()
        kind = self.words()
        if not data.startswith(b"# vtk DataFile") or kind not in (["ASCII"], ["BINARY"]):
            raise InputError(
                f"{name}: a legacy VTK file has `# vtk DataFile` on its first line and ASCII or "
                "BINARY on its third; re-export the mesh"
            )
        self.binary = kind == ["BINARY"]
        if not self.binary:
            self.data = data[: self.at] + unix_text(data[self.at :])
        self.tokens = token_starts(self.data) if not self.binary else np.zeros(0, dtype=np.int64)

    def raw_line(self) -> bytes:
        """The next line, blank or not."""
        end = self.data.find(b"\n", self.at)
        end = len(self.data) if end < 0 else end
        line = self.data[self.at : end]
        self.at = min(end + 1, len(self.data))
        return line

    def words(self) -> list[str]:
        """The words of the next non-blank line; none at the end of the file."""
        while self.at < len(self.data):
            if words := self.raw_line().decode("latin-1").split():
                return words
        return []

    def skip_paragraph(self) -> None:
        """Go on behind the next blank line."""
        while self.raw_line().strip():
            pass

    def array(self, count: int, type_name: str, what: str) -> AnyArray:
        """The next `count` numbers."""
        if type_name.lower() not in TYPES:
            raise InputError(
                f"{self.name}: {what} has the type {shown(type_name.encode())}, which is not known;"
                " re-export the mesh"
            )
        kind = np.dtype(TYPES[type_name.lower()])
        if self.binary:
            present = (len(self.data) - self.at) // kind.itemsize
        else:
            first = int(np.searchsorted(self.tokens, self.at))
            present = len(self.tokens) - first
        if not 0 <= count <= present:
            raise InputError(
                f"{self.name}: {count} numbers are promised for {what} but the file ends after "
                f"{present}; copy or export it again"
            )
        if self.binary:
            values = np.frombuffer(self.data, dtype=kind, count=count, offset=self.at)
            self.at += values.nbytes
            return values.astype(kind.newbyteorder("="))
        end = len(self.data) if count == present else int(self.tokens[first + count])
        numbers = parse_numbers(self.data[self.at : end], count)
        if numbers is None:
            raise InputError(f"{self.name}: {what} is not made of numbers; re-export the mesh")
        self.at = end
        return numbers


@dataclass(frozen=True)
class Dataset:
    """The surface of a legacy file, up to where data about it begin.

    Attributes
    ----------
    points : (n, 3); corners : of all polygons; counts : (p,) corners of each polygon.
    cells : (p,) which of the cells that CELL_DATA counts each polygon is.
    cursor : stands behind the line `words` (POINT_DATA, CELL_DATA or nothing).
    """

    points: FloatArray
    corners: AnyArray
    counts: IntArray
    cells: IntArray
    cursor: Cursor
    words: list[str]


def read_vtk(data: bytes, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (m, 3) of a legacy VTK file, in the order of the file.

    Points and lines among the cells are skipped; strips, volumes and other datasets are refused.
    """
    found = read_dataset(data, name)
    return found.points, triangulate(found.corners, found.counts, len(found.points), name)


def read_dataset(data: bytes, name: str) -> Dataset:
    """Points and polygons of a legacy file."""
    cursor = Cursor(data, name)
    points: FloatArray | None = None
    cells: dict[str, Cells] = {}
    types: IntArray | None = None
    while words := cursor.words():
        section = words[0].upper()
        if section == "DATASET":
            if words[1:] not in (["POLYDATA"], ["UNSTRUCTURED_GRID"]):
                raise InputError(
                    f"{name}: a dataset {shown(' '.join(words[1:]).encode())} is not a surface; "
                    "export it as POLYDATA"
                )
        elif section == "POINTS":
            count = count_in(words, 1, name)
            points = cursor.array(3 * count, word_in(words, 2, name), "POINTS").astype(np.float64)
            points = points.reshape(-1, 3)
        elif section in _CELL_SECTIONS:
            cells[section] = _cells(cursor, words)
        elif section == "CELL_TYPES":
            types = whole_numbers(cursor.array(count_in(words, 1, name), "int", "CELL_TYPES"))
        elif section == "FIELD":
            for _ in field_arrays(cursor, count_in(words, 2, name)):
                pass
        elif section == "METADATA":
            cursor.skip_paragraph()
        elif section in ("POINT_DATA", "CELL_DATA"):
            break  # what follows describes the mesh that has been read
        else:
            raise InputError(
                f"{name}: the section {shown(words[0].encode('latin-1'))} is not understood; "
                "re-export the mesh"
            )
    if points is None:
        raise InputError(f"{name}: the section POINTS is missing; re-export the mesh")
    if len(cells.get("TRIANGLE_STRIPS", ((), ()))[1]):
        raise InputError(f"{name}: triangle strips are not supported; export it as POLYGONS")
    nothing: Cells = (np.zeros(0), np.zeros(0, dtype=np.int64))
    corners, counts = cells.get("POLYGONS", nothing)
    # Cell data count points first, then lines, then polygons.
    before = sum(len(cells.get(section, nothing)[1]) for section in ("VERTICES", "LINES"))
    number = before + np.arange(len(counts))
    if "CELLS" in cells:
        corners, counts, number = _flat_cells(*cells["CELLS"], types, name)
    return Dataset(points, corners, counts, number, cursor, words)


def word_in(words: list[str], position: int, name: str) -> str:
    """A word of a line that must have it."""
    if position >= len(words):
        raise InputError(f"{name}: the line `{words[0]}` is too short; re-export the mesh")
    return words[position]


def count_in(words: list[str], position: int, name: str) -> int:
    """The same where it must be a count."""
    word = word_in(words, position, name)
    if not (word.isascii() and word.isdigit()):
        raise InputError(
            f"{name}: a count should follow {words[0]}, not {shown(word.encode())}; "
            "re-export the mesh"
        )
    return int(word)


def _cells(cursor: Cursor, words: list[str]) -> Cells:
    """Corners of all cells, flat, and corners per cell; both layouts of the format."""
    section, name = words[0], cursor.name
    n_cells, size = count_in(words, 1, name), count_in(words, 2, name)
    before = cursor.at
    following = cursor.words()
    if following[:1] == ["OFFSETS"]:  # file version 5.1: n_cells counts the offsets
        offsets = whole_numbers(cursor.array(n_cells, word_in(following, 1, name), section))
        following = cursor.words()
        if following[:1] != ["CONNECTIVITY"]:
            raise InputError(f"{name}: {section} has no CONNECTIVITY; re-export the mesh")
        corners = cursor.array(size, word_in(following, 1, name), section)
        return corners, lengths_of(offsets, size, name)
    cursor.at = before
    flat = whole_numbers(cursor.array(size, "int", section))
    width = -1 if flat is None or size == 0 else int(flat[0])
    if flat is not None and width >= 0 and size == n_cells * (width + 1):
        if np.all(flat[:: width + 1] == width):  # all cells alike: no need to walk
            table = flat.reshape(n_cells, width + 1)[:, 1:]
            return table.reshape(-1), np.full(n_cells, width, dtype=np.int64)
    counts, starts, at = [], [], 0
    lengths = [] if flat is None else flat.tolist()
    while at < len(lengths) and 0 <= lengths[at] < size - at:
        counts.append(lengths[at])
        starts.append(at + 1)
        at += lengths[at] + 1
    if flat is None or at != size or len(counts) != n_cells:
        raise InputError(
            f"{name}: {section} does not hold the {n_cells} cells it promises; re-export the mesh"
        )
    per_cell = np.array(counts, dtype=np.int64)
    return ragged(flat, np.array(starts, dtype=np.int64), per_cell), per_cell


def lengths_of(offsets: IntArray | None, n_corners: int, name: str) -> IntArray:
    """Corners per cell from offsets 0, ..., n_corners."""
    # Offsets are compared and not subtracted: differences of 64-bit extremes wrap around, and
    # np.repeat writes beyond its memory when the sum of its counts does.
    if offsets is None or (
        len(offsets)
        and (offsets[0] != 0 or offsets[-1] != n_corners or np.any(offsets[1:] < offsets[:-1]))
    ):
        raise InputError(f"{name}: the cell offsets do not fit the corners; re-export the mesh")
    return np.diff(offsets)


def _flat_cells(
    corners: AnyArray, counts: IntArray, types: IntArray | None, name: str
) -> tuple[AnyArray, IntArray, IntArray]:
    """Corners, corners per cell and numbers of the cells that make a surface."""
    if types is None or len(types) != len(counts):
        raise InputError(f"{name}: every cell needs one CELL_TYPES entry; re-export the mesh")
    flat, thin = np.isin(types, _FLAT_CELLS), np.isin(types, _THIN_CELLS)
    if not np.all(flat | thin):
        cell = int(np.argmin(flat | thin))
        raise InputError(
            f"{name}: cell {cell} has the type {int(types[cell])}, only triangles (5), polygons (7)"
            " and quads (9) make a surface; extract the surface and export it as POLYDATA"
        )
    starts = np.cumsum(counts) - counts
    return ragged(corners, starts[flat], counts[flat]), counts[flat], np.flatnonzero(flat)


def field_arrays(cursor: Cursor, n_arrays: int) -> Iterator[tuple[str, int, str, AnyArray]]:
    """The arrays of a FIELD one after the other: name, width, type and numbers, flat."""
    for _ in range(n_arrays):
        words = cursor.words()
        if not words:
            raise InputError(f"{cursor.name}: a FIELD ends too early; copy or export it again")
        if words[0] == "METADATA":
            cursor.skip_paragraph()
            words = cursor.words() or ["METADATA"]
        width, length = count_in(words, 1, cursor.name), count_in(words, 2, cursor.name)
        kind = word_in(words, 3, cursor.name)
        yield words[0], width, kind, cursor.array(width * length, kind, "FIELD")
