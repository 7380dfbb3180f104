"""Surveys that the tests of the search share."""

from __future__ import annotations

import numpy as np
import pytest

from nho.anchor_search.likeness import unlikeness
from nho.anchor_search.survey import Survey, survey
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut


def at_unit_area(mesh: Mesh, full: Mesh) -> Mesh:
    return mesh.scaled(1 / np.sqrt(full.area))


@pytest.fixture(scope="session")
def of_whole(whole: Mesh) -> Survey:
    return survey(at_unit_area(whole, whole), whole.n_vertices)


@pytest.fixture(scope="session")
def of_piece(piece: Cut, whole: Mesh) -> Survey:
    return survey(at_unit_area(piece.mesh, whole), piece.mesh.n_vertices)


@pytest.fixture(scope="session")
def unlike(of_piece: Survey, of_whole: Survey) -> np.ndarray:
    return unlikeness(of_piece, of_whole)
