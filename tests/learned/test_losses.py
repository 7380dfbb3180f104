"""Losses of the learned methods: least at the truth, with the gradients that lead there."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.geometry.geodesics import distances_from, unfolded_graph  # noqa: E402
from nho.geometry.synthetic import cut_by_balls, cut_by_plane, sphere  # noqa: E402
from nho.learned import losses  # noqa: E402
from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.matcher import Output  # noqa: E402
from nho.learned.methods import METHODS, new_matcher  # noqa: E402
from nho.learned.training_examples import TrainingExample, reliable_distances  # noqa: E402
from nho.learned.training_pairs import training_pair  # noqa: E402


def small(method: str) -> Architecture:
    return Architecture(
        method, "local", outputs=16, width=16, blocks=2, modes=40, map_modes=20, dropout=0.0
    )


@pytest.fixture(scope="module")
def example() -> TrainingExample:
    with quiet_torch(0):
        return TrainingExample.of(training_pair(2, 1, (250, 350)), small("dpfm"))


def falls_to(loss, start: torch.Tensor, steps: int, rate: float) -> tuple[float, torch.Tensor]:
    """Gradient descent by Adam."""
    value = start.clone().requires_grad_()
    adam = torch.optim.Adam([value], rate)
    for _ in range(steps):
        adam.zero_grad()
        loss(value).backward()
        adam.step()
    return float(loss(value).detach()), value.detach()


@pytest.mark.slow
def test_contrastive_loss_is_least_where_partners_have_the_same_features():
    vertex = torch.tensor([4, 0, 2])
    other = torch.eye(6)
    right = losses.contrastive(other[vertex], other, vertex)
    wrong = losses.contrastive(other[vertex.flip(0)], other, vertex)
    assert right < 1e-4 < 1 < wrong
    least, found = falls_to(
        lambda own: losses.contrastive(own, other, vertex), torch.ones(3, 6), 300, 0.05
    )
    assert least < 0.01
    assert torch.equal(found.argmax(dim=1), vertex)


def test_overlap_loss_weighs_both_sides_alike_and_is_least_at_the_truth():
    truth = torch.tensor([1.0] + [0.0] * 9)
    # All inside or all outside are equally wrong, however small the region.
    inside, outside = (losses.overlap(torch.full((10,), side), truth) for side in (3.0, -3.0))
    assert inside == pytest.approx(float(outside))
    assert losses.overlap(20 * (truth - 0.5), truth) < 1e-4
    assert torch.isfinite(losses.overlap(torch.zeros(4), torch.ones(4)))


def test_map_of_the_truth_is_nearly_orthogonal_and_a_shuffled_one_is_not(example):
    true = losses.orthogonality(example.matrix, example.partial, example.full)
    shuffled = example.full.functions[torch.randperm(len(example.vertex))]
    other = losses.orthogonality(example.partial.project(shuffled), example.partial, example.full)
    assert true < 0.5 * other
    turn = torch.linalg.qr(torch.randn(20, 20))[0]
    assert losses.orthogonality(turn, example.partial, example.full) < 1e-8


def test_the_true_map_keeps_reliable_distances_and_others_do_not(example):
    def kept(vertex: torch.Tensor) -> float:
        soft = torch.nn.functional.one_hot(vertex, len(example.region)).float()
        distances = example.partial_distances, example.full_distances
        return float(losses.distance_change(soft, *distances, example.reliable))

    assert kept(example.vertex) < 0.1 * kept(example.vertex.flip(0))
    assert kept(example.vertex) < 0.01


def test_distances_over_a_closed_hole_are_not_reliable_and_those_inside_are():
    # On a sphere without a cap, ways around the rim are longer than they were across the cap.
    ball = sphere(3)
    cut = cut_by_plane(ball, np.array([0, 0, 1.0]), keep_area=0.3)
    reliable = reliable_distances(cut.mesh)
    inside = distances_from(unfolded_graph(cut.mesh), np.arange(cut.mesh.n_vertices))
    whole = distances_from(unfolded_graph(ball), cut.vertex_of_parent)[:, cut.vertex_of_parent]
    assert reliable.any() and not reliable.all()
    assert np.array_equal(reliable, reliable.T)
    # What counts as reliable is the distance on the whole sphere, up to the triangles.
    assert (np.abs(inside - whole)[reliable] < 0.05).all()
    holes = cut_by_balls(ball, 3, 0.2, 1).mesh
    assert reliable_distances(holes).mean() < 1


def test_without_a_boundary_all_distances_are_reliable():
    assert reliable_distances(sphere(1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_each_loss_reaches_every_weight_with_a_finite_gradient(method, example):
    with quiet_torch(1):
        matcher = new_matcher(small(method))
        own = TrainingExample.of(example.pair, matcher.architecture)
        losses.LOSSES[method](matcher, matcher(own.partial, own.full), own).backward()
    for name, weight in matcher.named_parameters():
        assert weight.grad is not None, name
        assert bool(torch.isfinite(weight.grad).all()), name
        # The time of diffusion starts at zero, where half of the directions are closed.
        assert bool(weight.grad.any()) or name.endswith("time"), name


@pytest.mark.parametrize("method", METHODS)
def test_each_loss_prefers_features_that_know_the_truth(method, example):
    with quiet_torch(1), torch.no_grad():
        matcher = new_matcher(small(method)).eval()
        own = TrainingExample.of(example.pair, matcher.architecture)
        place = torch.cat([own.full.functions, torch.randn(len(own.region), 8)], dim=1)

        def loss(vertex: torch.Tensor) -> float:
            matrix = own.partial.project(own.full.functions[vertex])
            sure = 8 * (own.region - 0.5)
            output = Output(place[vertex], place, matrix, torch.full(vertex.shape, 4.0), sure)
            return float(losses.LOSSES[method](matcher, output, own))

        assert loss(own.vertex) < loss(own.vertex.flip(0)) - 0.5
