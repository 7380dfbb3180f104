"""How the commands say something: one line at a time, without control characters."""

from __future__ import annotations

import typer

from nho.runtime.terminal import printable


def say(line: str, err: bool = False) -> None:
    """Print a line whose words may come from files, to stdout or to stderr."""
    typer.echo(printable(line), err=err)
