"""Selections as text: the indices of the selected vertices, from 0, in any layout."""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import Attributes
from nho.io.meshes.polygons import whole_numbers
from nho.io.meshes.text import parse_numbers, shown, unix_text, without_comments


def read_list(data: bytes, name: str, n_vertices: int, key: str) -> Attributes:
    """The selection ``key`` out of a list of vertex indices; `#` begins a comment."""
    words = without_comments(unix_text(data)).replace(b",", b" ").split()
    values = parse_numbers(b" ".join(words), len(words)) if words else np.zeros(0)
    chosen = None if values is None else whole_numbers(values)
    if chosen is None:
        wrong = next((word for word in words if not word.isdigit()), words[0])
        raise InputError(f"{name}: {shown(wrong)} is not a vertex index; give whole numbers from 0")
    outside = (chosen < 0) | (chosen >= n_vertices)
    if outside.any():
        raise InputError(
            f"{name}: it selects vertex {int(chosen[np.argmax(outside)])} but the mesh has "
            f"{n_vertices} vertices (0-{n_vertices - 1}); is it of the other mesh?"
        )
    selection = np.zeros(n_vertices, dtype=bool)
    selection[chosen] = True
    return Attributes(vertex={key: selection})


def list_text(selection: np.ndarray, key: str) -> bytes:
    """One index a line below a comment."""
    lines = [f"# {' '.join(key.split())}: selected vertices, from 0"]
    return "\n".join([*lines, *map(str, np.flatnonzero(selection).tolist()), ""]).encode()
