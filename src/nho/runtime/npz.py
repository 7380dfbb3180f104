"""Arrays into ``.npz`` files, and out of those that may be damaged or malicious.

`numpy.load` allocates what the header of an array asks for and unpacks whatever an archive holds.
Here nothing is allocated that the bytes of the file do not fill.
"""

from __future__ import annotations

import io
import math
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from typing import BinaryIO

import numpy as np

from nho.runtime.input_file import opened

_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}  # of the header, by version
# As NumPy writes it. Its own parser also takes what Python would, with warnings.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[?biufcSUV]\d*)', 'fortran_order': (?:True|False), "
    rb"'shape': \(((?:\d+,(?: \d+)?(?:, \d+)*)?)\), \} *\n"
)
# What an archive may unpack to: maps and coordinates shrink a few times, while a small file of
# labels that are all alike may shrink a thousandfold.
_MOST_UNPACKED, _ALWAYS_UNPACKED = 20, 256 << 20  # bytes for one of the file, and for any file


def npz_bytes(arrays: Mapping[str, np.ndarray], *, compress: bool = False) -> bytes:
    """The content of a file that holds these arrays by name."""
    stream = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def load_arrays(
    file: str | os.PathLike[str] | BinaryIO, names: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """Those of the named arrays that are in the file, or all; any exception means damage."""
    if isinstance(file, str | os.PathLike):
        # Opened once: under the same name there may be another file a moment later.
        with opened(file) as stream:
            return load_arrays(stream, names)
    with zipfile.ZipFile(file) as archive:
        check_archive(archive, file.seek(0, io.SEEK_END))
        members = archive.namelist()
        if names is not None:
            members = [f"{name}.npy" for name in names if f"{name}.npy" in members]
        return {member.removesuffix(".npy"): read_array(archive, member) for member in members}


def array_names(path: str | os.PathLike[str]) -> set[str]:
    """Names of the arrays in a file, unread; any exception means damage."""
    with opened(path) as stream, zipfile.ZipFile(stream) as archive:
        return {member.removesuffix(".npy") for member in archive.namelist()}


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse an archive that could take far more memory or time than its size suggests.

    That is: packing that NumPy does not use, members that overlap or share a name, and more to
    unpack than arrays of a mesh are packed from.
    """
    members = archive.infolist()
    if any(
        member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members
    ):
        raise ValueError("it is packed in a way that is not known")
    if sum(member.compress_size for member in members) > size:
        raise ValueError("its parts overlap")
    if len(set(archive.namelist())) < len(members):
        raise ValueError("two of its parts have the same name")
    unpacked = sum(member.file_size for member in members)
    if unpacked > _ALWAYS_UNPACKED + _MOST_UNPACKED * size:
        raise ValueError(f"its {size} bytes unpack to {unpacked}, far more than any mesh's do")


def read_array(archive: zipfile.ZipFile, member: str) -> np.ndarray:
    """One array, never pickled, whose header promises exactly the bytes that follow it."""
    # All of it first: the checksum must hold. Not `archive.read`, which unpacks as much as there
    # is, whatever size the archive states.
    with archive.open(member) as stream:
        raw = io.BytesIO(stream.read(archive.getinfo(member).file_size))
    version = np.lib.format.read_magic(raw)
    if version not in _LENGTH_BYTES:
        raise ValueError(f"{member} has the unknown version {version}")
    length = int.from_bytes(raw.read(_LENGTH_BYTES[version]), "little")
    header = _HEADER.fullmatch(raw.read(length))
    if header is None:
        raise ValueError(f"{member} has a header that NumPy does not write")
    kind = np.dtype(header[1].decode())
    shape = tuple(int(word) for word in header[2].split(b",") if word.strip())
    present = raw.getbuffer().nbytes - raw.tell()
    if kind.itemsize == 0 or math.prod(shape) * kind.itemsize != present:
        raise ValueError(f"{member} promises {shape} of {kind} but holds {present} bytes")
    raw.seek(0)
    array: np.ndarray = np.lib.format.read_array(raw, allow_pickle=False)
    return array
