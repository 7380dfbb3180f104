"""Published weights: the names of their tensors, and what the files do not say about the networks.

The names are those of the authors' public code, read for its conventions alone. Every tensor of a
file has a place in the network, or the file is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from nho.errors import InputError
from nho.learned.architecture import Architecture
from nho.learned.matcher import Matcher
from nho.learned.methods import new_matcher

_MOST_NAMED = 6  # of the tensors that are wrong
_OF_A_BLOCK = 9  # tensors of a block of DiffusionNet
_NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

Names = tuple[tuple[str, str], ...]  # patterns of their names, and ours as a replacement


def _diffusion_net(
    prefix: str, first: str, block: str, layer: str, net: str = "extractor"
) -> Names:
    start, block = re.escape(prefix), rf"{re.escape(prefix)}{block}"
    ours = rf"{net}.blocks.\1"
    return (
        (rf"{start}first_{first}\.(weight|bias)", rf"{net}.first.\1"),
        (rf"{start}last_{first}\.(weight|bias)", rf"{net}.last.\1"),
        (rf"{block}diffusion\.diffusion_time", rf"{ours}.diffusion.time"),
        (rf"{block}gradient_features\.A_re\.weight", rf"{ours}.gradients.real.weight"),
        (rf"{block}gradient_features\.A_im\.weight", rf"{ours}.gradients.imaginary.weight"),
        (rf"{block}mlp\.miniMLP_{layer}_00([0-2])\.(weight|bias)", rf"{ours}.layers.\2.\3"),
    )


_LAYER = r"feat_refiner\.layers\.([0-9]+)\."
_REFINER = (
    *(
        (rf"{_LAYER}attn\.{theirs}\.(weight|bias)", rf"refinement.layers.\1.{ours}.\2")
        for theirs, ours in (
            (r"proj\.0", "query"),
            (r"proj\.1", "key"),
            (r"proj\.2", "value"),
            ("merge", "merge"),
        )
    ),
    (rf"{_LAYER}mlp\.0\.(weight|bias)", r"refinement.layers.\1.hidden.\2"),
    (rf"{_LAYER}mlp\.3\.(weight|bias)", r"refinement.layers.\1.last.\2"),
    (r"feat_refiner\.(first|last)_lin\.(weight|bias)", r"refinement.\1.\2"),
    (
        r"feat_refiner\.overlap_predictor\.overlap_score_net\.([02])\.(weight|bias)",
        r"refinement.overlap.\1.\2",
    ),
)


_BLOCK = r"block_([0-9]+)\."


def _echo_match(prefix: str) -> Names:
    return (
        *_diffusion_net(f"{prefix}feature_extractor.", "lin", _BLOCK, "mlp_layer"),
        *_diffusion_net(f"{prefix}overlap_diffusion_net.", "lin", _BLOCK, "mlp_layer", "listener"),
        (rf"{re.escape(prefix)}permutation_network\.tau", "temperature"),
    )


# By a tensor that identifies the implementation. The first that is there decides: EchoMatch has all
# the names of DPFM's extractor, and more.
_NAMES: dict[str, Names] = {
    "networks.echo_match_net.overlap_diffusion_net.first_lin.weight": _echo_match(
        "networks.echo_match_net."
    ),
    "overlap_diffusion_net.first_lin.weight": _echo_match(""),
    "feature_extractor.first_lin.weight": (
        *_diffusion_net("feature_extractor.", "lin", _BLOCK, "mlp_layer"),
        *_REFINER,
    ),
    "networks.feature_extractor.first_linear.weight": _diffusion_net(
        "networks.feature_extractor.", "linear", r"blocks\.([0-9]+)\.", "linear"
    ),
}


def matcher_of(tensors: Mapping[str, Tensor], source: str) -> Matcher:
    """The network of a published file's tensors, identified by their names and sizes.

    Names of nested tables are joined by dots; ``source`` is the name of the file, for errors.
    """
    names = next((names for known_by, names in _NAMES.items() if known_by in tensors), None)
    if names is None:
        raise InputError(
            f"{source}: its tensors are those of no network known here (DPFM, ULRSSM, Wormhole, "
            "EchoMatch); give a checkpoint of one of them"
        )
    found: dict[str, Tensor] = {}
    unknown = []
    for name, tensor in tensors.items():
        matches = ((re.fullmatch(pattern, name), ours) for pattern, ours in names)
        ours = next((match.expand(ours) for match, ours in matches if match), None)
        if ours is None or ours in found:
            unknown.append(name)
        else:
            # A convolution over single vertices is a matrix with a third axis of length one.
            found[ours] = tensor[:, :, 0] if tensor.ndim == 3 and tensor.shape[2] == 1 else tensor
    _refuse(source, "tensors without a place in the network", unknown)
    return filled(_architecture(found, source), found, source)


def filled(architecture: Architecture, tensors: Mapping[str, Tensor], source: str) -> Matcher:
    """A network with its weights; every name and every size must fit.

    Nothing is made that the tensors do not fill: a small file may ask for a large network.
    """
    blocks = architecture.blocks
    if architecture.method == "echomatch":
        blocks += architecture.overlap_blocks
    if blocks * _OF_A_BLOCK > len(tensors):
        raise InputError(f"{source}: its architecture needs more numbers than it holds")
    with torch.device("meta"):  # sizes without memory
        matcher = new_matcher(architecture)
    wanted = matcher.state_dict()
    _refuse(source, "tensors missing", [name for name in wanted if name not in tensors])
    _refuse(source, "tensors unknown", [name for name in tensors if name not in wanted])
    wrong = [
        f"{name} of size {tuple(tensors[name].shape)} instead of {tuple(tensor.shape)}"
        for name, tensor in wanted.items()
        if tensors[name].shape != tensor.shape
    ]
    _refuse(source, "tensors of the wrong size", wrong)
    odd = [name for name, tensor in tensors.items() if tensor.dtype not in _NUMBERS]
    _refuse(source, "tensors with values that are no numbers", odd)
    # In memory of their own: tensors of a file may share theirs.
    own = {
        name: tensor.to(torch.float32).clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    # A NaN is the lowest and the highest of all.
    odd = [n for n, w in own.items() if not all(map(torch.isfinite, torch.aminmax(w)))]
    _refuse(source, "tensors with values that are no numbers", odd)
    matcher.load_state_dict(own, assign=True)
    return matcher.eval()


def _architecture(found: Mapping[str, Tensor], source: str) -> Architecture:
    """The architecture by the sizes, and by the authors' settings beyond them."""
    first, last = found.get("extractor.first.weight"), found.get("extractor.last.weight")
    if first is None or last is None or first.ndim != 2 or last.ndim != 2:
        raise InputError(f"{source}: the first or last layer is missing or no matrix")
    inputs = first.shape[1]
    if inputs not in (3, 6):
        raise InputError(f"{source}: networks with {inputs} inputs are not known here")
    common: dict[str, Any] = {
        "frame": "given",
        "outputs": last.shape[0],
        "width": first.shape[0],
        "blocks": _blocks(found, "extractor"),
    }
    listener = found.get("listener.first.weight")
    if listener is not None:
        if listener.ndim != 2 or inputs != 3:
            raise InputError(f"{source}: not the sizes of an EchoMatch network of coordinates")
        return Architecture(
            "echomatch",
            temperature=0.1,
            neighbours=listener.shape[1],
            overlap_width=listener.shape[0],
            overlap_blocks=_blocks(found, "listener"),
            **common,
        )
    if any(name.startswith("refinement.") for name in found):
        return Architecture("dpfm", map_modes=50, map_weight=100.0, **common)
    common |= {"turning": "framed", "map_modes": 200}
    if inputs == 3:
        return Architecture("ulrssm", temperature=0.07, **common)
    return Architecture("wormhole", "xyz+normals", temperature=0.01, **common)


def _blocks(found: Mapping[str, Tensor], net: str) -> int:
    return sum(name.startswith(net) and name.endswith("diffusion.time") for name in found)


def _refuse(source: str, what: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        raise InputError(f"{source}: {what}: {', '.join(names[:_MOST_NAMED])}{more}")
