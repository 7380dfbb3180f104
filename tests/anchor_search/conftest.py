"""Coarse surfaces that the tests of the search share."""

from __future__ import annotations

import numpy as np
import pytest

from nho.anchor_search.coarse_surface import CoarseSurface, unlikeness
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut


def at_unit_area(mesh: Mesh, full: Mesh) -> Mesh:
    return mesh.scaled(1 / np.sqrt(full.area))


@pytest.fixture(scope="session")
def of_whole(whole: Mesh) -> CoarseSurface:
    return CoarseSurface.of(at_unit_area(whole, whole), whole.n_vertices)


@pytest.fixture(scope="session")
def of_piece(piece: Cut, whole: Mesh) -> CoarseSurface:
    return CoarseSurface.of(at_unit_area(piece.mesh, whole), piece.mesh.n_vertices)


@pytest.fixture(scope="session")
def unlike(of_piece: CoarseSurface, of_whole: CoarseSurface) -> np.ndarray:
    return unlikeness(of_piece, of_whole)
