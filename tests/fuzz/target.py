"""What a target is, and where its files are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

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
    """`read()` with this content in the file at `path`."""

    def with_content(data: bytes) -> object:
        path.write_bytes(data)
        return read()

    return with_content
