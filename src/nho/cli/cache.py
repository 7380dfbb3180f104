"""`nho cache`: what is kept on disk to save time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from nho.errors import InputError
from nho.runtime.cache import Cache
from nho.runtime.memory import readable_size

app = typer.Typer(help="Show or clear what is kept on disk to save time.", no_args_is_help=True)


@app.command("info")
def info_command(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, sizes in bytes.")] = False,
) -> None:
    """Show the folder of the cache and what it holds.

    `NHO_CACHE` chooses the folder (`off`: no cache), `NHO_CACHE_MB` its largest size.

    Example: `nho cache info`
    """
    cache = Cache.default()
    with _readable(cache):
        info = cache.info()
    if as_json:
        typer.echo(json.dumps(info))
    elif info["folder"] is None:
        typer.echo("the cache is off")
    else:
        typer.echo(f"{'folder':<18}{info['folder']}")
        typer.echo(f"{'size':<18}{readable_size(info['bytes'])} of {readable_size(info['cap'])}")
        typer.echo(f"{'entries':<18}{info['entries']}")
        for kind, stored in info["by_kind"].items():
            typer.echo(f"  {kind:<16}{stored['entries']} ({readable_size(stored['bytes'])})")


@app.command("clear")
def clear_command() -> None:
    """Delete everything the cache holds, and no other file; it fills again by itself.

    Example: `nho cache clear`
    """
    cache = Cache.default()
    with _readable(cache):
        freed = cache.clear()
    typer.echo(
        "the cache is off"
        if cache.folder is None
        else f"freed {readable_size(freed)} in {cache.folder}"
    )


@contextmanager
def _readable(cache: Cache) -> Iterator[None]:
    """Report what a match would pass over: that the cache cannot be read."""
    try:
        yield
    except OSError as problem:
        raise InputError(
            f"{problem.filename or cache.folder}: {problem.strerror}; "
            "set NHO_CACHE to a folder of yours"
        ) from None
