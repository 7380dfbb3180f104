"""Checkpoints, files of networks: which one a method uses, and how they are read and written.

Our own are ``.npz`` files without pickle: one array a parameter, under its name in the network, and
the architecture as JSON. Published ``.pth`` files are read by torch's restricted reader. Nothing in
either kind of file is ever run.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nho.errors import InputError
from nho.learned.architecture import Architecture
from nho.learned.backend import quiet_torch
from nho.learned.matcher import Matcher
from nho.learned.methods import METHODS
from nho.learned.published_weights import filled, matcher_of
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import SMALL, blaming, read_bytes
from nho.runtime.npz import check_archive, npz_bytes, read_array

_SHIPPED = Path(__file__).resolve().parent.parent / "data" / "weights"
_SUFFIXES = (".npz", ".pth", ".pt")
_MOST_FILES = 100  # of a folder; more are no folder of checkpoints
MOST_BYTES = SMALL  # of a file: the published ones have 2 to 3 MB
_MOST_TENSORS = 2000
_DEEPEST = 4  # tables inside of tables
_ARCHITECTURE = "architecture"  # member that holds the JSON


def matcher_for(method: str, checkpoints: str = "") -> Matcher:
    """The network of a method, from a checkpoint.

    Parameters
    ----------
    method : str
        A name in `nho.learned.methods.METHODS`.
    checkpoints : str
        As in the setting of that name: files and folders, separated by commas; the first file that
        holds a network of the method is taken, by its tensors and not by its name. Empty = the
        network that comes with the package.
    """
    if not checkpoints.strip():
        shipped = _SHIPPED / f"{method}.npz"
        if not shipped.is_file():
            raise InputError(
                f"no weights of {method!r} come with this installation; name a checkpoint by "
                "--set checkpoints=FILE"
            )
        return load_checkpoint(shipped)
    seen, faults = [], []
    for path in _files_in(checkpoints):
        try:
            matcher = load_checkpoint(path)
        except InputError as fault:
            faults.append(str(fault))
            continue
        if matcher.architecture.method == method:
            return matcher
        seen.append(f"{path.name} is {matcher.architecture.method}")
    raise InputError(
        f"checkpoints={checkpoints}: no network of {method!r} among the files "
        f"({'; '.join([*seen, *faults]) or 'there are none'}); name a checkpoint of it"
    )


def _files_in(checkpoints: str) -> Iterator[Path]:
    """Files that a setting names, those of a folder by name."""
    for word in checkpoints.split(","):
        path = Path(word.strip()).expanduser()
        if not word.strip():
            continue
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix.lower() in _SUFFIXES)
            if len(inside) > _MOST_FILES:
                raise InputError(f"{path}: holds {len(inside)} checkpoints; name one of them")
            yield from inside
        elif path.exists():
            yield path
        else:
            raise InputError(f"checkpoints={word.strip()}: no such file or folder")


def save_checkpoint(path: str | Path, matcher: Matcher, half: bool = False) -> None:
    """Write a network as one ``.npz`` file, whole or not at all; ``half``: in 16 bits a number."""
    text = json.dumps(matcher.architecture.as_dict(), sort_keys=True)
    arrays: dict[str, Any] = {_ARCHITECTURE: np.frombuffer(text.encode(), dtype=np.uint8)}
    kind = np.float16 if half else np.float32
    arrays |= {name: tensor.numpy().astype(kind) for name, tensor in matcher.state_dict().items()}
    write_whole(Path(path), npz_bytes(arrays, compress=True))


def load_checkpoint(path: str | Path) -> Matcher:
    """Read a network: ``.npz`` as written above, or a published ``.pth``."""
    path = Path(path)
    try:
        with quiet_torch(0), blaming(path):
            return _from_npz(path) if path.suffix.lower() == ".npz" else _from_torch(path)
    except InputError as fault:
        if str(fault).startswith(str(path)):
            raise
        raise InputError(f"{path}: {fault}") from fault
    except Exception as problem:  # damaged in whatever way: unpacking code raises anything
        raise InputError(
            f"{path}: cannot be read as a checkpoint ({type(problem).__name__}); "
            "the file is damaged or of another kind"
        ) from problem


def _from_npz(path: Path) -> Matcher:
    content = read_bytes(path, MOST_BYTES)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_unpacked(archive, path, len(content))
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if _ARCHITECTURE not in names or len(names) > _MOST_TENSORS:
            raise InputError(f"{path}: not a checkpoint of this program; give one")
        text = read_array(archive, f"{_ARCHITECTURE}.npy")
        arrays = {
            name: read_array(archive, f"{name}.npy") for name in names if name != _ARCHITECTURE
        }
    architecture = Architecture.from_dict(json.loads(text.tobytes().decode()))
    if architecture.method not in METHODS:
        raise InputError(f"{path}: its method {architecture.method!r} is not known here")
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return filled(architecture, tensors, str(path))


def _check_unpacked(archive: zipfile.ZipFile, path: Path, size: int) -> int:
    """Bytes that an archive unpacks to, where they are not too many."""
    check_archive(archive, size)
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > MOST_BYTES:
        raise InputError(f"{path}: unpacks to more than any checkpoint known here has")
    return unpacked


def _from_torch(path: Path) -> Matcher:
    content, stream = read_bytes(path, MOST_BYTES), io.BytesIO()
    # The format before 2020 is no archive, and its reader asks for memory before it looks. torch
    # gets an archive written here: it may see other parts in the same bytes than were checked.
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(stream, "w") as clean:
        unpacked = _check_unpacked(archive, path, len(content))
        for member in archive.infolist():
            with archive.open(member) as part:
                clean.writestr(zipfile.ZipInfo(member.filename), part.read(member.file_size))
    stream.seek(0)
    with warnings.catch_warnings():  # of torch about what a file holds, even if it is refused
        warnings.simplefilter("ignore")
        # On the processor: a file may name a device that is not here.
        tables = torch.load(stream, map_location="cpu", weights_only=True)
        return matcher_of(flattened(tables, str(path), unpacked), str(path))


def flattened(content: Any, source: str, most: int = MOST_BYTES) -> dict[str, Tensor]:
    """Tensors of nested tables, their names joined by dots; of at most so many bytes in all."""
    found: dict[str, Tensor] = {}
    left = most

    def visit(value: Any, name: str, depth: int) -> None:
        nonlocal left
        if isinstance(value, Tensor):
            if value.layout is not torch.strided or value.is_quantized or value.is_meta:
                raise InputError(f"{source}: tensor {name} is not stored as plain numbers")
            left -= value.numel() * value.element_size()
            if left < 0:  # numbers repeated by strides of zero
                raise InputError(f"{source}: tensor {name} is too large for what the file holds")
            if len(found) >= _MOST_TENSORS:
                raise InputError(f"{source}: more than {_MOST_TENSORS} tensors")
            found[name] = value.detach()
        elif isinstance(value, Mapping) and depth < _DEEPEST:
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise InputError(f"{source}: a {type(key).__name__} is no name of a tensor")
                visit(inner, f"{name}.{key}" if name else key, depth + 1)
        else:
            raise InputError(
                f"{source}: {name or 'its content'} is a {type(value).__name__}, not a tensor; "
                "give a file of weights alone"
            )

    visit(content, "", 0)
    return found
