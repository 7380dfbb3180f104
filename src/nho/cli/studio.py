"""`nho studio`."""

from __future__ import annotations

import time
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.console import say
from nho.errors import InputError
from nho.io.attributes import read_with_attributes
from nho.studio import Studio
from nho.studio.marks import SIDES
from nho.studio.opening import open_place, opens_alone
from nho.studio.uploads import take_landmarks


def studio_command(
    partial: Annotated[
        Path | None,
        typer.Argument(
            metavar="PARTIAL",
            help="The partial surface (scan); or a project, or a folder of `nho match` or "
            "`nho batch`, alone.",
        ),
    ] = None,
    full: Annotated[
        Path | None, typer.Argument(metavar="FULL", help="The full surface (template).")
    ] = None,
    anchors: Annotated[
        list[Path],
        typer.Option(
            "--anchors",
            metavar="FILE",
            help="Anchors to begin with; a file of pairs, or twice for two files.",
        ),
    ] = [],  # noqa: B006  (typer reads it, nothing changes it)
    port: Annotated[int, typer.Option("--port", help="Port; 0 = any free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Place anchors on both shapes in the browser, match, inspect and download the result.

    Everything stays on this machine. The page saves anchors as you go, for you alone (the folder is
    `NHO_STUDIO_STATE`, if set): the next time the same two meshes are opened, they are there again.

    Example: `nho studio scan.ply template.obj`

    A project that was saved from the page, the result of a match, or all pairs of a batch:

    Example: `nho studio skulls.nho`

    Example: `nho studio results`
    """
    alone = partial if partial is not None and full is None and opens_alone(partial) else None
    if alone is not None:
        partial = None
    meshes = [None if path is None else read_with_attributes(path) for path in (partial, full)]
    if anchors and not all(meshes):
        raise InputError("--anchors needs both meshes; give PARTIAL and FULL as well")
    studio = Studio(port)
    try:
        for side, mesh, path in zip(SIDES, meshes, (partial, full), strict=True):
            if mesh is not None:
                studio.session.open(side, *mesh, path)
        if alone is not None:
            open_place(studio.session, alone)
        if anchors:
            take_landmarks(studio.session, anchors)
        studio.start()
        studio.session.warm_up()
        typer.echo(f"studio at {studio.address} (Ctrl-C ends it)")
        if browser:
            webbrowser.open(studio.one_time_address)
        while True:
            time.sleep(1)  # on Windows, signals are only heard between two short waits
    except KeyboardInterrupt:
        why = studio.session.unsaved
        say(f"studio ended; anchors are {f'not saved: {why}' if why else 'saved'}")
    finally:
        studio.stop()
