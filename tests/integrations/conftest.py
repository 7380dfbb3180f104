"""A small match, computed once, for the tests inside other programs."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.synthetic import Cut


@pytest.fixture(scope="session")
def pairs(piece: Cut) -> np.ndarray:
    chosen = nho.sample_vertices(piece.mesh, 8)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="session")
def result(piece: Cut, whole: nho.Mesh, pairs: np.ndarray) -> nho.MatchResult:
    return nho.match(piece.mesh, whole, pairs)
