"""Names of points at the edges of a picture, drawn in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from nho.report.scene import packaged_text

WIDTH = 300
# Columns that a label paints, first and last; null = none.
PAINTED = """([x, label]) => {
  const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  drawLabel(pen, { x, y: 50, hidden: false }, { label, fill: "#22303c" });
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height), columns = [];
  for (let i = 3; i < data.length; i += 4) if (data[i]) columns.push(((i - 3) / 4) % canvas.width);
  return columns.length ? [Math.min(...columns), Math.max(...columns)] : null;
}"""


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    page.set_content(f"<canvas width={WIDTH} height=100></canvas>")
    page.add_script_tag(content=packaged_text("labels.js"))
    yield page
    page.close()


@pytest.mark.parametrize("label", ["7", "left porion", "a name that is far too long for a label"])
@pytest.mark.parametrize("x", [0, 3, WIDTH - 3, WIDTH])
def test_a_name_near_the_edge_moves_inwards_as_a_whole(page: Any, label: str, x: int) -> None:
    middle = page.evaluate(PAINTED, [WIDTH / 2, label])
    first, last = page.evaluate(PAINTED, [x, label])
    assert first >= 0 and last < WIDTH
    assert last - first == pytest.approx(middle[1] - middle[0], abs=2)  # nothing is cut off
    assert min(first, WIDTH - 1 - last) <= 3  # and no farther inwards than it must


def test_a_name_that_fits_stays_at_its_point(page: Any) -> None:
    first, last = page.evaluate(PAINTED, [120, "porion"])
    assert (first + last) / 2 == pytest.approx(120, abs=1)


def test_a_point_outside_the_picture_leaves_no_name_at_its_edge(page: Any) -> None:
    assert page.evaluate(PAINTED, [-40, "porion"]) is None
    assert page.evaluate(PAINTED, [WIDTH + 40, "porion"]) is None
