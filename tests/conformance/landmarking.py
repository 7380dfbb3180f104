"""Classes of landmark files: what other programs save, and how two lists fail to fit."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from tests.conformance.given import ACCEPTED, PAIRS, REFUSED, WARNED, Case, Given
from tests.conformance.landmark_makers import (
    NAMES,
    PLACES,
    fiducials,
    labelled,
    markups,
    on_triangles,
    other_axes,
    own_pairs,
    picked,
    table,
    wrapped,
)


def _files(**files: str | bytes) -> Callable[[], Given]:
    """Files by name, with `_` for the point before the suffix."""
    return lambda: Given(anchors={name.replace("_", "."): text for name, text in files.items()})


def _good(name: str, told: str, **files: str | bytes) -> Case:
    return Case(name, ACCEPTED, _files(**files), (), told, culprit="anchors")


def _warned(name: str, *words: str, told: str, **files: str | bytes) -> Case:
    return Case(name, WARNED, _files(**files), words, told, culprit="anchors")


def _refused(name: str, *words: str, told: str, **files: str | bytes) -> Case:
    return Case(name, REFUSED, _files(**files), words, told, culprit="anchors")


SCAN, FULL = PLACES
TURNED = np.arange(len(PAIRS))[::-1]
LISTS = tuple(json.dumps(on_triangles(side)) for side in (0, 1))
STRANGERS = tuple(f"other {row}" for row in range(len(PAIRS)))
OFF = FULL + np.where(np.arange(len(PAIRS)) == 4, 2.0, 0.0)[:, None]
GONE = np.where(np.arange(len(PAIRS)) == 4, -999.0, 1.0)[:, None]
LANDMARKS = (
    _good("MeshLab's picked points", "paired by name", a_pp=picked(SCAN), b_pp=picked(FULL)),
    _good(
        "landmarker.io's LJSON", "paired by name", a_ljson=labelled(SCAN), b_ljson=labelled(FULL)
    ),
    _good("Wrap's points by name", "paired by name", a_txt=wrapped(0), b_txt=wrapped(1)),
    _good(
        "a table for each shape",
        "paired by name, in whatever order",
        a_csv=table(SCAN),
        b_csv=table(FULL[TURNED], NAMES[::-1]),
    ),
    _good("two formats", "each is read by its suffix", a_pp=picked(SCAN), b_ljson=labelled(FULL)),
    _good("JSON of pairs", "vertices, places in faces, coordinates", pairs_json=own_pairs()),
    _warned(
        *("3D Slicer's markups", "a.mrk.json: its coordinates are in LPS and used unchanged"),
        "b.mrk.json: its coordinates are in RAS",
        told="taken as written; the mesh must have the axes that the file names",
        a_mrk_json=markups(SCAN),
        b_mrk_json=markups(FULL, "RAS"),
    ),
    _warned(
        *(
            "3D Slicer's fcsv",
            "a.fcsv: its coordinates are in LPS",
            "b.fcsv: its coordinates are in LPS",
        ),
        told="likewise",
        a_fcsv=fiducials(SCAN),
        b_fcsv=fiducials(FULL),
    ),
    _warned(
        *("landmarks without names", "paired by order, since", "a.txt has no names"),
        told="paired by order, and that is told",
        a_txt=LISTS[0],
        b_txt=LISTS[1],
    ),
    _warned(
        *("landmarks with other names", "paired by order, since no names in both files"),
        told="fewer than three names in both files: paired by order, and that is told",
        a_pp=picked(SCAN),
        b_pp=picked(FULL, STRANGERS),
    ),
    _warned(
        *("landmark without a partner", "b.pp: 1 point without a partner of the same name"),
        "(extra)",
        told="left out and named",
        a_pp=picked(SCAN),
        b_pp=picked(np.vstack([FULL, FULL[:1] + 0.01]), (*NAMES, "extra")),
    ),
    _warned(
        *("landmark that is not set", "a.pp: 1 of 16 points on the partial shape not set"),
        "(mark 4)",
        told="left out and named (also null, `undefined`, `missing`, `defined` 0)",
        a_pp=picked(SCAN, gone=4),
        b_pp=picked(FULL),
    ),
    _warned(
        *("NaN or -999 in all coordinates", "b.csv: 1 of 16 points on the full shape not set"),
        "(mark 4)",
        told="left out and named (also -9999)",
        a_csv=table(SCAN),
        b_csv=table(np.where(GONE < 0, GONE, FULL)),
    ),
    Case(
        *("landmarks in other axes", REFUSED, other_axes),
        words=(
            *("a.mrk.json: anchor", "with x and y negated"),
            *("the file says LPS, the mesh seems to be RAS", "nho match --flip-anchors partial"),
        ),
        told="told with the option that turns them",
        culprit="anchors",
    ),
    _refused(
        *("landmarks in another unit", "b.pp: anchor", "multiplied by 0.001"),
        "the file seems to be in mm, the mesh in m",
        told="told with the factor",
        a_pp=picked(SCAN),
        b_pp=picked(1000 * FULL),
    ),
    _refused(
        *("one landmark far off", "b.pp: anchor mark 4 lies", "correct or remove this one"),
        told="named; correct it",
        a_pp=picked(SCAN),
        b_pp=picked(OFF),
    ),
    _refused(
        *("lists of different lengths without names", "16 points", "15 points", "has no names"),
        "as many points in the same order",
        told="give partners the same name, or as many points",
        a_txt=LISTS[0],
        b_txt=json.dumps(on_triangles(1)[1:]),
    ),
    _refused(
        *("names against the order", "a.pp has the name 'mark 0' twice", "does not fit"),
        told="a name twice, and its partner elsewhere: give every point its own name",
        a_pp=picked(SCAN, ("mark 0", "mark 0", *NAMES[2:])),
        b_pp=picked(FULL[TURNED], NAMES[::-1]),
    ),
    _refused(
        *("landmarks of one shape only", "a.pp: it holds the points of one shape", "give two"),
        told="give those of the other too",
        a_pp=picked(SCAN),
    ),
    _refused(
        *("a table of one shape only", "a.csv: the columns are name, x, y, z", "for each shape"),
        told="likewise",
        a_csv=table(SCAN),
    ),
    _refused(
        *("pairs beside landmarks", "a.csv: the columns are partial, full", "given alone"),
        told="a file of pairs is given alone",
        a_csv="partial,full\n0,0\n1,1\n2,2\n",
        b_pp=picked(FULL),
    ),
    _refused(
        *("JSON of pairs beside landmarks", "a.json: it holds pairs", "given alone"),
        told="likewise",
        a_json=own_pairs(),
        b_pp=picked(FULL),
    ),
    _refused(
        *("three files of landmarks", "3 files of anchors were given", "or two"),
        told="give one of pairs, or two",
        a_pp=picked(SCAN),
        b_pp=picked(FULL),
        c_pp=picked(FULL),
    ),
    _refused(
        *("unknown suffix of landmarks", "a.lmk: landmarks are files with the suffix", ".mrk.json"),
        told="the suffixes that can be read are named",
        a_lmk="1 2 3\n",
    ),
    _refused(
        *("landmark file without points", "a.pp: there are no points", "mark matching points"),
        told="mark matching points",
        a_pp="<PickedPoints/>",
        b_pp=picked(FULL),
    ),
    _refused(
        *("JSON without pairs", "a.json: there are no pairs", "mark matching points"),
        told="mark matching points",
        a_json='{"pairs": []}',
    ),
    _refused(
        *("landmark in a face outside of the mesh", "a.txt: anchor 1 refers to face 99999"),
        "count from 0",
        told="anchor, index and range are named; polygons are split into triangles first",
        a_txt="[[99999, 1, 0]]",
        b_txt="[[0, 1, 0]]",
    ),
    _refused(
        *("landmark outside of its face", "a.txt: anchor 1 has the weights 0.9, 0.9, -0.8"),
        "correct or remove it",
        told="weights that are negative or do not sum to 1",
        a_txt="[[0, 0.9, 0.9]]",
        b_txt="[[0, 1, 0]]",
    ),
    _refused(
        *("landmark with half a position", "a.csv: anchor n has no finite position", "correct"),
        told="the anchor is named; correct it",
        a_csv="name,x,y,z\nn,1,nan,2\n",
        b_csv=table(FULL),
    ),
    _refused(
        *("coordinates instead of triangles", "a.txt: point 0 is", "Point On Triangle"),
        told="Wrap must save points on triangles",
        a_txt=json.dumps(SCAN.tolist()),
        b_txt=LISTS[1],
    ),
    _refused(
        *("landmarks of an image", "a.ljson: point 0 has two coordinates", "those of the mesh"),
        told="give those of the mesh",
        a_ljson='{"version": 2, "labels": [], "landmarks": {"points": [[1, 2]]}}',
        b_ljson=labelled(FULL),
    ),
    _refused(
        *("markups in LPS and RAS", "a.mrk.json: its markups are in LPS and in RAS"),
        "to a file of its own",
        told="save each list to a file of its own",
        a_mrk_json=json.dumps(
            {
                "markups": [
                    {"coordinateSystem": axes, "controlPoints": [{"position": [1, 2, 3]}]}
                    for axes in ("LPS", "RAS")
                ]
            }
        ),
        b_pp=picked(FULL),
    ),
    _refused(
        *("XML with entities", "a.pp: picked points declare no entities", "save them again"),
        told="MeshLab writes none",
        a_pp='<!DOCTYPE a [<!ENTITY b "c">]><PickedPoints/>',
        b_pp=picked(FULL),
    ),
    _refused(
        *("damaged landmark file", "a.mrk.json: it is not valid JSON", "export it again"),
        told="export it again",
        a_mrk_json=markups(SCAN)[:-20],
        b_pp=picked(FULL),
    ),
)
