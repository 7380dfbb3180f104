"""Sliding: tangential differences go, shapes and what is unknown stay as they are."""

import numpy as np
import pytest

from nho.geometry.surface import project
from nho.geometry.tangents import tangent_frames
from nho.shapes import slide
from nho.shapes.sliding import bending_energy
from tests.shapes.family import TEMPLATE, shape_of


def slipped(seed=0):
    """(6, p, 3) shapes whose vertices have slipped along the surface, and where they were."""
    random = np.random.default_rng(seed)
    truth = np.stack([shape_of(*random.normal(size=2)) for _ in range(6)])
    out = []
    for shape in truth:
        mesh = TEMPLATE.moved(shape)
        first, second = tangent_frames(mesh.vertex_normals)
        far = 0.4 * mesh.mean_edge_length * random.normal(size=(2, len(shape), 1))
        goal = shape + far[0] * first + far[1] * second
        out.append(project(mesh, goal)[0].positions(mesh))
    return np.stack(out), truth


def test_vertices_slide_back_and_stay_on_their_surface():
    shapes, truth = slipped()
    before = np.linalg.norm(shapes - truth, axis=2).mean()
    surfaces = [TEMPLATE.moved(shape) for shape in shapes]
    slide(shapes, TEMPLATE)
    assert np.linalg.norm(shapes - truth, axis=2).mean() < 0.75 * before
    away = [project(mesh, shape)[1].max() for mesh, shape in zip(surfaces, shapes, strict=True)]
    assert max(away) < 0.1 * TEMPLATE.mean_edge_length


def test_what_is_not_known_does_not_slide():
    shapes, _ = slipped()
    weights = np.ones(shapes.shape[:2])
    weights[:, :100] = 0.01
    given = shapes.copy()
    slide(shapes, TEMPLATE, weights)
    np.testing.assert_array_equal(shapes[:, :100], given[:, :100])
    assert not np.array_equal(shapes[:, 100:], given[:, 100:])


def test_affine_maps_cost_no_bending_energy_and_all_else_does():
    points = np.random.default_rng(0).normal(size=(30, 3))
    energy = bending_energy(points)
    assert np.linalg.eigvalsh(energy).min() > -1e-9
    np.testing.assert_allclose(energy @ np.c_[np.ones(30), points], 0, atol=1e-9)
    bump = np.exp(-(points**2).sum(axis=1))
    assert (
        bump @ energy @ bump == pytest.approx(bump @ energy.T @ bump) and bump @ energy @ bump > 0
    )
