"""Anchors without a person: from two surfaces alone, of any kind, in any pose and unit.

`survey` measures what bending and cutting keep, `likeness` compares places by it, `proposals` makes
sets of anchors that agree among themselves, `trials` bends the partial shape by each and keeps the
best. No step knows what kind of shape it is, and nothing was trained.
"""

from __future__ import annotations

from nho.anchor_search.search import find_anchors

__all__ = ["find_anchors"]
