"""`nho train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nho.cli.console import if_stopped, progress_display, say
from nho.cli.options import Quiet


def train_command(
    method: Annotated[
        str, typer.Argument(help="`dpfm`, `ulrssm`, `wormhole` or `echomatch`.", metavar="METHOD")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="OUT", help="File for the network, ending in .npz.")
    ],
    steps: Annotated[int, typer.Option("--steps", help="Steps, one pair of shapes each.")] = 1200,
    seed: Annotated[int, typer.Option("--seed", help="Seed of shapes and first weights.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Train the network of a learned method on generated shapes, on one core.

    The shapes are made here, so the network is yours to give away. Needs the extra `learned`.

    If training is interrupted, run the same command again to resume: until it is done, its state
    is kept in a file beside OUT whose name ends in `.unfinished`.

    Example: `nho train dpfm --out dpfm.npz --steps 500`
    """
    from nho.learned.backend import require_torch

    require_torch()
    from nho.learned.training import Plan  # torch takes seconds to import
    from nho.learned.training_files import train_to_file, unfinished

    plan = Plan(method, steps=steps, seed=seed)

    def kept() -> str:
        if unfinished(out).exists():
            return f"{unfinished(out)} holds what is done; run the same command again to continue"
        return "nothing was written; run the same command to start again"

    def resumed(done: int) -> None:
        if not quiet:
            say(f"going on after step {done} of {steps}", err=True)

    with if_stopped(kept):
        with progress_display(quiet) as progress:
            trained = train_to_file(plan, out, progress, resumed)
        if not quiet:
            say(
                f"loss on held-out pairs: {trained.loss_before:.3f} before, "
                f"{trained.loss_after:.3f} after; wrote {out}"
            )
