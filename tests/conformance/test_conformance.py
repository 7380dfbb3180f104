"""Every class of input does what docs/input.md says, through Python and through the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.report.result_folder import FILES
from tests.conformance.classes import CASES, table_rows
from tests.conformance.given import ACCEPTED, OUTCOMES, PIECE, REFUSED, Case
from tests.conformance.running import Told, call, listing, names, through_command, through_python

EVERY = tuple(CASES.values())
MATCHED = tuple(case for case in EVERY if case.outcome != REFUSED)
IN_FILES = tuple(case for case in EVERY if not case.arrays_only)
TABLE = Path(__file__).resolve().parents[2] / "docs" / "input.md"
# The paper's recipe with few steps: every part runs.
PAPER = nho.preset("paper").replace(
    fit_steps=5, rounds=1, galerkin_modes=60, refine_last=60, refine_increment=20
)


def of(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def by_command(cases):
    """Every third class in a file, and slowly all of them; Python meets all in any case."""
    quick = IN_FILES[::3]
    return of([c if c in quick else pytest.param(c, marks=pytest.mark.slow) for c in cases])


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """What `nho.match` makes of a class; once for all tests."""
    return _once(through_python, tmp_path_factory)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """What `nho match` makes of a class; once for all tests."""
    return _once(through_command, tmp_path_factory)


def _once(run, tmp_path_factory):
    known: dict[str, Told] = {}

    def told(case: Case) -> Told:
        if case.name not in known:
            known[case.name] = run(case, tmp_path_factory.mktemp("class"))
        return known[case.name]

    return told


def truth_of(told: Told) -> np.ndarray:
    """(n_partial,) true full vertex of every vertex as given; -1 = not known."""
    given = told.given
    truth = np.full(len(given_mesh(told, "partial").vertices), -1)
    truth[given.partial.place] = given.full.place[given.cut.vertex_of_parent]
    truth[given.partial.left_out] = -1
    return truth


def given_mesh(told: Told, role: str) -> Mesh:
    """The mesh in the user's numbering."""
    shape = getattr(told.given, role)
    if shape.file is not None:
        return Mesh.read(told.folder / shape.name)
    return Mesh(shape.vertices, shape.faces, role)


def check_messages(case: Case, told: Told, by_file: bool) -> None:
    text = " | ".join(told.messages)
    if case.outcome == ACCEPTED:
        assert told.result is not None and told.messages == (), text
        return
    assert (told.result is None) == (case.outcome == REFUSED), text
    assert all(part in text for part in (*case.words, *names(case, told, by_file))), text
    # Nothing else is said, and every message is one line.
    words = case.words
    if case.strained:
        words = (*words, "may lie in a wrong place", "has no partner")
    assert all(any(part in message for part in words) for message in told.messages), text
    assert all("\n" not in message for message in told.messages)


@of(EVERY)
def test_python_does_what_the_table_says(python, case):
    told = python(case)
    check_messages(case, told, by_file=False)
    if told.result is not None:
        assert told.result.status == "ok" or case.strained


@by_command(IN_FILES)
def test_the_command_does_what_the_table_says_and_leaves_all_or_nothing(command, case):
    told = command(case)
    check_messages(case, told, by_file=True)
    assert "Traceback" not in told.stderr
    if case.outcome == REFUSED:
        assert told.code == 1 and told.stdout == ""
        assert told.stderr.startswith("nho: ") and told.stderr.count("\n") == 1
        assert listing(told.folder) == told.before
    else:
        assert told.code == 0
        written = (told.given.out, *(f"{told.given.out}/{name}" for name in FILES))
        assert listing(told.folder) == tuple(sorted((*told.before, *written)))
        said = [line for line in told.stderr.splitlines() if line.startswith("warning: ")]
        assert said == [f"warning: {warning}" for warning in told.result.warnings]


@of(MATCHED)
def test_the_answer_is_in_the_order_and_length_given(python, case):
    told = python(case)
    result, given = told.result, told.given
    partial, full = given_mesh(told, "partial"), given_mesh(told, "full")
    result.check_meshes(partial, full)
    assert len(result.face) == len(result.barycentric) == len(partial.vertices)
    # Every vertex has a match, except those that cannot have one.
    unmatched = np.zeros(len(partial.vertices), dtype=bool)
    unmatched[given.partial.left_out] = True
    if case.strained:  # what does not fit at all may be said to have no partner
        unmatched |= result.overlap < 0.5
    for array in (result.vertex_map, result.face):
        np.testing.assert_array_equal(array < 0, unmatched)
    assert np.isnan(result.barycentric[unmatched]).all()
    assert (result.confidence[unmatched] == 0).all()
    assert not result.region[given.full.left_out].any()
    # What is one point has one answer.
    first, second = given.partial.twins.T
    for name in ("vertex_map", "face", "barycentric", "confidence"):
        array = getattr(result, name)
        np.testing.assert_array_equal(array[first], array[second], name)
    # The anchors are reported as given.
    if isinstance(given.anchors, np.ndarray) and len(result.anchors) == len(given.anchors):
        np.testing.assert_array_equal(result.anchors, given.anchors)


@of(MATCHED)
def test_the_answer_is_right(python, case):
    told = python(case)
    full, result = given_mesh(told, "full"), told.result
    truth = truth_of(told)
    inner = told.given.partial.place[~told.given.cut.mesh.boundary_vertices]
    inner = inner[truth[inner] >= 0]
    assert len(inner) > 8
    images = result.points.positions(full)[inner]
    edge = np.median(full.edge_lengths)
    gap = np.linalg.norm(images - full.vertices[truth[inner]], axis=1) / edge
    assert gap.mean() < case.error, gap.mean()
    nearest = full.vertices[result.vertex_map[inner]]
    gap = np.linalg.norm(nearest - full.vertices[truth[inner]], axis=1) / edge
    assert gap.mean() < case.error, gap.mean()
    seen = told.given.full.place[told.given.cut.kept_vertices]
    assert result.region[seen[seen >= 0]].mean() > 0.9


# Points are joined by other triangles than those of the clean mesh, so its rim is another one.
@of([case for case in MATCHED if case.make().cut is PIECE and case.name != "points only"])
def test_the_answer_is_that_of_the_clean_pair(python, case):
    clean, told = python(CASES["bounded"]).result, python(case)
    result, place = told.result, told.given.full.place
    known = (place[clean.vertex_map] >= 0) & ~PIECE.mesh.boundary_vertices
    ours = result.vertex_map[told.given.partial.place]
    assert (ours == place[clean.vertex_map])[known].mean() > 0.9
    there = place >= 0
    assert (result.region[place[there]] == clean.region[there]).mean() > 0.9


@by_command([case for case in MATCHED if not case.arrays_only])
def test_python_and_the_command_give_the_same_answer(python, command, case):
    ours, theirs = python(case).result, command(case).result
    for name, array in ours.arrays().items():
        np.testing.assert_array_equal(array, getattr(theirs, name), name)
    assert len(ours.warnings) == len(theirs.warnings) and len(ours.notes) == len(theirs.notes)


@by_command([case for case in MATCHED if not case.arrays_only])
def test_the_result_can_be_loaded_evaluated_and_looked_at(command, case):
    told = command(case)
    truth = told.folder / "truth.map"
    truth.write_text("\n".join(map(str, truth_of(told))) + "\n")
    code, out, err = call("eval", told.out, "--ground-truth", truth, "--json")
    truth.unlink()
    assert code == 0 and err == ""
    scores = json.loads(out)
    assert scores["matched"] > 99 and scores["geodesic_error_median"] < 5
    for role in ("partial", "full"):
        written, mesh = Mesh.read(told.out / f"{role}.ply"), given_mesh(told, role)
        np.testing.assert_array_equal(written.vertices, mesh.vertices)
        np.testing.assert_array_equal(written.faces, mesh.faces)
    page = (told.out / "report.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")


@of([case for case in MATCHED if case.paper])
def test_the_paper_recipe_tells_the_same(case, tmp_path):
    told = through_python(case, tmp_path, PAPER)
    assert told.result is not None
    text = " | ".join(told.messages)
    assert all(part in text for part in case.words), text
    unmatched = np.flatnonzero(told.result.vertex_map < 0)
    np.testing.assert_array_equal(unmatched, np.sort(told.given.partial.left_out))


def test_the_table_and_the_classes_agree():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    rows = [row for row in cells if len(row) == 3 and row[1] in OUTCOMES]
    assert rows == table_rows()
