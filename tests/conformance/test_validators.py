"""Every validator between the readers and the solver is fired by a class."""

from __future__ import annotations

import ast
import traceback
from pathlib import Path

import nho
from tests.conformance.classes import CASES
from tests.conformance.given import REFUSED
from tests.conformance.running import through_python

HOME = Path(nho.__file__).parent
ROOMS = (
    *("geometry/mesh.py", "geometry/repair.py", "problem/preparation.py", "problem/anchors.py"),
    *("recipes/guided/comparable.py", "runtime/csv_table.py"),
    *(f"io/landmarks/{room}.py" for room in ("files", "pairing", "placing", "points", "table")),
)
# Not on the way of a match, so no class of input can reach them.
ELSEWHERE = {
    ("geometry/mesh.py", "scaled"),
    ("geometry/mesh.py", "moved"),  # only from Python
    ("problem/anchors.py", "from_positions"),  # different numbers of positions: only from Python
    ("problem/anchors.py", "write_anchors"),  # likewise
    ("problem/anchors.py", "from_landmarks"),  # an unknown flip is an option, not an input
    ("io/landmarks/points.py", "_check_coordinates"),  # likewise
    ("io/landmarks/points.py", "by_position"),
    ("io/landmarks/points.py", "by_face"),
    ("io/landmarks/files.py", "write_pairs"),
    ("io/landmarks/files.py", "_content"),  # a file that is there but cannot be read
    ("io/landmarks/files.py", "_write"),
}


def validators():
    """(room, function, first line, last line) of every `raise InputError`."""
    for room in ROOMS:
        tree = ast.parse((HOME / room).read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Raise) and "InputError" in ast.dump(node):
                        yield room, function.name, node.lineno, node.end_lineno


def test_every_validator_fires(tmp_path):
    fired = set()
    for number, case in enumerate(CASES.values()):
        if case.outcome == REFUSED:
            folder = tmp_path / str(number)
            folder.mkdir()
            error = through_python(case, folder).error
            where = traceback.extract_tb(error.__traceback__)[-1]
            fired.add((Path(where.filename).relative_to(HOME).as_posix(), where.lineno))
    silent = [
        (room, function, first)
        for room, function, first, last in validators()
        if not any((room, line) in fired for line in range(first, last + 1))
        and (room, function) not in ELSEWHERE
    ]
    assert silent == []
