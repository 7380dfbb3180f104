"""The one door through which files are read: regular files only, none too large, errors in words.

A pipe may never end, a device may have effects when it is opened, and a link may lead to either. A
test walks the package and finds whatever opens a file for reading elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from nho.errors import InputError, MissingFile
from nho.runtime.memory import available_memory, readable_size

PathLike = str | os.PathLike[str]
LARGE = 8 * 10**9  # bytes: meshes, their buffers and textures, values at vertices, arrays
SMALL = 256 * 10**6  # bytes: what people mark and write, and what describes a result
_CHUNK = 1 << 20
_WORTH_A_LOOK = 64 << 20  # bytes from which on the free memory is asked for
# Without waiting for the other end, should a pipe take the file's place; bytes as they are.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(path: PathLike, most: int = LARGE) -> Iterator[BinaryIO]:
    """A regular file of at most so many bytes, open for reading.

    Raises
    ------
    MissingFile
        If there is none.
    InputError
        If it is anything but a regular file, too large, or may not be read; also if the block
        runs out of memory.
    """
    try:
        _check(path, os.stat(path), most)
        handle = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile.at(path) from None
    except (OSError, ValueError) as problem:  # the latter for names that no file can have
        raise _unreadable(path, problem) from problem
    with os.fdopen(handle, "rb") as stream, blaming(path):
        _check(path, os.fstat(handle), most)  # another file may have taken its place
        yield stream


def read_bytes(path: PathLike, most: int = LARGE) -> bytes:
    """The content of a regular file; errors as of `opened`."""
    with opened(path, most) as stream:
        try:
            data = stream.read(os.fstat(stream.fileno()).st_size + 1)
            # Few files are longer than they say: those of /proc, and those that grow.
            while more := stream.read(_CHUNK):
                data += more
                if len(data) > most:
                    raise _too_large(path, len(data), most)
        except OSError as problem:
            raise _unreadable(path, problem) from problem
    return data


def read_text(path: PathLike, most: int = SMALL) -> str:
    """The content of a regular file in UTF-8, with or without byte order mark."""
    data = read_bytes(path, most)
    try:
        with blaming(path):
            return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: cannot be read as text ({problem}); save it in UTF-8") from None


@contextmanager
def blaming(path: PathLike) -> Iterator[None]:
    """A lack of memory in this block, which reads a file, is an `InputError` that names it."""
    try:
        yield
    except MemoryError as problem:
        size = readable_size(os.stat(path).st_size) if os.path.exists(path) else "its content"
        raise InputError(
            f"{path}: there is not enough memory to read it ({size}); give a smaller file or use "
            "a machine with more memory"
        ) from problem


def _check(path: PathLike, found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: this is a folder; name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(
            f"{path}: this is not a regular file but a pipe or a device; copy its content to a file"
        )
    if found.st_size > most:
        raise _too_large(path, found.st_size, most)
    if found.st_size > _WORTH_A_LOOK:
        free = available_memory()
        if free is not None and found.st_size > free:
            raise InputError(
                f"{path}: its {readable_size(found.st_size)} do not fit into the "
                f"{readable_size(free)} of memory that are free; give a smaller file or use a "
                "machine with more memory"
            )


def _too_large(path: PathLike, size: int, most: int) -> InputError:
    return InputError(
        f"{path}: it has {readable_size(size)}, and a file of this kind may have at most "
        f"{readable_size(most)}; check that it is the right one, or make it smaller"
    )


def _unreadable(path: PathLike, problem: OSError | ValueError) -> InputError:
    reason = getattr(problem, "strerror", None) or problem
    return InputError(f"{path}: cannot be opened ({reason}); check its name and permissions")
