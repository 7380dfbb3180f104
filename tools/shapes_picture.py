"""The picture of docs/tutorials/shapes.md: `python tools/shapes_picture.py SHAPES FILE`.

SHAPES is what `nho shapes` of the tutorial wrote. Needs playwright, Pillow and a Chromium.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from PIL import Image
from playwright.sync_api import sync_playwright
from tests.browser import FLAGS, chromium_path

COLOURS = 128


def main() -> None:
    """Open the page, draw, and save what is seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shapes", type=Path)
    parser.add_argument("file", type=Path)
    asked = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto((asked.shapes / "shapes.html").absolute().as_uri())
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(3000)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(COLOURS).save(asked.file, optimize=True)


if __name__ == "__main__":
    main()
