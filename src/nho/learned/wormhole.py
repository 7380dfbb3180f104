"""Wormhole (Bracha, Dages and Kimmel 2024): features learned from distances that a cut cannot bend.

What is new is the loss: a distance between two points counts only if the missing part cannot hold
a shorter way, as its ends are nearer to each other than by any way over the boundary. To match, the
nearest features are smoothed by 200 eigenfunctions.
"""

from __future__ import annotations

from nho.learned.matcher import Matcher


class Wormhole(Matcher):
    """The network; see `Matcher`."""
