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
    *("mesh.py", "repair.py", "problem.py", "anchors.py", "common_ground.py"),
    *(f"landmarks/{room}.py" for room in ("files", "indices", "pairing", "placing", "points")),
    "landmarks/table.py",
)
# Not on the way of a match, so no class of input can reach them.
ELSEWHERE = {
    ("mesh.py", "scaled"),
    ("anchors.py", "from_positions"),  # different numbers of positions: only from Python
    ("anchors.py", "from_landmarks"),  # an unknown flip is an option, not an input
    ("landmarks/points.py", "_check_coordinates"),  # likewise
    ("landmarks/points.py", "by_position"),
    ("landmarks/points.py", "by_face"),
    ("landmarks/files.py", "write_pairs"),
    ("landmarks/files.py", "_content"),  # a file that is there but cannot be read
    ("landmarks/files.py", "_write"),
    ("problem.py", "as_mesh"),  # neither mesh nor path: see test_problem
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
