"""Models and markups in, scalars, markups and models out; no panel, no application.

Models must lie where they are drawn: harden transforms first. `nho` reads the nodes themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk


def match(scan: Any, template: Any, scan_points: Any = None, template_points: Any = None) -> Any:
    """Match two model nodes; the result is shown on both and returned.

    Parameters
    ----------
    scan, template : vtkMRMLModelNode
    scan_points, template_points : vtkMRMLMarkupsFiducialNode, optional
        Anchors, paired by label; by order if no two labels agree. Without them they are found.
    """
    import nho

    for node in (scan, template):
        if node.GetParentTransformNode() is not None:
            raise ValueError(f"{node.GetName()}: harden its transform first")
    anchors: Any = "auto"
    if scan_points is not None and template_points is not None:
        anchors = paired_positions(scan_points, template_points)
    partial, full = nho.Mesh.of(scan, scan.GetName()), nho.Mesh.of(template, template.GetName())
    result = nho.match(partial, full, anchors)
    for node, side in ((scan, "partial"), (template, "full")):
        show(node, result.point_data(side))
    return result


def paired_positions(scan_points: Any, template_points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two (k, 3) arrays of positions in the world, by label or by order."""
    ours, theirs = control_points(scan_points), control_points(template_points)
    by_label = {label: position for label, position in theirs}
    common = [(at, by_label[label]) for label, at in ours if label in by_label]
    if not common:
        if len(ours) != len(theirs):
            raise ValueError(
                f"{scan_points.GetName()} has {len(ours)} points and {template_points.GetName()} "
                f"{len(theirs)}, and no two labels agree; give matching points the same label"
            )
        common = [(at, to) for (_, at), (_, to) in zip(ours, theirs, strict=True)]
    first, second = zip(*common, strict=True)
    return np.array(first), np.array(second)


def control_points(markups: Any) -> list[tuple[str, list[float]]]:
    """Labels and places in the world of points that are placed.

    Slicer puts the name of the list before labels of its own, which is left out.
    """
    found = []
    prefix = f"{markups.GetName()}-"
    for row in range(markups.GetNumberOfControlPoints()):
        if markups.GetNthControlPointPositionStatus(row) == markups.PositionDefined:
            position = [0.0, 0.0, 0.0]
            markups.GetNthControlPointPositionWorld(row, position)
            found.append((markups.GetNthControlPointLabel(row).removeprefix(prefix), position))
    return found


def show(node: Any, data: dict[str, np.ndarray]) -> None:
    """Put arrays on the points of a model, and show the colours among them."""
    for name, values in data.items():
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        array.SetName(name)
        node.GetPolyData().GetPointData().AddArray(array)
    node.GetPolyData().Modified()
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    if display is not None:
        display.SetActiveScalarName("nho_color")
        display.SetScalarRangeFlag(display.UseDirectMapping)
        display.ScalarVisibilityOn()


def carry_points(result: Any, source: Any, target: Any) -> int:
    """Landmarks of the template, placed on the scan; how many have a partner there.

    Those without one are listed in ``target`` as undefined.
    """
    import nho
    from nho.transfer import Transfer

    landmarks = control_points(source)
    points, _ = nho.project(result.full, np.array([position for _, position in landmarks]))
    places = Transfer(result, result.partial, result.full).points(points)
    positions = places.positions(result.partial)
    target.RemoveAllControlPoints()
    for (label, _), face, position in zip(landmarks, places.face, positions, strict=True):
        if face >= 0:
            target.AddControlPointWorld(*position.tolist(), label)
        else:
            row = target.AddControlPointWorld(0.0, 0.0, 0.0, label)
            target.UnsetNthControlPointPosition(row)
    return int((places.face >= 0).sum())


def fit(result: Any, template: Any, target: Any) -> None:
    """The template deformed onto the scan, as the surface of another model node."""
    fitted = template.GetPolyData().NewInstance()
    fitted.DeepCopy(template.GetPolyData())
    moved = numpy_to_vtk(np.array(result.fit().mesh.vertices), deep=True)
    fitted.GetPoints().SetData(moved)
    fitted.Modified()
    target.SetAndObservePolyData(fitted)
