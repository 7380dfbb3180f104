"""A running studio for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nho.studio import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(marks_folder=tmp_path / "state")
    made.start()
    yield made
    made.stop()
