"""Screenshots of studio and report for the docs: `python tools/pictures.py docs/images`.

Needs playwright and a Chromium on the PATH. The pair is the one of the tutorial (`tools/skull.py`).
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from PIL import Image
from playwright.sync_api import sync_playwright
from tests.browser import FLAGS, chromium_path
from tests.studio.test_studio_browser import DRAWN, READY
from tools import skull

from nho.batch.pairs import read_pairs
from nho.batch.runner import run_batch
from nho.settings import preset
from nho.studio import Studio
from nho.studio.downloads import download
from nho.studio.opening import open_place

SIZE = {"width": 1366, "height": 768}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.absolute()
    with tempfile.TemporaryDirectory() as memory, sync_playwright() as playwright:
        studio = Studio(marks_folder=Path(memory))
        studio.start()
        running = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        page = running.new_page(viewport=SIZE, device_scale_factor=2)
        page.goto(studio.address)
        page.wait_for_function(READY)
        pair = Path(memory) / "skull"
        skull.write(pair)
        take(page, folder, pair)
        report = Path(memory) / "report.html"
        report.write_bytes(download(studio.session, "report.html", Path(memory))[0])
        page.goto(report.as_uri())
        page.wait_for_timeout(1500)
        shoot(page, folder / "report.png")
        take_batch(page, folder, pair, Path(memory))
        running.close()
        studio.stop()


def take(page: Any, folder: Path, pair: Path) -> None:
    """The steps of the tutorial: landmarks, the match with its warning, confidence."""
    for side, name in (("partial", "scan.ply"), ("full", "template.ply")):
        choose(page, f'figure[data-side="{side}"] .empty button', pair / name)
        page.wait_for_function(f"() => nhoStudio.state().shapes.{side}")
    page.wait_for_function(DRAWN)
    page.click("#look summary")
    page.check("#own-colours")
    page.locator("#unit").select_option("mm")
    page.keyboard.press("Escape")
    choose(page, "#load-anchors", pair / "scan.csv", pair / "template.csv")
    page.wait_for_function(
        "() => nhoStudio.state().pairs.filter((p) => p.partial && p.full).length === 11"
    )
    page.click("#parked summary")
    # The scan beside the template as it lies, for the picture before the match.
    page.evaluate(
        """(pose) => {
          const { partial, full } = nhoStudio.stages, r = full.view.home;
          partial.view.home = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) =>
            [0, 1, 2].reduce((sum, k) => sum + r[3 * i + k] * pose[j][k], 0)));
          partial.view.reset();
          partial.draw();
        }""",
        skull.POSE.tolist(),
    )
    rest(page)
    shoot(page, folder / "studio-anchors.png")
    page.click("#match")
    page.wait_for_function(
        """() => document.querySelector('input[value="correspondence"]').checked""", timeout=120_000
    )
    rest(page)
    shoot(page, folder / "studio.png")
    take_windows(page, folder)
    page.keyboard.press("4")
    page.keyboard.press("n")
    rest(page)
    shoot(page, folder / "studio-confidence.png")
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.keyboard.press("c")
    page.click("#look summary")
    rest(page)
    shoot(page, folder / "studio-look.png")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.click("#complete")
    page.wait_for_function("() => document.querySelector('#completed-legend').textContent")
    rest(page)
    shoot(page, folder / "studio-completed.png")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 480, "height": 900})
    rest(page)
    shoot(page, folder / "studio-narrow.png", (480, 900))
    page.set_viewport_size(SIZE)


def take_windows(page: Any, folder: Path) -> None:
    """The match on a large screen, and on a laptop at a zoom of 150 %."""
    large, zoomed = (1920, 1080), (911, 512)
    page.set_viewport_size({"width": large[0], "height": large[1]})
    rest(page)
    shoot(page, folder / "studio-large.png", large)
    page.set_viewport_size({"width": zoomed[0], "height": zoomed[1]})
    rest(page)
    shoot(page, folder / "studio-zoomed.png", (SIZE["width"], SIZE["height"]))
    page.set_viewport_size(SIZE)
    rest(page)


def choose(page: Any, button: str, *files: Path) -> None:
    with page.expect_file_chooser() as asked:
        page.locator(button).click()
    asked.value.set_files(list(files))


def rest(page: Any) -> None:
    page.mouse.move(5, 5)
    page.wait_for_timeout(1500)


def take_batch(page: Any, folder: Path, pair: Path, memory: Path) -> None:
    """Three specimens: all landmarks, few of them, and a file that is not there."""
    lines = (pair / "scan.csv").read_text(encoding="utf-8").splitlines()
    (pair / "few.csv").write_text("\n".join(lines[:5]) + "\n", encoding="utf-8")
    (pair / "pairs.csv").write_text(
        "name,partial,full,anchors_partial,anchors_full\n"
        "skull-01,scan.ply,template.ply,scan.csv,template.csv\n"
        "skull-02,scan.ply,template.ply,few.csv,template.csv\n"
        "skull-03,lost.ply,template.ply,scan.csv,template.csv\n",
        encoding="utf-8",
    )
    os.chdir(memory)  # the picture shows no folder of ours
    results = Path("results")
    run_batch(
        read_pairs(Path(pair.name) / "pairs.csv"), results, preset("default"), jobs=1, report=False
    )
    table = results / "summary.csv"
    told = table.read_text(encoding="utf-8").replace(f"{memory.resolve()}{os.sep}", "")
    table.write_text(told, encoding="utf-8")
    studio = Studio(marks_folder=memory / "other")
    studio.start()
    open_place(studio.session, results)
    page.goto(studio.address)
    page.wait_for_timeout(3000)
    shoot(page, folder / "studio-batch.png")
    page.goto("about:blank")
    studio.stop()


def shoot(page: Any, path: Path, size: tuple[int, int] | None = None) -> None:
    """Twice as large as it is kept: the software renderer of a test browser has jagged edges."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    wanted = size or (SIZE["width"], SIZE["height"])
    picture.convert("RGB").resize(wanted, Image.Resampling.LANCZOS).save(path, optimize=True)


if __name__ == "__main__":
    main()
