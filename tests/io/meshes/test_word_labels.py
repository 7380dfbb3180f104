"""Words on a mesh, in a format that holds numbers only."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import COLOUR, Attributes, read_with_attributes, write_with_attributes


@pytest.fixture
def bones(whole: Mesh) -> np.ndarray:
    names = np.array(["frontal", "", "nasal, left", "zygomatic"])
    return names[np.arange(whole.n_vertices) % 4]


@pytest.mark.parametrize("as_text", [False, True])
def test_words_come_back_through_codes_and_legend(
    whole: Mesh, bones: np.ndarray, tmp_path: Path, as_text: bool
) -> None:
    given = Attributes(vertex={"bone": bones}, face={"side": np.full(whole.n_faces, "left")})
    notes = write_with_attributes(tmp_path / "skull.ply", whole, given, ascii_ply=as_text)
    assert len(notes) == 1 and "skull_labels.csv" in notes[0]
    _, found = read_with_attributes(tmp_path / "skull.ply")
    with open(tmp_path / "skull_labels.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    words = {int(row["code"]): row["label"] for row in rows if row["attribute"] == "bone"}
    assert words == {0: "frontal", 1: "nasal, left", 2: "zygomatic"}
    codes = found.vertex["bone"].tolist()
    assert [words.get(code, "") for code in codes] == bones.tolist()
    assert set(found.face["side"].tolist()) == {0}
    # A colour for every word, the one that the legend gives.
    first = next(row for row in rows if row["label"] == "frontal")
    colour = [int(first[channel]) for channel in ("red", "green", "blue")]
    assert (
        found.vertex[COLOUR][bones == "frontal"].tolist() == [colour] * (bones == "frontal").sum()
    )
    assert len({tuple(row) for row in found.vertex[COLOUR].tolist()}) == 4


def test_colours_that_are_there_stay(whole: Mesh, bones: np.ndarray, tmp_path: Path) -> None:
    red = np.tile(np.array([200, 0, 0], dtype=np.uint8), (whole.n_vertices, 1))
    given = Attributes(vertex={"bone": bones, COLOUR: red})
    write_with_attributes(tmp_path / "skull.ply", whole, given)
    np.testing.assert_array_equal(
        read_with_attributes(tmp_path / "skull.ply")[1].vertex[COLOUR], red
    )


def test_a_foreign_file_of_that_name_is_not_replaced(
    whole: Mesh, bones: np.ndarray, tmp_path: Path
) -> None:
    (tmp_path / "skull_labels.csv").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        write_with_attributes(tmp_path / "skull.ply", whole, Attributes(vertex={"bone": bones}))
    assert (tmp_path / "skull_labels.csv").read_text() == "mine"
