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
    ("data", "words"), [(b"\xff\xfe", "cannot be read as text"), (b'a,"b"c\n', "not a CSV table")]
)
def test_what_is_no_table_is_refused_with_a_remedy(data, words):
    with pytest.raises(InputError, match=rf"t\.csv: {words} .*; save it as CSV in UTF-8"):
        csv_rows(data, "t.csv", strict=True)
