"""A real browser for the tests that need one: the system's Chromium, without a window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

# Mesa's drivers draw, in software where there is no graphics card; without them Chromium falls back
# to its own, SwiftShader, which it is about to drop.
FLAGS = (
    "--headless --no-sandbox --ignore-gpu-blocklist --use-gl=angle --use-angle=gl-egl "
    "--enable-unsafe-swiftshader --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


PATIENCE = 300_000  # milliseconds until a wait is given up; no measure of speed


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(**options: Any) -> Any:
        opened = make(**options)
        opened.set_default_timeout(PATIENCE)
        return opened

    return made


def chromium_path() -> str | None:
    """The system's browser, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def _cannot(reason: str) -> None:
    """Skip on a machine without a browser; where the tests must be complete, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a file."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _cannot("the Python package playwright is not installed")
    chromium = chromium_path()
    if chromium is None:
        _cannot("no chromium, chromium-browser or google-chrome on the PATH")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS, timeout=PATIENCE)
        running.new_page = _patient(running.new_page)
        running.new_context = _patient(running.new_context)
        yield running
        running.close()
