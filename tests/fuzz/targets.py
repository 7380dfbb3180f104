"""Every reader of the package as a function of bytes, with seeds and a check of what it returns."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import numpy as np

from nho.batch.pairs import read_pairs
from nho.batch.records import (
    PairRequest,
    PastFailure,
    find_failure,
    find_result,
    record_failure,
    record_result,
)
from nho.errors import InputError
from nho.evaluation.ground_truth import read_ground_truth
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.anchors import read_anchors
from nho.problem.result import MatchResult, stored_description
from nho.report.result_folder import FILES
from nho.runtime import cache
from nho.settings import Settings, preset
from tests.fuzz import seeds
from tests.fuzz.attributes import attribute_targets
from tests.fuzz.landmarks import landmark_targets
from tests.fuzz.studio import studio_targets
from tests.fuzz.target import Scratch, Target, serving

_REQUEST = PairRequest.of(preset("default"), "a", "b", "c")


def _mesh(suffix: str) -> Callable[[bytes], object]:
    path = Scratch().file(f"scan{suffix}")

    def read() -> None:
        mesh = Mesh.read(path)
        assert mesh.vertices.dtype == np.float64 and mesh.vertices.shape == (mesh.n_vertices, 3)
        assert mesh.faces.dtype == np.int64 and mesh.faces.shape == (mesh.n_faces, 3)
        assert np.isfinite(mesh.vertices).all() and mesh.n_faces > 0
        assert mesh.faces.min() >= 0 and mesh.faces.max() < mesh.n_vertices

    return serving(path, read)


def _check_points(points: SurfacePoints, n_points: int, n_faces: int) -> None:
    assert points.face.shape == (n_points,) and points.barycentric.shape == (n_points, 3)
    known = points.face >= 0
    assert points.face.min(initial=0) >= -1 and points.face.max(initial=0) < n_faces
    weights = points.barycentric[known]
    assert np.isfinite(weights).all()
    assert np.allclose(weights.sum(axis=1), 1, atol=0.011) and (weights > -0.011).all()


def _anchors() -> Callable[[bytes], object]:
    path = Scratch().file("anchors.csv")

    def read() -> None:
        anchors = read_anchors(path, seeds.PARTIAL, seeds.FULL)
        assert len(anchors) > 0 and np.isfinite(anchors.gaps).all()
        for points, mesh in ((anchors.partial, seeds.PARTIAL), (anchors.full, seeds.FULL)):
            _check_points(points, len(anchors), mesh.n_faces)
            assert points.face.min() >= 0

    return serving(path, read)


def _ground_truth(suffix: str) -> Callable[[bytes], object]:
    path = Scratch().file(f"truth{suffix}")

    def read() -> None:
        truth = read_ground_truth(path, seeds.PARTIAL, seeds.FULL)
        _check_points(truth.points, seeds.PARTIAL.n_vertices, seeds.FULL.n_faces)
        assert truth.region.shape == (seeds.FULL.n_vertices,) and truth.region.dtype == bool

    if suffix == ".csv":
        return serving(path, read)

    def from_file(data: bytes) -> None:
        path.write_bytes(data)
        read()

    return from_file


def _check_result(result: MatchResult) -> None:
    n_partial, n_full = len(result.vertex_map), len(result.region)
    assert result.anchors.dtype == np.int64 and result.anchors.shape[1:] == (2,)
    if len(result.anchors):
        assert result.anchors.min() >= 0
        assert (result.anchors.max(axis=0) < (n_partial, n_full)).all()
    assert all(0 <= row < len(result.anchors) for row in result.suspect_anchors)
    assert np.isfinite(result.scale) and result.scale > 0
    assert -1 <= result.next_anchor < max(n_partial, 1)
    assert all(isinstance(seconds, int | float) for seconds in result.timings.values())
    for curve in result.curves.values():
        assert isinstance(curve, list) and all(isinstance(step, dict) for step in curve)
    json.dumps(result.description())


def _result(name: str) -> Callable[[bytes], object]:
    scratch = Scratch()
    seeds.result().save(scratch.path)

    def read() -> None:
        _check_result(MatchResult.load(scratch.path))

    return serving(scratch.path / name, read)


def _check_settings(settings: Settings) -> None:
    assert Settings.from_dict(json.loads(settings.to_json())) == settings
    for value in settings.flat().values():
        assert not isinstance(value, int | float) or np.isfinite(float(value))


def _settings_json(data: bytes) -> None:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:  # the caller of `from_dict` parses
        raise InputError("not JSON") from error
    if not isinstance(values, dict):
        raise InputError("not an object")
    _check_settings(Settings.from_dict(values))


def _settings_text(data: bytes) -> None:
    lines = data.decode("utf-8", "replace").splitlines()
    _check_settings(Settings().with_text([line for line in lines if line.strip()]))


_ENTRY = "nho-basis-" + "0" * 40 + ".npz"
_STORED = {"vectors": np.arange(12.0).reshape(4, 3), "values": np.arange(3)}


def _cache_seed() -> bytes:
    stream = io.BytesIO()
    cache._save(stream, _ENTRY, _STORED)  # type: ignore[arg-type]
    return stream.getvalue()


def _cache_entry(data: bytes) -> None:
    """Damage is never an error: what the digest does not confirm is computed again."""
    opened = mock.patch.object(cache, "opened", lambda *_: io.BytesIO(data))
    silent = mock.patch.object(cache.log, "warning")
    with opened, silent as complaint, mock.patch.object(cache.os, "utime"):
        found = cache.Cache("/nowhere")._read(Path(_ENTRY))
    if complaint.called and isinstance(complaint.call_args.args[2], MemoryError):
        raise complaint.call_args.args[2]
    if found is not None:
        assert {name: array.tolist() for name, array in found.items()} == {
            name: array.tolist() for name, array in _STORED.items()
        }


def _pairs() -> Callable[[bytes], object]:
    scratch = Scratch()
    for name in ("a.ply", "b.ply", "c.csv"):
        scratch.file(name)
    path = scratch.file("pairs.csv")

    def read() -> None:
        pairs = read_pairs(path)
        assert pairs and all(pair.name and "/" not in pair.name for pair in pairs)
        assert len({pair.name for pair in pairs}) == len(pairs)
        for pair in pairs:
            assert pair.partial.is_absolute() and pair.full.is_absolute()
            assert len(pair.anchors) in (1, 2) and pair.flip in ("none", "partial", "full", "both")

    return serving(path, read)


def _records() -> tuple[Target, Target]:
    scratch = Scratch()
    (scratch.path / "pair").mkdir()
    seeds.result().save(scratch.path / "pair")
    for name in FILES:
        if not (scratch.path / "pair" / name).exists():
            scratch.file(f"pair/{name}", b"x")
    record_result(scratch.path, "pair", _REQUEST, stored_description(scratch.path / "pair"))
    record_failure(scratch.path, "pair", _REQUEST, PastFailure("it broke", 1.5), "a\nb")
    done, failed = (scratch.path / ".batch" / kind / "pair.json" for kind in ("done", "failed"))

    def find_done() -> None:
        find_result(scratch.path, "pair", _REQUEST, report=True)

    def find_failed() -> None:
        failure = find_failure(scratch.path, "pair", _REQUEST)
        assert failure is None or np.isfinite(failure.seconds)

    return (
        Target(".json", serving(done, find_done), (done.read_bytes(),)),
        Target(".json", serving(failed, find_failed), (failed.read_bytes(),)),
    )


def _zip_parts(data: bytes) -> list[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            return [part for name in names for part in (name.encode(), archive.read(name))]
    except Exception:  # damaged before: it is varied as plain bytes
        return []


def _zip_of(parts: list[bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in zip(parts[::2], parts[1::2], strict=True):
            # A name ends at its first NUL, must not be empty, and has at most 65535 bytes.
            known = name.decode("latin-1").partition("\0")[0][:1000] or "x"
            if known not in archive.namelist():
                archive.writestr(known, content)
    return stream.getvalue()


def _learned_targets() -> dict[str, Target]:
    if find_spec("torch") is not None:
        from tests.fuzz.learned import learned_targets

        return learned_targets(_zip_parts, _zip_of)
    suffixes = {"weights-npz": ".npz", "weights-pth": ".pth", "training-state": ".unfinished"}
    return {
        name: Target(suffix, lambda _: None, (), missing="torch is not installed")
        for name, suffix in suffixes.items()
    }


def _make_targets() -> dict[str, Target]:
    mapped = np.arange(seeds.PARTIAL.n_vertices)
    result_folder = Scratch()
    seeds.result().save(result_folder.path)
    stored, about = (
        (result_folder.path / name).read_bytes() for name in ("result.npz", "result.json")
    )
    faces, thirds = np.ones(len(mapped), dtype=int), np.full((len(mapped), 3), 1 / 3)
    baryc = "".join(f"{i + 1} 0.25 0.25 0.5\n" for i in range(len(mapped)))
    record, failure = _records()
    lists, coordinates = b"partial,full,name\n0,0,tip\n1,1,\n2,2,x\n", io.BytesIO()
    np.savetxt(coordinates, np.hstack([seeds.PARTIAL.vertices[:3]] * 2), "%.6f", ",")
    anchors = (lists, b"0,0\n1,1\n# skipped\n2,2\n", coordinates.getvalue())
    table = b"partial,full,anchors,name\na.ply,b.ply,c.csv,\na.ply,b.ply,c.csv,x\n"
    two = b"partial,full,anchors_partial,anchors_full,flip_anchors\na.ply,b.ply,c.csv,c.csv,both\n"
    return {
        "ply": Target(".ply", _mesh(".ply"), tuple(seeds.ply(order) for order in ("", "<", ">"))),
        "obj": Target(".obj", _mesh(".obj"), (seeds.obj(),)),
        "off": Target(".off", _mesh(".off"), (seeds.off("OFF", ""), seeds.off("COFF", " 1 2 3 4"))),
        "stl": Target(".stl", _mesh(".stl"), (seeds.stl(False), seeds.stl(True))),
        "glb": Target(
            ".glb",
            _mesh(".glb"),
            (seeds.glb_of(seeds.gltf_parts(None)),),
            seeds.glb_parts,
            seeds.glb_of,
        ),
        "xyz": Target(".xyz", _mesh(".xyz"), (seeds.xyz(),)),
        "pts": Target(".pts", _mesh(".pts"), (seeds.pts(),)),
        "npy": Target(".npy", _mesh(".npy"), (seeds.npy(),)),
        "gltf": Target(".gltf", _mesh(".gltf"), (seeds.gltf(), seeds.gltf(5), seeds.gltf(6))),
        "vtk": Target(
            ".vtk",
            _mesh(".vtk"),
            tuple(seeds.vtk(form, raw) for form in ("old", "new", "grid") for raw in (False, True)),
        ),
        "vtp": Target(
            ".vtp",
            _mesh(".vtp"),
            (
                seeds.vtp("ascii"),
                *(
                    seeds.vtp(form, packed)
                    for form in ("binary", "appended")
                    for packed in (False, True)
                ),
            ),
        ),
        "anchors": Target(".csv", _anchors(), anchors),
        **landmark_targets(),
        **attribute_targets(_zip_parts, _zip_of),
        "truth-map": Target(".map", _ground_truth(".map"), ("\n".join(map(str, mapped)).encode(),)),
        "truth-baryc": Target(".baryc_gt", _ground_truth(".baryc_gt"), (baryc.encode(),)),
        "truth-csv": Target(".csv", _ground_truth(".csv"), anchors),
        "truth-npz": Target(
            ".npz",
            _ground_truth(".npz"),
            (
                seeds.npz(vertex_map=mapped),
                seeds.npz(face=faces, barycentric=thirds, region=np.ones(12, dtype=bool)),
            ),
            _zip_parts,
            _zip_of,
        ),
        "result-npz": Target(".npz", _result("result.npz"), (stored,), _zip_parts, _zip_of),
        "result-json": Target(".json", _result("result.json"), (about,)),
        "settings-json": Target(".json", _settings_json, (Settings().to_json().encode(),)),
        "settings-text": Target(".txt", _settings_text, (seeds.settings_text(),)),
        "cache": Target(".npz", _cache_entry, (_cache_seed(),), _zip_parts, _zip_of),
        "pairs": Target(".csv", _pairs(), (table, two)),
        "record": record,
        "failure": failure,
        **studio_targets(),
        **_learned_targets(),
    }


TARGETS = _make_targets()
