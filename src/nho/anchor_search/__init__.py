"""Anchors without a person: from two surfaces alone, of any kind, in any pose and unit.

`coarse_surface` measures what bending and cutting keep and compares places by it, `proposals` makes
sets of anchors that agree among themselves, `placements` bends the partial shape by each and scores
it, `search` keeps the best. No step knows what kind of shape it is, and nothing was trained.
"""

from __future__ import annotations

from nho.anchor_search.search import find_anchors

__all__ = ["find_anchors"]
