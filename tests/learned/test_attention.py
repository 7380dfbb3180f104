"""Cross attention: who is looked at, how it is mixed, and how it spreads between vertices."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.learned.attention import Propagation, Refinement, VertexSample  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).standard_normal((300, 3))


def test_chosen_vertices_keep_their_values_and_others_lie_between(points):
    sample = VertexSample.of(points, 0.4)
    assert len(sample.chosen) == 120
    values = torch.from_numpy(points[sample.chosen.numpy()]).float()
    spread = sample.interpolate(values)
    assert torch.allclose(spread[sample.chosen], values, atol=1e-3)
    low, high = values[sample.nearest].min(dim=1).values, values[sample.nearest].max(dim=1).values
    assert ((spread >= low - 1e-5) & (spread <= high + 1e-5)).all()


def test_heads_attend_on_their_own_as_in_the_formula():
    with quiet_torch(0):
        layer = Propagation(12, 3)
        own, other = torch.randn(5, 12), torch.randn(7, 12)
    found = layer._attended(own, other)
    for head in range(3):
        channels = slice(head, None, 3)
        query, key, value = (
            part(values)[:, channels]
            for part, values in ((layer.query, own), (layer.key, other), (layer.value, other))
        )
        expected = torch.softmax(query @ key.T / 2, dim=1) @ value  # four channels a head
        assert torch.allclose(found[:, channels], expected, atol=1e-6)


def test_many_queries_are_answered_as_few(monkeypatch):
    with quiet_torch(0):
        layer = Propagation(8, 2)
        own, other = torch.randn(50, 8), torch.randn(20, 8)
    whole = layer(own, other)
    monkeypatch.setattr("nho.learned.attention._QUERIES", 7)
    assert torch.allclose(layer(own, other), whole, atol=1e-6)


def test_the_overlap_depends_on_the_other_shape(points):
    with quiet_torch(0):
        net = Refinement(6, 8, 2)
        own, other, third = (torch.randn(300, 6) for _ in range(3))
    sample = VertexSample.of(points, 0.5)
    scores = [net.overlap_logits(net(own, seen, sample, sample)[0]) for seen in (other, third)]
    assert not torch.allclose(*scores)
