"""Module `Nho Match` of 3D Slicer: a panel around `NhoMatchLib.logic`."""

from __future__ import annotations

import qt
import slicer
from slicer.ScriptedLoadableModule import (
    ScriptedLoadableModule,
    ScriptedLoadableModuleLogic,
    ScriptedLoadableModuleWidget,
)

REQUIREMENT = "nho"


class NhoMatch(ScriptedLoadableModule):
    """What the list of modules says."""

    def __init__(self, parent):
        super().__init__(parent)
        parent.title = "Nho Match"
        parent.categories = ["Surface Models"]
        parent.contributors = ["The NHO authors"]
        parent.helpText = (
            "Match a scan of a part to a complete template: region, dense map and confidence. "
            "Anchors are point lists with the same labels; without them they are found."
        )


class NhoMatchWidget(ScriptedLoadableModuleWidget):
    """Four choices and three buttons."""

    def setup(self):
        """Lay out the panel."""
        super().setup()
        form = qt.QFormLayout()
        self.layout.addLayout(form)
        models, points = ["vtkMRMLModelNode"], ["vtkMRMLMarkupsFiducialNode"]
        self.scan = self._selector(form, "Scan", models)
        self.template = self._selector(form, "Template", models)
        self.scanPoints = self._selector(form, "Points on the scan", points, optional=True)
        self.templatePoints = self._selector(form, "Points on the template", points, optional=True)
        self._button("Match", self.onMatch)
        self._button("Carry the template's points to the scan", self.onCarry)
        self._button("Fit the template to the scan", self.onFit)
        self.layout.addStretch(1)
        self.result = None

    def _selector(self, form, label, classes, optional=False):
        selector = slicer.qMRMLNodeComboBox()
        selector.nodeTypes = classes
        selector.noneEnabled = selector.addEnabled = optional
        selector.setMRMLScene(slicer.mrmlScene)
        form.addRow(label, selector)
        return selector

    def _button(self, text, act):
        button = qt.QPushButton(text)
        button.connect("clicked()", act)
        self.layout.addWidget(button)

    def onMatch(self):  # noqa: N802
        """Match, and say how it went."""
        if not ensure_nho():
            return
        with slicer.util.tryWithErrorDisplay("The match failed.", waitCursor=True):
            self.result = self.logic().match(
                self.scan.currentNode(),
                self.template.currentNode(),
                self.scanPoints.currentNode(),
                self.templatePoints.currentNode(),
            )
            slicer.util.showStatusMessage(repr(self.result))
            if self.result.warnings:
                slicer.util.warningDisplay("\n\n".join([self.result.status, *self.result.warnings]))

    def onCarry(self):  # noqa: N802
        """All points of the template's list, on the scan."""
        with slicer.util.tryWithErrorDisplay("Nothing was carried.", waitCursor=True):
            result, points = self._matched(), self.templatePoints.currentNode()
            if points is None:
                raise ValueError("choose the points on the template")
            target = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", "carried")
            self.logic().carry_points(result, points, target)

    def onFit(self):  # noqa: N802
        """The fitted template as a new model."""
        with slicer.util.tryWithErrorDisplay("Nothing was fitted.", waitCursor=True):
            result = self._matched()
            target = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLModelNode", "fitted template")
            self.logic().fit(result, self.template.currentNode(), target)
            target.CreateDefaultDisplayNodes()

    def _matched(self):
        """The result, before anything is added to the scene."""
        if self.result is None:
            raise ValueError("press Match first")
        return self.result

    def logic(self):
        """The functions of the module."""
        from NhoMatchLib import logic

        return logic


class NhoMatchLogic(ScriptedLoadableModuleLogic):
    """For scripts: ``slicer.util.getModuleLogic("NhoMatch").match(scan, template)``."""

    def __getattr__(self, name):
        from NhoMatchLib import logic

        return getattr(logic, name)


def ensure_nho():
    """Find or install nho; older versions of Slicer have no `slicer.packaging`."""
    try:
        import nho  # noqa: F401
    except ImportError:
        try:
            from slicer import packaging
        except ImportError:
            if not slicer.util.confirmOkCancelDisplay("Install nho from PyPI?"):
                return False
            slicer.util.pip_install(REQUIREMENT)
        else:
            packaging.pip_ensure(REQUIREMENT, requester="Nho Match")
    import importlib.util

    return importlib.util.find_spec("nho") is not None
