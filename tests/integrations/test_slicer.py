"""The module's logic on real nodes of 3D Slicer; `slicer-core` has an environment of its own."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

slicer_core = pytest.importorskip("slicer_core")
MODULE = Path(__file__).resolve().parents[2] / "integrations" / "slicer" / "NhoMatch"


@pytest.fixture(scope="module")
def logic():
    sys.path.insert(0, str(MODULE))
    from NhoMatchLib import logic

    yield logic
    sys.path.remove(str(MODULE))


@pytest.fixture
def scene():
    return slicer_core.vtkMRMLScene()


def model(scene, name, mesh):
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

    points, cells, surface = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetData(numpy_to_vtk(np.array(mesh.vertices), deep=True))
    rows = np.column_stack([np.full(mesh.n_faces, 3), mesh.faces]).astype(np.int64)
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(rows.ravel(), deep=True))
    surface.SetPoints(points)
    surface.SetPolys(cells)
    node = scene.AddNewNodeByClass("vtkMRMLModelNode", name)
    node.SetAndObservePolyData(surface)
    return node


def markups(scene, name, positions, labels):
    node = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for position, label in zip(positions.tolist(), labels, strict=True):
        node.AddControlPointWorld(*position, label)
    return node


@pytest.fixture
def pair(scene, piece, whole, pairs):
    """Both models, and anchors in another order on either."""
    labels = [f"L{row}" for row in range(len(pairs))]
    return (
        model(scene, "scan", piece.mesh),
        model(scene, "template", whole),
        markups(scene, "ours", piece.mesh.vertices[pairs[:, 0]], labels),
        markups(scene, "theirs", whole.vertices[pairs[::-1, 1]], labels[::-1]),
    )


def point_array(node, name):
    return np.asarray(node.GetPolyData().GetPointData().GetArray(name))


def test_models_and_markups_go_in_and_scalars_come_out(logic, pair, piece):
    scan, template, *_ = pair
    result = logic.match(*pair)
    assert (point_array(scan, "nho_vertex") == piece.vertex_of_parent).mean() > 0.9
    np.testing.assert_array_equal(point_array(scan, "nho_confidence"), result.confidence)
    np.testing.assert_array_equal(point_array(scan, "nho_overlap"), result.overlap)
    np.testing.assert_array_equal(point_array(template, "nho_region"), result.region)
    display = scan.GetDisplayNode()
    assert display.GetActiveScalarName() == "nho_color" and display.GetScalarVisibility()


def test_landmarks_of_the_template_are_placed_on_the_scan(logic, pair, scene, piece, whole):
    result = logic.match(*pair)
    inside, outside = piece.vertex_of_parent[40], int(np.argmax(~result.region))
    landmarks = markups(scene, "study", whole.vertices[[inside, outside]], ["nose", "elsewhere"])
    carried = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", "carried")
    assert logic.carry_points(result, landmarks, carried) == 1
    [(label, position)] = logic.control_points(carried)  # the other one is undefined
    assert label == "nose" and carried.GetNumberOfControlPoints() == 2
    gap = np.linalg.norm(np.array(position) - piece.mesh.vertices[40])
    assert gap < piece.mesh.mean_edge_length


def test_the_fitted_template_is_a_model(logic, pair, scene, piece):
    result = logic.match(*pair)
    target = scene.AddNewNodeByClass("vtkMRMLModelNode", "fitted")
    logic.fit(result, pair[1], target)
    moved = np.asarray(target.GetPolyData().GetPoints().GetData())
    gap = np.linalg.norm(moved[piece.vertex_of_parent] - piece.mesh.vertices, axis=1)
    assert np.median(gap) < 0.2 * piece.mesh.mean_edge_length


def test_points_without_common_labels_go_by_order(logic, scene):
    ours = markups(scene, "F", np.eye(3), ["a", "b", "c"])
    theirs = markups(scene, "G", 2 * np.eye(3), ["x", "y", "z"])
    first, second = logic.paired_positions(ours, theirs)
    np.testing.assert_array_equal(second, 2 * first)
    with pytest.raises(ValueError, match="no two labels agree"):
        logic.paired_positions(ours, markups(scene, "H", np.eye(3)[:2], ["p", "q"]))


def test_a_transformed_model_is_refused_with_the_remedy(logic, pair, scene):
    scan, template, *_ = pair
    transform = scene.AddNewNodeByClass("vtkMRMLLinearTransformNode", "moved")
    scan.SetAndObserveTransformNodeID(transform.GetID())
    with pytest.raises(ValueError, match="scan: harden its transform"):
        logic.match(scan, template)


def test_the_panel_calls_what_the_logic_has(logic):
    tree = ast.parse((MODULE / "NhoMatch.py").read_text(encoding="utf-8"))
    called = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Call)
        and getattr(node.func.value.func, "attr", "") == "logic"
    }
    assert called == {"match", "carry_points", "fit"}
    assert all(callable(getattr(logic, name)) for name in called)
