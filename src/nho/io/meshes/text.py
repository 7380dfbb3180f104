"""Numbers out of text files, fast and without guessing.

A text mesh is millions of short lines. Looping over them in Python takes a minute, and handing
the whole file to a number parser forgets which line a number came from. Here the bytes are
tokenised once with NumPy, so that blocks of lines are parsed in one call while every row still
knows its length and its line number for the error message.
"""

import re
import warnings
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

_NEWLINE, _SPACE = 10, 32
_ROWS_AT_ONCE = 1000  # looked through for one that is wrong


def without_bom(data: bytes) -> bytes:
    """The data without the byte order mark that some editors put before a text."""
    return data.removeprefix(b"\xef\xbb\xbf")


def unix_text(data: bytes) -> bytes:
    """The text without byte order mark, and with every line ending as one newline."""
    data = without_bom(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def without_comments(data: bytes) -> bytes:
    """Text with `# ...` removed; newlines stay, so that line numbers do."""
    return re.sub(rb"#[^\n]*", b"", data) if b"#" in data else data


def parse_numbers(text: bytes, expected: int) -> FloatArray | None:
    """Exactly `expected` whitespace-separated numbers, or None if the text is anything else."""
    with warnings.catch_warnings():
        # NumPy only warns about text it could not read to its end.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return values if len(values) == expected else None


def token_starts(data: bytes) -> IntArray:
    """Byte offset of every token, that is of every run of non-blank characters."""
    solid = np.frombuffer(data, dtype=np.uint8) > _SPACE
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    return np.flatnonzero(begins).astype(np.int64, copy=False)


def _part_of_tokens(text: bytes, part: int) -> bytes:
    """Blank every token but its part 0 or 1 between slashes; an empty part 1 becomes `0`."""
    characters = np.frombuffer(text, dtype=np.uint8)
    solid = characters > _SPACE
    starts = np.flatnonzero(solid & ~np.append(False, solid[:-1]))
    ends = np.flatnonzero(solid & ~np.append(solid[1:], False)) + 1
    slashes = np.flatnonzero(characters == ord("/"))
    token = np.searchsorted(ends, slashes, side="right")  # the first one to end after the slash
    place = np.arange(len(slashes)) - np.searchsorted(token, token)  # 0 for the first of a token
    begin, end = (ends if part else starts).copy(), ends.copy()
    if part:
        begin[token[place == 0]] = slashes[place == 0] + 1
    end[token[place == part]] = slashes[place == part]
    switch = np.zeros(len(text) + 1, dtype=np.int8)
    switch[begin] += 1
    switch[end] -= 1
    kept = np.cumsum(switch[:-1], dtype=np.int8).view(np.bool_)
    fields = np.where(kept | ~solid, characters, np.uint8(_SPACE))
    if part:
        fields[starts[begin == end]] = ord("0")
    return fields.tobytes()


class TextRows:
    """The non-blank lines ("rows") of a text, with the number of tokens on each.

    Parameters
    ----------
    data : text with newline endings, comments already removed.
    name : file name for messages.
    first_line : line number of the first line of `data`, for bodies that follow a header.
    """

    def __init__(self, data: bytes, name: str, first_line: int = 1) -> None:
        self.data, self.name = data, name
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        self._tokens = token_starts(data)
        newlines = np.flatnonzero(self._bytes == _NEWLINE)
        tokens_before_line_end = np.append(
            np.searchsorted(self._tokens, newlines), len(self._tokens)
        )
        per_line = np.diff(tokens_before_line_end, prepend=0)
        lines = np.flatnonzero(per_line)
        self.line_numbers: IntArray = lines + first_line
        self.counts: IntArray = per_line[lines]
        # Row i holds the tokens _first[i] to _first[i + 1].
        self._first: IntArray = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.counts)

    def line(self, row: int) -> int:
        """Line number of a row as an editor shows it."""
        return int(self.line_numbers[row])

    def _offset(self, row: int) -> int:
        token = int(self._first[row])
        return int(self._tokens[token]) if token < len(self._tokens) else len(self.data)

    def text(self, row: int) -> bytes:
        """One row as it stands in the file."""
        return self.data[self._offset(row) : self._offset(row + 1)].strip()

    def starts_with(self, keyword: bytes) -> BoolArray:
        """Which rows have exactly this word (any case) as their first token."""
        first = self._tokens[self._first[:-1]]
        after = first + len(keyword)
        found: BoolArray = after <= len(self.data)
        for step, (lower, upper) in enumerate(zip(keyword.lower(), keyword.upper(), strict=True)):
            character = self._bytes[np.minimum(first + step, len(self.data) - 1)]
            found &= (character == lower) | (character == upper)
        ends = self._bytes[np.minimum(after, len(self.data) - 1)] <= _SPACE
        found &= ends | (after == len(self.data))
        return found

    def check_vertices(self, rows: IntArray, counts: IntArray, least: int) -> None:
        """Refuse rows of vertices with fewer numbers (``counts``) than ``least``."""
        if counts.min() < least:
            short = int(np.argmax(counts < least))
            raise InputError(
                f"{self.name}: line {self.line(int(rows[short]))}: vertex {short} has "
                f"{int(counts[short])} numbers but at least {least} are needed; re-export the mesh"
            )

    def numbers(self, begin: int, end: int) -> FloatArray:
        """All numbers on the rows `begin` to `end` (exclusive), flat."""
        text = self.data[self._offset(begin) : self._offset(end)]
        values = parse_numbers(text, int(self._first[end] - self._first[begin]))
        if values is None:
            self._refuse(np.arange(begin, end), 0)
        return values

    def numbers_after_keyword(
        self, rows: BoolArray, keyword: bytes, part: int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Numbers that follow a keyword on the chosen rows.

        Parameters
        ----------
        rows : (len(self),) bool, rows that start with the keyword.
        part : of every token, read only what stands before its first `/` (0), or between that and
            the next `/` (1; the number 0 where nothing does).

        Returns
        -------
        flat : (t,) float, all numbers; counts : (rows.sum(),) int, numbers on each row.
        """
        text = self._after_keyword(rows, keyword)
        counts = self.counts[rows] - 1
        if part is not None and b"/" in text:
            text = _part_of_tokens(text, part)
        elif part == 1:
            return np.zeros(int(counts.sum())), counts
        values = parse_numbers(text, int(counts.sum()))
        if values is None:
            self._refuse(np.flatnonzero(rows), 1, part)
        return values, counts

    def _after_keyword(self, rows: BoolArray, keyword: bytes) -> bytes:
        """The text of the chosen rows with their keyword blanked."""
        first = self._tokens[self._first[:-1]]
        row_bytes = np.diff(first, append=len(self.data))
        blanked = self._bytes.copy()
        for step in range(len(keyword)):
            blanked[first[rows] + step] = _SPACE
        # Text before the first token belongs to no row and is blank.
        lead = int(first[0]) if len(first) else 0
        return blanked[lead:][np.repeat(rows, row_bytes)].tobytes()

    def _refuse(self, rows: IntArray, skip: int, part: int | None = None) -> NoReturn:
        """Raise for the first row that is not made of numbers; slow, only for the message.

        ``part`` is the part between slashes that is meant, if one is.
        """
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            block = rows[start : start + _ROWS_AT_ONCE].tolist()
            tokens_of = {row: self.text(row).split()[skip:] for row in block}
            words = [token for tokens in tokens_of.values() for token in tokens]
            if part is None and parse_numbers(b" ".join(words), len(words)) is not None:
                continue
            for at, token in ((row, token) for row in block for token in tokens_of[row]):
                number = token if part is None else [*token.split(b"/"), b"0"][part]
                if parse_numbers(number or b"0" * bool(part), 1) is None:
                    raise InputError(
                        f"{self.name}: line {self.line(at)}: {quoted(token)} is not a number;"
                        " the file is damaged, re-export the mesh"
                    )
        raise InputError(
            f"{self.name}: the numbers on its lines cannot be separated; re-export the mesh"
        )


def quoted(token: bytes) -> str:
    """A piece of the file as it may stand in a message: short, printable, quoted."""
    return repr(token[:40].decode("ascii", "backslashreplace"))
