"""The learned methods by name."""

from __future__ import annotations

from nho.learned.architecture import Architecture
from nho.learned.dpfm import DPFM
from nho.learned.echomatch import EchoMatch
from nho.learned.matcher import Matcher
from nho.learned.ulrssm import ULRSSM
from nho.learned.wormhole import Wormhole

METHODS: dict[str, type[Matcher]] = {
    "dpfm": DPFM,
    "ulrssm": ULRSSM,
    "wormhole": Wormhole,
    "echomatch": EchoMatch,
}


def new_matcher(architecture: Architecture) -> Matcher:
    """A network with fresh weights, drawn from torch's own generator."""
    return METHODS[architecture.method](architecture)
