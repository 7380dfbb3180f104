"""DiffusionNet: it diffuses, sees slopes, and depends on nothing that is not the surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import expm_multiply

torch = pytest.importorskip("torch")

from nho.geometry.mesh import Mesh  # noqa: E402
from nho.geometry.spectrum import laplacian  # noqa: E402
from nho.geometry.tangents import gradient, mean_normals, tangent_frames  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.diffusion_net import Diffusion, DiffusionNet, OperatorTensors  # noqa: E402
from nho.learned.mesh_operators import DAMPING, operators  # noqa: E402


@pytest.fixture(scope="module")
def made(piece):
    return operators(piece.mesh.scaled(1 / np.sqrt(piece.mesh.area)), 60)


@pytest.fixture(scope="module")
def values(made):
    random = np.random.default_rng(1)
    return torch.from_numpy(random.standard_normal((len(made.mass), 5)))


def network(turning="complex", seed=2):
    with quiet_torch(seed):
        net = DiffusionNet(5, 4, width=8, blocks=2, turning=turning).double()
        with torch.no_grad():  # as after training: fresh ones diffuse for no time
            for block in net.blocks:
                block.diffusion.time.uniform_(0.001, 0.05)
    return net


def turned(made, angle):
    """The same surface with every tangent frame turned by an angle of its own."""
    factor = np.exp(1j * angle)
    return replace(made, gradient=made.gradient.multiply(factor[:, None]).tocsr())


def test_diffusion_is_the_heat_equation_for_what_the_modes_can_say(piece):
    mesh = piece.mesh
    operator = laplacian(mesh)
    found = operators(mesh, 60)
    smooth = found.functions[:, :9] @ np.random.default_rng(0).standard_normal((9, 3))
    layer = Diffusion(3).double()
    times = np.array([0.0, 0.01, 0.1]) * mesh.area
    layer.time.data = torch.from_numpy(times)
    seen = (
        layer(torch.from_numpy(smooth), OperatorTensors.of(found, torch.float64)).detach().numpy()
    )
    generator = -operator.stiffness.multiply(1 / operator.mass[:, None]).tocsc()
    for column, time in enumerate(times):
        expected = expm_multiply(generator * time, smooth[:, column])
        assert np.allclose(seen[:, column], expected, atol=1e-6 * np.abs(smooth).max())


def test_a_negative_time_does_not_let_values_explode(made, values):
    layer = Diffusion(5).double()
    layer.time.data.fill_(-1.0)
    still = layer(values, OperatorTensors.of(made, torch.float64))
    layer.time.data.fill_(0.0)
    assert torch.equal(still, layer(values, OperatorTensors.of(made, torch.float64)))


def test_the_gradient_of_a_linear_function_on_a_plane_is_that_function():
    random = np.random.default_rng(0)
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(9.0), np.arange(7.0)))
    at = np.stack([x, y], axis=1) + 0.2 * random.standard_normal((63, 2))
    corner = (np.arange(8) + 9 * np.arange(6)[:, None]).ravel()
    halves = (corner, corner + 1, corner + 10, corner, corner + 10, corner + 9)
    flat = Mesh(np.c_[at, np.zeros(63)], np.stack(halves, axis=1).reshape(-1, 3))
    slopes = gradient(flat) @ (3 * at[:, 0] - 2 * at[:, 1] + 7)
    assert np.allclose(slopes, 3 - 2j)
    damped = gradient(flat, 0.1) @ (3 * at[:, 0] - 2 * at[:, 1] + 7)
    assert (np.abs(damped) < np.abs(slopes)).all()


def test_gradients_on_a_surface_are_those_of_finite_differences(whole):
    # Of a function of space: its slope along any tangent vector is that of a small step.
    first, second = tangent_frames(mean_normals(whole))
    away = whole.vertices.std()

    def function(at):
        return np.sin(at[:, 0] / away) + (at[:, 1] / away) * (at[:, 2] / away)

    step = 1e-5 * away
    expected = [
        (function(whole.vertices + step * axis) - function(whole.vertices - step * axis))
        / (2 * step)
        for axis in (first, second)
    ]
    found = gradient(whole) @ function(whole.vertices)
    error = np.abs(found - (expected[0] + 1j * expected[1]))
    assert np.median(error) < 0.05 * np.median(np.abs(found))


def test_frames_are_right_handed_and_across_the_normal(whole):
    normals = mean_normals(whole)
    first, second = tangent_frames(normals)
    frames = np.stack([first, second, normals], axis=1)
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(frames), 1)


def test_turning_the_frames_changes_nothing_but_in_the_variant_that_depends_on_them(made, values):
    angle = np.random.default_rng(3).uniform(0, 2 * np.pi, len(made.mass))
    surfaces = [OperatorTensors.of(one, torch.float64) for one in (made, turned(made, angle))]
    for turning, same in (("complex", True), ("framed", False)):
        one, other = (network(turning)(values, surface).detach() for surface in surfaces)
        assert torch.allclose(one, other, atol=1e-10) == same


def test_the_network_follows_the_numbering_of_the_vertices(piece, values):
    mesh = piece.mesh.scaled(1 / np.sqrt(piece.mesh.area))
    order = np.random.default_rng(4).permutation(mesh.n_vertices)
    place = np.argsort(order)
    other = Mesh(mesh.vertices[order], place[mesh.faces])
    one = network()(values, OperatorTensors.of(operators(mesh, 40), torch.float64))
    two = network()(
        values[torch.from_numpy(order)], OperatorTensors.of(operators(other, 40), torch.float64)
    )
    assert torch.allclose(one[torch.from_numpy(order)], two, atol=1e-6)


def test_gradients_of_the_weights_are_those_of_finite_differences(made, values):
    net, surface = network(), OperatorTensors.of(made, torch.float64)

    def loss():
        return (net(values, surface) ** 2).mean()

    loss().backward()
    chosen = [
        net.first.weight,
        net.blocks[0].diffusion.time,
        net.blocks[0].gradients.real.weight,
        net.blocks[1].gradients.imaginary.weight,
        net.blocks[1].layers[1].weight,
        net.last.bias,
    ]
    step = 1e-6
    for weight in chosen:
        at, slope = weight.data.view(-1), weight.grad.view(-1)[1].item()
        at[1] += step
        above = loss().item()
        at[1] -= 2 * step
        below = loss().item()
        at[1] += step
        assert slope == pytest.approx((above - below) / (2 * step), rel=1e-3, abs=1e-9)
        assert slope != 0


def test_the_damping_is_a_percent_of_squared_edges_at_the_scale_of_networks(whole):
    mesh = whole.scaled(1 / np.sqrt(whole.area))
    plain, damped = gradient(mesh), gradient(mesh, DAMPING)
    share = abs(damped).sum() / abs(plain).sum()
    assert 0.97 < share < 1
