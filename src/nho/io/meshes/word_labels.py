"""Labels that are words, for formats that hold numbers only: codes, colours and a legend."""

from __future__ import annotations

import colorsys
import csv
import io
from collections.abc import Mapping

import numpy as np

from nho.io.meshes.model import COLOUR, GREY, Array, Attributes, kind_of

LEGEND = "_labels.csv"  # end of its name
_NOTHING = -1  # code of the empty word


def coded(attributes: Attributes, stem: str) -> tuple[Attributes, dict[str, bytes], list[str]]:
    """The attributes with codes in place of words, legend files by name, and notes.

    Words are numbered from 0 in alphabetical order, the empty one is -1. Where vertices have no
    colours, the first words of theirs give them some.
    """
    vertex, of_vertex = _codes(attributes.vertex)
    face, of_face = _codes(attributes.face)
    words = {**of_face, **of_vertex}
    if not words:
        return attributes, {}, []
    if of_vertex and not any(kind_of(array) == "colour" for array in vertex.values()):
        name = next(iter(of_vertex))
        vertex[COLOUR] = _colours(len(of_vertex[name]))[vertex[name]]
    legend = f"{stem}{LEGEND}"
    note = f"the words of {', '.join(words)} are written as codes; {legend} says what they mean"
    return attributes.replace(vertex=vertex, face=face), {legend: _legend(words)}, [note]


def _codes(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """The arrays with codes, and the words of each that had some."""
    out, words = dict(arrays), dict[str, list[str]]()
    for name, array in arrays.items():
        if array.dtype.kind not in "UO" or array.ndim != 1:
            continue
        texts = array.astype(str)
        known = sorted({word for word in texts.tolist() if word})
        place = {"": _NOTHING, **{word: code for code, word in enumerate(known)}}
        out[name] = np.array([place[word] for word in texts.tolist()], dtype=np.int32)
        words[name] = known
    return out, words


def _colours(count: int) -> Array:
    """(count + 1, 3) uint8 colours, far from their neighbours; the last, for -1, is grey."""
    hues = (0.58 + 0.381966 * np.arange(count)) % 1
    bright = [colorsys.hls_to_rgb(hue, 0.55, 0.6) for hue in hues]
    return np.array(
        [*(np.round(255 * np.array(colour)) for colour in bright), [GREY] * 3], dtype=np.uint8
    )


def _legend(words: Mapping[str, list[str]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["attribute", "code", "label", "red", "green", "blue"])
    for name, known in words.items():
        for code, (word, colour) in enumerate(zip(known, _colours(len(known)), strict=False)):
            writer.writerow([name, code, word, *colour.tolist()])
    return text.getvalue().encode("utf-8")
