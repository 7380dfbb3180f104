"""The gallery page: small, self-contained, safe, and alive in a real browser."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.errors import InputError
from nho.lab.bench.figures import gallery
from nho.lab.bench.figures.cases import Case
from nho.lab.bench.figures.gallery import render_gallery
from tests.lab.bench.figures.test_pictures import known_case

EVIL = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">{{ 7*7 }}'


def scenes(text: str) -> list[dict[str, Any]]:
    return json.loads(re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1])


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(-1, 3)


def test_every_method_of_every_case_is_on_the_page() -> None:
    first = known_case("first pair")
    second = replace(known_case("second pair"), results={"other": first.results["bad"]})
    text = render_gallery([first, second], "Some pairs")
    found = scenes(text)
    assert [scene["methods"] for scene in found] == [["truth", "good", "bad"], ["truth", "other"]]
    for case, scene in zip((first, second), found, strict=True):
        for number, method in enumerate(scene["methods"]):
            support = unpacked(scene["full"]["colours"][str(number)], "u1")
            np.testing.assert_array_equal(support, case.support(method))
            carried = unpacked(scene["partial"]["colours"][str(number)], "u1")
            np.testing.assert_array_equal(carried, case.transferred(method))
        np.testing.assert_array_equal(unpacked(scene["full"]["faces"], "<u4"), case.pair.full.faces)
    assert "first pair" in text and "second pair" in text and "Some pairs" in text
    assert f"{first.scores['bad'].iou:.1f} / {first.scores['bad'].geodesic_error:.2f}" in text


def test_the_page_names_no_address_and_forbids_any() -> None:
    text = render_gallery([known_case()])
    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?!data:)\w""", text)
    assert "http://" not in text and "https://" not in text


def test_names_are_text_never_markup() -> None:
    case = known_case(EVIL)
    case = replace(case, results={EVIL: case.results["good"]})
    text = render_gallery([case], EVIL)
    assert "<script>window" not in text and "<img" not in text
    assert "{{ 7*7 }}" in text  # not evaluated either
    assert text.count("<script") == len(gallery.VIEWER) + 2  # the data, the viewer's and our own
    assert scenes(text)[0]["methods"][1] == EVIL


def test_large_meshes_are_thinned_until_the_page_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    case = known_case(subdivisions=4)
    whole = render_gallery([case, case])
    assert "Large shapes" not in whole
    monkeypatch.setattr(gallery, "_LEAST", 100)
    monkeypatch.setattr(gallery, "_PAGE_BYTES", 150e3)
    small = render_gallery([case, case])
    assert len(scenes_text(small)) < 1.1 * 150e3 < len(scenes_text(whole))
    assert "Large shapes" in small
    scene = scenes(small)[0]
    number = np.frombuffer(base64.b64decode(scene["full"]["number"]), dtype="<u4")
    assert np.isin(case.anchors[:, 1], number).all()
    support = unpacked(scene["full"]["colours"]["2"], "u1")
    np.testing.assert_array_equal(support, case.support("bad")[number])


def scenes_text(text: str) -> str:
    return re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1]


def test_a_gallery_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one case"):
        render_gallery([])


# ---- in a browser ----------------------------------------------------------------------------


def two_cases() -> list[Case]:
    first = known_case(EVIL, subdivisions=3)
    second = known_case("second", subdivisions=2)
    return [first, replace(second, results={"bad": second.results["bad"]})]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gallery") / "gallery.html"
    path.write_text(render_gallery(two_cases(), EVIL), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Any, page_file: Path) -> Iterator[Any]:
    """The page, open; afterwards it must not have complained nor asked for anything else."""
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    requests: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(page_file.as_uri())
    opened.wait_for_function("window.nhoGallery !== undefined")
    yield opened
    opened.wait_for_timeout(50)
    assert opened.evaluate("window.hacked") is None
    opened.close()
    assert problems == []
    assert [url for url in requests if not url.startswith("data:")] == [page_file.as_uri()]


def shown(page: Any, name: str) -> bytes:
    page.evaluate("nhoGallery.drawNow()")
    return page.locator(f'.stage[data-view="{name}"]').screenshot()


def drawn_share(page: Any, name: str) -> float:
    """Share of a view that the shape covers."""
    return page.evaluate(
        """(name) => {
          const view = nhoGallery.views[name], gl = view.gl;
          view.draw();
          const [w, h] = [view.canvas.width, view.canvas.height];
          const pixels = new Uint8Array(4 * w * h);
          gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
          return pixels.filter((value, i) => i % 4 === 3 && value > 0).length / (w * h);
        }""",
        name,
    )


@pytest.mark.slow
def test_all_three_views_show_a_shape(page: Any) -> None:
    for name in ("support", "transfer", "position"):
        assert 0.1 < drawn_share(page, name) < 0.9
    assert page.locator("#no-webgl").is_hidden()


@pytest.mark.slow
def test_choosing_a_method_changes_support_and_map_and_nothing_else(page: Any) -> None:
    names = ("support", "transfer", "position")
    before = [shown(page, name) for name in names]
    assert page.locator('input[name="method"]:checked').input_value() == "good"
    page.locator("#methods label", has_text="bad").click()
    after = [shown(page, name) for name in names]
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, True, False]
    score = two_cases()[0].scores["bad"]
    assert f"IoU {score.iou:.1f} %" in page.locator("#readout").inner_text()


@pytest.mark.slow
def test_another_pair_brings_its_own_methods_and_keeps_the_chosen_one(page: Any) -> None:
    page.locator("#methods label", has_text="bad").click()
    before = shown(page, "support")
    page.locator("#next").click()
    assert page.locator("#case").input_value() == "1"
    assert page.locator("#methods label").all_inner_texts() == ["truth", "bad"]
    assert page.locator('input[name="method"]:checked').input_value() == "bad"
    assert shown(page, "support") != before
    assert drawn_share(page, "support") > 0.1
    page.locator("#previous").click()
    assert shown(page, "support") == before


@pytest.mark.slow
def test_cameras_turn_together_only_while_linked(page: Any) -> None:
    def rotations() -> list[list[float]]:
        return page.evaluate("Object.values(nhoGallery.views).map((view) => view.rotation)")

    def drag() -> None:
        box = page.locator('.stage[data-view="transfer"]').bounding_box()
        page.mouse.move(box["x"] + 40, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 110, box["y"] + 70, steps=4)
        page.mouse.up()

    start = rotations()
    drag()
    linked = rotations()
    assert all(a != b for a, b in zip(start, linked, strict=True))
    page.locator("#link-cameras").uncheck()
    drag()
    alone = rotations()
    assert [a != b for a, b in zip(linked, alone, strict=True)] == [False, True, False]
    page.locator("#reset-views").click()
    assert rotations() == start


@pytest.mark.slow
def test_a_phone_shows_the_page_without_sideways_scrolling(
    browser: Any,
    page_file: Path,
) -> None:
    phone = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    phone.goto(page_file.as_uri())
    phone.wait_for_function("window.nhoGallery !== undefined")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    phone.close()


@pytest.mark.slow
def test_without_webgl_the_page_says_so_and_keeps_its_table(
    browser: Any,
    page_file: Path,
) -> None:
    old = browser.new_page()
    old.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    old.goto(page_file.as_uri())
    assert old.locator("#no-webgl").is_visible()
    assert old.locator("#scores").is_visible()
    old.close()
