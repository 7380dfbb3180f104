"""The learned methods by name."""

from __future__ import annotations

from nho.features.architecture import Architecture
from nho.features.dpfm import DPFM
from nho.features.echomatch import EchoMatch
from nho.features.matcher import Matcher
from nho.features.ulrssm import ULRSSM
from nho.features.wormhole import Wormhole

METHODS: dict[str, type[Matcher]] = {
    "dpfm": DPFM,
    "ulrssm": ULRSSM,
    "wormhole": Wormhole,
    "echomatch": EchoMatch,
}


def new_matcher(architecture: Architecture) -> Matcher:
    """A network with fresh weights, drawn from torch's own generator."""
    return METHODS[architecture.method](architecture)
