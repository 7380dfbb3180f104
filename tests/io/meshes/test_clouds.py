"""Files of points without faces: the points, in the order of the file."""

from __future__ import annotations

import io

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.io.attributes import read_with_attributes


def text(rows: np.ndarray, separator: str = " ") -> bytes:
    stream = io.BytesIO()
    np.savetxt(stream, rows, fmt="%.17g", delimiter=separator)
    return stream.getvalue()


def npy(rows: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, rows)
    return stream.getvalue()


def ply(rows: np.ndarray, names: str = "x y z nx ny nz") -> bytes:
    columns = "".join(f"property double {name}\n" for name in names.split())
    head = f"ply\nformat ascii 1.0\nelement vertex {len(rows)}\n{columns}end_header\n"
    return head.encode() + text(rows)


@pytest.fixture
def rows(whole) -> np.ndarray:
    """Points with normals that point inwards."""
    return np.hstack([whole.vertices, -whole.vertex_normals])


FILES = {
    "cloud.xyz": text,
    "commas.xyz": lambda rows: b"# made by hand\n" + text(rows, ","),
    "cloud.pts": lambda rows: f"{len(rows)}\n".encode() + text(rows),
    "no-count.pts": text,
    "cloud.npy": npy,
    "cloud.ply": ply,
}


@pytest.mark.parametrize("name", FILES)
def test_points_and_normals_are_read_in_the_order_of_the_file(name, rows, tmp_path):
    (tmp_path / name).write_bytes(FILES[name](rows))
    mesh = nho.Mesh.read(tmp_path / name)
    np.testing.assert_array_equal(mesh.vertices, rows[:, :3])
    assert mesh.name == name
    assert np.einsum("nx,nx->n", mesh.vertex_normals, rows[:, 3:]).min() > 0.8


def test_columns_that_are_no_normals_are_left_alone(whole, tmp_path):
    colours = np.full((whole.n_vertices, 3), 128.0)
    (tmp_path / "cloud.xyz").write_bytes(text(np.hstack([whole.vertices, colours])))
    mesh = nho.Mesh.read(tmp_path / "cloud.xyz")
    assert np.einsum("nx,nx->n", mesh.vertex_normals, whole.vertex_normals).min() > 0.8


def test_values_at_the_points_of_a_ply_are_attributes(whole, tmp_path):
    quality = np.arange(whole.n_vertices, dtype=float)
    table = ply(np.column_stack([whole.vertices, quality]), "x y z quality")
    (tmp_path / "cloud.ply").write_bytes(table)
    mesh, attributes = read_with_attributes(tmp_path / "cloud.ply")
    np.testing.assert_array_equal(attributes.vertex["quality"], quality)
    assert mesh.n_faces > 1000


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cloud.xyz", b"1 2 3\n4 five 6\n", "every line needs x, y and z"),
        ("cloud.xyz", b"1 2\n3 4\n", "points need x, y and z"),
        ("cloud.pts", b"7\n1 2 3\n", "promises 7 points but 1 follow"),
        ("cloud.npy", npy(np.zeros((4, 2))), r"shape \(4, 2\)"),
        ("cloud.npy", b"\x93NUMPY nonsense", "cannot be read as NPY"),
        ("cloud.npy", npy(np.array([{}], dtype=object)), "cannot be read as NPY"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"^{name}: .*{words}"):
        nho.Mesh.read(tmp_path / name)


@pytest.mark.parametrize(("name", "package"), [("scan.las", "laspy"), ("scan.e57", "pye57")])
def test_a_missing_package_is_named(name, package, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / name).write_bytes(b"content")
    with pytest.raises(InputError, match=rf"{package} reads such files.*nho\[points\]"):
        nho.Mesh.read(tmp_path / name)
