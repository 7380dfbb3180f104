"""Shapes shared by the tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane
from tests.browser import browser  # noqa: F401  (a fixture for all)

# No test may depend on the speed of the machine.
settings.register_profile(
    "any machine", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """No test, nor any process it starts, may touch the cache of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NHO_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("NHO_CACHE_MB", raising=False)
        yield


@pytest.fixture(scope="session")
def whole() -> Mesh:
    """A closed, asymmetric surface of 642 vertices."""
    return bumpy_sphere(3, seed=3)


@pytest.fixture(scope="session")
def piece(whole: Mesh) -> Cut:
    """Sixty percent of it, vertices and triangles unchanged."""
    return cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.6)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of evaluation data, or a visible skip."""
    given = os.environ.get("NHO_DATA")
    if not given:
        pytest.skip("needs evaluation data; set NHO_DATA to its folder")
    folder = Path(given)
    assert folder.is_dir(), f"NHO_DATA={given} is not a folder"
    return folder
