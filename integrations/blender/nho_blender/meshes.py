# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's objects and arrays. Vertices keep Blender's order, in world coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np


def world_vertices(item: Any) -> np.ndarray:
    """(n, 3) vertices of an object, without modifiers and shape keys."""
    local = np.empty(3 * len(item.data.vertices))
    item.data.vertices.foreach_get("co", local)
    matrix = np.array(item.matrix_world)
    return local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def to_local(item: Any, positions: np.ndarray) -> np.ndarray:
    """(n, 3) world positions in the coordinates of an object."""
    inverse = np.array(item.matrix_world.inverted())
    return positions @ inverse[:3, :3].T + inverse[:3, 3]


def triangles(item: Any, of: str = "vertices") -> np.ndarray:
    """(m, 3) triangles of an object, as ``vertices`` or as ``loops``."""
    item.data.calc_loop_triangles()
    corners = np.empty(3 * len(item.data.loop_triangles), dtype=np.int32)
    item.data.loop_triangles.foreach_get(of, corners)
    return corners.reshape(-1, 3).astype(np.int64)


def anchors_on(item: Any) -> dict[str, np.ndarray]:
    """World positions by name: empties that are children, and vertex groups called anchor...

    Names that Blender made unique (``nose.001``) count as the same name. A group stands for the
    mean of its vertices, by weight.
    """
    found = {
        plain_name(child.name): np.array(child.matrix_world.translation)
        for child in item.children
        if child.type == "EMPTY"
    }
    vertices = world_vertices(item)
    for group in item.vertex_groups:
        if group.name.lower().startswith("anchor"):
            weights = group_weights(item, group)
            if weights.sum() > 0:
                found.setdefault(plain_name(group.name), weights @ vertices / weights.sum())
    return found


def plain_name(name: str) -> str:
    """A name without the number that Blender puts behind it."""
    stem, dot, number = name.rpartition(".")
    return stem if dot and len(number) == 3 and number.isdigit() else name


def group_weights(item: Any, group: Any) -> np.ndarray:
    """(n,) weights of a vertex group."""
    weights = np.zeros(len(item.data.vertices))
    for vertex in item.data.vertices:
        for entry in vertex.groups:
            if entry.group == group.index:
                weights[vertex.index] = entry.weight
    return weights


def set_group(item: Any, name: str, weights: np.ndarray) -> None:
    """Replace a vertex group; vertices without weight are not in it."""
    old = item.vertex_groups.get(name)
    if old is not None:
        item.vertex_groups.remove(old)
    group = item.vertex_groups.new(name=name)
    for vertex in np.flatnonzero(weights > 0).tolist():
        group.add([vertex], float(weights[vertex]), "REPLACE")


def set_attribute(item: Any, name: str, values: np.ndarray) -> None:
    """Replace an attribute of the points: floats, whole numbers, or colours (bytes)."""
    old = item.data.attributes.get(name)
    if old is not None:
        item.data.attributes.remove(old)
    if values.ndim == 2:
        made = item.data.attributes.new(name, "BYTE_COLOR", "POINT")
        rgba = np.column_stack([values / 255.0, np.ones(len(values))])
        made.data.foreach_set("color_srgb", rgba.astype(np.float32).ravel())
    elif values.dtype.kind in "iu":
        made = item.data.attributes.new(name, "INT", "POINT")
        made.data.foreach_set("value", values.astype(np.int32))
    else:
        made = item.data.attributes.new(name, "FLOAT", "POINT")
        made.data.foreach_set("value", values.astype(np.float32))


def set_shape_key(item: Any, name: str, positions: np.ndarray) -> None:
    """Replace a shape key; ``positions`` are (n, 3) in the world."""
    if item.data.shape_keys is None:
        item.shape_key_add(name="Basis", from_mix=False)
    key = item.data.shape_keys.key_blocks.get(name)
    if key is None:
        key = item.shape_key_add(name=name, from_mix=False)
    key.data.foreach_set("co", to_local(item, positions).astype(np.float32).ravel())
    key.value = 0.0
