"""A rigid scan stays rigid, to the noise; what bends is left as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices

FAST = nho.preset("default").replace(threads=1)
NOISE = 2e-4  # of the size of the whole


@pytest.fixture(scope="module")
def scan(whole, piece):
    """The piece, turned, in another unit and with noise, and its anchors."""
    random = np.random.default_rng(4)
    turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    noisy = piece.mesh.vertices + NOISE * np.sqrt(whole.area) * random.standard_normal(
        piece.mesh.vertices.shape
    )
    chosen = sample_vertices(piece.mesh, 10)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    return Mesh(25 * noisy @ turn.T + [3.0, -2.0, 8.0], piece.mesh.faces, "scan"), anchors


def off(result, whole, piece):
    away = result.points.positions(whole) - piece.mesh.vertices
    return np.linalg.norm(away, axis=1) / np.sqrt(whole.area)


def test_a_rigid_scan_is_matched_to_its_noise(whole, piece, scan):
    mesh, anchors = scan
    through_coarse = FAST.replace(solve_vertices=300)
    result = nho.match(mesh, whole, anchors, through_coarse)
    bent = nho.match(mesh, whole, anchors, through_coarse.replace(rigid=False))
    assert off(result, whole, piece).mean() < 2 * NOISE
    assert off(result, whole, piece).mean() < 0.5 * off(bent, whole, piece).mean()
    assert result.scale == pytest.approx(1 / 25, rel=1e-3)


def test_what_bends_is_left_to_the_bit(whole, piece, scan):
    mesh, anchors = scan
    x, y, z = mesh.vertices.T
    bent = Mesh(np.column_stack([x + 0.02 * y**2, y, z]), mesh.faces, "bent scan")
    results = [nho.match(bent, whole, anchors, FAST.replace(rigid=on)) for on in (True, False)]
    np.testing.assert_array_equal(results[0].barycentric, results[1].barycentric)


def test_a_rigid_motion_of_points_needs_no_normals(whole, piece, scan):
    """A patch turned inside out, as of a surface through points."""
    middles = piece.mesh.vertices[piece.mesh.faces].mean(axis=1)
    patch = np.argsort(np.linalg.norm(middles - middles[0], axis=1))[: piece.mesh.n_faces // 8]
    faces = np.array(piece.mesh.faces)
    faces[patch] = faces[patch][:, [0, 2, 1]]
    cloud = replace(Mesh(piece.mesh.vertices, faces, "scan"), of_points=True)
    chosen = sample_vertices(piece.mesh, 12)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    assert off(nho.match(cloud, whole, anchors, FAST), whole, piece).max() < 1e-6
