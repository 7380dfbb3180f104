"""Missing parts are inferred from what other shapes have there."""

import numpy as np
import pytest

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.shapes.mirror_images import Shapes
from nho.shapes.missing_parts import deformations, whole_shapes, with_missing_parts
from nho.shapes.procrustes import normalised, pose_onto, procrustes_mean
from nho.shapes.smooth_field import SmoothField

TEMPLATE = bumpy_sphere(2)
AREAS = TEMPLATE.vertex_areas / TEMPLATE.area
BUMPS = np.random.default_rng(3).normal(size=(8, 3))


def scans(people=5, each=3, seed=0):
    """Halves of several scans of each person: true positions, what is given, and weights."""
    random = np.random.default_rng(seed)
    centres = BUMPS / np.linalg.norm(BUMPS, axis=1, keepdims=True)
    near = np.exp(4 * (TEMPLATE.vertices @ centres.T - 1))
    truth, given, weights = [], [], []
    for _ in range(people):
        own = random.normal(size=len(BUMPS))
        for _ in range(each):
            heights = 0.12 * (own + 0.3 * random.normal(size=len(BUMPS)))
            shape = TEMPLATE.vertices * (1 + near @ heights)[:, None]
            cut = cut_by_plane(TEMPLATE.moved(shape), random.normal(size=3), keep_area=0.5)
            shape = 40 * shape @ random_rotation(random).T
            noisy = shape + 0.2 * random.normal(size=shape.shape)
            truth.append(shape)
            given.append(np.where(cut.kept_vertices[:, None], noisy, 1e3))
            weights.append(cut.kept_vertices.astype(float))
    return np.stack(truth), np.stack(given), np.stack(weights)


def hidden_error(positions, truth, known):
    away = (positions - truth)[known == 0]
    return float(np.sqrt((away**2).sum(axis=1).mean()))


def mean_of(given, weights):
    return procrustes_mean(given, weights, AREAS, normalised(TEMPLATE.vertices, AREAS)[0])


@pytest.fixture(scope="module")
def halves():
    return scans()


def test_a_missing_half_is_nearer_to_the_truth_than_the_mean_and_the_known_half_stays(halves):
    truth, given, weights = halves
    mean = mean_of(given, weights)
    model = deformations(given, weights, mean, SmoothField.on(mean))
    filled, trust = with_missing_parts(model, given, weights)
    np.testing.assert_array_equal(filled[weights > 0], given[weights > 0])
    assert ((trust > 0) & (trust < 1))[weights == 0].all() and (trust[weights > 0] == 1).all()
    laid = [
        pose_onto(mean, shape, row).apply(mean) for shape, row in zip(given, weights, strict=True)
    ]
    error, of_mean = hidden_error(filled, truth, weights), hidden_error(laid, truth, weights)
    print(error, of_mean)
    assert error < 0.5 * of_mean


def test_a_space_of_halves_completes_them_however_many_components_it_has(halves):
    truth, given, weights = halves
    space = nho.ShapeSpace.fit(
        given, TEMPLATE, weights, components=10, groups=[str(n // 3) for n in range(15)]
    )
    found = np.stack(
        [space.estimate(shape, row).positions for shape, row in zip(given, weights, strict=True)]
    )
    laid = [
        pose_onto(space.model.mean, shape, row * AREAS).apply(space.model.mean)
        for shape, row in zip(given, weights, strict=True)
    ]
    error, of_mean = hidden_error(found, truth, weights), hidden_error(laid, truth, weights)
    print(error, of_mean)
    assert error < 0.5 * of_mean


def test_nothing_is_inferred_where_next_to_nothing_is_missing(halves):
    truth, _, weights = halves
    known = np.ones_like(weights)
    known[0, :20] = 0.01
    mean = mean_of(truth, known)
    assert deformations(truth, known, mean, SmoothField.on(mean)) is None
    filled, trust = with_missing_parts(None, truth, known)
    assert filled is truth and trust is known


def test_vertices_between_those_that_were_inferred_follow_them(halves):
    truth, given, weights = halves
    mean, rows = mean_of(given, weights), np.arange(0, TEMPLATE.n_vertices, 2)
    model = deformations(
        given[:, rows], weights[:, rows], mean[rows], SmoothField.on(mean).at(rows)
    )
    some, _ = with_missing_parts(model, given[:, rows], weights[:, rows])
    whole = whole_shapes(model, Shapes(given, weights), some, rows, TEMPLATE)
    for i in range(3):
        shape, unknown = whole.positions[i], weights[i] == 0
        np.testing.assert_array_equal(shape[~unknown], given[i][~unknown])
        edges = Mesh(shape, TEMPLATE.faces, "whole").edge_lengths
        assert edges.max() < 3 * Mesh(truth[i], TEMPLATE.faces, "truth").edge_lengths.max()
        at_rows = np.abs(shape[rows] - some[i])[unknown[rows]].max()
        assert (
            at_rows
            < 0.1
            * hidden_error(
                pose_onto(TEMPLATE.vertices, given[i], weights[i]).apply(TEMPLATE.vertices)[None],
                truth[i][None],
                weights[i][None],
            )
            + 1.0
        )
        assert (whole.weights[i][unknown] > 0).all()
