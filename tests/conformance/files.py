"""Classes of files: how meshes are written down, and how that goes wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.conformance.given import ACCEPTED, REFUSED, WARNED, Case, Given, Shape
from tests.conformance.written import (
    BOM,
    COFF,
    OBJ,
    OBJ_EXTRAS,
    OFF,
    PLY,
    PLY_EXTRAS,
    PLY_LITTLE,
    ROWS,
    STL,
    VTK,
    VTP,
    F,
    M,
    N,
    V,
    glb,
    lines,
    ply_body,
    ply_head,
    quads,
    stl_place,
)


def _scan(file: bytes, name: str, place: np.ndarray | None = None) -> Callable[[], Given]:
    """The piece as a file."""
    where = np.arange(N) if place is None else place
    return lambda: Given(partial=Shape(V, F, where, file=file, name=name))


def _good(name: str, suffix: str, file: bytes, told: str, place: np.ndarray | None = None) -> Case:
    return Case(name, ACCEPTED, _scan(file, "scan" + suffix, place), (), told)


def _bad(name: str, suffix: str, file: bytes, *words: str, told: str) -> Case:
    return Case(name, REFUSED, _scan(file, "scan" + suffix), words, told)


def _named(partial: str, out: str) -> Given:
    return Given(partial=Shape(V, F, np.arange(N), name=partial), out=out)


LITTLE = "binary_little_endian"
_READ = "read; vertices in the order of the file"
_FIRST = "read; vertices in the order of first appearance"
GOOD_FILES = (
    _good("OFF", ".off", OFF, _READ),
    _good("coloured OFF", ".off", COFF, "colours are skipped"),
    _good("OBJ with extra attributes", ".obj", OBJ_EXTRAS, "colours, texture, normals skipped"),
    _good("ASCII PLY", ".ply", PLY, _READ),
    _good("PLY with extra attributes", ".ply", PLY_EXTRAS, "normals, colours, quality skipped"),
    _good("binary PLY", ".ply", PLY_LITTLE, _READ),
    _good("big-endian PLY", ".ply", ply_head("binary_big_endian") + ply_body(">"), _READ),
    _good("32-bit coordinates", ".ply", ply_head(LITTLE, "float") + ply_body("<", "f4"), _READ),
    _good("STL", ".stl", STL, _FIRST, stl_place()),
    _good("VTK", ".vtk", VTK, _READ),
    _good("VTP", ".vtp", VTP, _READ),
    _good("GLB", ".glb", glb(), _READ),
    _good("quads", ".obj", quads(), "split into triangles"),
    _good("CRLF line ends", ".off", OFF.replace(b"\n", b"\r\n"), "read"),
    _good("CRLF line ends in PLY", ".ply", PLY.replace(b"\n", b"\r\n"), "read"),
    _good("comments", ".off", b"# by hand\n" + OFF.replace(b"\n", b" # why\n"), "skipped"),
    _good("byte order mark in OFF", ".off", BOM + OFF, "skipped"),
    _good("byte order mark in OBJ", ".obj", BOM + OBJ, "skipped"),
    _good("byte order mark in PLY", ".ply", BOM + PLY, "skipped"),
    _good("byte order mark in STL", ".stl", BOM + STL, "skipped", stl_place()),
    _good("byte order mark in VTK", ".vtk", BOM + VTK, "skipped"),
    _good("byte order mark in VTP", ".vtp", BOM + VTP, "skipped"),
    _good("suffix in capitals", ".OFF", OFF, "read"),
    Case(
        "names with spaces and umlauts",
        ACCEPTED,
        lambda: _named("Sch\u00e4del Nr 7 (links).ply", "Ergebnis f\u00fcr S\u00fcd"),
        (),
        "read and written",
    ),
)
AGAIN = "copy or export it again"
BAD_FILES = (
    _bad("empty file", ".ply", b"", "the file is empty", AGAIN, told="copy it again"),
    _bad(
        *("truncated OFF", ".off", OFF[: len(OFF) // 2]),
        *(f"promises {N} vertices and {M} faces", "ends after", AGAIN),
        told="what was promised and what is there; copy it again",
    ),
    _bad(
        *("truncated PLY", ".ply", PLY[: len(PLY) // 2]),
        *(f"promises {N} rows of `vertex`", "ends after", AGAIN),
        told="likewise",
    ),
    _bad(
        *("truncated binary PLY", ".ply", PLY_LITTLE[:-100]),
        *(f"promises {M} rows of `face`", "ends after", AGAIN),
        told="likewise",
    ),
    _bad(
        *("truncated OBJ", ".obj", OBJ[: OBJ.rindex(b" ")]),
        *(f"face {M - 1} has 2 corners", "re-export"),
        told="only within a statement; an OBJ that ends after a whole line cannot be told",
    ),
    _bad(
        *("truncated STL", ".stl", STL[: len(STL) // 2], "`endsolid` is missing", AGAIN),
        told="copy it again",
    ),
    _bad("truncated GLB", ".glb", glb()[:-100], "ends after", AGAIN, told="copy it again"),
    Case(
        *("points only", WARNED, _scan(ply_head("ascii", faces=0) + lines(*ROWS), "scan.ply")),
        (f"a point cloud of {N} points",),
        "the points of a PLY, XYZ, PTS, NPY, LAS or E57 are joined to a surface",
    ),
    _bad(
        *("points only in OBJ", ".obj", lines(*(f"v {row}" for row in ROWS))),
        *(f"no faces, only {N} points", "the points alone as .ply or .xyz"),
        told="export triangles, or the points alone as PLY or XYZ",
    ),
    _bad(
        *("huge count in the header", ".ply"),
        PLY_LITTLE.replace(b"vertex %d" % N, b"vertex 99999999999999"),
        *("promises 99999999999999 rows", AGAIN),
        told="no memory is asked for what the file cannot hold",
    ),
    _bad(
        *("huge count in an OFF header", ".off"),
        OFF.replace(b"%d %d 0" % (N, M), b"99999999999999 %d 0" % M),
        *("promises 99999999999999 vertices", AGAIN),
        told="likewise",
    ),
    _bad(
        *("face with two corners", ".off"),
        OFF.replace(b"3 %d %d %d" % tuple(F[4]), b"2 %d %d" % tuple(F[4][:2])),
        *("face 4 has 2 corners", "remove it or re-export"),
        told="the face is named; remove it",
    ),
    _bad(
        *("index out of range in a file", ".obj"),
        OBJ.replace(b"f %d %d %d" % tuple(F[4] + 1), b"f 1 2 99999"),
        *(f"line {N + 5}: face 4 refers to vertex 99999", f"1-{N}", "re-export"),
        told="line, face and index are named",
    ),
    _bad(
        *("NaN in a file", ".off", OFF.replace(ROWS[17].encode(), b"nan 0 0")),
        *("vertex 17 is (nan, 0.0, 0.0)", "remove it or re-export"),
        told="the vertex is named",
    ),
    _bad(
        *("decimal commas", ".off", OFF.replace(b".", b",")),
        *("line 3: '0,0' is not a number", "re-export"),
        told="the line is named; export with decimal points",
    ),
    _bad(
        *(
            "PLY named .obj",
            ".obj",
            PLY,
            "no vertices (`v` lines)",
            "give it the suffix of its real format",
        ),
        told="the suffix must be what the file is",
    ),
    _bad(
        *("OBJ named .ply", ".ply", OBJ, "starts with a line `ply`, not with 'v'"),
        *("give it the suffix of its real format",),
        told="likewise",
    ),
    _bad(
        *(
            "OFF named .stl",
            ".stl",
            OFF,
            "as a binary STL",
            "give it the suffix of its real format",
        ),
        told="likewise",
    ),
    _bad(
        *("unknown suffix", ".dae", OFF, "a mesh file ends in .ply, .obj", "real format"),
        told="the suffixes that can be read are named",
    ),
    _bad(
        *("UTF-16 text", ".off", OFF.decode().encode("utf-16")),
        *("starts with OFF", "export it as OFF text or as PLY"),
        told="save it as plain text",
    ),
    _bad(
        *("web page instead of a mesh", ".ply", b"<html><body>404 Not Found</body></html>\n"),
        *("starts with a line `ply`, not with '<html><body>404'", "export it as PLY"),
        told="what the file starts with is shown",
    ),
    _bad(
        *("far from the origin in 32 bits", ".ply"),
        ply_head(LITTLE, "float") + ply_body("<", "f4", 3e7),
        *("faces have a repeated vertex", "no surface is left", "re-export"),
        told="rounding has merged all vertices; export in 64 bits or move it to the origin",
    ),
)
FILES = (*GOOD_FILES, *BAD_FILES)
