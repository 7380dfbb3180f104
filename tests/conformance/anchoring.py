"""Classes of anchors: what users mark, and how it goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.conformance.given import (
    ACCEPTED,
    PAIRS,
    PIECE,
    REFUSED,
    WARNED,
    WHOLE,
    Case,
    Given,
    same_order,
)

N = len(PIECE.mesh.vertices)
V, F = PIECE.mesh.vertices, PIECE.mesh.faces
POSITIONS = np.hstack([V[PAIRS[:, 0]], WHOLE.vertices[PAIRS[:, 1]]])


def _changed(row: int, column: int, value: float) -> Given:
    pairs = PAIRS.copy()
    pairs[row, column] = value
    return Given(anchors=pairs)


def _also(*pair: int) -> Given:
    return Given(anchors=np.vstack([PAIRS, [pair]]))


def _on_loose_vertex() -> Given:
    partial = same_order(np.vstack([V, V[:1] + 0.5]), F, N)
    return Given(partial=partial, anchors=np.vstack([PAIRS, [[N, 0]]]))


def _on_removed_vertex() -> Given:
    """The vertex has a face, but only one with a repeated corner."""
    partial = same_order(np.vstack([V, V[:1] + 0.5]), np.vstack([F, [[N, N, 0]]]), N)
    return Given(partial=partial, anchors=np.vstack([PAIRS, [[N, 0]]]))


def _on_spike() -> Given:
    vertices = V.copy()
    vertices[PAIRS[4, 0]] *= 200
    return Given(partial=same_order(vertices, F, N))


def _table(rows: np.ndarray, header: str = "partial,full", decimal: str = ".") -> str:
    cells = [[f'"{cell!r}"'.replace(".", decimal) for cell in row] for row in rows.tolist()]
    return "\n".join([header, *map(",".join, cells)]) + "\n"


def _continental(rows: np.ndarray) -> str:
    """As a spreadsheet in German or French writes it."""
    return _table(rows, AXES).replace(",", ";").replace(".", ",")


AXES = "partial_x,partial_y,partial_z,full_x,full_y,full_z"


def _off_surface(distance: float) -> Given:
    """Every point on the full shape is off by this much, along its ray from the middle."""
    moved = POSITIONS.copy()
    moved[:, 3:] *= 1 + distance
    return Given(anchors=_table(moved, AXES))


def _impossible_position(value: float) -> Given:
    moved = POSITIONS.copy()
    moved[3, 4] = value
    return Given(anchors=_table(moved, AXES))


def _wrong_one() -> Given:
    far = int(np.argmax(np.linalg.norm(WHOLE.vertices - WHOLE.vertices[PAIRS[5, 1]], axis=1)))
    return _changed(5, 1, far)


def _csv(content: str | bytes | Path) -> Callable[[], Given]:
    return lambda: Given(anchors=content)


def _good(name, make, told) -> Case:
    return Case(name, ACCEPTED, make, (), told, culprit="anchors")


def _warned(name, make, *words, told, culprit="anchors") -> Case:
    return Case(name, WARNED, make, words, told, culprit=culprit)


def _refused(name, make, *words, told, **more) -> Case:
    return Case(name, REFUSED, make, words, told, **{"culprit": "anchors", **more})


MARK = "mark matching points"
ONE_PLACE = np.column_stack([PAIRS[:4, 0], np.full(4, 7)])
ANCHORS = (
    _good("anchors by coordinates", _csv(_table(POSITIONS, AXES)), "projected to the surfaces"),
    _good("anchor file with byte order mark", _csv("\ufeff" + _table(PAIRS)), "skipped"),
    _good("anchor file with semicolons", _csv(_table(PAIRS).replace(",", ";")), "read"),
    _good("anchor file with tabs", _csv(_table(PAIRS).replace(",", "\t")), "read"),
    _good("semicolons and decimal commas", _csv(_continental(POSITIONS)), "read"),
    _good("anchor file in UTF-16", _csv(_table(PAIRS).encode("utf-16")), "read"),
    _refused(
        *("decimal commas between commas", _csv("partial,full\n0,0,1,0\n2,0,3,0\n")),
        *("line 2 has 4 cells but there are 2 columns", "separate cells by semicolons"),
        told="the line is named; put semicolons between the cells",
    ),
    _refused(
        *("commas and semicolons between cells", _csv("partial;full,name\na;b,c\nd;e,f\n")),
        *("separated by commas or semicolons", "save it with one of them"),
        told="save it with one of them",
    ),
    _refused(
        *("decimal commas and points", _csv(_continental(POSITIONS).replace(",", ".", 1))),
        *("line 2 has", "write all decimals with a point"),
        told="both lines are named; write decimal points",
    ),
    _warned(
        "coordinates off the surface",
        lambda: _off_surface(0.02),
        *("anchor points were projected", "mean distance", "(anchor 7)"),
        told="projected; mean and largest distance are told",
        culprit="full",
    ),
    _warned(
        *("repeated anchor", lambda: _also(*PAIRS[2])),
        *(f"anchor {len(PAIRS) + 1} repeats anchor 3", "counted once"),
        told="counted once",
    ),
    _warned(
        *("two anchors with one partner", lambda: _changed(4, 1, PAIRS[9, 1])),
        *(
            "anchors 5 and 10 end at the same full vertex",
            "contradicts the others and was not used",
        ),
        told="kept, unless one contradicts the others",
    ),
    _warned(
        *("wrong anchor", _wrong_one, "anchor 6", "contradicts the others and was not used"),
        told="with 8 anchors or more, one that contradicts the others is named and not used",
    ),
    _refused(
        *("anchor outside of the mesh", lambda: _changed(3, 0, N)),
        *(f"anchor 4 refers to vertex {N}", f"0 to {N - 1}", "count from 0"),
        told="anchor, index and range are named; indices count from 0",
    ),
    _refused(
        *("anchor outside of the full mesh", lambda: _changed(3, 1, -2)),
        *("anchor 4 refers to vertex -2", "count from 0"),
        told="likewise",
    ),
    _refused(
        *("indices that count from 1", lambda: Given(anchors=np.vstack([PAIRS + 1, [[N, 1]]]))),
        *(f"refers to vertex {N}", "seem to count from 1: subtract 1 from each"),
        told="said so where the last index is one too large; else see below",
    ),
    _refused(
        *("columns of anchors exchanged", lambda: Given(anchors=PAIRS[:, ::-1])),
        *(f"which has vertices 0 to {N - 1}", "with the columns exchanged all would fit"),
        told="said so where an index is too large; else see below",
    ),
    _refused(
        *("anchor on an unreferenced vertex", _on_loose_vertex),
        *(f"anchor {len(PAIRS) + 1} refers to vertex {N}", "pick a vertex on the surface"),
        told="pick a vertex on the surface",
    ),
    _refused(
        *("anchor on a removed vertex", _on_removed_vertex),
        *(f"anchor {len(PAIRS) + 1} refers to vertex {N}", "pick another vertex"),
        told="all its faces were dropped; pick another vertex",
    ),
    _refused(
        *("anchor on a spike", _on_spike),
        *(f"anchor 5 refers to vertex {PAIRS[4, 0]}", "is a spike", "pick another vertex"),
        told="the vertex lies far off the surface; pick another vertex",
    ),
    _refused(
        *("contradicting anchors", lambda: _also(PAIRS[2, 0], PAIRS[3, 1])),
        *(f"anchors 3 and {len(PAIRS) + 1} contradict each other", "remove the wrong one"),
        told="one partial vertex with two partners; remove the wrong one",
    ),
    _refused(
        *("fewer than three anchors", lambda: Given(anchors=PAIRS[:2])),
        *("2 distinct anchors given, at least 3 are needed", "mark more"),
        told="mark more",
    ),
    _refused(
        *("anchors in one place", lambda: Given(anchors=ONE_PLACE)),
        *("no two anchors are apart", "spread them out"),
        told="spread them out",
        culprit="pair",
    ),
    _refused(
        *("anchor with decimals", lambda: Given(anchors=PAIRS + np.array([0.5, 0]))),
        *("anchor 1 is", "not a pair of vertex indices; give whole numbers"),
        told="give vertex indices",
    ),
    _refused(
        *("anchors of three columns", lambda: Given(anchors=PAIRS[:, [0, 1, 1]])),
        *("must be an (m, 2) array", "not of shape"),
        told="give an (m, 2) array",
        arrays_only=True,
    ),
    _refused(
        *("anchors of different lengths", lambda: Given(anchors=[[0, 1], [2]])),
        "must be pairs of vertex indices",
        told="give pairs",
        arrays_only=True,
    ),
    _refused(
        *("coordinates far off the surface", lambda: _off_surface(1.0)),
        *("anchor 7 lies", "check units (mm or m) and axes"),
        told="farther than a tenth of the diagonal; check units and axes",
    ),
    _refused(
        *("NaN in anchor coordinates", lambda: _impossible_position(np.nan)),
        *("anchor 4 has no finite position", "correct or remove it"),
        told="the anchor is named; correct it",
    ),
    _refused(
        *("anchor coordinates too large", lambda: _impossible_position(1e200)),
        *("anchor 4 has no finite position", "correct or remove it"),
        told="likewise",
    ),
    _refused(
        *("missing anchor file", _csv(Path("pairs.csv")), "no such file", "check the path"),
        told="check the path",
    ),
    _refused("empty anchor file", _csv(""), "there are no anchors", MARK, told=MARK),
    _refused(
        *("anchor file with a header only", _csv("partial,full\n")),
        *("no anchors below the header", MARK),
        told=MARK,
    ),
    _refused(
        *("empty cell in the anchor file", _csv("partial,full\n0,0\n1,\n2,2\n")),
        *("line 3 has no 'full'", "fill it in or delete the line"),
        told="the line is named; fill it in",
    ),
    _refused(
        *("word in the anchor file", _csv("partial,full\n0,0\n1,nose\n2,2\n")),
        *("line 3: full = 'nose' is not a number", "correct it"),
        told="the line is named; correct it",
    ),
    _refused(
        *("decimal commas in the anchor file", _csv(_table(POSITIONS, AXES, decimal=","))),
        *("line 2: partial_x =", "is not a number", "decimals take a point"),
        told="the line is named; write decimal points, or semicolons between the cells",
    ),
    _refused(
        *("unknown columns in the anchor file", _csv("scan,template\n0,0\n1,1\n2,2\n")),
        *("the columns are scan, template", "expected partial,full or partial_x"),
        told="the columns that are understood are named",
    ),
    _refused(
        *("anchor file of three columns without a header", _csv("0,0,0\n1,1,1\n2,2,2\n")),
        *("line 1 has 3 columns and there is no header", "give 2"),
        told="give 2 or 6 columns, or a header",
    ),
    _refused(
        *("anchor file that is no text", _csv(b"\xff\x00\x01")),
        *("cannot be read as text", "save it as CSV in UTF-8"),
        told="save it as CSV in UTF-8",
    ),
    _refused(
        *("anchor file that is no table", _csv('"' + "x" * 200_000)),
        *("not a CSV table", "save it as CSV"),
        told="save it as CSV",
    ),
)
