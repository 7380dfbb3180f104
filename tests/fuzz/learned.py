"""The readers of networks and of unfinished trainings as functions of bytes; they need torch.

torch is imported here, before the memory limit of the contract is set: what it maps when it is
imported does not count, and what is left is the limit of every other reader.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nho.learned.architecture import Architecture
from nho.learned.backend import quiet_torch
from nho.learned.checkpoints import load_checkpoint, save_checkpoint
from nho.learned.diffusion_net import OperatorTensors
from nho.learned.matcher import Matcher
from nho.learned.mesh_operators import operators
from nho.learned.methods import METHODS, new_matcher
from nho.learned.training import Plan, State
from nho.learned.training_files import load_state, save_state
from tests.fuzz import seeds
from tests.fuzz.target import Scratch, Target, serving

Unpack = Callable[[bytes], list[bytes]]
Pack = Callable[[list[bytes]], bytes]

_TINY = {"outputs": 2, "width": 4, "blocks": 1}
_ECHOES = {"neighbours": 2, "overlap_width": 1, "overlap_blocks": 1}
_OPTIONAL = (".format_version", ".storage_alignment", "byteorder", "serialization_id")
# Our names of tensors and those of the authors' code, in the order in which they are replaced.
_THEIRS = (
    (r"^extractor\.", "feature_extractor."),
    (r"^listener\.", "overlap_diffusion_net."),
    (r"^refinement\.", "feat_refiner."),
    (r"^temperature$", "permutation_network.tau"),
    (r"^(\w+)\.(first|last)\.", r"\1.\2_lin."),
    (r"\.blocks\.(\d+)\.layers\.(\d)", r".block_\1.mlp.miniMLP_mlp_layer_00\2"),
    (r"\.blocks\.(\d+)\.", r".block_\1."),
    (r"diffusion\.time$", "diffusion.diffusion_time"),
    (r"gradients\.real", "gradient_features.A_re"),
    (r"gradients\.imaginary", "gradient_features.A_im"),
    (r"\.query\.", ".attn.proj.0."),
    (r"\.key\.", ".attn.proj.1."),
    (r"\.value\.", ".attn.proj.2."),
    (r"\.merge\.", ".attn.merge."),
    (r"\.hidden\.", ".mlp.0."),
    (r"(layers\.\d+)\.last\.", r"\1.mlp.3."),
    (r"\.overlap\.", ".overlap_predictor.overlap_score_net."),
)


@dataclass(frozen=True)
class _TinyPlan(Plan):
    """A plan for a network that no one would train, whose files are read at once."""

    def architecture(self) -> Architecture:
        return replace(super().architecture(), inputs="xyz", blocks=1)


_PLAN = _TinyPlan("ulrssm", steps=10, width=4)


def _network(architecture: Architecture) -> Matcher:
    with quiet_torch(1):
        return new_matcher(architecture)


def _weights(suffix: str) -> Callable[[bytes], object]:
    """What is read is a network that computes."""
    path = Scratch().file(f"network{suffix}")
    tensors = OperatorTensors.of(operators(seeds.PARTIAL, 3))

    def read() -> None:
        matcher = load_checkpoint(path)
        architecture = matcher.architecture
        assert architecture.method in METHODS and not matcher.training
        for tensor in matcher.state_dict().values():
            assert tensor.dtype == torch.float32 and bool(torch.isfinite(tensor).all())
        with torch.no_grad():
            values = torch.zeros(seeds.PARTIAL.n_vertices, architecture.channels)
            features = matcher.extractor(values, tensors)
        assert features.shape == (seeds.PARTIAL.n_vertices, architecture.outputs)

    return serving(path, read)


def _training() -> Callable[[bytes], object]:
    path = Scratch().file("network.npz.unfinished")
    wanted = {
        name: tensor.shape for name, tensor in _network(_PLAN.architecture()).named_parameters()
    }

    def read() -> None:
        state = load_state(path, _PLAN)
        assert type(state.step) is int and type(state.skipped) is int
        assert 0 <= state.skipped <= state.step <= _PLAN.steps
        assert type(state.best_loss) is float and not math.isnan(state.best_loss)
        if state.step == state.skipped:  # Adam has not begun
            assert not state.first and not state.second
            tables = [state.weights, state.best]
        else:
            tables = [state.weights, state.best, state.first, state.second]
        for table in tables:
            assert {name: tensor.shape for name, tensor in table.items()} == wanted
            for tensor in table.values():
                assert tensor.dtype == torch.float32 and bool(torch.isfinite(tensor).all())
        assert all(bool((tensor >= 0).all()) for tensor in state.second.values())

    return serving(path, read)


def npz_seed(architecture: Architecture, half: bool = False) -> bytes:
    """A checkpoint of our own."""
    path = Scratch().path / "seed.npz"
    save_checkpoint(path, _network(architecture), half)
    return path.read_bytes()


def state_seed() -> bytes:
    """A training after three steps, one of them skipped."""
    path = Scratch().path / "seed.unfinished"
    weights = {
        name: one.detach() for name, one in _network(_PLAN.architecture()).named_parameters()
    }
    squares = {name: one**2 for name, one in weights.items()}
    save_state(path, _PLAN, State(3, weights, weights, squares, weights, 0.5, 1))
    return path.read_bytes()


def published(matcher: Matcher) -> dict[str, Tensor]:
    """The tensors under the names that the authors of DPFM and EchoMatch gave them."""
    found = {}
    for name, tensor in matcher.state_dict().items():
        for ours, theirs in _THEIRS:
            name = re.sub(ours, theirs, name)
        # Attention is made of convolutions there.
        found[name] = (
            tensor[..., None] if re.search(r"(attn.*|mlp\.[03])\.weight", name) else tensor
        )
    return found


def renamed(tensors: dict[str, Tensor]) -> dict[str, dict[str, dict[str, Tensor]]]:
    """The same as in the code of ULRSSM and Wormhole: tables in tables."""
    found = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("feature_extractor.").replace("_lin.", "_linear.")
        name = re.sub(r"block_(\d+)", r"blocks.\1", name).replace("mlp_layer", "linear")
        found[name] = tensor
    return {"networks": {"feature_extractor": found, "permutation": {}}}


def in_one_storage(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Views of one block of memory, which a file holds in one part."""
    block = torch.cat([tensor.flatten() for tensor in tensors.values()])
    parts = block.split([tensor.numel() for tensor in tensors.values()])
    return {
        name: part.view(tensor.shape)
        for part, (name, tensor) in zip(parts, tensors.items(), strict=True)
    }


def pth_seed(content: object) -> bytes:
    """A file as torch writes it."""
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def bare(data: bytes, unpack: Unpack, pack: Pack) -> bytes:
    """The same without the parts that a file may lack, so that those that matter come up often."""
    parts = unpack(data)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    kept = [pair for pair in pairs if not pair[0].decode().endswith(_OPTIONAL)]
    return pack([part for pair in kept for part in pair])


def pth_parts(data: bytes) -> list[bytes]:
    """What an archive holds; all of the names are one part, for they matter less."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            return ["\n".join(names).encode(), *map(archive.read, names)]
    except Exception:  # damaged before: it is varied as plain bytes
        return []


def learned_targets(unpack: Unpack, pack: Pack) -> dict[str, Target]:
    """A target for every reader; ``unpack`` and ``pack`` are those of zip files."""
    small = Architecture("ulrssm", **_TINY)  # type: ignore[arg-type]
    wormhole = replace(small, method="wormhole", inputs="xyz+normals")
    attention = replace(small, method="dpfm")
    echoes = replace(small, method="echomatch", **_ECHOES)  # type: ignore[arg-type]

    def pth_of(parts: list[bytes]) -> bytes:
        names = parts[0].split(b"\n")
        return pack([part for pair in zip(names, parts[1:], strict=False) for part in pair])

    networks = [in_one_storage(published(_network(one))) for one in (attention, echoes)]
    return {
        "weights-npz": Target(
            ".npz",
            _weights(".npz"),
            (npz_seed(small), npz_seed(echoes, half=True)),
            unpack,
            pack,
        ),
        "weights-pth": Target(
            ".pth",
            _weights(".pth"),
            (
                pth_seed(renamed(published(_network(wormhole)))),
                *(bare(pth_seed(tensors), unpack, pack) for tensors in networks),
            ),
            pth_parts,
            pth_of,
        ),
        "training-state": Target(".unfinished", _training(), (state_seed(),), unpack, pack),
    }
