"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import nho

HOME = Path(nho.__file__).parent
MODULES = [
    ".".join(["nho", *path.relative_to(HOME).with_suffix("").parts]).removesuffix(".__init__")
    for path in sorted(HOME.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_are_true(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("nho"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    assert doctest.testmod(module).failed == 0


def test_there_are_examples():
    assert len(MODULES) >= 6
