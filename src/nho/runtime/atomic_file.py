"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nho.errors import CannotWrite

_UNFINISHED = re.compile(r"\.nho-[0-9a-f]{12}\.part")
_TRIES = 50  # a second


def write_whole(
    path: Path, content: str | bytes, *, parents: bool = False, private: bool = False
) -> None:
    """Write a file beside its place and rename it; with ``parents``, make its folder as well.

    With ``private`` nobody but this user may read the file, or enter a folder made for it. A text
    is written as UTF-8, its line ends as they are. Whatever goes wrong, an earlier file of that
    name stays as it was and nothing else is left, but for what `sweep_parts` removes.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    beside = path.with_name(f".nho-{secrets.token_hex(6)}.part")
    try:
        if parents:
            path.parent.mkdir(0o700 if private else 0o777, parents=True, exist_ok=True)
        try:
            rights = 0o600 if private else 0o666
            with open(beside, "xb", opener=lambda p, flags: os.open(p, flags, rights)) as stream:
                stream.write(data)
            replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as problem:
        raise CannotWrite.to(path, problem) from problem


def replace(source: Path, target: Path) -> None:
    """Rename a file to a name that may be taken; on Windows, wait while somebody reads that one."""
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        try:
            os.replace(source, target)
            return
        except PermissionError:
            time.sleep(0.02)
    os.replace(source, target)


def sweep_parts(folders: Iterable[Path]) -> None:
    """Remove what killed processes left half-written; the caller is the only one to write there."""
    for folder in folders:
        with suppress(FileNotFoundError):
            for entry in list(folder.iterdir()):
                if _UNFINISHED.fullmatch(entry.name):
                    entry.unlink(missing_ok=True)
