"""Names of pairs: each becomes a folder, so each must be safe as one on any system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

SUMMARY = "summary.csv"  # lies beside the folders of the pairs
_LONGEST = 200  # bytes; file systems stop at 255, and unfinished folders need a few more
FORMULA_SIGNS = ("=", "+", "-", "@")  # at the start of a cell; programs take them for formulas
_NOT_IN_NAMES = '<>:"/\\|?*'
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{p}{i}" for p in ("com", "lpt") for i in range(1, 10)}


def problem_with_name(name: str) -> str | None:
    """Why ``name`` cannot be a folder inside the output folder; None if it can."""
    if name.startswith("."):
        return "begins with a dot"
    if name.startswith(FORMULA_SIGNS):
        return f"begins with {name[0]!r}, as formulas in spreadsheets do"
    bad = next((c for c in name if c in _NOT_IN_NAMES or not c.isprintable()), None)
    if bad is not None:
        return f"holds the character {bad!r}"
    if name.endswith((".", " ")):
        return "ends in a dot or a blank"
    if len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    if folded(name) == SUMMARY or folded(name).split(".")[0] in _DEVICES:
        return "is taken"
    return None


def folded(name: str) -> str:
    """Equal for names that some file system takes for the same folder."""
    return unicodedata.normalize("NFC", name).casefold()


def name_from_files(partial: Path, full: Path, taken: Iterable[str]) -> str:
    """A safe name from two file stems, unlike those already ``taken`` (as `folded`)."""
    stems = (re.sub(r"[^\w.-]+", "_", path.stem).strip("._-") for path in (partial, full))
    base = "-".join(stem or "mesh" for stem in stems)
    base = base.encode("utf-8")[: _LONGEST - 10].decode("utf-8", "ignore")
    if problem_with_name(base):
        base = f"pair-{base}"
    known = set(taken)
    name, number = base, 2
    while folded(name) in known:
        name, number = f"{base}-{number}", number + 1
    return name
