"""A texture of fine squares in red and blue, and how often these are seen to change."""

from __future__ import annotations

import io

import numpy as np

from nho.io.attributes import Texture

RED, BLUE = (230, 40, 40), (40, 40, 230)


def checker_texture(cells: int = 16) -> Texture:
    """An image of so many squares a side."""
    from PIL import Image

    rows, columns = np.indices((8 * cells, 8 * cells)) // 8
    stream = io.BytesIO()
    Image.fromarray(np.array([RED, BLUE], dtype=np.uint8)[(rows + columns) % 2]).save(stream, "PNG")
    return Texture("checker.png", stream.getvalue())


def picture_of(shot: bytes, reach: int = 60) -> np.ndarray:
    """(h, w, 3) int: the middle of a screenshot."""
    from PIL import Image

    picture = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)
    y, x = picture.shape[0] // 2, picture.shape[1] // 2
    return picture[y - reach : y + reach, x - reach : x + reach]


def colour_changes(picture: np.ndarray) -> float:
    """Mean number of changes between reddish and bluish along a row or column."""
    red = picture[:, :, 0] > picture[:, :, 2]
    return float((np.diff(red, axis=0).sum(0).mean() + np.diff(red, axis=1).sum(1).mean()) / 2)
