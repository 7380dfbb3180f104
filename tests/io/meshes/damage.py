"""Damaged files: they are read as a valid mesh, or refused by name."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry.mesh import Mesh

_WORDS = st.one_of(st.binary(max_size=8), st.sampled_from([b"99999999999", b"-1", b"nan", b" "]))


def check_damaged(content: bytes | str, data: st.DataObject, read: Callable[[bytes], Mesh]) -> None:
    """Replace pieces of a file and read it; a refusal must name the file, `scan`."""
    damaged = bytearray(content.encode("latin-1") if isinstance(content, str) else content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.sampled_from([0, 1, 1, 4, 50]))
        damaged[at : at + length] = data.draw(_WORDS)
    try:
        mesh = read(bytes(damaged))
    except InputError as error:
        assert "scan" in str(error)
    else:
        assert np.isfinite(mesh.vertices).all() and mesh.faces.max() < mesh.n_vertices
