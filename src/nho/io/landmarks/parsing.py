"""What the readers of landmark files share: text, JSON, names and numbers.

A function that checks a value takes what it is and the name of the file, for the message.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from nho.errors import InputError

_LINE = 160  # characters of a line of JSON: a point with all its digits
_LONGEST_NAME = 200  # characters
_LISTED = 6  # names in a note before "and so on"


def text_of(data: bytes, name: str) -> str:
    """UTF-8 text without byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{name}: cannot be read as text ({problem}); save it in UTF-8") from None


def document_of(data: bytes, name: str) -> Any:
    """A JSON document."""
    text = text_of(data, name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # The last of two equal keys would win without a word, and a point would be lost.
        known = dict(pairs)
        if len(known) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = counts.most_common(1)[0][0]
            raise InputError(f"{name}: {short(twice)} stands twice in one object; rename one")
        return known

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{name}: it is not valid JSON ({problem}); export it again") from None


def json_bytes(document: Any) -> bytes:
    """A JSON document as a file: in UTF-8, with every digit, what fits on a line on one line."""
    return (_json_lines(document, "") + "\n").encode()


def _json_lines(value: Any, indent: str) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(indent + flat) <= _LINE or not isinstance(value, dict | list) or not value:
        return flat
    deeper = indent + "  "
    if isinstance(value, list):
        parts = [_json_lines(each, deeper) for each in value]
        ends = "[]"
    else:
        keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        parts = [
            key + _json_lines(each, deeper) for key, each in zip(keys, value.values(), strict=True)
        ]
        ends = "{}"
    inside = f",\n{deeper}".join(parts)
    return f"{ends[0]}\n{deeper}{inside}\n{indent}{ends[1]}"


def an_object(value: Any, what: str, name: str) -> dict[str, Any]:
    """Check that a value is a JSON object."""
    if not isinstance(value, dict):
        raise InputError(f"{name}: {what} is {short(value)}, not an object; export it again")
    return value


def a_list(value: Any, what: str, name: str) -> list[Any]:
    """Check that a value is a JSON list."""
    if not isinstance(value, list):
        raise InputError(f"{name}: {what} is {short(value)}, not a list; export it again")
    return value


def a_text(value: Any, what: str, name: str) -> str:
    """Check that a value is a JSON string; a number will do, null is ""."""
    if value is None:
        return ""
    if isinstance(value, bool | list | dict):
        raise InputError(f"{name}: {what} is {short(value)}, not a text; correct it")
    return str(value)


def numbers(value: Any, count: int, what: str, name: str) -> list[float]:
    """Check that a value is a JSON list of so many numbers."""
    values = a_list(value, what, name)
    if len(values) != count:
        raise InputError(
            f"{name}: {what} has {len(values)} numbers, {count} are needed; correct or remove it"
        )
    return [a_number(each, what, name) for each in values]


def a_number(value: Any, what: str, name: str) -> float:
    """Check that a value is a JSON number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise InputError(f"{name}: {what} has {short(value)}, which is no number; correct it")


def an_index(value: Any, what: str, name: str) -> int:
    """Check that a value is a JSON number that is whole."""
    number = a_number(value, what, name)
    if not (abs(number) < 2.0**53 and number == int(number)):
        raise InputError(f"{name}: {what} has the index {short(value)}; give a whole number")
    return int(number)


def from_text(cell: str) -> float | None:
    """A number as files write it, or None."""
    try:
        return float(cell)
    except ValueError:
        return None


def is_nan(value: object) -> bool:
    """Whether a value is a number that is not known."""
    return isinstance(value, float) and math.isnan(value)


def short(value: Any) -> str:
    """A value in a message."""
    shown = repr(value) if not isinstance(value, dict | list) else type(value).__name__
    return shown if len(shown) <= 40 else shown[:37] + "..."


def clean_name(name: str) -> str:
    """A name as it may stand in a file and in a message: one printable line, not endless."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable.strip()[:_LONGEST_NAME].rstrip()


def listed(names: Sequence[str]) -> str:
    """Some names for a note."""
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_LISTED])
    return shown + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
