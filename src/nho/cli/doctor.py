"""`nho doctor`."""

from __future__ import annotations

import os
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import typer
from threadpoolctl import threadpool_info

from nho.errors import NhoError
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.pipeline.matching import match
from nho.report.result_folder import versions
from nho.runtime.parallel import thread_count
from nho.settings import preset

_OPTIONAL = ("matplotlib", "torch")


def doctor_command() -> None:
    """Show versions and threads, and check in a few seconds that a small match works.

    Example: `nho doctor`
    """
    for name, text in versions().items():
        typer.echo(f"{name:<18}{text}")
    for name in _OPTIONAL:
        typer.echo(f"{name:<18}{_version_or_absence(name)}")
    typer.echo(f"{'cores':<18}{os.cpu_count()} (used: {thread_count(0)})")
    for pool in threadpool_info():
        typer.echo(
            f"{'thread pool':<18}{pool['internal_api']} {pool.get('version') or ''}, "
            f"{pool['num_threads']} threads (one during a match)"
        )
    seconds, agreement = self_check()
    typer.echo(f"{'self-check':<18}{agreement:.0%} of a cut sphere found again, {seconds:.1f} s")
    if agreement < 0.5:
        raise NhoError(
            "the self-check failed: this installation computes wrong results; reinstall nho in a "
            "new environment, and if that does not help report the lines above"
        )


def self_check() -> tuple[float, float]:
    """Match a piece of a bumpy sphere to the whole; the share mapped within two edges."""
    full = bumpy_sphere(3, seed=1)
    cut = cut_by_plane(full, np.array([0.3, 0.5, 1.0]), keep_area=0.6)
    random = np.random.default_rng(0)
    chosen = random.choice(len(cut.mesh.vertices), 25, replace=False)
    anchors = np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)
    settings = preset("default")
    start = time.perf_counter()
    result = match(cut.mesh, full, anchors, settings)
    seconds = time.perf_counter() - start
    gap = np.linalg.norm(
        full.vertices[result.vertex_map] - full.vertices[cut.vertex_of_parent], axis=1
    )
    return seconds, float((gap <= 2 * full.mean_edge_length).mean())


def _version_or_absence(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed (optional)"
