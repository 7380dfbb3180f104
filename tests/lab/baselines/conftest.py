"""Shapes and packages shared by the tests of baselines."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.lab.baselines import BASELINES
from nho.lab.baselines.packages import package_of


@pytest.fixture(scope="module")
def bulged(piece):
    """The piece, smoothly blown up to one side, at another place, pose and unit."""
    vertices = piece.mesh.vertices
    grown = vertices * (1 + 0.15 * np.tanh(2 * vertices[:, :1]))
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    return Mesh(40 * grown @ turn.T + [5.0, -900.0, 3.0], piece.mesh.faces)


def installed(name: str) -> bool:
    """Whether the package that a baseline calls is there."""
    needs = BASELINES[name].needs
    return not needs or find_spec(package_of(needs)) is not None


def visibly(names):
    """Names to parametrise with; those whose package is missing are skipped, with the reason."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                not installed(name), reason=f"pip install {BASELINES[name].needs!r}"
            ),
        )
        for name in names
    ]
