# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from typing import Any

import bpy

from . import matching


def is_installed() -> bool:
    """Whether Blender's Python finds nho."""
    return importlib.util.find_spec("nho") is not None


class NHO_OT_install(bpy.types.Operator):  # noqa: N801
    """Install nho from PyPI into Blender's folder of modules"""  # noqa: D400, D415

    bl_idname = "nho.install"
    bl_label = "Install nho"
    package: bpy.props.StringProperty(default="nho", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        """Run pip; Blender ships it, or can make it."""
        folder = bpy.utils.user_resource("SCRIPTS", path="modules", create=True)
        python = [sys.executable, "-m"]
        subprocess.run([*python, "ensurepip"], capture_output=True, check=False)
        done = subprocess.run(
            [*python, "pip", "install", "--upgrade", "--target", folder, self.package],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
            self.report({"ERROR"}, last)
            return {"CANCELLED"}
        if folder not in sys.path:
            sys.path.append(folder)
        importlib.invalidate_caches()
        return {"FINISHED"}


class _OnTwoObjects(bpy.types.Operator):
    """What needs a scan and a template."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Two different objects are chosen, and nho is there."""
        chosen = context.scene.nho
        return bool(
            is_installed() and chosen.scan and chosen.template and chosen.scan != chosen.template
        )

    def execute(self, context: Any) -> set[str]:
        """Do it; what goes wrong is told in Blender's own way."""
        from nho.errors import NhoError

        chosen = context.scene.nho
        try:
            said = self.act(chosen.scan, chosen.template, chosen)
        except (NhoError, LookupError) as problem:
            self.report({"ERROR"}, str(problem).strip("'"))
            return {"CANCELLED"}
        self.report({"INFO"}, said)
        return {"FINISHED"}


class NHO_OT_match(_OnTwoObjects):  # noqa: N801
    """Match the scan to the template; anchors are empties parented to them, or vertex groups"""  # noqa: D400, D415

    bl_idname = "nho.match"
    bl_label = "Match"

    def act(self, scan: Any, template: Any, chosen: Any) -> str:
        """Match, and say how it went."""
        result = matching.match(scan, template, chosen.fit)
        for warning in result.warnings:
            self.report({"WARNING"}, warning)
        return repr(result)


class NHO_OT_transfer(_OnTwoObjects):  # noqa: N801
    """Carry UV maps and vertex groups of the template to the scan"""  # noqa: D400, D415

    bl_idname = "nho.transfer"
    bl_label = "Transfer UVs and weights"

    def act(self, scan: Any, template: Any, chosen: Any) -> str:
        """Carry everything, and say what."""
        carried = matching.transfer(scan, template)
        return "carried " + (", ".join(carried) or "nothing: the template has neither")


CLASSES = (NHO_OT_install, NHO_OT_match, NHO_OT_transfer)
