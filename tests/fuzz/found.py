"""Inputs that once broke a reader, by name: (target, bytes). Each must never do so again."""

from __future__ import annotations

import io
import json
import zipfile
import zlib

import numpy as np

from tests.fuzz import seeds
from tests.fuzz.targets import TARGETS

_WRAPPING = np.array([0, 2**63 - 1, -2, 16])  # the differences are positive and sum to 16


def vtk_wrapping_offsets() -> bytes:
    head = b"# vtk DataFile Version 5.1\nscan\nBINARY\nDATASET POLYDATA\nPOINTS 5 float\n"
    head += seeds.POINTS.astype(">f4").tobytes() + b"\nPOLYGONS 4 16\nOFFSETS vtktypeint64\n"
    head += _WRAPPING.astype(">i8").tobytes() + b"\nCONNECTIVITY vtktypeint64\n"
    return head + (np.arange(16) % 5).astype(">i8").tobytes() + b"\n"


def _raw(values: np.ndarray) -> bytes:
    return np.array([values.nbytes], "<u4").tobytes() + values.tobytes()


def vtp_of(pieces: str, appended: bytes, compressor: str = "") -> bytes:
    text = f'<VTKFile type="PolyData" {compressor}><PolyData>{pieces}</PolyData>'
    tail = b'<AppendedData encoding="raw">_' + appended + b"</AppendedData></VTKFile>"
    return text.encode() + tail


def vtp_array(name: str, kind: str, offset: int) -> str:
    return f'<DataArray type="{kind}" Name="{name}" format="appended" offset="{offset}"/>'


def vtp_wrapping_offsets() -> bytes:
    arrays = [seeds.POINTS.astype("<f4"), (np.arange(16) % 5).astype("<i8"), _WRAPPING[1:]]
    parts = [_raw(array) for array in arrays]
    at = np.cumsum([0, *map(len, parts)]).tolist()
    piece = f'<Piece NumberOfPoints="5" NumberOfPolys="3"><Points>{vtp_array("", "Float32", at[0])}'
    piece += f"</Points><Polys>{vtp_array('connectivity', 'Int64', at[1])}"
    piece += f"{vtp_array('offsets', 'Int64', at[2])}</Polys></Piece>"
    return vtp_of(piece, b"".join(parts))


def vtp_bomb() -> bytes:
    """Forty pieces that share thirty million packed zeros."""
    n_points = 10_000_000
    packed = zlib.compress(bytes(3 * n_points), 9)
    sizes = np.array([1, 3 * n_points, 0, len(packed)], "<u4").tobytes()
    piece = (
        f'<Piece NumberOfPoints="{n_points}"><Points>{vtp_array("", "Int8", 0)}</Points></Piece>'
    )
    return vtp_of(piece * 40, sizes + packed, 'compressor="vtkZLibDataCompressor"')


def gltf_bomb() -> bytes:
    """A thousand nodes with one mesh of four hundred times the same surface."""
    document = json.loads(seeds.gltf())
    document["nodes"] = [{"mesh": 0}] * 1000
    document["scenes"] = [{"nodes": list(range(1000))}]
    document["meshes"][0]["primitives"] *= 400
    return json.dumps(document).encode()


def npz_with_header(header: str, name: str = "vertex_map") -> bytes:
    """An archive whose array has a header of its own and hardly any data."""
    text = header.encode().ljust(117) + b"\n"
    member = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(80)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(f"{name}.npy", member)
    return stream.getvalue()


_HUGE = "{'descr': '<i8', 'fortran_order': False, 'shape': (10000000000,), }"
_ROW = "1 0.25 0.25 0.5\n"


def _marks(partial: str) -> bytes:
    pair = f'{{"key": 1, "name": "a", "partial": {partial}, "full": null}}'
    return f'{{"format": 1, "pairs": [{pair}]}}'.encode()


def _failure(**changes: object) -> bytes:
    return json.dumps({**json.loads(TARGETS["failure"].seeds[0]), **changes}).encode()


def _baryc(first: str) -> bytes:
    return (first + _ROW * (seeds.PARTIAL.n_vertices - 1)).encode()


def _result_json(**changes: object) -> bytes:
    return json.dumps({**json.loads(TARGETS["result-json"].seeds[0]), **changes}).encode()


def _far_away() -> bytes:
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\n"
    head += "property double z\nelement face 1\nproperty list uchar int vertex_indices\n"
    return (head + "end_header\n0 0 0\n1e60 0 0\n0 1 0\n3 0 1 2\n").encode()


def _arrays(name: str, **changes: np.ndarray) -> bytes:
    """The first seed of a target of arrays, some of them changed."""
    with np.load(io.BytesIO(TARGETS[name].seeds[0])) as arrays:
        return seeds.npz(**{**arrays, **changes})


def _text(**values: object) -> np.ndarray:
    return np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)


def _note(**changes: object) -> np.ndarray:
    with np.load(io.BytesIO(TARGETS["training-state"].seeds[0])) as arrays:
        return _text(**{**json.loads(arrays["note"].tobytes()), **changes})


def _called_memory() -> bytes:
    """A published file whose instructions call the memory of its first tensor."""
    target = TARGETS["weights-pth"]
    assert target.unpack and target.pack
    parts = target.unpack(target.seeds[1])
    return target.pack([part.replace(b"QK\0", b"QK\0R", 1) for part in parts])


def _learned() -> dict[str, tuple[str, bytes]]:
    """Those of the readers that need torch."""
    if TARGETS["weights-npz"].missing:
        return {}
    wide = _text(method="echomatch", width=4, outputs=2, blocks=1, overlap_width=4096)
    whole = {"weights/extractor.first.bias": np.zeros(4, dtype=int)}
    return {
        # Gigabytes of memory for a file of some kilobytes.
        "network with a wide listener": (
            "weights-npz",
            _arrays("weights-npz", architecture=wide),
        ),
        # Warnings of torch.
        "memory that is called": ("weights-pth", _called_memory()),
        # Objects that were not valid.
        "weights beyond 32 bits": (
            "weights-npz",
            _arrays("weights-npz", **{"extractor.first.bias": np.full(4, 1e300)}),
        ),
        "training of whole numbers": ("training-state", _arrays("training-state", **whole)),
        "training without a best loss": (
            "training-state",
            _arrays("training-state", note=_note(best_loss=float("nan"))),
        ),
        "training with words for a loss": (
            "training-state",
            _arrays("training-state", note=_note(best_loss="low")),
        ),
    }


FOUND: dict[str, tuple[str, bytes]] = {
    # np.repeat wrote beyond its memory: the process died.
    "vtk offsets that wrap around": ("vtk", vtk_wrapping_offsets()),
    "vtp offsets that wrap around": ("vtp", vtp_wrapping_offsets()),
    # Gigabytes of memory for a file of some kilobytes.
    "gltf that repeats its geometry": ("gltf", gltf_bomb()),
    "vtp pieces that share packed zeros": ("vtp", vtp_bomb()),
    "truth npz of 80 gigabytes": ("truth-npz", npz_with_header(_HUGE)),
    "result npz of 80 gigabytes": ("result-npz", npz_with_header(_HUGE)),
    "cache entry of 80 gigabytes": ("cache", npz_with_header(_HUGE, "vectors")),
    # Exceptions that were no NhoError.
    "anchor at 1e308": ("anchors", b"0,0,0,0,0,0\n1e308,0,0,0,0,0\n"),
    "truth face far below 0": ("truth-baryc", _baryc("-1000 0.25 0.25 0.5\n")),
    "failure with words for seconds": ("failure", _failure(seconds="long")),
    "failure with endless seconds": ("failure", _failure(seconds=10**400)),
    "record with brackets without end": ("record", b"[" * 60_000),
    "failure with brackets without end": ("failure", b"[" * 60_000),
    "a setting called self": ("settings-json", b'{"self": 1}'),
    "marks in a face beyond all numbers": ("studio-marks", _marks('{"face": 1e999}')),
    "marks of endless weight": (
        "studio-marks",
        _marks('{"face": 1, "barycentric": [1' + "0" * 400 + ", 0, 0]}"),
    ),
    "a ray from beyond all floats": (
        "studio-message",
        b'{"side": "full", "direction": [0, 0, 1], "origin": [0, 0, 1' + b"0" * 400 + b"]}",
    ),
    "a mesh too large for the format it is written in": ("attributes-ply", _far_away()),
    # Objects that were not valid.
    "truth face below 0": ("truth-baryc", _baryc("-3 0.25 0.25 0.5\n")),
    "truth weights that are not finite": ("truth-baryc", _baryc("1 nan 0.25 0.5\n")),
    "truth weights that sum to 7": ("truth-baryc", _baryc("1 7 0 0\n")),
    "a barrier beyond all floats": ("settings-json", b'{"barrier": 1' + b"0" * 400 + b"}"),
    "a seed beyond all floats": ("settings-json", b'{"seed": 1' + b"0" * 400 + b"}"),
    "result with an anchor below 0": ("result-json", _result_json(anchors=[[0, -1]])),
    "result with an anchor beyond": ("result-json", _result_json(anchors=[[0, 12]])),
    "result with a scale of nothing": ("result-json", _result_json(scale=0.0)),
    "result with a strange suspect": ("result-json", _result_json(suspect_anchors=[3])),
    "result with words for curves": ("result-json", _result_json(curves={"fit": "down"})),
    # Points that moved up when they were written again.
    "missing point without a name": ("landmarks-csv", b"x,y,z\n0,0,0.85\n-999,-999,-999\n"),
    # Python warnings instead of a sentence.
    "truth without numbers": ("truth-map", b"# nothing\n"),
    "empty truth": ("truth-baryc", b""),
    "truth npz with a header of another Python": (
        "truth-npz",
        npz_with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (10L,), }"),
    ),
    "truth npz with a strange escape in its header": (
        "truth-npz",
        npz_with_header("{'descr': '<i8', 'fortran_order': False, '\\e': (10,), }"),
    ),
    # Messages that a terminal cannot show.
    "ply with a long count": ("ply", seeds.ply("<").replace(b"vertex 5", b"vertex " + b"9" * 3000)),
    "vtk with a control character": ("vtk", seeds.vtk("old", False).replace(b"TIME 1", b"\x07 x")),
    "anchors with long words": ("anchors", b"partial,full\n" + b"a" * 5000 + b",1\n"),
    "gltf of a long version": ("gltf", seeds.gltf().replace(b'"2.0"', b'"1' + b"0" * 5000 + b'"')),
    **_learned(),
}
