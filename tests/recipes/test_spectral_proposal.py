"""Proposals by the operator: they repair what bending leaves, with the same bits every time."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.geodesics import distances_from, unfolded_graph
from nho.geometry.sampling import sample_vertices
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.operator.correspondence import nearest_rows
from nho.operator.field import NeuralField, encoding_at
from nho.problem.preparation import prepare
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.recipes.guided.spectral_proposal import SpectralProposal
from nho.runtime.parallel import SERIAL, workers
from nho.runtime.run import Run

LEARNING = nho.preset("default").replace(fit_steps=30, encoding_modes=20, threads=1)


class Setting:
    """A piece in its true pose but for one patch, which slid away."""

    def __init__(self, whole, piece) -> None:
        chosen = sample_vertices(piece.mesh, 8)
        pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
        problem = prepare(piece.mesh, whole, pairs)
        self.partial, self.full = problem.partial.mesh, problem.full.mesh
        self.anchors = problem.anchors
        distances = AnchorDistances.measure(self.partial, self.full, self.anchors)
        self.bending = Bending(self.partial, self.full, distances)
        given = problem.partial.given_of_solver
        self.true = problem.full.solver_of_given[piece.vertex_of_parent[given]]
        middle = problem.partial.solver_of_given[[310]]
        self.patch = distances_from(unfolded_graph(self.partial), middle)[0] < 0.25
        self.pose = self.full.vertices[self.true].copy()
        self.pose[self.patch] += 0.15 * np.array([1.0, 1.0, 0.0])
        self.before = self.error(self.bending.read_off(self.pose).nearest_vertex(self.full))

    def proposal(self, pool=SERIAL, **changes) -> SpectralProposal:
        meshes = (self.partial, self.full)
        operators = (laplacian(self.partial), laplacian(self.full))
        run = Run(LEARNING.replace(**changes), pool)
        return SpectralProposal(meshes, operators, self.anchors[:, 1], run)

    def error(self, target: np.ndarray, rows: np.ndarray | None = None) -> float:
        """Mean distance to the true images in mean edges, over the patch or other rows."""
        gap = np.linalg.norm(self.full.vertices[target] - self.full.vertices[self.true], axis=1)
        return float(gap[self.patch if rows is None else rows].mean() / self.full.mean_edge_length)


@pytest.fixture(scope="module")
def slid(whole, piece) -> Setting:
    return Setting(whole, piece)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"insulated": False},
        {"negatives": False},
        {"coordinates": "laplacian"},
        {"weight_spectral": 0.01, "weight_topology": 0.3},
    ],
    ids=str,
)
def test_it_repairs_a_displaced_patch_and_leaves_the_rest(slid, changes):
    proposal = slid.proposal(**changes)
    found = proposal.map(slid.bending, slid.pose, 1)
    assert slid.before > 1.5
    assert slid.error(found) < 0.4 * slid.before
    assert slid.error(found, ~slid.patch) < 0.4
    learns = changes.get("coordinates") != "laplacian"
    assert list(proposal.curves) == (["operator 1"] if learns else [])


def test_later_rounds_use_finer_coordinates_only(slid):
    # They stay nearer to the pose: for detail, not for what lies far off.
    proposal = slid.proposal()
    first, second = (proposal.map(slid.bending, slid.pose, number) for number in (1, 2))
    assert slid.error(first) < 0.8 * slid.error(second) < 0.8 * slid.before
    assert list(proposal.curves) == ["operator 1", "operator 2"]
    assert all(len(curve) == LEARNING.recipe.fit_steps for curve in proposal.curves.values())


def test_a_true_pose_is_confirmed(slid):
    found = slid.proposal().map(slid.bending, slid.full.vertices[slid.true], 1)
    assert slid.error(found, np.ones(len(found), dtype=bool)) < 0.25


def test_a_sample_of_the_full_shape_is_enough_to_learn_from(slid, monkeypatch):
    everything = slid.proposal()
    everything.map(slid.bending, slid.pose, 1)
    monkeypatch.setattr("nho.recipes.guided.region_field._LEARNED_FROM", 214)  # every third
    sampled = slid.proposal()
    found = sampled.map(slid.bending, slid.pose, 1)
    assert slid.error(found) < 0.4 * slid.before
    assert slid.error(found, ~slid.patch) < 0.4
    # The areas of the sample stand for the whole surface, so the losses are of the same size.
    last, reference = (
        proposal.curves["operator 1"][-1]["area"] for proposal in (sampled, everything)
    )
    assert last < 10 * reference + 0.01


def test_the_number_of_threads_does_not_change_a_bit(slid):
    alone = slid.proposal().map(slid.bending, slid.pose, 1)
    with workers(3) as pool:
        np.testing.assert_array_equal(slid.proposal(pool).map(slid.bending, slid.pose, 1), alone)


def test_the_region_is_what_the_field_learns(slid):
    proposal = slid.proposal()
    seen = np.zeros(len(slid.full.vertices), dtype=bool)
    seen[slid.true] = True
    indicator = proposal._fitted(np.flatnonzero(seen), np.flatnonzero(~seen), "operator 1")
    assert indicator[seen].mean() > 0.8 and indicator[~seen].mean() < 0.25


# What it is made of


def test_nearest_rows_survive_rows_that_are_far_larger_than_the_queries():
    # Eigenfunctions of a Hamiltonian are tiny or huge where the partial shape is not.
    random = np.random.default_rng(1)
    rows, queries = random.standard_normal((600, 20)), random.standard_normal((400, 20))
    rows[::3] *= 1e5
    expected = ((queries[:, None] - rows[None]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_rows(queries, rows), expected)
    apart = nearest_rows(queries + 50, rows + 50)  # and away from the origin
    np.testing.assert_array_equal(apart, expected)


def test_the_encoding_does_not_depend_on_the_signs_of_the_solver(whole):
    functions = neumann_basis(laplacian(whole), 12).functions
    anchored = sample_vertices(whole, 7)
    plain = encoding_at(functions, anchored)
    signs = np.where(np.arange(12) % 3 == 0, -1.0, 1.0)
    np.testing.assert_array_equal(encoding_at(functions * signs, anchored), plain)
    np.testing.assert_array_equal(np.abs(plain), np.abs(functions))


def test_only_the_anchored_vertices_decide_the_signs(whole):
    functions = neumann_basis(laplacian(whole), 12).functions
    anchored = sample_vertices(whole, 7)
    elsewhere = np.setdiff1d(np.arange(len(functions)), anchored)
    changed = functions.copy()
    changed[elsewhere] *= np.random.default_rng(0).uniform(-9, 9, (len(elsewhere), 1))
    before = encoding_at(functions, anchored)[anchored]
    np.testing.assert_array_equal(encoding_at(changed, anchored)[anchored], before)


def test_a_field_at_other_points_is_the_same_function():
    random = np.random.default_rng(0)
    encoding = random.standard_normal((300, 5))
    field = NeuralField(encoding[:40], (8, 8), "tanh", random)
    everywhere = field.at(encoding)
    np.testing.assert_allclose(everywhere.indicator()[:40], field.indicator(), rtol=1e-6)
    assert len(everywhere.indicator()) == 300 and len(field.indicator()) == 40
    field.parameters += 0.1  # shared: what one learns the other knows
    np.testing.assert_allclose(everywhere.indicator()[:40], field.indicator(), rtol=1e-6)
