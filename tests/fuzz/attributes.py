"""The readers of attributes as functions of bytes, with seeds; what they read is written again."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, read_data, read_with_attributes
from nho.io.meshes.gltf import read_gltf
from nho.io.meshes.gltf_write import write_gltf
from nho.io.meshes.obj import write_obj
from nho.io.meshes.ply import read_ply, write_ply
from nho.io.meshes.vtp import read_vtp, write_vtp
from tests.fuzz import seeds
from tests.fuzz.target import Scratch, Target, serving

_POINTS, _TRIANGLES = seeds.POINTS, seeds.TRIANGLES
_MATERIALS = b"newmtl skin\nmap_Kd -s 1 1 1 skin.png\nnewmtl plain\n"


def _check(mesh: Mesh, attributes: Attributes) -> None:
    attributes.check(mesh.n_vertices, mesh.n_faces, "fuzz")
    assert all(note.isprintable() or note for note in attributes.notes)
    vertices, faces = mesh.vertices, mesh.faces
    write_obj(vertices, faces, attributes, "again")
    for write, read in ((write_ply, read_ply), (write_vtp, read_vtp), (write_gltf, read_gltf)):
        content = write(vertices, faces, attributes, "again").content
        again = read(content, "again", Path("/nowhere"))
        again.read_attributes()
        kept = again.vertices[: len(vertices)]
        assert np.array_equal(kept, vertices) or write is write_gltf
        assert len(again.faces) == len(faces)


def _mesh(suffix: str) -> Callable[[bytes], object]:
    scratch = Scratch()
    scratch.file("skin.mtl", _MATERIALS)
    scratch.file("skin.png", b"\x89PNG")
    path = scratch.file(f"scan{suffix}")

    def read() -> None:
        with np.errstate(over="ignore"):  # a double that a GLB has no room for
            _check(*read_with_attributes(path))

    return serving(path, read)


def _data(suffix: str) -> Callable[[bytes], object]:
    path = Scratch().file(f"data{suffix}")

    def read() -> None:
        attributes = read_data(path, seeds.PARTIAL)
        attributes.check(seeds.PARTIAL.n_vertices, seeds.PARTIAL.n_faces, "fuzz")

    return serving(path, read)


def ply_seed(order: str) -> bytes:
    kind = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = f"ply\nformat {kind} 1.0\ncomment TextureFile skin.png\nelement vertex 5\n"
    head += "".join(f"property float {axis}\n" for axis in ("x", "y", "z", "s", "t", "v_0", "v_1"))
    head += "".join(f"property uchar {c}\n" for c in ("red", "green", "blue"))
    head += "property int label\nelement face 6\nproperty list uchar int vertex_indices\n"
    head += "property list uchar float texcoord\nproperty short part\nend_header\n"
    out = head.encode()
    for number, point in enumerate(_POINTS):
        row = (*point, 0.5, 0.25, 1, 2, 1, 2, 3, number)
        out += struct.pack(order + "7f3Bi", *row) if order else " ".join(map(str, row)).encode()
        out += b"" if order else b"\n"
    for face in _TRIANGLES.tolist():
        row = (3, *face, 6, 0, 0, 1, 0, 1, 1, 7)
        out += struct.pack(order + "B3iB6fh", *row) if order else " ".join(map(str, row)).encode()
        out += b"" if order else b"\n"
    return out


def obj_seed() -> bytes:
    lines = ["mtllib skin.mtl"]
    lines += [f"v {x:g} {y:g} {z:g} 0.5 1 0" for x, y, z in _POINTS]
    lines += ["vt 0 0", "vt 1 0", "vt 0.5 1", "usemtl skin", "f 4/1 3/2 2/3", "f 4/-1/1 2/-2/1 1/1"]
    lines += ["usemtl plain", "f 1//1 2//1 5//1", "f 2 3 5", "f 3 4 5", "f 4 1 5"]
    return "\n".join(lines).encode()


def glb_seed() -> list[bytes]:
    parts = [
        (_POINTS.astype("<f4"), 5126, "VEC3", {}),
        (_TRIANGLES.reshape(-1, 1).astype("<u2"), 5123, "SCALAR", {}),
        (np.full((5, 4), 200, "u1"), 5121, "VEC4", {"normalized": True}),
        (np.linspace(0, 1, 10).reshape(5, 2).astype("<f4"), 5126, "VEC2", {}),
        (np.arange(5).reshape(5, 1).astype("<i2"), 5122, "SCALAR", {}),
    ]
    binary, views, accessors = b"", [], []
    for values, component, shape, more in parts:
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": values.nbytes})
        entry = {"bufferView": len(accessors), "componentType": component, "type": shape}
        accessors.append({**entry, "count": len(values), **more})
        binary += values.tobytes() + bytes(-values.nbytes % 4)
    views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": 4})
    binary += b"\x89PNG"
    names = {"POSITION": 0, "COLOR_0": 2, "TEXCOORD_0": 3, "_LABEL": 4}
    turned = {"index": 0, "extensions": {"KHR_texture_transform": {"rotation": 0.5}}}
    document = {
        "asset": {"version": "2.0"},
        "meshes": [{"primitives": [{"attributes": names, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": turned}}],
        "textures": [{"source": 0}],
        "images": [{"bufferView": 5, "mimeType": "image/png"}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }
    return [json.dumps(document).encode(), binary]


def vtk_seed(binary: bool) -> bytes:
    def numbers(values: object, kind: str) -> bytes:
        flat = np.ravel(np.asarray(values))
        return flat.astype(kind).tobytes() if binary else " ".join(map(str, flat)).encode()

    out = seeds.vtk("old", binary)
    out += b"SCALARS label int 1\nLOOKUP_TABLE default\n" + numbers(range(5), ">i4")
    colours = np.full((5, 3), 255 if binary else 1)
    out += b"\nCOLOR_SCALARS rgb 3\n" + numbers(colours, "u1")
    out += b"\nVECTORS flow float\n" + numbers(_POINTS, ">f4")
    out += b"\nTEXTURE_COORDINATES t 2 float\n" + numbers(_POINTS[:, :2], ">f4")
    out += b"\nCELL_DATA 5\nFIELD FieldData 1\npart%20one 1 5 short\n" + numbers(range(5), ">i2")
    return out + b"\nMETADATA\nINFORMATION 0\n\n"


def vtp_seed() -> bytes:
    arrays = '<DataArray type="Int32" Name="label" format="ascii">0 1 2 3 4</DataArray>'
    arrays += '<DataArray type="UInt8" Name="rgb" NumberOfComponents="3" format="ascii">'
    arrays += " ".join(["7"] * 15) + "</DataArray>"
    cells = '<DataArray type="Float32" Name="q" format="ascii">1 2 3 4 5</DataArray>'
    data = f'<PointData TCoords="q">{arrays}</PointData><CellData>{cells}</CellData><Points>'
    return seeds.vtp("ascii").replace(b"<Points>", data.encode())


def attribute_targets(
    unpack: Callable[[bytes], list[bytes]], pack: Callable[[list[bytes]], bytes]
) -> dict[str, Target]:
    """A target for every reader; ``unpack`` and ``pack`` are those of zip files."""
    n, m = seeds.PARTIAL.n_vertices, seeds.PARTIAL.n_faces
    rows = "".join(f"{i},{i % 3},{i / 7},true,head,1,2,3\n" for i in range(n))
    table = f"vertex,label,q,chosen,word,red,green,blue\n{rows}".encode()
    of_faces = ("part\n" + "1\n" * m).encode()
    arrays = seeds.npz(
        label=np.arange(n),
        q=np.ones((n, 2)),
        words=np.array(["head"] * n),
        face_part=np.arange(m),
        uv=np.zeros((m, 3, 2)),
    )
    written = [
        write_ply(
            _POINTS, _TRIANGLES, Attributes(uv=np.random.default_rng(0).random((6, 3, 2))), "a"
        )
    ]
    plys = (*map(ply_seed, ("", "<", ">")), written[0].content)
    return {
        "attributes-ply": Target(".ply", _mesh(".ply"), plys),
        "attributes-obj": Target(".obj", _mesh(".obj"), (obj_seed(),)),
        "attributes-glb": Target(
            ".glb", _mesh(".glb"), (seeds.glb_of(glb_seed()),), seeds.glb_parts, seeds.glb_of
        ),
        "attributes-vtk": Target(".vtk", _mesh(".vtk"), (vtk_seed(False), vtk_seed(True))),
        "attributes-vtp": Target(".vtp", _mesh(".vtp"), (vtp_seed(),)),
        "data-csv": Target(".csv", _data(".csv"), (table, of_faces)),
        "data-npz": Target(".npz", _data(".npz"), (arrays,), unpack, pack),
        "data-txt": Target(".txt", _data(".txt"), (b"# picked\n1, 2\n5\n",)),
    }
