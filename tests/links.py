"""Symbolic links, where the user may make them."""

from __future__ import annotations

from pathlib import Path

import pytest


def link_to(link: Path, target: Path) -> None:
    """Make a link, or skip: on Windows it takes a right that not everybody has."""
    try:
        link.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as problem:
        pytest.skip(f"no links can be made here ({problem.strerror})")
