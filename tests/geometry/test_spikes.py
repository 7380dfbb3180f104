"""Spikes are found whatever their factor, direction and number, and clean meshes have none."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import Delaunay

from nho.geometry.mesh import Mesh
from nho.geometry.repair import repair
from nho.geometry.spikes import robust_size, spikes, without_spikes
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane

BALL = bumpy_sphere(3, seed=3)
PIECE = cut_by_plane(BALL, np.array([0.2, 0.5, 1.0]), keep_area=0.6).mesh


def spiked(mesh: Mesh, count: int, factor: float, seed: int = 0) -> tuple[Mesh, np.ndarray]:
    """The mesh with vertices moved away from its centre, and which."""
    vertices = mesh.vertices.copy()
    moved = np.sort(np.random.default_rng(seed).choice(len(vertices), count, replace=False))
    centre = vertices.mean(axis=0)
    vertices[moved] = centre + factor * (vertices[moved] - centre)
    return Mesh(vertices, mesh.faces, "spiky.ply"), moved


@pytest.mark.parametrize("mesh", [BALL, PIECE], ids=["closed", "open"])
@pytest.mark.parametrize(
    ("factor", "count"),
    [(5.0, 1), (5.0, 5), (-5.0, 5), (20.0, 20), (200.0, 2), (200.0, 20), (-200.0, 20), (1e6, 20)],
)
def test_spikes_are_found_and_nothing_else(mesh, count, factor):
    for seed in range(3):
        given, moved = spiked(mesh, count, factor, seed)
        assert np.array_equal(np.flatnonzero(spikes(given.vertices, given.faces)), moved)


@pytest.mark.parametrize(("count", "factor"), [(2, 5.0), (2, 200.0), (3, 200.0)])
def test_spikes_beside_spikes_are_found(count, factor):
    vertices = BALL.vertices.copy()
    moved = np.unique(BALL.faces[(BALL.faces == 100).any(axis=1)])[:count]
    vertices[moved] *= factor
    assert np.array_equal(np.flatnonzero(spikes(vertices, BALL.faces)), moved)


@pytest.mark.parametrize("scale", [1e-120, 1e-6, 1e6, 1e120])
def test_no_unit_is_assumed(scale):
    given, moved = spiked(BALL, 5, 200.0)
    moved_away = given.vertices * scale + 3 * scale
    assert np.array_equal(np.flatnonzero(spikes(moved_away, given.faces)), moved)
    assert not spikes(BALL.vertices * scale, BALL.faces).any()


def test_a_minority_of_points_does_not_change_the_size():
    points = np.random.default_rng(0).normal(size=(1000, 3))
    far = np.vstack([points, 1e9 * points[:100]])
    assert robust_size(far) == pytest.approx(robust_size(points), rel=0.2)


def terrain() -> tuple[np.ndarray, np.ndarray]:
    """Irregular triangles, with long needles along the rim."""
    xy = np.random.default_rng(1).random((800, 2))
    return np.column_stack([xy, 0.1 * np.sin(9 * xy[:, 0])]), Delaunay(xy).simplices


def needle_limb(sides: int, rings: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """A ball with a thin limb of few rings that ends in a point."""
    ball = trimesh.creation.icosphere(subdivisions=3)
    limb = trimesh.creation.cone(radius=0.02, height=length, sections=sides)
    tip = limb.vertices[:, 2].argmax()
    shaft = limb.vertices.copy()
    ring = np.flatnonzero(np.hypot(*shaft[:, :2].T) > 0.01)
    at = np.arange(sides)
    layers = [shaft[ring] + [0, 0, length * layer] for layer in range(rings)]
    vertices = np.vstack([ball.vertices, *layers, shaft[[tip]] + [0, 0, length * (rings - 1)]])
    base = len(ball.vertices)
    order = np.argsort(np.arctan2(*shaft[ring, :2].T))
    faces = [ball.faces]
    for layer in range(rings - 1):
        low, high = base + layer * sides + order, base + (layer + 1) * sides + order
        faces += [
            np.column_stack([low, np.roll(low, -1), high]),
            np.column_stack([np.roll(low, -1), np.roll(high, -1), high]),
        ]
    last = base + (rings - 1) * sides + order
    faces.append(np.column_stack([last, np.roll(last, -1), np.full(len(at), len(vertices) - 1)]))
    return vertices, np.vstack(faces)


def arrays(shape: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    return shape.vertices, shape.faces


CLEAN = {
    "box": arrays(trimesh.creation.box((1, 20, 300))),
    "rod": arrays(trimesh.creation.cylinder(radius=0.01, height=10, sections=64)),
    "cone": arrays(trimesh.creation.cone(radius=1, height=10, sections=64)),
    "fan of needles": arrays(trimesh.creation.cone(radius=0.01, height=10, sections=8)),
    "ring": arrays(trimesh.creation.annulus(r_min=0.99, r_max=1, height=5)),
    "capsule": arrays(trimesh.creation.capsule(height=20, radius=0.05)),
    "tetrahedron": arrays(trimesh.creation.icosahedron()),
    "terrain": terrain(),
    "stretched": (BALL.vertices * [1, 1, 1000], BALL.faces),
    "flat": (BALL.vertices * [1, 1, 0], BALL.faces),
    "limb of three rings": needle_limb(3, 3, 1.0),
    "limb of two long rings": needle_limb(6, 2, 4.0),
}
CLEAN["fan of needles"] = (  # without its base only the needles are left
    CLEAN["fan of needles"][0],
    CLEAN["fan of needles"][1][
        (CLEAN["fan of needles"][0][CLEAN["fan of needles"][1]][:, :, 2] > 1).any(axis=1)
    ],
)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_mesh_has_no_spikes(name):
    vertices, faces = CLEAN[name]
    assert len(faces) >= 8
    assert not spikes(np.asarray(vertices), np.asarray(faces)).any()


@pytest.mark.slow
@pytest.mark.data
def test_no_mesh_of_the_evaluation_data_has_spikes(data):
    files = [path for path in sorted(data.rglob("*")) if path.suffix in (".off", ".ply", ".obj")]
    assert len(files) > 100
    for path in files[::4]:
        mesh = Mesh.read(path)
        assert not repair(mesh).spikes.any(), path.name


def test_repair_leaves_spikes_out_and_names_them():
    given, moved = spiked(BALL, 7, 200.0)
    done = repair(given)
    assert np.array_equal(np.flatnonzero(done.spikes), moved)
    assert (done.solver_of_given[moved] == -1).all()
    assert done.mesh.n_vertices == BALL.n_vertices - 7
    (note,) = done.notes
    assert note.startswith("spiky.ply: left out 7 spikes")
    assert f"(vertices {', '.join(map(str, moved[:5].tolist()))}, ...)" in note
    assert f"with the {given.n_faces - done.mesh.n_faces} faces there" in note
    assert done.mesh.area < BALL.area


def test_spikes_of_loose_triangles_are_found():
    given, moved = spiked(BALL, 5, 200.0)
    corners = np.arange(given.faces.size).reshape(-1, 3)
    loose = Mesh(given.vertices[given.faces].reshape(-1, 3), corners, "loose")
    assert np.array_equal(repair(loose).spikes, np.isin(given.faces.ravel(), moved))


def test_sizes_are_measured_without_spikes():
    given, _ = spiked(BALL, 5, 1e4)
    clean = without_spikes(given)
    assert clean.diagonal == pytest.approx(BALL.diagonal, rel=0.05) and given.diagonal > 1e3
    assert clean.area == pytest.approx(BALL.area, rel=0.06)
    assert without_spikes(BALL) is BALL
