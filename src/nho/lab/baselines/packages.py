"""Packages of others that a baseline calls: none is imported before it is needed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np

from nho.errors import InputError

_IMPORTED = {"pyfmaps": "pyFM"}  # where the name to import is another one
_RAISED = (ValueError, RuntimeError, np.linalg.LinAlgError)


def package_of(requirement: str) -> str:
    """What a requirement such as ``rustcpd>=4,<5`` is imported as."""
    name = re.split(r"[<>=]", requirement)[0]
    return _IMPORTED.get(name, name)


def require(requirement: str, method: str) -> None:
    """One sentence instead of a traceback where a package is missing."""
    package = package_of(requirement)
    if find_spec(package) is None:
        raise InputError(
            f"baseline {method!r} is that of {package}, which is not installed: "
            f"pip install {shlex.quote(requirement)}"
        )


@contextmanager
def failures_in_words(method: str, shape: str) -> Iterator[None]:
    """What a package raises about the shapes it was given, as an `InputError`."""
    try:
        yield
    except BaseException as problem:
        # A panic of Rust is no `Exception`, and has no class that could be imported.
        panic = type(problem).__name__ == "PanicException"
        if not panic and not isinstance(problem, _RAISED):
            raise
        raise InputError(
            f"{shape}: {method} gave up ({problem}); use more anchors, or another method"
        ) from problem
