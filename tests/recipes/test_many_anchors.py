"""A thousand anchors: little more work than a few, wrong ones found, nothing lost in accuracy."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.preparation import prepare
from nho.recipes.guided import anchor_checks, comparable, distance_evidence
from nho.recipes.guided.anchor_checks import consistent, trusted
from nho.recipes.guided.comparable import normalise_pair
from nho.recipes.guided.distance_evidence import AnchorDistances

SETTINGS = nho.Settings(threads=1)
MANY, WRONG = 1000, 50


class DensePair:
    """A bent piece, a whole with a thousand anchors on it, and which of them are wrong."""

    def __init__(self) -> None:
        self.whole = bumpy_sphere(4, seed=3)
        piece = cut_by_plane(self.whole, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
        v = piece.mesh.vertices
        self.partial = Mesh(v + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces)
        self.truth = piece.vertex_of_parent
        chosen = sample_vertices(self.partial, MANY, method="euclidean")
        self.right = np.stack([chosen, self.truth[chosen]], axis=1)
        random = np.random.default_rng(0)
        rows = random.choice(MANY, WRONG, replace=False)
        self.given = self.right.copy()
        self.given[rows, 1] = self.right[np.roll(rows, 1), 1]
        self.wrong = np.isin(np.arange(MANY), rows)

    def error(self, anchors: np.ndarray) -> float:
        """Mean distance from matched to true points."""
        result = nho.match(self.partial, self.whole, anchors, SETTINGS)
        found = result.points.positions(self.whole)
        return float(np.linalg.norm(found - self.whole.vertices[self.truth], axis=1).mean())


@pytest.fixture(scope="module")
def dense() -> DensePair:
    return DensePair()


@pytest.fixture
def work(monkeypatch) -> dict[str, list[int]]:
    """How many anchors distances were measured from, and the sizes of all dense solves."""
    done: dict[str, list[int]] = {"sources": [], "solves": []}
    measure, solve = distance_evidence.distances_from, distance_evidence.kriging_weights

    def counted_distances(graph, sources):
        done["sources"].append(len(sources))
        return measure(graph, sources)

    def counted_solve(between, *rest):
        done["solves"].append(len(between))
        return solve(between, *rest)

    monkeypatch.setattr(distance_evidence, "distances_from", counted_distances)
    for module in (distance_evidence, anchor_checks):
        monkeypatch.setattr(module, "kriging_weights", counted_solve)
    return done


def test_the_work_does_not_grow_beyond_a_hundred_anchors(dense, work):
    costs = {}
    for count in (100, MANY):
        work["sources"].clear(), work["solves"].clear()
        normalise_pair(prepare(dense.partial, dense.whole, dense.right[:count]), SETTINGS.recipe)
        costs[count] = sum(work["sources"]), sum(size**3 for size in work["solves"])
    assert costs[MANY][0] == costs[100][0] == 200  # on both shapes
    assert 0 < costs[MANY][1] < 2 * costs[100][1]


def test_wrong_ones_among_a_thousand_are_found_and_right_ones_used(dense):
    problem = prepare(dense.partial, dense.whole, dense.given)
    pair = normalise_pair(problem, SETTINGS.recipe)
    named = np.isin(np.arange(MANY), problem.anchor_rows[pair.suspects])
    assert (named & dense.wrong).sum() >= 0.95 * WRONG  # recall
    assert (named & dense.wrong).sum() >= 0.95 * named.sum()  # precision
    pins = np.concatenate([pair.distances.anchors, pair.distances.others])
    used = problem.anchors[pair.used]
    assert sorted(map(tuple, pins)) == sorted(map(tuple, used))
    np.testing.assert_array_equal(pair.distances.anchors, problem.anchors[pair.sources])
    said = pair.named_suspects(problem)
    assert len(said) == 11 and said[-1] == f"the same holds for {named.sum() - 10} more anchors"


def test_a_thousand_anchors_with_wrong_ones_are_better_than_25_right_ones(dense):
    few = dense.right[np.argsort(dense.right[:, 0])][:: MANY // 25]
    assert dense.error(dense.given) < 0.7 * dense.error(few)


def test_every_component_is_a_source(dense, monkeypatch):
    monkeypatch.setattr(comparable, "_MOST_SOURCES", 5)
    far = Mesh(0.01 * dense.whole.vertices, dense.whole.faces)  # a speck inside
    both = Mesh(
        np.concatenate([dense.partial.vertices, far.vertices]),
        np.concatenate([dense.partial.faces, far.faces + dense.partial.n_vertices]),
    )
    anchors = np.stack([[*dense.right[:20, 0], both.n_vertices - 1]] * 2, axis=1)
    rows = comparable._sources(both, anchors)
    assert len(rows) == 6 and 20 in rows


def test_to_the_nearest_of_all_anchors(dense):
    some, others = dense.right[:20], dense.right[20:60]
    distances = AnchorDistances.measure(dense.partial, dense.whole, some)
    all_of_them = AnchorDistances.measure(dense.partial, dense.whole, dense.right[:60])
    together = AnchorDistances(some, distances.partial, distances.full, others=others)
    np.testing.assert_allclose(
        together.to_nearest(dense.partial), all_of_them.partial.min(axis=0), atol=1e-12
    )


@pytest.mark.parametrize(("seed", "twin"), [(9, 313), (10, 250), (11, 351), (31, 67)])
def test_anchors_with_one_partner_are_judged_alike_in_any_order(whole, piece, seed, twin):
    chosen = np.append(sample_vertices(piece.mesh, 12, seed=seed), twin)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    anchors[-1, 1] = anchors[0, 1]
    kept, reverse = (
        consistent(AnchorDistances.measure(piece.mesh, whole, given), 0.5)
        for given in (anchors, anchors[::-1])
    )
    np.testing.assert_array_equal(kept, reverse[::-1])


def test_the_only_anchor_of_a_component_is_not_suspect(whole, piece):
    aside = piece.mesh.vertices + 10.0
    both = Mesh(
        np.concatenate([piece.mesh.vertices, aside]),
        np.concatenate([piece.mesh.faces, piece.mesh.faces + piece.mesh.n_vertices]),
    )
    chosen = sample_vertices(piece.mesh, 12)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    lone = [[chosen[0] + 1 + piece.mesh.n_vertices, piece.vertex_of_parent[chosen[0] + 1]]]
    distances = AnchorDistances.measure(both, whole, np.concatenate([anchors, lone]))
    assert trusted(distances, 0.9).all()
