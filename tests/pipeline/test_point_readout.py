"""Maps of points alone are corrected by the template bent onto them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nho
from nho.lab.bench.datasets import FAMILIES
from nho.pipeline.point_readout import _FARTHEST, read_off_template

FAST = nho.preset("default").replace(threads=1)


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = nho.sample_vertices(piece.mesh, 12)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def inside_out(mesh):
    """The same with a patch of its faces turned inside out, as of a surface through points."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    patch = np.argsort(np.linalg.norm(middles - middles[0], axis=1))[: mesh.n_faces // 8]
    faces = np.array(mesh.faces)
    faces[patch] = faces[patch][:, [0, 2, 1]]
    return nho.Mesh(mesh.vertices, faces, "scan")


def off(result, full, truth):
    return np.linalg.norm(result.points.positions(full) - truth, axis=1)


@pytest.mark.slow
@pytest.mark.data
def test_points_of_thin_parts_gain_by_it(data):
    """A wolf whose toes and ears are as thin as its points are apart."""
    pair = FAMILIES["tosca"].load(data, "wolf2-cut25")
    points = nho.Mesh.from_points(pair.partial.vertices)
    by_surface, by_template = (
        nho.evaluate(nho.match(scan, pair.full, pair.anchors(20), FAST), pair.full, pair.truth)
        for scan in (replace(points, of_points=False), points)
    )
    assert by_template.geodesic_error < 0.85 * by_surface.geodesic_error


def test_points_that_touch_another_part_keep_their_partner(whole, piece, anchors):
    result = nho.match(piece.mesh, whole, anchors, FAST)
    first = piece.mesh.vertices[0]
    other = int(np.linalg.norm(piece.mesh.vertices - first, axis=1).argmax())
    places = np.array(piece.mesh.vertices)
    places[other] = first
    touching = replace(piece.mesh.moved(places), of_points=True)
    again = read_off_template(result, touching, whole)
    moved = again.points.positions(whole) - result.points.positions(whole)
    away = np.linalg.norm(moved, axis=1)
    assert away[other] == 0 and away.max() <= _FARTHEST * whole.mean_edge_length
    assert (away > 0).any()


def test_a_rigid_motion_of_points_needs_no_normals(whole, piece, anchors):
    scan = replace(inside_out(piece.mesh), of_points=True)
    assert off(nho.match(scan, whole, anchors, FAST), whole, piece.mesh.vertices).max() < 1e-6
