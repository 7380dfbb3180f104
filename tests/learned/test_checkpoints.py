"""Weights in files: what is written comes back, and nothing else than weights comes in."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.errors import InputError  # noqa: E402
from nho.learned import checkpoints  # noqa: E402
from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.checkpoints import load_checkpoint, save_checkpoint  # noqa: E402
from nho.learned.methods import new_matcher  # noqa: E402

DPFM = Architecture("dpfm", "xyz", outputs=8, width=8, blocks=2, modes=20)


def matcher(architecture=DPFM):
    with quiet_torch(1):
        return new_matcher(architecture)


def published(network, method):
    """The tensors under the names that the authors' code gives them."""
    found = {}
    for ours, tensor in network.state_dict().items():
        name = ours.removeprefix("extractor.").removeprefix("refinement.")
        name = name.replace("diffusion.time", "diffusion.diffusion_time")
        name = name.replace("gradients.real", "gradient_features.A_re")
        name = name.replace("gradients.imaginary", "gradient_features.A_im")
        layer = "mlp_layer" if method == "dpfm" else "linear"
        if ours.startswith("extractor"):
            name = name.replace("layers.", f"mlp.miniMLP_{layer}_00")
        if method != "dpfm":
            name = name.replace("first.", "first_linear.").replace("last.", "last_linear.")
            found[name] = tensor
            continue
        if name.startswith(("first.", "last.")):
            name = name.replace("first.", "first_lin.").replace("last.", "last_lin.")
        if ours.startswith("refinement"):
            for one, other in (
                (".query.", ".attn.proj.0."),
                (".key.", ".attn.proj.1."),
                (".value.", ".attn.proj.2."),
                (".merge.", ".attn.merge."),
                (".hidden.", ".mlp.0."),
                (".last.", ".mlp.3."),
                ("overlap.", "overlap_predictor.overlap_score_net."),
            ):
                name = name.replace(one, other)
            if ".attn." in name or ".mlp." in name:
                tensor = tensor[..., None] if tensor.ndim == 2 else tensor
            found[f"feat_refiner.{name}"] = tensor
        else:
            found[f"feature_extractor.{name.replace('blocks.', 'block_')}"] = tensor
    if method == "dpfm":
        return found
    return {"networks": {"feature_extractor": found, "permutation": {}}}


def same(one, other):
    mine, theirs = one.state_dict(), other.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[n], theirs[n]) for n in mine)


def test_a_network_comes_back_as_it_was_written(tmp_path):
    network = matcher()
    save_checkpoint(tmp_path / "a.npz", network)
    back = load_checkpoint(tmp_path / "a.npz")
    assert back.architecture == DPFM and same(network, back) and not back.training
    (tmp_path / "a.npz").rename(tmp_path / "A.NPZ")
    assert same(network, load_checkpoint(tmp_path / "A.NPZ"))


@pytest.mark.parametrize("method", ["dpfm", "ulrssm", "wormhole"])
def test_published_names_find_their_places_and_tell_the_method(tmp_path, method):
    inputs = "xyz+normals" if method == "wormhole" else "xyz"
    network = matcher(Architecture(method, inputs, outputs=8, width=8, blocks=3))
    torch.save(published(network, method), tmp_path / "any-name.bin")
    back = load_checkpoint(tmp_path / "any-name.bin")
    assert same(network, back)
    found = back.architecture
    assert (found.method, found.inputs, found.frame) == (method, inputs, "given")
    assert found.turning == ("complex" if method == "dpfm" else "framed")


@pytest.mark.parametrize(
    "spoil, told",
    [
        (
            lambda t: t.pop("feature_extractor.block_1.gradient_features.A_im.weight"),
            "missing: ext",
        ),
        (lambda t: t.update({"feature_extractor.extra.weight": torch.zeros(2)}), "extra.weight"),
        (
            lambda t: t.update({"feature_extractor.last_lin.bias": torch.zeros(9)}),
            r"extractor.last.bias of size \(9,\) instead of \(8,\)",
        ),
        (
            lambda t: t.update({"feature_extractor.last_lin.bias": torch.full((8,), torch.nan)}),
            "no numbers: extractor.last.bias",
        ),
        (lambda t: t.pop("feature_extractor.first_lin.weight"), "no network known here"),
        (lambda t: t.update({"epoch": 3}), "epoch is a int"),
    ],
)
def test_every_tensor_is_accounted_for(tmp_path, spoil, told):
    tensors = published(matcher(), "dpfm")
    spoil(tensors)
    torch.save(tensors, tmp_path / "spoilt.pth")
    with pytest.raises(InputError, match=told):
        load_checkpoint(tmp_path / "spoilt.pth")


class Evil:
    ran: list[str] = []

    def __reduce__(self):
        return Evil.ran.append, ("ran",)


def test_a_file_that_would_run_code_runs_nothing_and_is_refused_in_one_sentence(tmp_path):
    plain = tmp_path / "plain.pth"
    plain.write_bytes(pickle.dumps(Evil()))
    torch.save({"a": Evil()}, tmp_path / "new.pth")
    torch.save({"a": Evil()}, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    raw = {"architecture": np.array([Evil()], dtype=object)}
    np.savez(tmp_path / "arrays.npz", **raw)
    for path in tmp_path.iterdir():
        with pytest.raises(InputError) as refusal:
            load_checkpoint(path)
        assert path.name in str(refusal.value) and "\n" not in str(refusal.value)
    assert Evil.ran == []


def test_damaged_files_are_refused_in_one_sentence(tmp_path):
    save_checkpoint(tmp_path / "a.npz", matcher())
    torch.save(published(matcher(), "dpfm"), tmp_path / "a.pth")
    random = np.random.default_rng(0)
    for path in list(tmp_path.iterdir()):
        whole = path.read_bytes()
        for _ in range(12):
            cut = bytearray(whole[: int(len(whole) * random.uniform(0, 1))])
            target = tmp_path / f"cut{path.suffix}"
            target.write_bytes(bytes(cut))
            with pytest.raises(InputError, match="cut"):
                load_checkpoint(target)
            flipped = bytearray(whole)
            flipped[int(random.integers(len(whole)))] ^= 1 << int(random.integers(8))
            target.write_bytes(bytes(flipped))
            try:  # a bit of padding may be of no importance
                load_checkpoint(target)
            except InputError as refusal:
                assert "\n" not in str(refusal)


def archive(path, architecture, **arrays):
    text = np.frombuffer(json.dumps(architecture).encode(), dtype=np.uint8)
    np.savez_compressed(path, architecture=text, **arrays)


@pytest.mark.parametrize(
    "architecture, told",
    [
        ({"method": "dpfm", "width": 4096, "blocks": 4096}, "more numbers than it holds"),
        ({"method": "dpfm", "width": 10**9}, "width=1000000000"),
        ({"method": "dpfm", "width": True}, "width=True"),
        ({"method": "dpfm", "heads": 3, "width": 8}, "3 heads"),
        ({"method": "dpfm", "inputs": "uv"}, "inputs='uv'"),
        ({"method": "dpfm", "depth": 3}, "no field depth"),
        ({"method": "magic"}, "magic"),
        (["dpfm"], "table of fields"),
    ],
)
def test_an_architecture_asks_for_nothing_unusual(tmp_path, architecture, told):
    archive(tmp_path / "odd.npz", architecture, weight=np.zeros(3, dtype=np.float32))
    with pytest.raises(InputError, match=told):
        load_checkpoint(tmp_path / "odd.npz")


def test_sizes_are_limited_before_memory_is_asked_for(tmp_path, monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("archive/data.pkl", b"\0" * (300 << 20))
    for name in ("bomb.pth", "bomb.npz"):
        (tmp_path / name).write_bytes(bomb.getvalue())
        with pytest.raises(InputError, match="cannot be read as a checkpoint"):
            load_checkpoint(tmp_path / name)
    repeated = {"feature_extractor.first_lin.weight": torch.zeros(1).expand(1 << 28)}
    torch.save(repeated, tmp_path / "repeated.pth")
    with pytest.raises(InputError, match="too large"):
        load_checkpoint(tmp_path / "repeated.pth")
    save_checkpoint(tmp_path / "a.npz", matcher())
    monkeypatch.setattr(checkpoints, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="at most 100 bytes"):
        load_checkpoint(tmp_path / "a.npz")
    with pytest.raises(InputError, match="this is a folder"):
        load_checkpoint(tmp_path)
