# SPDX-License-Identifier: GPL-3.0-or-later
"""Match a scan to a template inside Blender: `3D View > Sidebar > nho`."""

from __future__ import annotations

import bpy

from . import operators, panel

bl_info = {
    "name": "nho: match a scan to a template",
    "author": "The NHO authors",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "3D View > Sidebar > nho",
    "description": "Region, dense map and confidence; carry UVs and weights, fit the template",
    "category": "Mesh",
}

_CLASSES = (*operators.CLASSES, *panel.CLASSES)


def register() -> None:
    """Called by Blender when the add-on is enabled."""
    for each in _CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Scene.nho = bpy.props.PointerProperty(type=panel.NhoSettings)


def unregister() -> None:
    """Called by Blender when the add-on is disabled."""
    del bpy.types.Scene.nho
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
