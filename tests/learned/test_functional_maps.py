"""Functional maps: the regularised solution is the best one, and a map leads to its vertices."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.functional_maps import (  # noqa: E402
    map_of_vertices,
    mutual_rows,
    regularised_map,
    resolvent_mask,
    soft_map,
    vertices_of_map,
)
from nho.learned.network_input import network_inputs  # noqa: E402

ARCHITECTURE = Architecture("dpfm", "hks", modes=30, map_modes=20)


@pytest.fixture(scope="module")
def shapes(whole, piece):
    return network_inputs(piece.mesh, whole, ARCHITECTURE)


def energy(matrix, a, b, penalty, weight):
    return float(((matrix @ a - b) ** 2).sum() + weight * (penalty * matrix**2).sum())


def test_no_other_map_has_less_energy(shapes):
    partial, full = shapes
    with quiet_torch(0):
        own, other = (torch.randn(len(shape.mass), 12) for shape in shapes)
    found = regularised_map(partial, full, own, other, 5.0).double()
    a, b = full.project(other).double(), partial.project(own).double()
    penalty = resolvent_mask(partial.eigenvalues.double(), full.eigenvalues.double())
    least = energy(found, a, b, penalty, 5.0)
    with quiet_torch(1):
        for _ in range(20):
            other_map = found + 1e-2 * torch.randn(found.shape).double()
            assert energy(other_map, a, b, penalty, 5.0) > least


def test_the_penalty_is_zero_between_equal_eigenvalues_and_free_of_scale(shapes):
    values = shapes[1].eigenvalues.double()
    mask = resolvent_mask(values, values)
    assert mask.diagonal().abs().max() == 0
    assert mask[0, 19] > mask[0, 10] > mask[0, 3] > 0
    assert torch.allclose(mask, resolvent_mask(1e6 * values, 1e6 * values))


def test_a_shape_and_itself_are_connected_by_the_identity(shapes):
    full = shapes[1]
    with quiet_torch(0):
        features = torch.randn(len(full.mass), 40)
    assert torch.allclose(
        regularised_map(full, full, features, features, 1e-3), torch.eye(20), atol=1e-3
    )


def test_the_functional_map_of_a_vertex_map_leads_back_to_near_it(shapes, piece, whole):
    partial, full = shapes
    matrix = map_of_vertices(partial, full, piece.vertex_of_parent)
    found, _ = vertices_of_map(matrix, partial.functions.numpy(), full.functions.numpy())
    gap = np.linalg.norm(whole.vertices[found] - whole.vertices[piece.vertex_of_parent], axis=1)
    assert np.median(gap) < 2 * whole.mean_edge_length


def test_a_row_is_mutual_if_it_is_the_nearest_of_its_nearest():
    random = np.random.default_rng(0)
    own, other = random.standard_normal((30, 4)), random.standard_normal((50, 4))
    gap = np.linalg.norm(own[:, None] - other, axis=2)
    target, mutual = mutual_rows(own, other)
    assert np.array_equal(target, gap.argmin(axis=1)) and 0 < mutual.sum() < 30
    assert np.array_equal(mutual, gap.argmin(axis=0)[target] == np.arange(30))


def test_soft_maps_are_shares_that_harden_with_less_temperature():
    with quiet_torch(0):
        own, other = torch.randn(6, 4), torch.randn(9, 4)
    soft, hard = soft_map(own, other, 0.5), soft_map(own, other, 1e-4)
    assert torch.allclose(soft.sum(dim=1), torch.ones(6))
    assert torch.equal(soft.argmax(dim=1), hard.argmax(dim=1))
    assert hard.max(dim=1).values.min() > 0.999 > soft.max()
