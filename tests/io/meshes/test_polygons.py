"""Polygons of files become the triangles of their own surface, concave or not."""

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.repair import repair
from nho.io.attributes import read_with_attributes
from nho.io.meshes.polygons import fans, triangulate

L = np.array([[1.0, 1], [1, 2], [0, 2], [0, 0], [2, 0], [2, 1]])  # first corner: the inner one
L = np.roll(L, 2, axis=0)


def in_space(flat: np.ndarray, seed: int = 0, bend: float = 0.0) -> np.ndarray:
    """(n, 2) points somewhere in space, on a plane unless bent."""
    basis, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    height = bend * np.sin(3 * flat.sum(axis=1))
    return np.column_stack([flat, height]) @ basis.T + 5


def cut(*polygons: np.ndarray):
    counts = np.array([len(polygon) for polygon in polygons])
    vertices = np.vstack(polygons)
    return triangulate(np.arange(len(vertices)), counts, vertices, "some.ply"), vertices


def newell(polygon: np.ndarray) -> np.ndarray:
    """Vector area of a closed polygon."""
    moved = polygon - polygon[0]
    return np.cross(moved, np.roll(moved, -1, axis=0)).sum(axis=0) / 2


def vector_areas(faces: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    a, b, c = (vertices[corner] for corner in faces.T)
    return np.cross(b - a, c - a) / 2


def star(corners: int, seed: int) -> np.ndarray:
    """A simple polygon, concave nearly everywhere, whose first corner sees little of it."""
    random = np.random.default_rng(seed)
    angle = np.sort(random.random(corners)) * 0.9 + 0.1 * np.arange(corners) / corners
    radius = random.uniform(0.2, 1, corners)
    flat = radius[:, None] * np.column_stack([np.cos(angle * 6.28), np.sin(angle * 6.28)])
    return flat


def comb(teeth: int) -> np.ndarray:
    """A polygon of 2 * teeth + 2 corners with long thin teeth."""
    x = np.arange(2 * teeth)
    top = np.column_stack([x, np.where(x % 2 == 0, 10.0, 0.5)])
    return np.vstack([[[2 * teeth - 1, 0.0]], top[::-1], [[0.0, 0.0]]])


def check(polygon: np.ndarray, rtol: float = 1e-9) -> None:
    triangles, vertices = cut(polygon)
    assert triangles.notes == ()
    assert len(triangles.faces) == len(polygon) - 2
    wanted = newell(polygon)
    areas = vector_areas(triangles.faces, vertices)
    np.testing.assert_allclose(areas.sum(axis=0), wanted, atol=rtol * np.linalg.norm(wanted))
    # None is turned over, so they cover the polygon once.
    assert (areas @ wanted >= -1e-9 * (wanted @ wanted)).all()
    # Every side of the polygon belongs to one triangle, every cut to two.
    edges = np.sort(triangles.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    found, uses = np.unique(edges, axis=0, return_counts=True)
    around = np.sort(
        np.column_stack([np.arange(len(polygon)), np.roll(np.arange(len(polygon)), -1)])
    )
    assert {tuple(edge) for edge in found[uses == 1].tolist()} == set(map(tuple, around.tolist()))
    assert (uses <= 2).all()


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("reverse", [False, True])
def test_an_l_has_the_area_of_an_l(first, reverse):
    polygon = in_space(np.roll(L, first, axis=0)[:: -1 if reverse else 1])
    check(polygon)
    triangles, vertices = cut(polygon)
    assert Mesh(vertices, triangles.faces).area == pytest.approx(3)


@pytest.mark.parametrize("corners", [4, 5, 6, 7, 9, 16, 17, 40, 150])
def test_any_simple_polygon_keeps_its_surface(corners):
    for seed in range(12):
        check(in_space(star(corners, seed), seed))


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e70])
def test_no_unit_is_assumed(scale):
    check(in_space(np.roll(L, 3, axis=0)) * scale)


def test_thin_teeth_and_corners_on_a_line_keep_their_surface():
    check(in_space(comb(3)))
    check(in_space(comb(200)), 1e-8)
    halves = np.stack([L, (L + np.roll(L, -1, axis=0)) / 2], axis=1).reshape(-1, 2)
    for first in range(len(halves)):
        check(in_space(np.roll(halves, first, axis=0)))


def test_polygons_off_a_plane_are_cut_in_their_best_one():
    for seed in range(5):
        polygon = in_space(star(12, seed), seed, bend=0.1)
        triangles, vertices = cut(polygon)
        assert triangles.notes == () and len(triangles.faces) == 10
        assert (vector_areas(triangles.faces, vertices) @ newell(polygon) > 0).all()


def test_a_hole_with_a_bridge_stays_a_hole():
    outer = np.array([[0.0, 0], [4, 0], [4, 4], [0, 4]])
    inner = np.array([[1.0, 1], [1, 3], [3, 3], [3, 1]])
    polygon = in_space(np.vstack([outer, outer[:1], inner, inner[:1]]))
    triangles, vertices = cut(polygon)
    assert triangles.notes == ()
    assert Mesh(vertices, triangles.faces).area == pytest.approx(12)


def test_convex_polygons_stay_fans():
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    polygons = [in_space(circle[::step], step) for step in (1, 2, 4, 5, 8, 10)]
    triangles, _ = cut(*polygons)
    polygon, corners = fans(np.array([len(polygon) for polygon in polygons]))
    assert np.array_equal(triangles.faces, corners) and np.array_equal(triangles.polygon, polygon)


def test_many_polygons_are_cut_each_on_its_own_in_the_order_of_the_file():
    polygons = [in_space(star(3 + seed % 9, seed), seed) for seed in range(60)]
    triangles, vertices = cut(*polygons)
    areas = vector_areas(triangles.faces, vertices)
    begin = np.cumsum([0] + [len(polygon) for polygon in polygons])
    for number, polygon in enumerate(polygons):
        own = triangles.polygon == number
        assert own.sum() == len(polygon) - 2
        assert (triangles.faces[own] >= begin[number]).all()
        assert (triangles.faces[own] < begin[number + 1]).all()
        np.testing.assert_allclose(areas[own].sum(axis=0), newell(polygon), atol=1e-12)
        assert (areas[own] @ newell(polygon) >= -1e-12).all()


PENTAGRAM = np.array([[np.sin(a), np.cos(a)] for a in np.arange(5) * 0.8 * np.pi])
BOW = np.array([[0.0, 0], [2, 2], [2, 0], [0, 2]])
UNEVEN_BOW = np.array([[0.0, 0], [2, 2], [2, 0], [0, 1]])


@pytest.mark.parametrize("flat", [BOW, UNEVEN_BOW, PENTAGRAM], ids=["bow", "uneven", "star"])
def test_polygons_that_cross_themselves_stay_fans_with_a_note(flat):
    good, bad = in_space(L), in_space(flat)
    triangles, _ = cut(good, good, bad, good)
    (note,) = triangles.notes
    assert "1 polygon" in note and "first: face 2" in note and "triangulate" in note
    own = triangles.faces[triangles.polygon == 2]
    assert np.array_equal(own - own.min(), fans(np.array([len(flat)]))[1])


def test_polygons_of_thousands_of_corners_stay_fans_with_a_note():
    triangles, _ = cut(in_space(comb(600)))
    assert "too many corners" in triangles.notes[0]
    assert np.array_equal(triangles.faces, fans(np.array([1202]))[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
def test_corners_that_are_no_numbers_do_no_harm(bad, tmp_path):
    vertices = in_space(L)
    vertices[2, 1] = bad
    rows = [" ".join(map(repr, row)) for row in vertices.tolist()]
    (tmp_path / "l.off").write_text("OFF\n6 1 0\n" + "\n".join(rows) + "\n6 0 1 2 3 4 5\n")
    with pytest.raises(nho.InputError, match=r"l\.off: vertex 2"):
        Mesh.read(tmp_path / "l.off")


POINTS = in_space(np.roll(L, 3, axis=0))
ROWS = [" ".join(map(repr, row)) for row in POINTS.tolist()]
UV = np.roll(L, 3, axis=0) / 2
NUMBERS = "0 1 2 3 4 5"
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 6\nproperty double x\nproperty double y\n"
    "property double z\nelement face 1\nproperty list uchar int vertex_indices\n"
    "property list uchar float texcoord\nend_header\n"
)
FILES = {
    "ply": PLY + "\n".join(ROWS) + f"\n6 {NUMBERS} 12 {' '.join(map(str, UV.ravel()))}\n",
    "off": "OFF\n6 1 0\n" + "\n".join(ROWS) + f"\n6 {NUMBERS}\n",
    "obj": "".join(f"v {row}\n" for row in ROWS)
    + "".join(f"vt {u} {v}\n" for u, v in UV.tolist())
    + "f 1/1 2/2 3/3 4/4 5/5 6/6\n",
    "vtk": "# vtk DataFile Version 3.0\nl\nASCII\nDATASET POLYDATA\nPOINTS 6 double\n"
    + "\n".join(ROWS)
    + f"\nPOLYGONS 1 7\n6 {NUMBERS}\n",
    "vtp": '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian"><PolyData>'
    '<Piece NumberOfPoints="6" NumberOfPolys="1"><Points><DataArray type="Float64" '
    f'NumberOfComponents="3" format="ascii">{" ".join(ROWS)}</DataArray></Points><Polys>'
    f'<DataArray type="Int64" Name="connectivity" format="ascii">{NUMBERS}</DataArray>'
    '<DataArray type="Int64" Name="offsets" format="ascii">6</DataArray></Polys></Piece>'
    "</PolyData></VTKFile>",
}


@pytest.mark.parametrize("suffix", FILES)
def test_every_format_with_polygons_keeps_an_l(suffix, tmp_path):
    path = tmp_path / f"l.{suffix}"
    path.write_text(FILES[suffix])
    mesh = Mesh.read(path)
    assert mesh.area == pytest.approx(3) and mesh.n_faces == 4 and mesh.notes == ()


@pytest.mark.parametrize("suffix", ["ply", "obj"])
def test_texture_coordinates_follow_their_corners(suffix, tmp_path):
    path = tmp_path / f"l.{suffix}"
    path.write_text(FILES[suffix])
    mesh, attributes = read_with_attributes(path)
    np.testing.assert_allclose(attributes.uv, UV[mesh.faces], atol=1e-7)


def test_the_note_reaches_the_notes_of_a_repair(tmp_path):
    rows = [" ".join(map(repr, row)) for row in in_space(UNEVEN_BOW).tolist()]
    (tmp_path / "bow.off").write_text("OFF\n4 1 0\n" + "\n".join(rows) + "\n4 0 1 2 3\n")
    mesh = Mesh.read(tmp_path / "bow.off")
    assert repair(mesh).notes[0].startswith("bow.off: 1 polygon with sides that cross")
