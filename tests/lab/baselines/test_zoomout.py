"""ZoomOut from the anchors alone: what it recovers, and what its start and its steps are for."""

from __future__ import annotations

import numpy as np
import pytest

from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.lab import baselines
from nho.lab.baselines import zoomout


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = sample_vertices(piece.mesh, 25)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def answer(whole, piece, anchors):
    return baselines.run("zoomout", piece.mesh, whole, anchors)


def gaps(result, whole, piece):
    """Distances to the true vertices, in mean edges."""
    missed = whole.vertices[result.vertex_map] - whole.vertices[piece.vertex_of_parent]
    return np.linalg.norm(missed, axis=1) / whole.mean_edge_length


def test_a_cut_is_recovered_between_the_anchors(whole, piece, answer):
    assert gaps(answer, whole, piece).mean() < 0.2
    scores = region_scores(answer.region, piece.kept_vertices, whole.vertex_areas)
    assert scores["iou"] > 0.85


def test_zooming_improves_on_the_map_fitted_at_few_anchors(whole, piece, anchors, monkeypatch):
    refined = baselines.run("zoomout", piece.mesh, whole, anchors[:12])
    monkeypatch.setattr(zoomout, "_zoomed", lambda bases, target, *rest: target)
    fitted = baselines.run("zoomout", piece.mesh, whole, anchors[:12])
    assert gaps(refined, whole, piece).mean() < 0.1 * gaps(fitted, whole, piece).mean()


def test_moving_and_scaling_both_shapes_changes_nothing(whole, piece, anchors, answer):
    random = np.random.default_rng(5)
    turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
    moved = [
        Mesh(1e-3 * mesh.vertices @ turn.T + shift, mesh.faces)
        for mesh, shift in ((piece.mesh, [0.0, 7.0, 1.0]), (whole, [3.0, 0.0, 0.0]))
    ]
    result = baselines.run("zoomout", *moved, anchors)
    same = result.vertex_map == answer.vertex_map
    assert same.mean() > 0.99  # rounding may tip a tie


def test_the_part_meets_more_modes_of_the_full_shape_the_smaller_it_is():
    bases = zoomout._Bases(np.ones((4, 10)), np.ones((5, 40)), np.ones(4), ratio=0.25)
    modes, partners = bases.first(8)
    assert modes.shape == (4, 8) and partners.shape == (5, 32)
    assert bases.first(10)[1].shape == (5, 40)
    assert bases.first(3)[1].shape == (5, 12)


def test_three_anchors_are_enough_to_run(whole, piece, anchors):
    result = baselines.run("zoomout", piece.mesh, whole, anchors[:3])
    assert (result.vertex_map >= 0).all()
