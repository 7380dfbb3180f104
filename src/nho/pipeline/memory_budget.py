"""Whether a match fits into the memory that is free, and if not, at what size it would."""

from __future__ import annotations

import logging

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.runtime.memory import available_memory, estimated_memory, readable_size
from nho.settings import FEWEST_SOLVED, Settings

log = logging.getLogger(__name__)

# Measured from 250,000 to 1,000,000 vertices, outputs included, and rounded up.
_PER_VERTEX_CARRIED = 3_000  # bytes per vertex of either mesh, where it is not solved on directly


def needed_memory(n_partial: int, n_full: int, solve_vertices: int) -> int:
    """Bytes that one process needs at most to match meshes with so many vertices.

    Parameters
    ----------
    solve_vertices : int
        As in `Settings`; 0 = all of them.
    """
    if not solve_vertices or max(n_partial, n_full) <= solve_vertices:
        return estimated_memory(n_partial, n_full)
    solved = estimated_memory(min(n_partial, solve_vertices), min(n_full, solve_vertices))
    return solved + _PER_VERTEX_CARRIED * (n_partial + n_full)


def affordable(sizes: tuple[int, int], solve_vertices: int, free: int | None) -> tuple[int, int]:
    """The ``solve_vertices`` that fits, halved as often as needed, and the bytes it takes.

    If even the fewest vertices do not fit, the bytes are more than ``free`` (None = unknown).

    Parameters
    ----------
    sizes : pair of int
        Vertices of the partial and of the full mesh.
    """
    needed = needed_memory(*sizes, solve_vertices)
    if free is None or needed <= free:
        return solve_vertices, needed
    fewer = min(solve_vertices or max(sizes), max(sizes))
    while needed_memory(*sizes, fewer) > free and fewer // 2 >= FEWEST_SOLVED:
        fewer //= 2
    return fewer, min(needed, needed_memory(*sizes, fewer))


def fit_to_memory(settings: Settings, partial: Mesh, full: Mesh) -> tuple[Settings, list[str]]:
    """Settings that fit, with a warning if ``solve_vertices`` had to be lowered.

    Raises
    ------
    InputError
        If even the smallest size does not fit.
    """
    free = available_memory()
    sizes = len(partial.vertices), len(full.vertices)
    needed = needed_memory(*sizes, settings.solve_vertices)
    log.info(
        "about %s of memory needed, %s free",
        readable_size(needed),
        "an unknown amount" if free is None else readable_size(free),
    )
    if free is None or needed <= free:
        return settings, []
    solved, takes = affordable(sizes, settings.solve_vertices, free)
    if takes > free:
        raise InputError(
            f"{partial.name} and {full.name}: to match {sizes[0]} and {sizes[1]} vertices takes "
            f"about {readable_size(takes)} of memory but {readable_size(free)} are free; end other "
            "programs, raise the limit (ulimit -v, container) or simplify the meshes"
        )
    warning = (
        f"only {readable_size(free)} of memory are free where {readable_size(needed)} are needed: "
        f"the meshes are solved on about {solved} vertices (setting solve_vertices)"
    )
    return settings.replace(solve_vertices=solved), [warning]
