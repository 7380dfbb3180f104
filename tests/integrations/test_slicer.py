"""The module's logic on real nodes of 3D Slicer; `slicer-core` has an environment of its own."""
# ruff: noqa: N802, N803, N815 (names of Qt)

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

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


class Widget:
    """A stand-in for any widget of Qt: what is set is kept, children are collected."""

    def __init__(self, text=""):
        self.text, self.children, self.node = text, [], None

    def connect(self, signal, act):
        assert signal == "clicked()"
        self.press = act

    def addRow(self, label, child):
        self.children.append((label, child))

    def addWidget(self, child):
        self.children.append((child.text, child))

    addLayout = addWidget

    def addStretch(self, factor):
        pass

    def setMRMLScene(self, scene):
        self.scene = scene

    def currentNode(self):
        return self.node


@pytest.fixture
def panel(monkeypatch, logic, scene):
    """The module's panel on a real scene; `slicer-core` has no window, so Qt has a stand-in."""
    messages = []

    @contextlib.contextmanager
    def with_error_display(text, waitCursor=False):
        try:
            yield
        except Exception as error:
            messages.append(f"{text} {error}")

    class Module:
        def __init__(self, parent=None):
            self.layout = Widget()

        def setup(self):
            pass

    names = "ScriptedLoadableModule", "ScriptedLoadableModuleWidget", "ScriptedLoadableModuleLogic"
    util = SimpleNamespace(
        tryWithErrorDisplay=with_error_display,
        showStatusMessage=messages.append,
        warningDisplay=messages.append,
    )
    modules = {
        "qt": SimpleNamespace(QFormLayout=Widget, QPushButton=Widget),
        "slicer": SimpleNamespace(qMRMLNodeComboBox=Widget, mrmlScene=scene, util=util),
        "slicer.ScriptedLoadableModule": SimpleNamespace(**dict.fromkeys(names, Module)),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "NhoMatch", raising=False)
    panel = importlib.import_module("NhoMatch").NhoMatchWidget()
    panel.setup()
    monkeypatch.delitem(sys.modules, "NhoMatch")
    return panel, messages


def press(panel, text):
    buttons = {name: child for name, child in panel.layout.children if name}
    buttons[text].press()


def test_the_panel_matches_carries_and_fits_what_is_chosen(panel, pair, scene, piece):
    panel, messages = panel
    chosen = panel.scan, panel.template, panel.scanPoints, panel.templatePoints
    for selector, node in zip(chosen, pair, strict=True):
        assert node.GetClassName() in selector.nodeTypes and selector.scene is scene
        selector.node = node
    press(panel, "Match")
    assert messages == [repr(panel.result)]
    assert (point_array(pair[0], "nho_vertex") == piece.vertex_of_parent).mean() > 0.9
    press(panel, "Carry the template's points to the scan")
    carried = scene.GetFirstNodeByName("carried")
    assert carried.GetNumberOfControlPoints() == pair[3].GetNumberOfControlPoints()
    press(panel, "Fit the template to the scan")
    fitted = scene.GetFirstNodeByName("fitted template")
    assert fitted.GetPolyData().GetNumberOfPoints() == pair[1].GetPolyData().GetNumberOfPoints()
    assert len(messages) == 1


def test_the_panel_asks_for_a_match_first_and_adds_nothing(panel, scene):
    panel, messages = panel
    before = scene.GetNumberOfNodes()
    press(panel, "Carry the template's points to the scan")
    press(panel, "Fit the template to the scan")
    assert messages == [
        "Nothing was carried. press Match first",
        "Nothing was fitted. press Match first",
    ]
    assert scene.GetNumberOfNodes() == before


def test_the_panel_shows_what_makes_a_match_doubtful(panel, pair, monkeypatch, logic):
    panel, messages = panel
    doubtful = SimpleNamespace(status="doubtful: look", warnings=("the anchors are mirrored",))
    monkeypatch.setattr(logic, "match", lambda *nodes: doubtful)
    press(panel, "Match")
    assert messages[-1] == "doubtful: look\n\nthe anchors are mirrored"
