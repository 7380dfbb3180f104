"""The lines of R in docs/transfer.md, in a real R; and what R's geomorph wants of a PLY file."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, read_with_attributes, write_with_attributes
from nho.io.landmarks import Specimens, write_specimens

PAGE = Path(__file__).parents[2] / "docs/transfer.md"
NAMES, MARKS = ("007", "left half", "c"), ("nasion", "tip of nose", "gonion")
WRITE = """
write.table(matrix(sprintf("%.17g", coords), ncol = 1), "all.txt", row.names = FALSE,
            col.names = FALSE, quote = FALSE)
writeLines(c(dim(coords), unlist(dimnames(coords))), "names.txt")
"""


def snippet():
    """The lines of R, and the rows of those that need geomorph."""
    lines = re.search(r"```r\n(.*?)```", PAGE.read_text(), re.DOTALL)[1].splitlines()
    return lines, [line for line in lines if "geomorph::" in line]


@pytest.fixture
def folder(tmp_path):
    """`shapes/landmarks.csv` with missing points, and its positions."""
    positions = np.random.default_rng(0).normal(size=(3, 3, 3)) * 100
    positions[0, 1], positions[2, 2] = np.nan, np.nan
    (tmp_path / "shapes").mkdir()
    write_specimens(tmp_path / "shapes/landmarks.csv", Specimens(NAMES, positions, MARKS))
    return tmp_path, positions


def run_r(lines, folder):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("there is no Rscript on this machine")
    (folder / "script.R").write_text("\n".join(lines))
    done = subprocess.run(
        [program, "script.R"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_snippet_has_five_lines():
    lines, with_geomorph = snippet()
    assert len(lines) == 5 and len(with_geomorph) == 2


def test_r_reads_the_table_of_landmarks_as_an_array_with_every_digit_name_and_gap(folder):
    place, positions = folder
    lines, with_geomorph = snippet()
    run_r([line for line in lines if line not in with_geomorph] + [WRITE], place)
    told = (place / "names.txt").read_text().splitlines()
    assert told == ["3", "3", "3", *MARKS, "X", "Y", "Z", *NAMES]
    texts = (place / "all.txt").read_text().replace("NA", "nan").split()
    found = np.array(texts, dtype=float).reshape(3, 3, 3, order="F")  # p x k x n
    np.testing.assert_array_equal(found.transpose(2, 0, 1), positions)


def test_geomorph_takes_the_array_to_a_plot(folder):
    place, _ = folder
    lines, _ = snippet()
    if run_r(['cat(requireNamespace("geomorph", quietly = TRUE))'], place) != "TRUE":
        pytest.skip("R has no geomorph on this machine")
    random = np.random.default_rng(1)
    positions = random.normal(size=(1, 8, 3)) + 0.1 * random.normal(size=(6, 8, 3))
    positions[0, 2] = np.nan
    write_specimens(place / "shapes/landmarks.csv", Specimens(tuple("abcdef"), positions))
    run_r(lines, place)
    assert (place / "Rplots.pdf").stat().st_size > 0


@pytest.mark.parametrize("coloured", [False, True])
def test_a_ply_file_as_text_has_its_coordinates_and_colours_where_geomorph_looks(
    tmp_path, coloured
):
    vertices = np.random.default_rng(0).normal(size=(4, 3))
    mesh = Mesh(vertices, np.array([[0, 1, 2], [0, 2, 3]]))
    on = {"measured": np.array([True, False, True, True]), "uncertainty": np.ones(4, np.float32)}
    if coloured:
        on["color"] = np.arange(12, dtype=np.uint8).reshape(4, 3)
    write_with_attributes(
        tmp_path / "a.ply",
        mesh,
        Attributes(vertex=on, face={"patch": np.array([1, 2], np.uint8)}),
        ascii_ply=True,
    )
    header, _, body = (tmp_path / "a.ply").read_text().partition("end_header\n")
    properties = [line for line in header.splitlines() if line.startswith("property")]
    # It counts lines with `property float` as columns, and looks for " x", " y", " z" among them.
    floats = [line for line in properties if "property float" in line]
    columns = [next(at for at, line in enumerate(floats) if f" {axis}" in line) for axis in "xyz"]
    rows = np.array([line.split() for line in body.splitlines()[:4]], dtype=float)
    np.testing.assert_array_equal(rows[:, columns], vertices)
    # Any `property uchar` makes it take columns 4 to 6 for colours.
    assert any("property uchar" in line for line in properties) == coloured
    if coloured:
        np.testing.assert_array_equal(rows[:, 3:6], on["color"])
    _, found = read_with_attributes(tmp_path / "a.ply")
    assert found.vertex["measured"].tolist() == on["measured"].tolist()
    assert found.face["patch"].tolist() == [1, 2]
