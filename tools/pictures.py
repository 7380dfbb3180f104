"""Screenshots of studio and report for the docs: `python tools/pictures.py docs/images`.

Needs playwright and a Chromium on the PATH. Anchors are put where the shipped pair knows the truth,
with real clicks.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from PIL import Image
from playwright.sync_api import sync_playwright
from tests.browser import FLAGS, chromium_path
from tests.studio.test_studio_browser import DRAWN, READY, SEEN_ON_BOTH, mark, spread_out

from nho.evaluation.sample import load_sample
from nho.studio import Studio
from nho.studio.downloads import download

SIZE = {"width": 1360, "height": 800}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as memory, sync_playwright() as playwright:
        studio = Studio(marks_folder=Path(memory))
        studio.start()
        running = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        page = running.new_page(viewport=SIZE, device_scale_factor=2)
        page.goto(studio.address)
        page.wait_for_function(READY)
        take(page, folder)
        report = Path(memory) / "report.html"
        report.write_bytes(download(studio.session, "report.html")[0])
        page.goto(report.as_uri())
        page.wait_for_timeout(1500)
        shoot(page, folder / "report.png")
        running.close()
        studio.stop()


def take(page: Any, folder: Path) -> None:
    """Anchors, the result, its confidence."""
    sample = load_sample("plane")
    page.click("#sample")
    page.wait_for_function(DRAWN)
    rows = page.evaluate(SEEN_ON_BOTH, sample.truth_vertex.tolist())
    mark(page, spread_out(sample, rows, 9))
    for number, name in enumerate(("left ear", "big toe", "right hip")):
        page.locator("#pairs input").nth(number).fill(name)
        page.keyboard.press("Enter")
    page.mouse.move(5, 5)
    page.wait_for_timeout(500)
    shoot(page, folder / "studio-anchors.png")
    page.click("#match")
    page.wait_for_function(
        """() => document.querySelector('input[value="correspondence"]').checked""", timeout=120_000
    )
    page.mouse.move(*spread_out(sample, rows, 12)[11][1:3])
    page.wait_for_timeout(1500)
    shoot(page, folder / "studio.png")
    page.mouse.move(5, 5)
    page.keyboard.press("4")
    page.wait_for_timeout(1500)
    shoot(page, folder / "studio-confidence.png")


def shoot(page: Any, path: Path) -> None:
    """Twice as large as it is kept: the software renderer of a test browser has jagged edges."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    half = picture.convert("RGB").resize((SIZE["width"], SIZE["height"]), Image.Resampling.LANCZOS)
    half.save(path, optimize=True)


if __name__ == "__main__":
    main()
