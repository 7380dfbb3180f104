"""The readers of landmark files as functions of bytes, with seeds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nho.io.landmarks import (
    FORMATS,
    LandmarkPairs,
    Landmarks,
    amira,
    morphologika,
    pair_up,
    pts,
    read_landmarks,
    read_pairs,
    tps,
)
from nho.problem.anchors import Anchors
from tests.fuzz import seeds
from tests.fuzz.target import Scratch, Target, serving

_PLACES = seeds.PARTIAL.vertices[:4].tolist()
_NAMES = ("tip", "a, b", "\u00e4", "4")
KINDS = ("", "vertex", "face", "position")


def _check(landmarks: Landmarks) -> None:
    n = len(landmarks)
    assert landmarks.kind.shape == landmarks.vertex.shape == landmarks.face.shape == (n,)
    assert landmarks.position.shape == landmarks.barycentric.shape == (n, 3)
    assert set(landmarks.kind.tolist()) <= set(KINDS) and landmarks.axes in ("", "LPS", "RAS")
    assert np.isfinite(landmarks.position[landmarks.kind == "position"]).all()
    assert np.isfinite(landmarks.barycentric[landmarks.kind == "face"]).all()
    assert all(name.strip() == name and name.isprintable() and name for name in landmarks.names)
    assert all(note.isprintable() for note in landmarks.notes)


def _check_anchors(pairs: LandmarkPairs) -> None:
    anchors = Anchors.from_landmarks(pairs, seeds.PARTIAL, seeds.PARTIAL)
    assert np.isfinite(anchors.gaps).all() and anchors.gaps.shape == (len(anchors), 2)
    assert all(note.isprintable() for note in anchors.notes)
    for points in (anchors.partial, anchors.full):
        assert points.face.min(initial=0) >= 0
        assert points.face.max(initial=0) < seeds.PARTIAL.n_faces
        assert np.allclose(points.barycentric.sum(axis=1), 1)


def _one_in_eight(path: Path) -> bool:
    """Chosen by content: projecting to a surface takes ten times as long as reading."""
    return zlib.crc32(path.read_bytes()) % 8 == 0


def _one_shape(suffix: str) -> Callable[[bytes], object]:
    path = Scratch().file(f"scan{suffix}")
    file = FORMATS[suffix]

    def read() -> None:
        landmarks = read_landmarks(path)
        _check(landmarks)
        # What was read can be paired, put on a mesh (or is refused), written and read again.
        pairs = pair_up(landmarks, landmarks)
        if not _one_in_eight(path):
            return
        _check_anchors(pairs)
        by = landmarks.by_face if file.kinds == "faces" else landmarks.by_position
        kept = by(seeds.PARTIAL)
        again = file.read(file.write(kept), "again")
        assert len(again) == (kept.defined.sum() if suffix == ".txt" else len(kept))

    return serving(path, read)


def _both_shapes(suffix: str) -> Callable[[bytes], object]:
    path = Scratch().file(f"pairs{suffix}")

    def read() -> None:
        pairs = read_pairs(path)
        assert len(pairs) == len(pairs.partial) == len(pairs.full) == len(pairs.names) > 0
        _check(pairs.partial)
        _check(pairs.full)
        if _one_in_eight(path):
            _check_anchors(pairs)

    return serving(path, read)


def _mrk_json() -> tuple[bytes, ...]:
    points: list[dict[str, object]] = [
        {"id": "1", "label": name, "position": place, "positionStatus": "defined"}
        for name, place in zip(_NAMES, _PLACES, strict=True)
    ]
    points.append({"label": "gone", "position": "", "positionStatus": "undefined"})
    markup = {"type": "Fiducial", "coordinateSystem": "LPS", "controlPoints": points}
    other = {"type": "Line", "coordinateSystem": "LPS", "controlPoints": points[:1]}
    return tuple(_json({"@schema": "x", "markups": lists}) for lists in ([markup], [markup, other]))


def _fcsv() -> tuple[bytes, ...]:
    head = "# Markups fiducial file version = 4.11\n# CoordinateSystem = RAS\n# columns = id,x\n"
    rows = [f'{i},{x!r},{y!r},{z!r},0,0,0,1,1,1,0,"n {i}",,' for i, (x, y, z) in _numbered()]
    new = "\n".join(rows[:3] + [rows[3] + ",2,0", "9,0,0,0,0,0,0,1,1,1,0,gone,,,3,0"])
    old = "\n".join(f"p{i},{x!r},{y!r},{z!r},1,1" for i, (x, y, z) in _numbered())
    return (head + new).encode(), old.encode()


def _pp() -> tuple[bytes, ...]:
    points = "".join(
        f'<point x="{x!r}" y="{y!r}" z="{z!r}" active="1" name="p{i}"/>\n'
        for i, (x, y, z) in _numbered()
    )
    gone = '<point x="0" y="0" z="0" active="0" name="gone"/>\n'
    head = "<!DOCTYPE PickedPoints>\n<PickedPoints>\n <DocumentData/>\n"
    return ((head + points + gone + "</PickedPoints>\n").encode(),)


def _ljson() -> tuple[bytes, ...]:
    labels = [{"label": "eye", "mask": [0, 1]}, {"label": "tip", "mask": [2]}]
    group = {"labels": labels, "landmarks": {"points": [*_PLACES, [None] * 3], "connectivity": []}}
    first = {"label": "eye", "landmarks": [{"point": place} for place in _PLACES]}
    return (
        _json({"version": 1, "groups": [first]}),
        _json({"version": 2, **group}),
        _json({"version": 3, "groups": {"a": group, "b": group}}),
    )


def _wrap() -> tuple[bytes, ...]:
    points = [[0, 0.25, 0.5], [2, 0.0, 1.0], [3, 0.3, 0.3]]
    named = dict(zip(_NAMES, points, strict=False))
    return _json(points), _json(named), b"0 0.25 0.5\n2, 0, 1\n3;0.3;0.3\n"


def _as(write: Callable[[Landmarks], bytes]) -> bytes:
    """Four points and a missing one in a format of morphometrics."""
    vertices = Landmarks.at_vertices(np.array([0, 1, 2, 3, -1]), ("a", "b", "c", "d", "e"))
    return write(vertices.by_position(seeds.PARTIAL))


def _own() -> tuple[bytes, ...]:
    points: list[dict[str, object]] = [
        {"name": "a", "vertex": 3},
        {"name": "b", "face": 2, "barycentric": [0.2, 0.3, 0.5]},
        {"name": "c", "position": _PLACES[0]},
        {"name": "d"},
    ]
    return _json({"version": 1, "axes": "LPS", "points": points}), _json(points)


def _own_pairs() -> tuple[bytes, ...]:
    sides = [{"vertex": 1}, {"face": 2, "barycentric": [0.2, 0.3, 0.5]}, {"position": _PLACES[3]}]
    pairs = [{"name": f"n{i}", "partial": side, "full": side} for i, side in enumerate(sides)]
    return _json({"version": 1, "pairs": [*pairs, {"partial": sides[0], "full": None}]}), _json(
        pairs
    )


def _csv() -> tuple[bytes, ...]:
    rows = [f"n{i},{x!r},{y!r},{z!r}" for i, (x, y, z) in _numbered()]
    plain = "name,x,y,z\n" + "\n".join([*rows, "gone,-999,-999,-999"])
    slicer = "label,l,p,s,defined\n" + "\n".join(f"{row},1" for row in rows) + "\ngone,0,0,0,0\n"
    return plain.encode(), slicer.encode(), b"name,vertex\na,1\nb,2\nc,3\n"


def _numbered() -> list[tuple[int, list[float]]]:
    return list(enumerate(_PLACES))


def _json(document: object) -> bytes:
    return json.dumps(document).encode()


def landmark_targets() -> dict[str, Target]:
    """A target for every format of landmarks, and for files of pairs other than CSV."""
    of_one = {
        "landmarks-csv": (".csv", _csv()),
        "landmarks-json": (".json", (*_own(), *_mrk_json(), *_ljson(), *_wrap()[:2])),
        "mrk.json": (".mrk.json", _mrk_json()),
        "fcsv": (".fcsv", _fcsv()),
        "pp": (".pp", _pp()),
        "ljson": (".ljson", _ljson()),
        "wrap": (".txt", _wrap()),
        "tps": (".tps", (_as(tps.write_one),)),
        "morphologika": (".morphologika.txt", (_as(morphologika.write_one),)),
        "pts": (".pts", (_as(pts.write),)),
        "landmarkascii": (".landmarkascii", (_as(amira.write),)),
    }
    targets = {
        name: Target(suffix, _one_shape(suffix), data) for name, (suffix, data) in of_one.items()
    }
    return {**targets, "anchors-json": Target(".json", _both_shapes(".json"), _own_pairs())}
