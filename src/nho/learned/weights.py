"""Which weights a method uses: those that come with the package, or files that the user names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nho.errors import InputError
from nho.learned.checkpoints import load_checkpoint
from nho.learned.matcher import Matcher

_SHIPPED = Path(__file__).resolve().parent.parent / "data" / "weights"
_SUFFIXES = (".npz", ".pth", ".pt")
_MOST_FILES = 100  # of a folder; more are no folder of checkpoints


def matcher_for(method: str, weights: str = "") -> Matcher:
    """The network of a method, with its weights.

    Parameters
    ----------
    method : str
        A name in `nho.learned.methods.METHODS`.
    weights : str
        As in the setting of that name: files and folders, separated by commas; the first file that
        holds a network of the method is taken, by its tensors and not by its name. Empty = the
        network that comes with the package.
    """
    if not weights.strip():
        shipped = _SHIPPED / f"{method}.npz"
        if not shipped.is_file():
            raise InputError(
                f"no weights of {method!r} come with this installation; name a checkpoint by "
                "--set weights=FILE"
            )
        return load_checkpoint(shipped)
    seen, faults = [], []
    for path in files_in(weights):
        try:
            matcher = load_checkpoint(path)
        except InputError as fault:
            faults.append(str(fault))
            continue
        if matcher.architecture.method == method:
            return matcher
        seen.append(f"{path.name} is {matcher.architecture.method}")
    raise InputError(
        f"weights={weights}: no network of {method!r} among the files "
        f"({'; '.join([*seen, *faults]) or 'there are none'}); name a checkpoint of it"
    )


def files_in(weights: str) -> Iterator[Path]:
    """Files that a setting names, those of a folder by name."""
    for word in weights.split(","):
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
            raise InputError(f"weights={word.strip()}: no such file or folder")
