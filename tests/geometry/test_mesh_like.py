"""Meshes of other libraries, by small objects that offer what theirs offer."""

from __future__ import annotations

from types import SimpleNamespace as Stand

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import as_mesh

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


class Tensor:
    """A tensor on another device."""

    def __init__(self, array):
        self.array = array

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def vtk(polygons: list[list[int]], strips: int = 0) -> Stand:
    """What VTK, PyVista and vedo have in common."""
    cells = Stand(
        GetNumberOfCells=lambda: len(polygons),
        GetConnectivityArray=lambda: np.array([corner for row in polygons for corner in row]),
        GetOffsetsArray=lambda: np.cumsum([0, *map(len, polygons)]),
    )
    points = Stand(GetData=lambda: SQUARE)
    return Stand(GetPoints=lambda: points, GetPolys=lambda: cells, GetNumberOfStrips=lambda: strips)


def meshio(*blocks: tuple[str, list[list[int]]]) -> Stand:
    return Stand(points=SQUARE, cells=[Stand(type=kind, data=data) for kind, data in blocks])


GIVEN = {
    "arrays": (SQUARE, FACES),
    "list of lists": [SQUARE.tolist(), FACES.tolist()],
    "trimesh": Stand(vertices=SQUARE, faces=FACES),
    "Open3D legacy": Stand(vertices=SQUARE, triangles=FACES),
    "Open3D tensor": Stand(
        vertex={"positions": Tensor(SQUARE)}, triangle={"indices": Tensor(FACES)}
    ),
    "PyVista": vtk(FACES.tolist()),
    "PyVista, a quad": vtk([[0, 1, 2, 3]]),
    "vedo": Stand(dataset=vtk(FACES.tolist())),
    "3D Slicer": Stand(GetPolyData=lambda: vtk(FACES.tolist())),
    "meshio": meshio(("line", [[0, 1]]), ("triangle", FACES.tolist())),
    "meshio, a quad": meshio(("quad", [[0, 1, 2, 3]])),
    "PyMeshLab": Stand(
        current_mesh=lambda: Stand(vertex_matrix=lambda: SQUARE, face_matrix=lambda: FACES)
    ),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_every_kind_gives_the_same_mesh(kind):
    mesh = as_mesh(GIVEN[kind], "scan")
    assert mesh.name == "scan"
    np.testing.assert_array_equal(mesh.vertices, SQUARE)
    np.testing.assert_array_equal(mesh.faces, FACES)


def test_a_mesh_of_our_own_stays_the_same_object():
    mesh = Mesh(SQUARE, FACES)
    assert as_mesh(mesh) is mesh


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (Stand(GetPoints=None, GetCells=None), "extract_surface"),
        (vtk([[0, 1, 2]], strips=1), "triangulate"),
        (Stand(geometry={}, to_mesh=None), "to_mesh"),
        (meshio(("tetra", [[0, 1, 2, 3]])), "tetra"),
        (7, "not int"),
        ([1, 2, 3], "not list"),
    ],
)
def test_what_is_no_surface_is_refused_with_a_remedy(given, remedy):
    with pytest.raises(InputError, match=f"^scan: .*{remedy}"):
        as_mesh(given, "scan")


def test_the_mesh_does_not_share_memory_with_what_was_given():
    vertices = SQUARE.copy()
    mesh = as_mesh(Stand(vertices=vertices, faces=FACES))
    vertices[:] = 7
    np.testing.assert_array_equal(mesh.vertices, SQUARE)
