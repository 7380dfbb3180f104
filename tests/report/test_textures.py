"""Textures for a page: seams, images, sizes, and sentences for what cannot be shown."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, Texture
from nho.report import textures
from nho.report.textures import drawn_texture, page_image

SQUARE = Mesh(
    np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float),
    np.array([[0, 1, 2], [0, 2, 3]]),
    "square",
)
SEAM = np.array([[[0, 0], [1, 0], [1, 1]], [[0.5, 0], [0.5, 0.5], [0, 0.5]]])


def image_bytes(kind: str = "PNG", size: tuple[int, int] = (7, 5), **options: Any) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", size, (10, 200, 30)).save(stream, kind, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("kind", "options"),
    [("PNG", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("BMP", {}), ("TIFF", {})],
)
def test_every_image_is_known_by_its_size_in_a_format_of_browsers(
    kind: str, options: dict[str, Any]
) -> None:
    shown = page_image(Texture("skin", image_bytes(kind, **options)))
    assert (shown.width, shown.height) == (7, 5)
    assert shown.kind in ("image/png", "image/jpeg", "image/bmp")
    assert (shown.data == image_bytes(kind, **options)) == (kind != "TIFF")


def test_a_jpeg_with_a_long_head_is_measured_too() -> None:
    comment = b"\xff\xfe\xff\xf0" + bytes(0xFFF0 - 2)
    data = image_bytes("JPEG")
    shown = page_image(Texture("a.jpg", data[:2] + 3 * comment + data[2:]))
    assert (shown.width, shown.height) == (7, 5)


@pytest.mark.parametrize(
    "data", [b"", b"rubbish", image_bytes()[:12], image_bytes("JPEG")[:20], b"BM", b"\xff\xd8\xff"]
)
def test_a_bad_image_gets_a_sentence_with_its_name(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^skin.png: .* PNG or JPEG"):
        page_image(Texture("skin.png", data))


def test_a_huge_image_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textures, "MOST_PIXELS", 34)
    for kind in ("PNG", "TIFF"):
        with pytest.raises(InputError, match="skin: a texture of 7 x 5 pixels is too large"):
            page_image(Texture("skin", image_bytes(kind)))


def test_a_vertex_on_a_seam_is_there_once_for_each_place_in_the_image() -> None:
    about = Attributes(uv=SEAM, textures=(Texture("a.png", image_bytes()),))
    drawn = drawn_texture(SQUARE, about)
    assert drawn is not None and drawn.counts == (2,)
    assert sorted(drawn.vertex) == [0, 0, 1, 2, 2, 3]
    np.testing.assert_array_equal(drawn.vertex[drawn.faces], SQUARE.faces)
    np.testing.assert_array_equal(drawn.uv[drawn.faces], SEAM)


def test_triangles_come_image_by_image_and_last_those_without() -> None:
    images = tuple(Texture(f"{name}.png", image_bytes()) for name in "abc")
    three = Mesh(SQUARE.vertices, SQUARE.faces[[0, 1, 0]], "three")
    about = Attributes(uv=SEAM[[0, 1, 0]], textures=images, texture_of_face=np.array([-1, 2, 0]))
    drawn = drawn_texture(three, about)
    assert drawn is not None
    assert [image.name for image in drawn.images] == ["a.png", "c.png"]
    assert drawn.counts == (1, 1)
    np.testing.assert_array_equal(drawn.vertex[drawn.faces], three.faces[[2, 1, 0]])


def test_without_coordinates_or_images_there_is_no_texture() -> None:
    assert drawn_texture(SQUARE, Attributes()) is None
    assert drawn_texture(SQUARE, Attributes(uv=SEAM)) is None
    lost = Attributes(uv=np.full_like(SEAM, np.nan), textures=(Texture("a.png", b"unread"),))
    assert drawn_texture(SQUARE, lost) is None
