"""No name and no link makes a command write outside of the folder that the user named."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nho.batch import read_pairs, run_batch
from nho.batch.pairs import BatchPair, name_from_files, problem_with_name
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.lab.bench.run_studies import run_studies
from nho.lab.bench.studies import StudyRequest
from nho.settings import preset
from tests.fuzz import seeds
from tests.links import link_to

LEADING_OUT = ["..", ".", "../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:evil", "C:\\evil"]
LEADING_OUT += ["\\\\host\\share", "~/evil/x", "a/b", "evil\x00", "nul", "COM1.txt", ".batch"]
NOT_OURS = [
    "summary.csv",
    "Summary.CSV",
    "\u202egpj.x",
    "\x1b[2J",
    "=1+1",
    "-rf",
    "@x",
    "+1",
]


@pytest.mark.parametrize("name", [*LEADING_OUT, *NOT_OURS])
def test_a_table_of_pairs_with_such_a_name_is_refused(tmp_path: Path, name: str) -> None:
    for file in ("a.ply", "b.ply", "c.csv"):
        (tmp_path / file).write_text("x")
    table = tmp_path / "pairs.csv"
    quoted = name.replace('"', '""')
    table.write_text(f'partial,full,anchors,name\na.ply,b.ply,c.csv,"{quoted}"\n', newline="")
    with pytest.raises(InputError, match="line|CSV"):
        read_pairs(table)


SIGNS = st.text(st.sampled_from("ab.~/\\:=+-@ \n\0\x1b\u202e") | st.characters(), min_size=1)


def stays_inside(name: str) -> bool:
    for kind, out in ((PurePosixPath, "/out"), (PureWindowsPath, "C:\\out")):
        place = kind(out) / name
        if place.parent != kind(out) or place.name != name or ".." in place.parts:
            return False
    return True


@given(SIGNS)
def test_every_name_that_is_accepted_is_one_folder_inside(name: str) -> None:
    if problem_with_name(name) is None:
        assert stays_inside(name) and name.isprintable() and name[0] not in "=+-@"


@given(SIGNS, SIGNS)
def test_every_name_made_from_files_is_accepted(first: str, second: str) -> None:
    stems = [text.replace("/", "").replace("\0", "") or "x" for text in (first, second)]
    name = name_from_files(Path(f"{stems[0]}.ply"), Path(f"{stems[1]}.ply"), [])
    assert problem_with_name(name) is None


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file and a folder that nobody asked to touch."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious").write_text("years of work")
    return folder


def untouched(outside: Path) -> bool:
    return os.listdir(outside) == ["precious"] and (
        (outside / "precious").read_text() == "years of work"
    )


BATCH_LINKS = {"pair": "", ".batch": "", ".batch/done": "", ".batch/lock": "precious"}


@pytest.mark.parametrize("place", BATCH_LINKS)
def test_a_batch_follows_no_link_in_its_folder(tmp_path: Path, outside: Path, place: str) -> None:
    link = tmp_path / "out" / place
    link.parent.mkdir(parents=True)
    link_to(link, outside / BATCH_LINKS[place])
    seeds.PARTIAL.write(tmp_path / "a.ply")
    (tmp_path / "c.csv").write_text("partial,full\n0,0\n")
    pair = BatchPair("pair", tmp_path / "a.ply", tmp_path / "a.ply", (tmp_path / "c.csv",))
    with pytest.raises(InputError, match="this is a link"):
        run_batch([pair], tmp_path / "out", preset("default"), jobs=1)
    assert untouched(outside)


BENCH_LINKS = {"cost": "", ".bench": "", ".bench/lock": "precious", "courses.csv": "precious"}
BENCH_LINKS |= {"matches.csv": "precious"}


@pytest.mark.parametrize("place", BENCH_LINKS)
def test_a_benchmark_follows_no_link_in_its_folder(
    tmp_path: Path, outside: Path, place: str
) -> None:
    pytest.importorskip("fast_simplification")
    link = tmp_path / "out" / place
    link.parent.mkdir(parents=True)
    link_to(link, outside / BENCH_LINKS[place])
    request = StudyRequest(None, ("synthetic",), ("nearest",), quick=True)
    with pytest.raises(InputError, match="this is a link"):
        run_studies(["cost", "main", "next-anchor"], request, tmp_path / "out", "{study}", jobs=1)
    assert untouched(outside)


def test_a_gltf_reads_no_file_through_a_link_out_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    document = json.loads(seeds.gltf())
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    link_to(folder / "buffer.bin", tmp_path / "secret.bin")
    document["buffers"][0]["uri"] = "buffer.bin"
    (folder / "scan.gltf").write_text(json.dumps(document))
    with pytest.raises(InputError, match="not beside it"):
        Mesh.read(folder / "scan.gltf")
