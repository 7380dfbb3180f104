"""Anchors that nobody marked: ``auto``, or ``auto:METHOD`` for matches of a learned method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.problem.anchors import Anchors
from nho.progress import ProgressCallback
from nho.runtime.run import Run
from nho.settings import Settings

AUTO = "auto"
LEARNED = ("dpfm", "ulrssm", "wormhole", "echomatch")


def is_automatic(anchors: object) -> TypeGuard[str | Path]:
    """Does it ask for anchors to be found? A file of that name is called ``./auto``."""
    return isinstance(anchors, str | Path) and str(anchors).partition(":")[0] == AUTO


def check_source(source: str | Path) -> str:
    """The learned method that ``auto:METHOD`` asks for; empty for ``auto`` alone."""
    _, colon, method = str(source).partition(":")
    if colon and method not in LEARNED:
        choices = ", ".join([AUTO, *(f"{AUTO}:{name}" for name in LEARNED)])
        raise InputError(f"unknown way to find anchors: {str(source)!r}; choose {choices}")
    return method


def found_rivals(source: str | Path, partial: Mesh, full: Mesh, run: Run) -> list[Anchors]:
    """Sets of anchors without a person, the best first, each for another placement.

    ``source`` as for `found_anchors`; a network gives one set.
    """
    if check_source(source):
        return [found_anchors(source, partial, full, run.settings, run.progress)]
    from nho.anchor_search.search import find_rivals

    return find_rivals(partial, full, run)


def found_anchors(
    source: str | Path,
    partial: Mesh,
    full: Mesh,
    settings: Settings,
    progress: ProgressCallback | None = None,
) -> Anchors:
    """Anchors between two meshes, without a person.

    Parameters
    ----------
    source : str
        ``auto`` searches by shape alone (`nho.anchor_search`); ``auto:dpfm`` and the like take
        well-spread matches of a network's features, which knows the kind of shapes it was trained
        on (needs the extra ``learned``).
    """
    method = check_source(source)
    if not method:
        from nho.anchor_search import find_anchors

        return find_anchors(partial, full, settings, progress)
    from nho.learned.backend import require_torch

    require_torch()
    from nho.learned.feature_anchors import feature_anchors

    pairs = feature_anchors(partial, full, method, settings)
    found = Anchors.from_vertices(partial, full, pairs, source=f"anchors of {method}")
    note = f"{len(pairs)} anchors are matches of {method}; look at the report before you trust them"
    return replace(found, notes=(note,))
