"""Archives and XML that unpack to far more than they are, or name what is not theirs."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.runtime.npz import load_arrays
from nho.runtime.untrusted_xml import DoctypeRefused, parse_xml
from tests.fuzz import seeds
from tests.fuzz.found import vtp_array, vtp_of
from tests.fuzz.judge import limited_memory

LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9))
DECLARATIONS = {
    "entities that grow": f'<!DOCTYPE l [<!ENTITY a0 "lol">{LAUGHS}]><l>&a8;</l>',
    "one large entity": f'<!DOCTYPE l [<!ENTITY a "{"x" * 9000}">]><l>{"&a;" * 9000}</l>',
    "an entity of a file": '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>',
    "an entity of the network": '<!DOCTYPE l [<!ENTITY a SYSTEM "http://127.0.0.1:9/">]><l>&a;</l>',
    "parameter entities": '<!DOCTYPE l [<!ENTITY % a SYSTEM "file:///etc/passwd">%a;]><l/>',
    "defaults in every element": f'<!DOCTYPE l [<!ATTLIST b c CDATA "{"x" * 9000}">]><l><b/></l>',
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
@pytest.mark.parametrize("kind", DECLARATIONS)
def test_xml_that_declares_anything_is_refused_in_every_encoding(kind: str, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{DECLARATIONS[kind]}'
    with pytest.raises(DoctypeRefused):
        parse_xml(text.encode(encoding))


def test_a_document_type_outside_of_the_file_is_not_looked_for(tmp_path: Path) -> None:
    outside = tmp_path / "outside.dtd"
    outside.write_text('<!ENTITY a "read">')
    text = f'<!DOCTYPE l SYSTEM "{outside.as_uri()}"><l>%s</l>'
    assert parse_xml(text % "plain").text == "plain"
    with pytest.raises(ValueError, match="undefined entity"):
        parse_xml(text % "&a;")


def test_a_vtp_in_utf_16_cannot_hide_its_entities(tmp_path: Path) -> None:
    plain = seeds.vtp("ascii").decode().partition("?>")[2] or seeds.vtp("ascii").decode()
    hidden = f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "0">]>{plain}'
    path = tmp_path / "scan.vtp"
    path.write_bytes(hidden.encode("utf-16"))
    with pytest.raises(InputError, match="no DOCTYPE"):
        Mesh.read(path)


def packed_vtp(unpacked: int, blocks: int) -> bytes:
    """A VTP whose points are so many packed zeros."""
    packed = zlib.compress(bytes(unpacked // blocks), 9)
    head = np.array([blocks, unpacked // blocks, 0, *[len(packed)] * blocks], "<u4").tobytes()
    piece = f'<Piece NumberOfPoints="{unpacked // 12}">'
    piece += f"<Points>{vtp_array('', 'Float32', 0)}</Points></Piece>"
    return vtp_of(piece, head + packed * blocks, 'compressor="vtkZLibDataCompressor"')


def test_a_vtp_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "scan.vtp"
    path.write_bytes(packed_vtp(unpacked=1_200_000_000, blocks=100))
    assert path.stat().st_size < 2_000_000
    with limited_memory(), pytest.raises(InputError, match="far more than any mesh"):
        Mesh.read(path)


def test_words_that_look_like_appended_data_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "scan.vtp"  # a search from each of them to the end would take hours
    path.write_bytes(b"<AppendedData" * 1_000_000)
    with pytest.raises(InputError, match="not valid XML"):
        Mesh.read(path)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def test_an_npz_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    large = npy(np.zeros(60_000_000, dtype=np.int8))
    path = zipped(tmp_path / "truth.npz", [(f"part{i}.npy", large) for i in range(6)])
    assert path.stat().st_size < 2_000_000
    with limited_memory(), pytest.raises(ValueError, match="far more than"):
        load_arrays(path, ["part0"])


def test_an_npz_that_lies_about_its_size_is_not_unpacked_beyond_it(tmp_path: Path) -> None:
    size = 700_000_000
    path = tmp_path / "truth.npz"
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    zeros = bytes(10_000_000)
    packed = b"".join(packer.compress(zeros) for _ in range(size // len(zeros))) + packer.flush()
    name, told = b"vertex_map.npy", 80
    sizes = struct.pack("<III", 0, len(packed), told)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes
    local += struct.pack("<HH", len(name), 0) + name
    central = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes
    central += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    start = len(local) + len(packed)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), start, 0)
    path.write_bytes(local + packed + central + end)
    with limited_memory(), pytest.raises(zipfile.BadZipFile):
        load_arrays(path, ["vertex_map"])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_are_refused(tmp_path: Path) -> None:
    member = ("vertex_map.npy", npy(np.arange(4)))
    with pytest.raises(ValueError, match="same name"):
        load_arrays(zipped(tmp_path / "truth.npz", [member, member]), ["vertex_map"])


def test_pickles_in_an_npz_are_not_loaded(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.savez(stream, vertex_map=np.array([Evil()], dtype=object))
    path = tmp_path / "truth.npz"
    path.write_bytes(stream.getvalue())
    with pytest.raises(ValueError):
        load_arrays(path, ["vertex_map"])
    assert not Evil.ran


class Evil:
    ran = False

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return run, ()


def run() -> None:
    Evil.ran = True


@pytest.mark.slow
def test_labels_that_are_all_alike_may_shrink_a_lot(tmp_path: Path) -> None:
    labels = np.zeros(20_000_000, dtype=np.int64)  # of twenty million vertices, 160 MB
    path = zipped(tmp_path / "labels.npz", [("labels.npy", npy(labels))])
    assert path.stat().st_size < 2_000_000
    assert len(load_arrays(path, ["labels"])["labels"]) == len(labels)
