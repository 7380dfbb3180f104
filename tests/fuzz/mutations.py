"""Small damage to a file: the kinds that broken exports, cut copies and attackers produce.

Every operation takes the bytes, a source of randomness and other inputs to borrow from, and returns
new bytes. None knows a format: text operations work on words and lines wherever there are some.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Sequence

LONGEST = 64 * 1024  # bytes of an input; the memory cap of the contract is stated for this size

_WORD = re.compile(rb"[A-Za-z0-9_.+-]+")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_EXTREME_WORDS = [
    *[b"0", b"1", b"2", b"3", b"-1", b"-2", b"255", b"65536", b"2147483647", b"-2147483648"],
    *[b"4294967295", b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616"],
    *[b"0.5", b"1e19", b"1e308", b"-1e308", b"1e999", b"5e-324", b"nan", b"inf", b"9" * 400],
    *[b"9" * 5000, b"", b" ", b"\0", b"null", b"true", b"[]", b"{}", b'""', b"\xc3\xa9", b"\xff"],
    *[b"\xef\xbb\xbf", b"#", b'"', b"\r", b"self", b"1_0", b"0x10", b"1/2", b"../x", b"."],
]
_EXTREME_INTEGERS = [0, 1, -1, 2**7 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1, -(2**63), -2, 3, 2**24]
_EXTREME_FLOATS = [float("nan"), float("inf"), -0.0, 1e300, -1e38, 5e-324, 0.5]

Operation = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def flip_bit(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def set_byte(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def binary_number(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Overwrite 1 to 8 bytes by an extreme integer or float in either byte order."""
    order = chance.choice("<>")
    if chance.random() < 0.7:
        size = chance.choice([1, 2, 4, 8])
        number = chance.choice(_EXTREME_INTEGERS) % 2 ** (8 * size)
        new = number.to_bytes(size, "little" if order == "<" else "big")
    else:
        kind = chance.choice("fd")
        number = chance.choice(_EXTREME_FLOATS)
        new = struct.pack(order + kind, min(max(number, -1e38), 1e38) if number == number else 0.0)
        new = struct.pack(order + kind, number) if kind == "d" or number != number else new
    at = chance.randrange(len(data))
    return data[:at] + new + data[at + len(new) :]


def insert(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.randint(1, 8)) + data[at:]


def truncate(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    return data[: chance.randrange(len(data))]


def delete_range(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    begin, end = _range(data, chance)
    return data[:begin] + data[end:]


def repeat_range(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    begin, end = _range(data, chance)
    return data[:end] + data[begin:end] * chance.choice([1, 1, 2, 20]) + data[end:]


def splice(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """The beginning of this input and the end of another."""
    other = chance.choice(others)
    return data[: chance.randrange(len(data))] + other[chance.randrange(len(other) + 1) :]


def extreme_word(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    return _replace(data, _WORD, lambda _: chance.choice(_EXTREME_WORDS), chance)


def borrowed_word(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """A word becomes one that stands elsewhere in this or another input."""
    words = _WORD.findall(chance.choice([data, *others]))
    return _replace(data, _WORD, lambda old: chance.choice(words) if words else old, chance)


def near_number(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Counts and indices that are off by one, or of the other sign."""

    def near(old: bytes) -> bytes:
        number = float(old)
        whole = int(number) if abs(number) < 1e15 else 0
        return b"%d" % chance.choice([whole + 1, whole - 1, -whole, 2 * whole, whole * 10**9])

    return _replace(data, _NUMBER, near, chance)


def drop_line(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def repeat_line(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    return b"\n".join(lines[:at] + [lines[at]] * chance.choice([2, 2, 3, 300]) + lines[at + 1 :])


def swap_lines(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def nest(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Thousands of opening brackets, for readers that recurse."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice([b"[", b"(", b'{"a":', b"<a>"]) * 5000 + data[at:]


OPERATIONS: dict[str, Operation] = {
    operation.__name__: operation
    for operation in (
        *(flip_bit, set_byte, binary_number, insert, truncate, delete_range, repeat_range, splice),
        *(extreme_word, borrowed_word, near_number, drop_line, repeat_line, swap_lines, nest),
    )
}
# Those that mostly destroy a file are tried less often than those that keep its form.
_WEIGHTS = {"truncate": 1, "nest": 1, "splice": 2, "insert": 2, "extreme_word": 6, "near_number": 6}
_NAMES = list(OPERATIONS)
_CUMULATED = [sum(_WEIGHTS.get(name, 4) for name in _NAMES[: i + 1]) for i in range(len(_NAMES))]


def pick(chance: random.Random) -> str:
    """The name of an operation, by weight."""
    return chance.choices(_NAMES, cum_weights=_CUMULATED)[0]


def apply(name: str, data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """One operation; nothing can be done to nothing, so empty data get a byte first."""
    return OPERATIONS[name](data or b"0", chance, others)[:LONGEST]


def _range(data: bytes, chance: random.Random) -> tuple[int, int]:
    begin = chance.randrange(len(data))
    return begin, min(begin + chance.choice([1, 2, 4, 8, 30, 200]), len(data))


def _replace(
    data: bytes, pattern: re.Pattern[bytes], new: Callable[[bytes], bytes], chance: random.Random
) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return flip_bit(data, chance, ())
    match = chance.choice(found)
    return data[: match.start()] + new(match.group()) + data[match.end() :]
