"""Pictures of docs/integrations.md: the shipped pair after a match, drawn without a window.

.venv-integrations/bin/python tools/integration_pictures.py pyvista docs/images/pyvista.png
.venv-slicer/bin/python tools/integration_pictures.py slicer docs/images/slicer.png

`slicer` draws what the module leaves in the scene with the VTK of 3D Slicer, not its window.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import nho
from nho.evaluation.sample import load_sample

SIZE = 900, 500
SCALARS = {"partial": ("nho_confidence", 0.05), "full": ("nho_region_score", 0.55)}
ASIDE = np.array([0.7, 0.0, 0.0])  # heights of the template: how far apart both stand


def pair_side_by_side() -> tuple[nho.Mesh, nho.Mesh, np.ndarray]:
    """Scan and template, the scan to the left, and eight anchors."""
    sample = load_sample("plane")
    height = np.ptp(sample.full.vertices[:, 1])
    scan = sample.partial.moved(sample.partial.vertices - ASIDE * height)
    chosen = nho.sample_vertices(scan, 12)
    chosen = chosen[sample.truth_vertex[chosen] >= 0][:8]
    return scan, sample.full, np.stack([chosen, sample.truth_vertex[chosen]], axis=1)


def draw_pyvista(path: Path) -> None:
    """Matching colours, and beside them confidence and region, by a plotter of PyVista."""
    import pyvista as pv

    scan, template, pairs = pair_side_by_side()
    scan, template = scan.to_pyvista(), template.to_pyvista()
    result = scan.nho.match(template, pairs)
    plotter = pv.Plotter(off_screen=True, shape=(1, 2), window_size=SIZE, border=False)
    for side in ("partial", "full"):
        plotter.subplot(0, 0)
        plotter.add_mesh(result.to_pyvista(side), scalars="nho_color", rgb=True)
        plotter.subplot(0, 1)
        scalars, left = SCALARS[side]
        bar = {"title": scalars, "position_x": left, "position_y": 0.02, "width": 0.4}
        bar |= {"n_labels": 2, "fmt": "%.1f", "label_font_size": 14, "title_font_size": 14}
        plotter.add_mesh(result.to_pyvista(side), scalars=scalars, clim=(0, 1), scalar_bar_args=bar)
    for column in (0, 1):
        plotter.subplot(0, column)
        plotter.view_xy()
        plotter.camera.zoom(1.2)
    plotter.screenshot(path)


def draw_slicer(path: Path) -> None:
    """Two models and two point lists in, what the module shows on them out."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "integrations" / "slicer" / "NhoMatch"))
    import slicer_core
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (draws)
    from NhoMatchLib import logic
    from vtkmodules.vtkIOImage import vtkPNGWriter
    from vtkmodules.vtkRenderingCore import (
        vtkActor,
        vtkPolyDataMapper,
        vtkRenderer,
        vtkRenderWindow,
        vtkWindowToImageFilter,
    )

    scene = slicer_core.vtkMRMLScene()
    scan, template, pairs = pair_side_by_side()
    models, lists = [], []
    for mesh, rows, name in ((scan, pairs[:, 0], "scan"), (template, pairs[:, 1], "template")):
        node = scene.AddNewNodeByClass("vtkMRMLModelNode", name)
        node.SetAndObservePolyData(_poly_data(mesh))
        models.append(node)
        points = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", f"{name} points")
        for row, place in enumerate(mesh.vertices[rows].tolist()):
            points.AddControlPointWorld(*place, f"L{row}")
        lists.append(points)
    logic.match(*models, *lists)
    renderer, window = vtkRenderer(), vtkRenderWindow()
    renderer.SetBackground(0.75, 0.76, 0.9)
    for node in models:
        display, mapper, actor = node.GetDisplayNode(), vtkPolyDataMapper(), vtkActor()
        mapper.SetInputData(node.GetPolyData())
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray(display.GetActiveScalarName())
        mapper.SetScalarVisibility(display.GetScalarVisibility())
        actor.SetMapper(mapper)
        renderer.AddActor(actor)
    size = scan.mean_edge_length
    for points in lists:
        for _, place in logic.control_points(points):
            renderer.AddActor(_ball(place, 1.2 * size))
    window.SetOffScreenRendering(1)
    window.SetSize(*SIZE)
    window.AddRenderer(renderer)
    renderer.ResetCamera()
    renderer.GetActiveCamera().Zoom(1.5)
    window.Render()
    picture, writer = vtkWindowToImageFilter(), vtkPNGWriter()
    picture.SetInput(window)
    writer.SetInputConnection(picture.GetOutputPort())
    writer.SetFileName(str(path))
    writer.Write()


def _poly_data(mesh):
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

    points, cells, surface = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetData(numpy_to_vtk(np.array(mesh.vertices), deep=True))
    rows = np.column_stack([np.full(mesh.n_faces, 3), mesh.faces]).astype(np.int64)
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(rows.ravel(), deep=True))
    surface.SetPoints(points)
    surface.SetPolys(cells)
    return surface


def _ball(place, radius):
    from vtkmodules.vtkFiltersSources import vtkSphereSource
    from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

    source, mapper, actor = vtkSphereSource(), vtkPolyDataMapper(), vtkActor()
    source.SetCenter(*place)
    source.SetRadius(radius)
    mapper.SetInputConnection(source.GetOutputPort())
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(0.9, 0.2, 0.5)
    return actor


if __name__ == "__main__":
    {"pyvista": draw_pyvista, "slicer": draw_slicer}[sys.argv[1]](Path(sys.argv[2]))
