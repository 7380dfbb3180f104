"""Helpers for tests of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair


def folder_of(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def same(a: AnnotatedPair, b: AnnotatedPair) -> None:
    assert a.name == b.name and a.sparse == b.sparse
    assert a.partial.digest() == b.partial.digest() and a.full.digest() == b.full.digest()
    np.testing.assert_array_equal(a.truth.points.face, b.truth.points.face)
    np.testing.assert_array_equal(a.truth.points.barycentric, b.truth.points.barycentric)
    np.testing.assert_array_equal(a.truth.region, b.truth.region)
    np.testing.assert_array_equal(a.truth.unmatched, b.truth.unmatched)


def refused(family: str, folder: Path, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FAMILIES[family].load(folder, FAMILIES[family].names(folder)[0])
