# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the sidebar of the 3D view."""

from __future__ import annotations

from typing import Any

import bpy

from . import matching, meshes, operators


def _is_mesh(_: Any, item: Any) -> bool:
    return bool(item.type == "MESH")


class NhoSettings(bpy.types.PropertyGroup):
    """What the panel remembers, in the scene."""

    scan: bpy.props.PointerProperty(  # type: ignore[valid-type]
        type=bpy.types.Object, poll=_is_mesh, name="Scan", description="The partial shape"
    )
    template: bpy.props.PointerProperty(  # type: ignore[valid-type]
        type=bpy.types.Object, poll=_is_mesh, name="Template", description="The full shape"
    )
    fit: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Fit", default=True, description=f"Add the shape key {matching.FIT!r} to the template"
    )


class NHO_PT_panel(bpy.types.Panel):  # noqa: N801
    """Objects, anchors, buttons."""

    bl_label = "Match a scan"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "nho"

    def draw(self, context: Any) -> None:
        """Lay it out."""
        layout, chosen = self.layout, context.scene.nho
        if not operators.is_installed():
            layout.label(text="nho is not installed yet")
            layout.operator("nho.install")
            return
        layout.prop(chosen, "scan")
        layout.prop(chosen, "template")
        layout.prop(chosen, "fit")
        if chosen.scan and chosen.template:
            both = meshes.anchors_on(chosen.scan).keys() & meshes.anchors_on(chosen.template).keys()
            layout.label(text=f"{len(both)} anchors" if both else "No anchors: they are found")
        layout.operator("nho.match")
        layout.operator("nho.transfer")


CLASSES = (NhoSettings, NHO_PT_panel)
