# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators do: match two objects, write the result on them, carry data through it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import meshes

FIT = "nho fit"
_OWN = ("nho_", "anchor")  # vertex groups that are not carried

# Results of this session, by the names of (scan, template).
results: dict[tuple[str, str], Any] = {}


def match(scan: Any, template: Any, fit: bool = True) -> Any:
    """Match two mesh objects; the result is written on both and returned."""
    import nho

    pair = [(meshes.world_vertices(item), meshes.triangles(item)) for item in (scan, template)]
    ours, theirs = meshes.anchors_on(scan), meshes.anchors_on(template)
    names = sorted(ours.keys() & theirs.keys())
    anchors: Any = "auto"
    if names:
        anchors = (
            np.array([ours[name] for name in names]),
            np.array([theirs[name] for name in names]),
        )
    partial, full = (
        nho.Mesh(*arrays, item.name) for arrays, item in zip(pair, (scan, template), strict=True)
    )
    result = nho.match(partial, full, anchors)
    results[scan.name, template.name] = result
    show(result, scan, template)
    if fit:
        meshes.set_shape_key(template, FIT, result.fit().mesh.vertices)
    return result


def show(result: Any, scan: Any, template: Any) -> None:
    """Attributes and vertex groups on both objects."""
    for item, side in ((scan, "partial"), (template, "full")):
        for name, values in result.point_data(side).items():
            meshes.set_attribute(item, name, values)
        item.data.color_attributes.active_color_name = "nho_color"
    meshes.set_group(scan, "nho_confidence", result.confidence)
    meshes.set_group(template, "nho_region", result.region_score * result.region)


def transfer(scan: Any, template: Any) -> list[str]:
    """Carry texture coordinates and vertex groups of the template to the scan; what was carried."""
    from nho.transfer import Transfer

    result = results.get((scan.name, template.name))
    if result is None:
        raise LookupError(f"match {scan.name} to {template.name} first")
    carry, carried = Transfer(result, result.partial, result.full), []
    for layer in template.data.uv_layers:
        uv = carry.uv(_corner_uv(template, layer))
        _set_corner_uv(scan, layer.name, uv)
        carried.append(f"UV map {layer.name}")
    for group in template.vertex_groups:
        if not group.name.lower().startswith(_OWN):
            weights = result.transfer(meshes.group_weights(template, group))
            meshes.set_group(scan, group.name, np.nan_to_num(weights))
            carried.append(f"vertex group {group.name}")
    return carried


def _corner_uv(item: Any, layer: Any) -> np.ndarray:
    """(m, 3, 2) texture coordinates of the corners of the triangles."""
    flat = np.empty(2 * len(item.data.loops))
    layer.uv.foreach_get("vector", flat)
    return flat.reshape(-1, 2)[meshes.triangles(item, "loops")]


def _set_corner_uv(item: Any, name: str, uv: np.ndarray) -> None:
    layer = item.data.uv_layers.get(name) or item.data.uv_layers.new(name=name, do_init=False)
    flat = np.zeros((len(item.data.loops), 2))
    flat[meshes.triangles(item, "loops").ravel()] = np.nan_to_num(uv).reshape(-1, 2)
    layer.uv.foreach_set("vector", flat.ravel())
