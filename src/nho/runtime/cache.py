"""Expensive results on disk, found again by what they were computed from.

One flat folder, one ``.npz`` file an entry, never pickle. A file's name is a hash of everything the
result depends on, so an entry is never out of date, only unused: the least recently used go first.
A cache is a convenience: whatever goes wrong with it costs time, never the answer.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import logging
import os
import platform
import re
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from nho.errors import InputError, MissingFile
from nho.runtime.atomic_file import replace
from nho.runtime.input_file import opened
from nho.runtime.npz import load_arrays

log = logging.getLogger(__name__)

Arrays = Mapping[str, np.ndarray]
Parameters = Mapping[str, Any]
_FORMAT = 1  # raise it when entries of earlier code must not be found any more
_DIGEST = "_digest"  # member that holds the hash of the others; no array may have this name
_STALE_AFTER = 3600.0  # seconds; no write takes that long, so its run is dead
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")  # of kinds and of arrays
_OURS = re.compile(rf"nho-({_NAME.pattern})-[0-9a-f]{{40}}(\.npz|\.[0-9a-f]{{16}}\.tmp)")


class Cache:
    """Named arrays in a folder; safe with several threads and processes on the same one.

    Parameters
    ----------
    folder : path, or None to compute everything anew.
    cap : most bytes the folder may hold; a result above a quarter of it is not stored.
    """

    def __init__(self, folder: str | Path | None, cap: int = 2 * 10**9) -> None:
        self.folder = None if folder is None else Path(folder).absolute()
        self.cap = cap
        self._complained = False
        self._complaining = threading.Lock()

    @staticmethod
    def default() -> Cache:
        """The user's cache: ``NHO_CACHE`` (a folder, or ``off``) and ``NHO_CACHE_MB``."""
        text = os.environ.get("NHO_CACHE_MB") or "2000"
        if not re.fullmatch("[0-9]+", text):
            raise InputError(f"NHO_CACHE_MB={text}: give a whole number of megabytes, say 2000")
        return _shared(_default_folder(), int(text) * 10**6)

    def get_or_compute(
        self, kind: str, arrays: Arrays, parameters: Parameters, compute: Callable[[], Arrays]
    ) -> dict[str, np.ndarray]:
        """What ``compute()`` returns, from disk if it is there.

        The arrays are the caller's own, with the same bits, type and memory layout in any case.

        Parameters
        ----------
        kind : what is computed, such as ``"neumann_basis"``: small letters, digits, underscores.
        arrays : numeric arrays that the result depends on, by name.
        parameters : everything else that it depends on, as JSON can hold it.
        compute : returns numeric arrays by name. Its errors pass through.
        """
        if not _NAME.fullmatch(kind):
            raise ValueError(f"kind {kind!r} must be small letters, digits and underscores")
        if self.folder is None:
            return _owned(compute())
        about = [_surroundings(), kind, dict(parameters)]
        key = _digest(json.dumps(about, sort_keys=True, default=np.generic.item), arrays)
        path = self.folder / f"nho-{kind}-{key.hex()}.npz"
        result = self._read(path)
        if result is None:
            result = _owned(compute())
            self._write(path, result)
        return result

    def info(self) -> dict[str, Any]:
        """Ready for JSON: folder (None = off), entries, bytes, cap in bytes, and by_kind."""
        kinds: dict[str, dict[str, int]] = {}
        for _, size, path in sorted(self._files(".npz"), key=lambda file: file[2]):
            of_kind = kinds.setdefault(path.name.split("-")[1], {"entries": 0, "bytes": 0})
            of_kind["entries"] += 1
            of_kind["bytes"] += size
        totals = {of: sum(kind[of] for kind in kinds.values()) for of in ("entries", "bytes")}
        folder = self.folder and str(self.folder)
        return {"folder": folder, **totals, "cap": self.cap, "by_kind": kinds}

    def clear(self) -> int:
        """Delete our files, and nothing else, from the folder; returns the bytes freed."""
        files = [*self._files(".npz"), *self._files(".tmp")]
        for _, _, path in files:
            path.unlink(missing_ok=True)
        return sum(size for _, size, _ in files)

    def _read(self, path: Path) -> dict[str, np.ndarray] | None:
        """The entry, marked as used; None if it is missing or damaged."""
        try:
            with opened(path) as stream:
                try:
                    found = _load(stream, path.name)
                except Exception as problem:  # damage makes the readers raise nearly anything
                    log.warning("%s: damaged entry (%s); computing it again", path, problem)
                    return None
        except MissingFile:
            return None
        except InputError as problem:
            self._complain(problem.__cause__ or problem)
            return None
        with suppress(OSError):  # evicted meanwhile, or the folder is read-only: still a hit
            os.utime(path)
        return found

    def _write(self, path: Path, arrays: Arrays) -> None:
        """Store an entry, whole or not at all, and make room for it."""
        if sum(array.nbytes for array in arrays.values()) > self.cap / 4:
            log.info("%s: too large to be stored (cap: %d bytes)", path.name, self.cap)
            return
        unfinished = path.with_suffix(f".{os.urandom(8).hex()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open(unfinished, "xb") as stream:
                    _save(stream, path.name, arrays)
                replace(unfinished, path)  # no fsync: what a power cut leaves fails its digest
            finally:
                unfinished.unlink(missing_ok=True)
            self._trim()
        except OSError as problem:
            self._complain(problem)

    def _trim(self) -> None:
        """Delete what dead runs left, then the least recently used, until the cap holds."""
        for used, _, path in list(self._files(".tmp")):
            if time.time() - used > _STALE_AFTER:
                path.unlink(missing_ok=True)
        entries = sorted(self._files(".npz"))
        total = sum(size for _, size, _ in [*entries, *self._files(".tmp")])
        for _, size, path in entries:
            if total <= self.cap:
                break
            path.unlink(missing_ok=True)  # another process may have been faster
            total -= size

    def _files(self, suffix: Literal[".npz", ".tmp"]) -> Iterator[tuple[float, int, Path]]:
        """Time of last use, size and path of our entries, or of unfinished ones (no links)."""
        if self.folder is None or not self.folder.exists():
            return
        with os.scandir(self.folder) as listing:
            for entry in listing:
                ours = _OURS.fullmatch(entry.name) and entry.name.endswith(suffix)
                if ours and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # deleted by another process since
                        about = entry.stat(follow_symlinks=False)
                        yield about.st_mtime, about.st_size, Path(entry.path)

    def _complain(self, problem: BaseException) -> None:
        with self._complaining:  # threads meet the same problem at the same time
            before, self._complained = self._complained, True
        if not before:
            why = getattr(problem, "strerror", None) or problem
            log.warning("cache %s does not work (%s); going on without", self.folder, why)


@functools.cache
def _shared(folder: Path | None, cap: int) -> Cache:
    """One object per process, so that a cache that does not work is reported once."""
    return Cache(folder, cap)


def _default_folder() -> Path | None:
    """What the environment asks for, or where the platform keeps caches; None = off."""
    chosen = os.environ.get("NHO_CACHE")
    try:
        if chosen:
            return None if chosen.lower() == "off" else Path(chosen).expanduser().absolute()
        places = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("", "Library/Caches")}
        variable, place = places.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
        base = Path(os.environ.get(variable, ""))  # relative: the XDG standard rules it out
        return (base if base.is_absolute() else Path.home() / place) / "nho"
    except RuntimeError as problem:  # a user without a home, as in some containers
        log.warning("no cache (%s); set NHO_CACHE to a folder", problem)
        return None


@functools.cache
def _surroundings() -> list[str]:
    """What results depend on besides their input: code, libraries and kind of machine."""
    found = [f"format {_FORMAT}", platform.machine()]
    for name, parts in {"nho": 9, "numpy": 2, "scipy": 2, "robust_laplacian": 2}.items():
        with suppress(PackageNotFoundError):  # a frozen application has no metadata
            found.append(f"{name} {'.'.join(version(name).split('.')[:parts])}")
    return found


def _layout(array: np.ndarray) -> Literal["C", "F"]:
    """The memory layout as a file can store it: columns first, or else rows first."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _digest(about: str, arrays: Arrays) -> bytes:
    """Hash of a text and of named arrays: content, type, shape and memory layout."""
    content = hashlib.blake2b(about.encode(), digest_size=20)
    for name, array in sorted(arrays.items()):
        if not _NAME.fullmatch(name) or array.dtype.kind not in "biufc":
            raise TypeError(f"array {name!r} of {array.dtype}: only named numbers can be cached")
        order = _layout(array)
        content.update(f"\n{name} {array.dtype.str} {array.shape} {order}\n".encode())
        rows = np.ascontiguousarray(array.T if order == "F" else array)
        content.update(rows.reshape(-1).view(np.uint8).data)
    return content.digest()


def _owned(arrays: Arrays) -> dict[str, np.ndarray]:
    """The arrays as if read from disk, in layout too: the last bits of sums depend on it."""
    return {k: np.require(a, requirements=[_layout(a), "W", "O"]) for k, a in arrays.items()}


def _save(stream: io.BufferedWriter, name: str, arrays: Arrays) -> None:
    """Write an uncompressed ``.npz`` that any NumPy can read."""
    digest = np.frombuffer(_digest(name, arrays), dtype=np.uint8)
    with zipfile.ZipFile(stream, "w") as archive:
        for member, array in {**arrays, _DIGEST: digest}.items():
            with archive.open(f"{member}.npy", "w", force_zip64=True) as target:
                np.lib.format.write_array(target, array, allow_pickle=False)


def _load(stream: BinaryIO, name: str) -> dict[str, np.ndarray]:
    """The arrays of an entry, in their order; any exception means that it is damaged."""
    found = load_arrays(stream)
    if found.pop(_DIGEST).tobytes() != _digest(name, found):
        raise ValueError("its content does not match its digest")
    return found
