"""OBJ with texture coordinates, images and vertex colours; it has room for nothing else."""

from __future__ import annotations

import numpy as np

from nho.io.attributes.model import Array, Attributes, kind_of
from nho.io.attributes.written import Written, image_files, left_out


def write_obj(vertices: Array, faces: Array, attributes: Attributes, stem: str) -> Written:
    """The text of an OBJ file; materials and images go beside it."""
    colour = next((k for k, v in attributes.vertex.items() if kind_of(v) == "colour"), None)
    images = image_files(attributes.textures, stem)
    lines = [f"mtllib {stem}.mtl"] if images else []
    if colour is None:
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    else:
        rgb = (attributes.vertex[colour][:, :3] / 255.0).tolist()
        lines += [
            f"v {x!r} {y!r} {z!r} {r:.6g} {g:.6g} {b:.6g}"
            for (x, y, z), (r, g, b) in zip(vertices.tolist(), rgb, strict=True)
        ]
    lines += _textured(faces, attributes, bool(images))
    beside = dict(images)
    if images:
        beside[f"{stem}.mtl"] = _materials(list(images))
    lost = [name for name in attributes.vertex if name != colour] + list(attributes.face)
    notes = left_out(lost, "OBJ holds one colour a vertex and texture coordinates")
    return Written(("\n".join(lines) + "\n").encode(), beside, notes)


def _textured(faces: Array, attributes: Attributes, with_materials: bool) -> list[str]:
    """`vt`, `usemtl` and `f` lines; the faces keep their order."""
    corners = (faces + 1).tolist()
    if attributes.uv is None:
        return [f"f {i} {j} {k}" for i, j, k in corners]
    known = attributes.textured_faces(len(faces))
    pairs, index = np.unique(attributes.uv[known].reshape(-1, 2), axis=0, return_inverse=True)
    lines = [f"vt {u!r} {v!r}" for u, v in pairs.tolist()]
    of_corner: Array = np.zeros(faces.shape, dtype=np.int64)
    of_corner[known] = index.reshape(-1, 3) + 1
    shown: list[int] = attributes.texture_indices(len(faces)).tolist()
    last = None
    for (i, j, k), (a, b, c), image in zip(corners, of_corner.tolist(), shown, strict=True):
        if with_materials and image != last:
            lines.append(f"usemtl {'plain' if image < 0 else f'image{image}'}")
            last = image
        lines.append(f"f {i}/{a} {j}/{b} {k}/{c}" if a else f"f {i} {j} {k}")
    return lines


def _materials(images: list[str]) -> bytes:
    lines = ["newmtl plain", "Kd 0.8 0.8 0.8"]
    for number, name in enumerate(images):
        lines += [f"newmtl image{number}", "Kd 1 1 1", f"map_Kd {name}"]
    return ("\n".join(lines) + "\n").encode()
