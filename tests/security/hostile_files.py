"""Read every kind of file with something else in its place; run as a program, with little memory.

``python -m tests.security.hostile_files FOLDER`` prints, as JSON, what each reader said.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

from nho.batch.pairs import BatchPair, read_pairs
from nho.batch.plan import Planner
from nho.batch.records import PairRequest, find_result
from nho.errors import NhoError
from nho.evaluation.ground_truth import read_ground_truth
from nho.geometry.mesh import Mesh
from nho.io.attributes import read_data, read_with_attributes
from nho.io.landmarks import holds_pairs, read_landmarks
from nho.io.landmarks import read_pairs as read_landmark_pairs
from nho.lab.bench.datasets.reading import lines_of
from nho.lab.bench.rowfile import read_rows
from nho.problem.anchors import read_anchors
from nho.problem.result import MatchResult
from nho.runtime.cache import Cache
from nho.runtime.input_file import LARGE
from nho.settings import Settings
from nho.studio.autosave import Autosave
from tests.fuzz import judge, seeds

CASES = ("pipe", "endless device", "folder", "too large", "larger than memory")
# Little to read and much to keep.
_PAIRS, _JSON = b"partial,full\n" + b"0,0\n" * 600_000, b"[" + b"[]," * 1_000_000 + b"[]]"
DENSE = {
    "scan.gltf": b'{"asset":{"version":"2.0"},"x":' + _JSON + b"}",
    "pairs.csv": _PAIRS,
    "points.mrk.json": _JSON,
    "truth.map": b"0\n" * 1_500_000,
    "table.csv": _PAIRS,
    "data.csv": _PAIRS,
}
MEMORY = 100 << 20  # bytes beyond what the process has
SECONDS = 100  # a reader that hangs is ended then
Read = Callable[[Path], object]


def _anchors(path: Path) -> object:
    return read_anchors(path, seeds.PARTIAL, seeds.FULL)


def _truth(path: Path) -> object:
    return read_ground_truth(path, seeds.PARTIAL, seeds.FULL)


def _data(path: Path) -> object:
    return read_data(path, seeds.PARTIAL)


def _result(path: Path) -> object:
    return MatchResult.load(path.parent)


def _batch(path: Path) -> object:
    """A pair of a batch whose anchors are this file."""
    mesh = path.with_name("mesh.ply")
    seeds.PARTIAL.write(mesh)
    planner = Planner(path.parent / "out", Settings(), False, False, None)
    row = planner.plan(BatchPair("pair", mesh, mesh, (path,))).row
    raise NhoError(f"{row.status}: {row.error}")


def _buffer(path: Path) -> object:
    document = json.loads(seeds.gltf())
    document["buffers"][0]["uri"] = path.name
    scene = path.with_name("scan.gltf")
    scene.write_text(json.dumps(document))
    return Mesh.read(scene)


def _texture(path: Path) -> object:
    material, scan = path.with_name("scan.mtl"), path.with_name("scan.obj")
    material.write_text(f"newmtl a\nmap_Kd {path.name}\n")
    scan.write_text(
        "mtllib scan.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "usemtl a\nf 1/1 2/2 3/3\n"
    )
    attributes = read_with_attributes(scan)[1]
    raise NhoError("; ".join(attributes.notes))


def _session(path: Path) -> object:
    shape = SimpleNamespace(digest=path.stem, mesh=seeds.PARTIAL)
    autosave = Autosave(path.parent, shape, shape)  # type: ignore[arg-type]
    autosave.path = path
    return autosave.read()


def _cache(path: Path) -> object:
    assert Cache(path.parent)._read(path) is None
    raise NhoError(f"{path}: computed again")


def _record(path: Path) -> object:
    place = path.parent / ".batch" / "done"
    place.mkdir(parents=True, exist_ok=True)
    os.rename(path, place / "pair.json")
    seeds.result().save(_made(path.parent / "pair"))
    request = PairRequest.of(Settings(), "", "", "")
    found = find_result(path.parent, "pair", request, report=False)
    raise NhoError(f"{path}: {found.why}")


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _checkpoint(path: Path) -> object:
    from nho.learned.checkpoints import load_checkpoint

    return load_checkpoint(path)


def _training(path: Path) -> object:
    from nho.learned.training import Plan
    from nho.learned.training_files import load_state

    return load_state(path, Plan("dpfm"))


READERS: dict[str, Read] = {
    **{f"scan{suffix}": Mesh.read for suffix in (".ply", ".obj", ".off", ".stl", ".gltf", ".vtp")},
    **{f"points{s}": read_landmarks for s in (".csv", ".json", ".mrk.json", ".fcsv", ".pp")},
    **{f"wrap{s}": read_landmarks for s in (".ljson", ".txt")},
    **{f"pairs{s}": read_landmark_pairs for s in (".csv", ".json")},
    **{f"unknown{s}": holds_pairs for s in (".csv", ".json")},
    **{f"anchors{s}": _anchors for s in (".csv", ".json")},
    **{f"truth{s}": _truth for s in (".map", ".txt", ".baryc_gt", ".csv", ".npz")},
    **{f"data{s}": _data for s in (".csv", ".npz", ".txt")},
    "table.csv": read_pairs,
    "of_a_pair.csv": _batch,
    "result.npz": _result,
    "result.json": _result,
    "buffer.bin": _buffer,
    "texture.png": _texture,
    "session.json": _session,
    "entry.npz": _cache,
    "record.json": _record,
    "rows.csv": read_rows,
    "lines.txt": lines_of,
}
if find_spec("torch"):
    READERS |= {"net.npz": _checkpoint, "net.pth": _checkpoint, "net.unfinished": _training}


def put(case: str, path: Path) -> None:
    """Something that is no ordinary file under this name."""
    path.unlink(missing_ok=True)
    if case == "pipe":
        os.mkfifo(path)
    elif case == "endless device":
        path.symlink_to("/dev/zero")
    elif case == "folder":
        path.mkdir()
    elif case == "dense":
        path.write_bytes(DENSE[path.name])
    else:
        with open(path, "wb") as stream:  # nothing but a hole
            stream.truncate(2 * LARGE if case == "too large" else 2 * MEMORY)


def said(case: str, folder: Path, name: str) -> str:
    """What the reader of that name says; empty if it takes what is there."""
    folder.mkdir()
    path = folder / name
    if name.startswith("result."):
        seeds.result().save(folder)
    put(case, path)
    signal.alarm(SECONDS)
    try:
        with judge.limited_memory():
            READERS[name](path)
    except NhoError as problem:
        return str(problem)
    except TimeoutError:
        return "HANGS"
    except BaseException as problem:
        return f"RAISES {type(problem).__name__}: {problem}"
    finally:
        signal.alarm(0)
    return ""


def main(place: Path) -> None:
    """Print what every reader says to every case."""

    def hang(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, hang)
    judge.MEMORY = MEMORY // 5
    answers = {"dense": {name: said("dense", place / f"dense {name}", name) for name in DENSE}}
    if find_spec("torch"):
        import nho.learned.training_files  # noqa: F401  (takes much memory, none of it the files')
    judge.MEMORY = MEMORY
    for case in CASES:
        names = enumerate(READERS)
        answers[case] = {name: said(case, place / f"{case} {n}", name) for n, name in names}
    print(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
