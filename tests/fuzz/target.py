"""What a target is, and where its files are.

Opening a file costs more than reading a small mesh, so a target keeps one empty file of the right
name, and `pathlib.Path` serves the bytes of the input in its place where that is possible.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from unittest import mock

_SHARED_MEMORY = Path("/dev/shm")  # files there cost least


@dataclass(frozen=True)
class Target:
    """A reader to be fuzzed.

    Attributes
    ----------
    suffix : of the files it reads.
    read : reads the bytes and asserts that what comes out is valid.
    seeds : valid inputs.
    unpack, pack : for containers with checksums or lengths: the parts of an input ([] if it has
        none), and a container around parts, so that damage gets past the outer checks.
    missing : why it cannot run here; empty if it can.
    """

    suffix: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...] = field(repr=False)
    unpack: Callable[[bytes], list[bytes]] | None = None
    pack: Callable[[list[bytes]], bytes] | None = None
    missing: str = ""


class Scratch:
    """A folder for the files of a target, gone with the process."""

    _kept: ClassVar[list[tempfile.TemporaryDirectory[str]]] = []

    def __init__(self) -> None:
        place = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
        folder = tempfile.TemporaryDirectory(prefix="nho-fuzz-", dir=place)
        self._kept.append(folder)
        self.path = Path(folder.name)

    def file(self, name: str, content: bytes = b"") -> Path:
        path = self.path / name
        path.write_bytes(content)
        return path


def serving(path: Path, read: Callable[[], object]) -> Callable[[bytes], object]:
    """`read()` with the content of the file at `path` taken from memory."""
    real_text, real_bytes = Path.read_text, Path.read_bytes

    def with_content(data: bytes) -> object:
        def text(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
            if self != path:
                return real_text(self, encoding, errors)
            return io.TextIOWrapper(io.BytesIO(data), encoding or "utf-8", errors).read()

        def content(self: Path) -> bytes:
            return data if self == path else real_bytes(self)

        with mock.patch.object(Path, "read_text", text):
            with mock.patch.object(Path, "read_bytes", content):
                return read()

    return with_content
