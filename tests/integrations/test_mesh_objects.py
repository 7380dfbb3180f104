"""Objects of the real libraries go in and come out; `make test-integrations` has them all."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.errors import InputError

FLAT_CLOUD = np.column_stack([np.mgrid[0:5, 0:5].reshape(2, -1).T, np.zeros(25)])


def of_trimesh(vertices, faces):
    return pytest.importorskip("trimesh").Trimesh(vertices, faces, process=False)


def of_pyvista(vertices, faces):
    return pytest.importorskip("pyvista").PolyData.from_regular_faces(vertices, faces)


def of_vtk(vertices, faces):
    pytest.importorskip("vtk")
    plain = __import__("vtk").vtkPolyData()
    plain.DeepCopy(of_pyvista(vertices, faces))
    return plain


def of_vedo(vertices, faces):
    return pytest.importorskip("vedo").Mesh([vertices, faces])


def of_meshio(vertices, faces):
    return pytest.importorskip("meshio").Mesh(vertices, [("triangle", faces)])


def of_open3d(vertices, faces):
    open3d = pytest.importorskip("open3d")
    return open3d.geometry.TriangleMesh(
        open3d.utility.Vector3dVector(np.array(vertices)),
        open3d.utility.Vector3iVector(np.array(faces)),
    )


def of_open3d_tensor(vertices, faces):
    legacy = of_open3d(vertices, faces)
    return pytest.importorskip("open3d").t.geometry.TriangleMesh.from_legacy(legacy)


def of_pymeshlab(vertices, faces):
    return pytest.importorskip("pymeshlab").Mesh(np.array(vertices), np.array(faces))


LIBRARIES = [
    *(of_trimesh, of_pyvista, of_vtk, of_vedo, of_meshio),
    *(of_open3d, of_open3d_tensor, of_pymeshlab),
]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda each: each.__name__)
def test_a_mesh_keeps_its_order(library, whole):
    mesh = nho.Mesh.of(library(whole.vertices, whole.faces))
    np.testing.assert_allclose(mesh.vertices, whole.vertices, atol=1e-6)  # some hold floats
    np.testing.assert_array_equal(mesh.faces, whole.faces)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda each: each.__name__)
def test_objects_are_matched_by_anchors_in_space(library, piece, whole, pairs):
    partial = library(piece.mesh.vertices, piece.mesh.faces)
    full = library(whole.vertices, whole.faces)
    positions = piece.mesh.vertices[pairs[:, 0]], whole.vertices[pairs[:, 1]]
    found = nho.match(partial, full, positions)
    assert (found.vertex_map == piece.vertex_of_parent).mean() > 0.9


def test_polygons_of_pyvista_and_meshio_become_triangles():
    pyvista, meshio = pytest.importorskip("pyvista"), pytest.importorskip("meshio")
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    for given in (
        pyvista.PolyData(square, [4, 0, 1, 2, 3]),
        meshio.Mesh(square, [("vertex", [[0]]), ("quad", [[0, 1, 2, 3]])]),
    ):
        np.testing.assert_array_equal(nho.Mesh.of(given).faces, [[0, 1, 2], [0, 2, 3]])


def test_what_is_no_surface_is_refused_with_a_remedy():
    pyvista, trimesh = pytest.importorskip("pyvista"), pytest.importorskip("trimesh")
    with pytest.raises(InputError, match="extract_surface"):
        nho.Mesh.of(pyvista.ImageData(dimensions=(3, 3, 3)).cast_to_unstructured_grid())
    with pytest.raises(InputError, match="to_mesh"):
        nho.Mesh.of(trimesh.Scene(trimesh.creation.box()))


def test_results_come_back_as_trimesh(result, whole):
    pytest.importorskip("trimesh")
    scan, template = result.to_trimesh(), result.to_trimesh("full")
    np.testing.assert_array_equal(scan.vertex_attributes["nho_confidence"], result.confidence)
    np.testing.assert_array_equal(scan.vertex_attributes["nho_overlap"], result.overlap)
    np.testing.assert_array_equal(template.vertex_attributes["nho_region"], result.region)
    np.testing.assert_array_equal(template.vertices, whole.vertices)
    assert scan.visual.kind == "vertex"


def test_results_come_back_as_pyvista(result, tmp_path):
    pyvista = pytest.importorskip("pyvista")
    scan, template = result.to_pyvista(), result.to_pyvista("full")
    np.testing.assert_array_equal(scan["nho_vertex"], result.vertex_map)
    np.testing.assert_array_equal(scan["nho_overlap"], result.overlap)
    np.testing.assert_array_equal(template["nho_region_score"], result.region_score)
    template.save(tmp_path / "template.vtp")  # ParaView opens it
    again = pyvista.read(tmp_path / "template.vtp")
    np.testing.assert_array_equal(again["nho_region"], result.region)


def test_results_come_back_as_open3d(result):
    pytest.importorskip("open3d")
    scan, template = result.to_open3d(), result.to_open3d("full")
    np.testing.assert_array_equal(scan.vertex["nho_confidence"].numpy()[:, 0], result.confidence)
    np.testing.assert_array_equal(template.vertex["nho_region"].numpy()[:, 0], result.region)
    assert len(scan.to_legacy().vertex_colors) == len(result.vertex_map)


def test_pyvista_finds_the_accessor_by_itself(piece, whole, pairs):
    pyvista = pytest.importorskip("pyvista", minversion="0.48")
    scan = pyvista.PolyData.from_regular_faces(piece.mesh.vertices, piece.mesh.faces)
    template = pyvista.PolyData.from_regular_faces(whole.vertices, whole.faces)
    shown = scan.nho.match(template, pairs).to_pyvista()
    assert shown["nho_confidence"].mean() > 0.5


def test_a_fitted_template_goes_back_too(result):
    pytest.importorskip("pyvista")
    fitted = result.fit().mesh.to_pyvista()
    assert fitted.n_points == result.full.n_vertices
