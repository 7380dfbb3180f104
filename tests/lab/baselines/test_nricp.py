"""Non-rigid ICP of trimesh as a baseline: what it recovers, and how it says what it lacks."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import nho
from nho.geometry.sampling import sample_vertices
from nho.lab import baselines
from nho.lab.baselines.nricp import bent_onto


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = sample_vertices(piece.mesh, 15)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def gaps(result, whole, piece):
    """Distances to the true vertices, in mean edges."""
    missed = result.points.positions(whole) - whole.vertices[piece.vertex_of_parent]
    return np.linalg.norm(missed, axis=1) / whole.mean_edge_length


@pytest.mark.slow
def test_a_bulged_piece_is_bent_back_from_any_pose_and_unit(whole, piece, bulged, anchors):
    result = baselines.run("nricp", bulged, whole, anchors)
    rigid = baselines.run("nearest", bulged, whole, anchors)
    bent_gap, rigid_gap = (gaps(answer, whole, piece).mean() for answer in (result, rigid))
    assert bent_gap < 0.6 * rigid_gap
    assert result.scale == pytest.approx(1 / 40, rel=0.2)


@pytest.mark.slow
def test_anchors_pull_at_their_partners(whole, piece, anchors):
    crooked = anchors.copy()
    crooked[:, 1] = np.roll(crooked[:, 1], 1)
    free = bent_onto(piece.mesh.vertices, piece.mesh.faces, whole, anchors)
    pulled = bent_onto(piece.mesh.vertices, piece.mesh.faces, whole, crooked)
    true, wrong = (
        np.linalg.norm(free[anchors[:, 0]] - whole.vertices[pairs[:, 1]], axis=1).mean()
        for pairs in (anchors, crooked)
    )
    assert true < 0.01 * wrong
    assert np.linalg.norm(pulled - free, axis=1).mean() > whole.mean_edge_length


def test_without_trimesh_one_sentence_says_what_to_install(whole, piece, anchors, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(nho.InputError, match="pip install trimesh"):
        baselines.run("nricp", piece.mesh, whole, anchors)
