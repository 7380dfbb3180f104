"""Persistence pairs against brute force and against gudhi."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nho.operator.persistence import Superlevels


def brute_force(edges, values):
    """Add vertices from the highest down; join components one by one by the elder rule."""
    n = len(values)
    order = sorted(range(n), key=lambda v: (-values[v], v))
    neighbours = {v: set() for v in range(n)}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    component, peak, pairs = {}, {}, []
    for v in order:
        component[v], peak[v] = v, v
        touching = {component[u] for u in neighbours[v] if u in component and u != v}
        label = v
        for other in sorted(touching, key=lambda c: order.index(peak[c])):
            if other == label:
                continue
            younger = max(label, other, key=lambda c: order.index(peak[c]))
            elder = label if younger == other else other
            if peak[younger] != v:  # a vertex that joins at once was never a component
                pairs.append((peak[younger], v))
            for u in component:
                if component[u] == younger:
                    component[u] = elder
            label = elder
    return sorted(pairs)


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 14))
    edges = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1]),
            min_size=1,
            max_size=30,
            unique=True,
        )
    )
    values = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return np.array(edges), np.array(values, dtype=float)


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_pairs_equal_brute_force_ties_and_separate_components_included(graph):
    edges, values = graph
    births, deaths = Superlevels(edges, len(values)).pairs(values)
    assert sorted(zip(births.tolist(), deaths.tolist(), strict=True)) == brute_force(
        edges.tolist(), values.tolist()
    )


def test_persistence_equals_gudhi_on_a_mesh(whole):
    gudhi = pytest.importorskip("gudhi")
    values = np.random.default_rng(0).uniform(size=len(whole.vertices))
    births, deaths = Superlevels(whole.edges, len(values)).pairs(values)
    tree = gudhi.SimplexTree()
    for vertex, value in enumerate(values):
        tree.insert([vertex], filtration=-value)
    for a, b in whole.edges:
        tree.insert([a, b], filtration=-min(values[a], values[b]))
    tree.compute_persistence(homology_coeff_field=2, min_persistence=0)
    theirs = tree.persistence_intervals_in_dimension(0)
    theirs = -theirs[np.isfinite(theirs[:, 1])]
    ours = np.stack([values[births], values[deaths]], axis=1)
    np.testing.assert_allclose(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])


def test_one_peak_has_no_pairs():
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    births, deaths = Superlevels(edges, 4).pairs(np.array([1.0, 4.0, 3.0, 2.0]))
    assert len(births) == len(deaths) == 0
