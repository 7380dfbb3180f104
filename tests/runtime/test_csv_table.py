"""Rows of CSV files keep their line numbers, whatever is left out between them."""

import pytest

from nho.errors import InputError
from nho.runtime.csv_table import csv_rows

TEXT = b'\xef\xbb\xbfa,b\n\n# note\n"x\ny",2\n , \n#3,4\n'


def test_blank_rows_and_comments_are_left_out_and_lines_are_counted():
    assert csv_rows(TEXT, "t.csv") == [(1, ["a", "b"]), (5, ["x\ny", "2"])]
    kept = csv_rows(TEXT, "t.csv", comments=False)
    assert [line for line, _ in kept] == [1, 3, 5, 7] and kept[-1][1] == ["#3", "4"]


@pytest.mark.parametrize(
    ("data", "words"), [(b"\xff\x00", "cannot be read as text"), (b'a,"b"c\n', "not a CSV table")]
)
def test_what_is_no_table_is_refused_with_a_remedy(data, words):
    with pytest.raises(InputError, match=rf"t\.csv: {words} .*; save it as CSV in UTF-8"):
        csv_rows(data, "t.csv", strict=True)


ROWS = [(1, ["name", "x", "y"]), (2, ["a", "1.5", "-2"]), (3, ["b, c", ".5e3", "4"])]
PLAIN = 'name,x,y\na,1.5,-2\n"b, c",.5e3,4\n'
CONTINENTAL = "name;x;y\na;1,5;-2\nb, c;,5e3;4\n"


@pytest.mark.parametrize("between", [";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be with mark"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_spreadsheets_of_any_country_give_the_same_rows(between, encoding, ends):
    text = CONTINENTAL.replace(";", between).replace("\n", ends)
    big = encoding.endswith("with mark")
    data = b"\xfe\xff" + text.encode("utf-16-be") if big else text.encode(encoding)
    assert csv_rows(data, "t.csv", numbers=True) == ROWS
    assert csv_rows(PLAIN.encode(), "t.csv", numbers=True) == ROWS


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1,5;2,5;3,5\n4,5;5,5;6,5\n", ["1.5", "2.5", "3.5"]),  # no header to go by
        ("1,5\t2\n3,25\t4\n", ["1.5", "2"]),
        ("sep=;\n1,5;2\n", ["1.5", "2"]),
        ("a;b,1,2\nc;d,3,4\n", ["a;b", "1", "2"]),
        ("vertex\n1\n", ["vertex"]),
        ('"x;y",z\n1,2\n', ["x;y", "z"]),
        ("area;mm2,label\n1.5,2\n", ["area;mm2", "label"]),
        ("# x;y\nx,y\n1,2\n", ["x", "y"]),
        ("1,234;1\n", ["1.234", "1"]),
    ],
)
def test_what_stands_between_the_cells_is_found(text, first):
    assert csv_rows(text.encode(), "t.csv", numbers=True)[0][1] == first


def test_a_declared_separator_counts_as_a_line():
    assert csv_rows(b"sep=;\r\na;b\r\n", "t.csv") == [(2, ["a", "b"])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;b,c\nd;e,f\n", "commas or semicolons; save it with one of them"),
        ("x;y\n1,5;2\n3;2.5\n", "line 2 has '1,5', and line 3 has '2.5'; write all decimals"),
        ("x\ty\n1,234\t2\n", "line 2 has '1,234', which may be a decimal or thousands; write"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(text, words):
    with pytest.raises(InputError, match=rf"^t\.csv: .*{words}"):
        csv_rows(text.encode(), "t.csv", numbers=True)


def test_names_are_no_numbers_and_quoted_commas_between_commas_are_no_decimals():
    text = b"name;x\n2.1;1,5\n2,2;2,5\n"
    rows = csv_rows(text, "t.csv", numbers=True, text=("name",))
    assert [row for _, row in rows[1:]] == [["2.1", "1.5"], ["2,2", "2.5"]]
    assert csv_rows(b'x,y\n"1,5",2\n', "t.csv", numbers=True)[1][1] == ["1,5", "2"]
    assert csv_rows(b"name;path\n1,5;a.ply\n", "t.csv")[1][1] == ["1,5", "a.ply"]
