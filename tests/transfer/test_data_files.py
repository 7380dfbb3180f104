"""Attributes in files of their own: CSV, NPZ and lists of vertices."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, kind_of, read_data, write_with_attributes

STRIP = Mesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]],
    [[0, 1, 2], [1, 3, 2], [2, 3, 4]],
    "strip.ply",
)


def read(tmp_path, name, content, mesh=STRIP):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_data(path, mesh)


def test_the_cells_of_a_column_tell_what_it_is(tmp_path):
    table = "label,height,chosen,part,red,green,blue\n" + "".join(
        f"{i},{i}.5,{'true' if i % 2 else 'False'},arm,255,0,{i}\n" for i in range(5)
    )
    found = read(tmp_path, "a.csv", table).vertex
    kinds = {name: kind_of(values) for name, values in found.items()}
    assert kinds == {
        "label": "label",
        "height": "scalar",
        "chosen": "selection",
        "part": "label",
        "color": "colour",
    }
    assert found["label"].tolist() == [0, 1, 2, 3, 4]
    assert found["chosen"].tolist() == [False, True, False, True, False]
    assert found["color"].tolist() == [[255, 0, i] for i in range(5)]


def test_an_empty_cell_is_no_data(tmp_path):
    found = read(tmp_path, "a.csv", "vertex,q\n0,1.5\n1,\n2,2\n3,nan\n4,0\n").vertex["q"]
    np.testing.assert_array_equal(found, [1.5, np.nan, 2, np.nan, 0])


def test_rows_may_be_faces(tmp_path):
    assert read(tmp_path, "a.csv", "patch\n4\n5\n6\n").face["patch"].tolist() == [4, 5, 6]
    found = read(tmp_path, "b.csv", "face,patch\n0,4\n1,5\n2,6\n")
    assert found.face["patch"].tolist() == [4, 5, 6] and not found.vertex


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2\n3,4\n", "first row holds numbers; name the columns"),
        ("a,b\n", "no rows below a header"),
        ("a,a\n1,2\n", "column 2 of the header is 'a'"),
        ("a,\n1,2\n", "column 2 of the header is ''"),
        ("a,b\n1\n", "line 2 has 1 cells but the header has 2"),
        ("a\n1\n2\n3\n4\n", "it has 4 rows but the mesh has 5 vertices and 3 faces"),
        ("vertex,a\n1,1\n0,2\n2,3\n3,4\n4,5\n", "'vertex' should count from 0 to 4"),
        ("vertex,a\n0,1\n", "'vertex' should count from 0 to 4"),
        ("a\n" + "x" * 500 + "\n1\n2\n3\n4\n", "too long"),
        (b"a\n\xff\xfe\n", "cannot be read as text"),
        ("", "the file is empty"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=f"a.csv: .*{message}"):
        read(tmp_path, "a.csv", content)


def npz(tmp_path, **arrays):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    return read_data(path, STRIP)


def test_arrays_belong_where_their_length_says(tmp_path):
    found = npz(
        tmp_path,
        height=np.arange(5.0),
        patch=np.arange(3),
        face_part=np.arange(3),
        words=np.array(list("abcde")),
        uv=np.zeros((3, 3, 2)),
        vertices=STRIP.vertices,
        faces=STRIP.faces,
    )
    assert set(found.vertex) == {"height", "words"}
    assert set(found.face) == {"patch", "part"} and found.uv.shape == (3, 3, 2)
    per_vertex = npz(tmp_path, uv=STRIP.vertices[:, :2])
    np.testing.assert_array_equal(per_vertex.uv, STRIP.vertices[STRIP.faces][:, :, :2])


def test_arrays_of_another_length_and_objects_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"a.npz: array 'q' has shape \(4,\).* one row for each"):
        npz(tmp_path, q=np.zeros(4))
    with pytest.raises(InputError, match=r"a.npz: cannot be read as NPZ"):
        npz(tmp_path, q=np.array([None] * 5))
    with pytest.raises(InputError, match="attribute 'q' has type complex128"):
        npz(tmp_path, q=np.zeros(5, dtype=complex))


def test_a_list_of_vertices_is_a_selection(tmp_path):
    found = read(tmp_path, "picked.txt", "# by hand\n3, 1\n1\n").vertex["picked"]
    assert found.tolist() == [False, True, False, True, False]
    write_with_attributes(tmp_path / "again.txt", STRIP, Attributes({"picked": found}))
    again = read_data(tmp_path / "again.txt", STRIP).vertex["again"]
    assert again.tolist() == found.tolist()
    nothing = Attributes({"picked": np.zeros(5, dtype=bool)})
    write_with_attributes(tmp_path / "none.txt", STRIP, nothing)
    assert not read_data(tmp_path / "none.txt", STRIP).vertex["none"].any()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 5", "selects vertex 5 but the mesh has 5 vertices"),
        ("-1", "selects vertex -1"),
        ("1.5", "'1.5' is not a vertex index"),
        ("one", "'one' is not a vertex index"),
    ],
)
def test_lists_that_do_not_fit_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, "picked.txt", content)


def test_a_text_list_holds_one_selection(tmp_path):
    two = Attributes({"a": np.ones(5, dtype=bool), "b": np.ones(5, dtype=bool)})
    with pytest.raises(InputError, match="there are 2; choose one with --only"):
        write_with_attributes(tmp_path / "a.txt", STRIP, two)
    # The mask of a transfer is not what was asked for.
    one = Attributes({"a": np.ones(5, dtype=bool), "transferred": np.ones(5, dtype=bool)})
    write_with_attributes(tmp_path / "a.txt", STRIP, one)


def test_face_data_alone_make_a_table_of_faces(tmp_path):
    given = Attributes(face={"patch": np.arange(3)})
    assert write_with_attributes(tmp_path / "a.csv", STRIP, given) == ()
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "face,patch"
    assert read_data(tmp_path / "a.csv", STRIP).face["patch"].tolist() == [0, 1, 2]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="data files end in .csv, .npz, .txt"):
        read(tmp_path, "a.xlsx", "x")
    with pytest.raises(InputError, match="there is no such file"):
        read_data(tmp_path / "missing.csv", STRIP)
