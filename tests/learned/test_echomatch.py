"""EchoMatch: who has a partner hears itself, and every tensor of a published file has a place."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.errors import InputError  # noqa: E402
from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.checkpoints import load_checkpoint, save_checkpoint  # noqa: E402
from nho.learned.methods import echoes, neighbours, new_matcher  # noqa: E402
from nho.learned.published_weights import matcher_of  # noqa: E402
from nho.learned.training_pairs import training_pair  # noqa: E402

COLD = torch.tensor([0.02])


@pytest.fixture(scope="module")
def pair():
    return training_pair(3, 0, (250, 350))


def echo_matcher(**changes):
    given = {"inputs": "local", "outputs": 16, "width": 16, "blocks": 2, "modes": 40}
    with quiet_torch(4):
        return new_matcher(Architecture("echomatch", **(given | changes)))


def test_a_vertex_with_a_partner_hears_itself_and_one_without_does_not():
    # Six vertices on a line know each other well; the other shape has the first three only.
    own = torch.eye(6)
    near = neighbours(np.eye(6)[:, :3] * 0 + np.arange(6)[:, None], np.arange(6), 1)
    assert near.flatten().tolist() == list(range(6))
    heard = echoes(own, own, own[:3], near, COLD)[:, 0]
    assert heard[:3].min() > 0.99
    assert heard[3:].max() < 0.01


def test_echoes_are_those_of_the_whole_way_there_and_back():
    with quiet_torch(0):
        own, other = (torch.nn.functional.normalize(torch.randn(n, 8), dim=1) for n in (9, 7))
        there = torch.softmax(own @ other.T / 0.1, dim=1)
        back = torch.softmax(other @ own.T / 0.1, dim=1)
        near = torch.tensor([[i, (i + 2) % 9] for i in range(9)])
        expected = (there @ back).gather(1, near)
        found = echoes(own, own, other, near, torch.tensor([0.1]))
    assert torch.allclose(found, expected / expected.max())


def test_overlap_does_not_depend_on_the_order_of_vertices(pair):
    from nho.geometry.mesh import Mesh

    order = np.random.default_rng(0).permutation(pair.full.n_vertices)
    place = np.argsort(order)
    shuffled = Mesh(pair.full.vertices[order], place[pair.full.faces])
    matcher = echo_matcher()
    plain = matcher.features(pair.partial, pair.full).overlap
    other = matcher.features(pair.partial, shuffled).overlap
    assert np.abs(plain[order] - other).max() < 1e-4


def test_overlap_does_not_depend_on_where_the_shapes_lie_or_their_unit(pair):
    from nho.geometry.mesh import Mesh

    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    moved = Mesh(9 * pair.partial.vertices @ turn + 5, pair.partial.faces)
    matcher = echo_matcher(compared=150.0)
    plain = matcher.features(pair.partial, pair.full)
    other = matcher.features(moved, pair.full.scaled(9))
    assert np.abs(plain.overlap - other.overlap).max() < 1e-3
    assert (plain.target == other.target).mean() > 0.98


def test_comparing_fewer_vertices_than_there_are_still_answers_for_all(pair):
    features = echo_matcher(compared=60.0).features(pair.partial, pair.full)
    assert features.overlap.shape == (pair.full.n_vertices,)
    assert np.isfinite(features.overlap).all()
    assert features.target.max() < pair.full.n_vertices


def published(prefix: str = "networks.echo_match_net.", width: int = 8) -> dict[str, torch.Tensor]:
    """Random tensors under the names of the authors' files, for coordinates."""
    tensors = {f"{prefix}permutation_network.tau": torch.tensor([0.1])}

    def net(name: str, inputs: int, outputs: int, width: int, blocks: int) -> None:
        start = f"{prefix}{name}."
        layers = {"first_lin": (inputs, width), "last_lin": (width, outputs)}
        for number in range(blocks):
            block = f"block_{number}."
            tensors[f"{start}{block}diffusion.diffusion_time"] = torch.rand(width)
            for part in ("A_re", "A_im"):
                tensors[f"{start}{block}gradient_features.{part}.weight"] = torch.randn(
                    width, width
                )
            for place in range(3):
                size = (3 * width if place == 0 else width, width)
                layers[f"{block}mlp.miniMLP_mlp_layer_00{place}"] = size
        for layer, (a, b) in layers.items():
            tensors[f"{start}{layer}.weight"] = torch.randn(b, a) / a
            tensors[f"{start}{layer}.bias"] = torch.randn(b)

    net("feature_extractor", 3, width, width, 2)
    net("overlap_diffusion_net", 12, 1, 4, 3)
    return tensors


@pytest.mark.parametrize("prefix", ["", "networks.echo_match_net."])
def test_every_published_tensor_finds_its_place(prefix):
    tensors = published(prefix)
    matcher = matcher_of(tensors, "file")
    architecture = matcher.architecture
    assert architecture.method == "echomatch" and architecture.inputs == "xyz"
    assert (architecture.neighbours, architecture.overlap_width) == (12, 4)
    assert (architecture.blocks, architecture.overlap_blocks) == (2, 3)
    ours = matcher.state_dict()
    assert len(ours) == len(tensors)
    for theirs, mine in {
        "feature_extractor.block_1.gradient_features.A_im.weight": (
            "extractor.blocks.1.gradients.imaginary.weight"
        ),
        "overlap_diffusion_net.block_2.mlp.miniMLP_mlp_layer_001.bias": (
            "listener.blocks.2.layers.1.bias"
        ),
        "permutation_network.tau": "temperature",
    }.items():
        assert torch.equal(tensors[prefix + theirs], ours[mine])


@pytest.mark.parametrize("change", ["one too few", "one too many", "wrong size", "not a number"])
def test_a_published_file_that_does_not_fit_is_refused(change):
    tensors = published()
    name = "networks.echo_match_net.overlap_diffusion_net.block_0.diffusion.diffusion_time"
    if change == "one too few":
        del tensors[name]
    elif change == "one too many":
        tensors[name.replace("block_0", "block_0.more")] = torch.zeros(4)
    elif change == "wrong size":
        tensors[name] = torch.zeros(5)
    else:
        tensors[name] = torch.full((4,), float("nan"))
    with pytest.raises(InputError, match="file: "):
        matcher_of(tensors, "file")


def test_a_published_file_is_read_from_disk_and_matches(tmp_path, pair):
    torch.save({"networks": {"echo_match_net": published("")}}, tmp_path / "echo.pth")
    features = load_checkpoint(tmp_path / "echo.pth").features(pair.partial, pair.full)
    assert features.target.shape == (pair.partial.n_vertices,)
    assert features.overlap.shape == (pair.full.n_vertices,)


@pytest.mark.parametrize("half", [False, True])
def test_our_own_file_gives_the_same_answer_as_the_network_it_was_made_of(tmp_path, pair, half):
    matcher = echo_matcher()
    save_checkpoint(tmp_path / "net.npz", matcher, half=half)
    again = load_checkpoint(tmp_path / "net.npz")
    assert again.architecture == matcher.architecture
    plain, other = (net.features(pair.partial, pair.full).overlap for net in (matcher, again))
    assert np.abs(plain - other).max() <= (0.01 if half else 0)
