"""The add-on in a real Blender without a window."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="nho-blender-")  # not the user's
bpy = pytest.importorskip("bpy")
FOLDER = Path(__file__).resolve().parents[2] / "integrations" / "blender"


@pytest.fixture(scope="module")
def addon(tmp_path_factory):
    """Installed from its zip and enabled, as a user does it."""
    spec = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    zipped = build.build(tmp_path_factory.mktemp("zip") / "nho_blender.zip")
    bpy.ops.preferences.addon_install(filepath=str(zipped), overwrite=True)
    bpy.ops.preferences.addon_enable(module="nho_blender")
    yield
    bpy.ops.preferences.addon_disable(module="nho_blender")


def add_object(name, vertices, faces):
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices.tolist(), [], faces.tolist())
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    return item


@pytest.fixture
def scene(addon, piece, whole, pairs):
    """Both shapes, the scan moved and in another unit, with empties as anchors."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item, do_unlink=True)
    scan = add_object("scan", piece.mesh.vertices, piece.mesh.faces)
    scan.location, scan.scale, scan.rotation_euler = (4, 0, 0), (2, 2, 2), (0.3, 0.1, 0.7)
    template = add_object("template", whole.vertices, whole.faces)
    bpy.context.view_layer.update()
    for number, row in enumerate(pairs):
        for item, vertex in zip((scan, template), row, strict=True):
            empty = bpy.data.objects.new(f"landmark {number}", None)
            bpy.context.scene.collection.objects.link(empty)
            empty.parent = item
            empty.location = item.data.vertices[vertex].co
    bpy.context.view_layer.update()
    bpy.context.scene.nho.scan, bpy.context.scene.nho.template = scan, template
    return scan, template


def attribute(item, name):
    layer = item.data.attributes[name]
    values = np.empty(len(layer.data), dtype=np.int32 if layer.data_type == "INT" else np.float32)
    layer.data.foreach_get("value", values)
    return values


def weights(item, name):
    index = item.vertex_groups[name].index
    found = np.zeros(len(item.data.vertices))
    for vertex in item.data.vertices:
        for entry in vertex.groups:
            if entry.group == index:
                found[vertex.index] = entry.weight
    return found


def corner_positions(item):
    """(loops, 3) where every corner of a face lies, in the object's own coordinates."""
    vertices = [tuple(vertex.co) for vertex in item.data.vertices]
    return np.array([vertices[loop.vertex_index] for loop in item.data.loops])


def test_a_match_leaves_attributes_groups_and_a_shape_key(scene, piece, whole):
    scan, template = scene
    assert bpy.ops.nho.match() == {"FINISHED"}
    assert (attribute(scan, "nho_vertex") == piece.vertex_of_parent).mean() > 0.9
    assert attribute(scan, "nho_confidence").mean() > 0.5
    assert attribute(scan, "nho_overlap").mean() > 0.5
    region = attribute(template, "nho_region") > 0
    assert (
        (region == piece.kept_vertices).mean() > 0.9 if piece.kept_vertices.dtype == bool else True
    )
    np.testing.assert_allclose(
        weights(scan, "nho_confidence"), attribute(scan, "nho_confidence"), atol=1e-6
    )
    assert (weights(template, "nho_region") > 0).sum() == region.sum()
    assert scan.data.color_attributes.active_color.name == "nho_color"
    key = template.data.shape_keys.key_blocks["nho fit"]
    moved = np.array([tuple(template.matrix_world @ point.co) for point in key.data])
    goal = np.array([tuple(scan.matrix_world @ vertex.co) for vertex in scan.data.vertices])
    gap = np.linalg.norm(moved[piece.vertex_of_parent] - goal, axis=1)
    assert np.median(gap) < 0.05  # of a shape of diameter four


def test_uvs_and_weights_are_carried(scene, piece):
    scan, template = scene
    layer = template.data.uv_layers.new(name="UVMap", do_init=False)
    place = corner_positions(template)
    layer.uv.foreach_set("vector", place[:, :2].astype(np.float32).ravel())
    group = template.vertex_groups.new(name="jaw")
    upper = [vertex.index for vertex in template.data.vertices if vertex.co.z > 0]
    group.add(upper, 1.0, "REPLACE")
    assert bpy.ops.nho.match() == {"FINISHED"}
    assert bpy.ops.nho.transfer() == {"FINISHED"}
    truth = np.isin(piece.vertex_of_parent, upper)
    assert ((weights(scan, "jaw") > 0.5) == truth).mean() > 0.95
    uv = np.empty(2 * len(scan.data.loops), dtype=np.float32)
    scan.data.uv_layers["UVMap"].uv.foreach_get("vector", uv)
    own = corner_positions(scan)
    assert np.median(np.abs(uv.reshape(-1, 2) - own[:, :2])) < 0.02


def test_vertex_groups_are_anchors_and_two_empties_are_too_few(scene, pairs):
    scan, template = scene
    for item in list(bpy.data.objects):
        if item.type == "EMPTY" and not item.name.startswith(("landmark 0", "landmark 1")):
            bpy.data.objects.remove(item, do_unlink=True)
    with pytest.raises(RuntimeError, match="at least 3"):
        bpy.ops.nho.match()
    for number, row in enumerate(pairs):
        for item, vertex in zip((scan, template), row, strict=True):
            item.vertex_groups.new(name=f"anchor {number}").add([int(vertex)], 1.0, "REPLACE")
    assert bpy.ops.nho.match() == {"FINISHED"}


def test_a_picture_shows_matching_colours(scene, tmp_path):
    scan, template = scene
    bpy.ops.nho.match()
    material = bpy.data.materials.new("colours")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    colours = nodes.new("ShaderNodeVertexColor")
    colours.layer_name = "nho_color"
    links.new(colours.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    for item in scene:
        item.data.materials.append(material)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (2, -11, 0), (np.pi / 2, 0, 0)
    light = bpy.data.objects.new("light", bpy.data.lights.new("light", "SUN"))
    light.rotation_euler, light.data.energy = (0.8, 0.2, 0), 4
    for item in (camera, light):
        bpy.context.scene.collection.objects.link(item)
    render = bpy.context.scene.render
    bpy.context.scene.camera, render.engine = camera, "CYCLES"
    bpy.context.scene.cycles.samples = 8
    render.resolution_x, render.resolution_y = 480, 240
    target = Path(os.environ.get("NHO_SCREENSHOTS", tmp_path)) / "blender.png"
    render.filepath = str(target)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(target))
    pixels = np.array(image.pixels[:]).reshape(240, 480, 4)[:, :, :3]
    assert (np.ptp(pixels, axis=2) > 0.2).mean() > 0.05  # coloured, not grey
