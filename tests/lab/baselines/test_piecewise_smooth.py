"""The region by a piecewise smooth function: its energy, its evidence, and what it recovers."""

from __future__ import annotations

import numpy as np
import pytest

from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab import baselines
from nho.lab.baselines import piecewise_smooth
from nho.lab.baselines.pfm_energies import BoundaryLength
from nho.lab.baselines.piecewise_smooth import (
    PiecewiseSmoothEnergy,
    evidence_weights,
    found_back,
)
from nho.operator.field import NeuralField
from nho.runtime.parallel import SERIAL
from nho.runtime.run import Stage


@pytest.fixture(scope="module")
def answer(whole, piece):
    return baselines.run("piecewise-smooth", piece.mesh, whole, None)


def energy_of(whole, evidence, share):
    unit = whole.scaled(1 / np.sqrt(whole.area))
    masses = unit.vertex_areas
    weights = evidence_weights(evidence, masses, share)
    values = evidence.astype(float)
    return unit, PiecewiseSmoothEnergy(values, weights, masses, share, BoundaryLength(unit))


def test_the_gradient_is_that_of_the_energy(whole, piece):
    random = np.random.default_rng(1)
    _, energy = energy_of(whole, piece.kept_vertices, 0.6)
    at, step = random.uniform(0, 1, (2, whole.n_vertices))
    h = 1e-6
    slope = (energy(at + h * step)[0] - energy(at - h * step)[0]) / (2 * h)
    assert energy(at)[1] @ step == pytest.approx(slope, rel=1e-5)


def test_either_side_of_the_evidence_counts_as_much_as_its_area(whole):
    found = np.zeros(whole.n_vertices, dtype=bool)
    found[:5] = True
    weights = evidence_weights(found, whole.vertex_areas, 0.6)
    assert weights[found].sum() == pytest.approx(0.6)
    assert weights.sum() == pytest.approx(1)
    assert evidence_weights(~found & found, whole.vertex_areas, 1.0).sum() > 0


def test_places_that_only_one_shape_has_are_not_found_back(whole, piece):
    random = np.random.default_rng(3)
    other = random.standard_normal((whole.n_vertices, 12))
    found = found_back(other[piece.vertex_of_parent], other, whole, SERIAL)
    assert found[piece.kept_vertices].all()
    assert found[~piece.kept_vertices].mean() < 0.2


def test_the_field_overrules_scattered_errors_of_the_evidence(whole, piece):
    random = np.random.default_rng(2)
    noisy = piece.kept_vertices ^ (random.uniform(size=whole.n_vertices) < 0.25)
    unit, energy = energy_of(whole, noisy, 0.6)
    basis = neumann_basis(laplacian(unit), 20)
    field = NeuralField(basis.functions, (128, 128), "tanh", np.random.default_rng(0))
    inside = piecewise_smooth._fitted(field, energy, Stage("field")) > 0.5
    raw, fitted = (
        region_scores(region, piece.kept_vertices, whole.vertex_areas)["iou"]
        for region in (noisy, inside)
    )
    assert fitted > raw + 0.05


def test_a_cut_is_located_and_nothing_is_matched(whole, piece, answer):
    everything = np.ones(whole.n_vertices, dtype=bool)
    found, trivial, none = (
        region_scores(region, piece.kept_vertices, whole.vertex_areas)
        for region in (answer.region, everything, ~everything)
    )
    assert found["iou"] > 0.72 and found["precision"] > 0.95
    # Neither trivial answer would pass.
    assert trivial["iou"] < 0.65 and trivial["precision"] < 0.65 and none["iou"] == 0
    assert (answer.vertex_map == -1).all() and (answer.confidence == 0).all()


def test_a_unit_for_both_and_a_pose_for_each_change_nothing(whole, piece, answer):
    random = np.random.default_rng(5)
    moved = []
    for mesh in (piece.mesh, whole):
        turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
        turn *= np.linalg.det(turn)
        moved.append(Mesh(1e3 * mesh.vertices @ turn.T + 50, mesh.faces))
    result = baselines.run("piecewise-smooth", *moved, None)
    assert (result.region == answer.region).mean() > 0.97


def test_a_mesh_with_fewer_vertices_than_modes_has_an_answer():
    full = bumpy_sphere(1, seed=0)
    cut = cut_by_plane(full, np.array([0.0, 0.3, 1.0]), keep_area=0.6)
    result = baselines.run("piecewise-smooth", cut.mesh, full, None)
    assert np.isfinite(result.region_score).all()
