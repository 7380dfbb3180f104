"""Legacy VTK files line by line: words, counts, and arrays of numbers."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.text import parse_numbers, quoted, token_starts, unix_text, without_bom

# Binary legacy files are always big-endian.
TYPES = {
    **{"float": ">f4", "double": ">f8", "char": "i1", "signed_char": "i1", "unsigned_char": "u1"},
    **{"short": ">i2", "unsigned_short": ">u2", "int": ">i4", "unsigned_int": ">u4"},
    **{"long": ">i8", "unsigned_long": ">u8", "vtkidtype": ">i4", "vtktypeint64": ">i8"},
    **{"vtktypeuint64": ">u8", "vtktypeint32": ">i4", "vtktypeuint32": ">u4"},
}

AnyArray = npt.NDArray[np.generic]


class Cursor:
    """Reads lines and arrays from a legacy file one after the other."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name, self.at = name, 0
        self.data = data = without_bom(data)
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
                f"{self.name}: {what} has the type {quoted(type_name.encode())}, which is not "
                "known; re-export the mesh"
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

    def word(self, words: list[str], position: int) -> str:
        """A word of a line that must have it."""
        if position >= len(words):
            raise InputError(f"{self.name}: the line `{words[0]}` is too short; re-export the mesh")
        return words[position]

    def count(self, words: list[str], position: int) -> int:
        """The same where it must be a count."""
        word = self.word(words, position)
        if not (word.isascii() and word.isdigit()):
            raise InputError(
                f"{self.name}: a count should follow {words[0]}, not {quoted(word.encode())}; "
                "re-export the mesh"
            )
        return int(word)

    def field(self, line: list[str]) -> Iterator[tuple[str, int, str, AnyArray]]:
        """The arrays below a line FIELD one after the other: name, width, type, numbers (flat)."""
        for _ in range(self.count(line, 2)):
            words = self.words()
            if not words:
                raise InputError(f"{self.name}: a FIELD ends too early; copy or export it again")
            if words[0] == "METADATA":
                self.skip_paragraph()
                words = self.words() or ["METADATA"]
            width, length = self.count(words, 1), self.count(words, 2)
            kind = self.word(words, 3)
            yield words[0], width, kind, self.array(width * length, kind, "FIELD")
