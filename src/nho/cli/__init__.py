"""The command line: one module a command."""

from __future__ import annotations

import sys

from nho.runtime.interrupts import Stopped, stops_raised

__all__ = ["main"]


def main() -> None:
    """Run the command ``nho``."""
    rest = "; nothing was written"
    with stops_raised():
        try:
            from nho.cli.app import run  # takes a second

            rest = ""  # from here on the commands know more
            run()
        except Stopped as stop:
            sys.stderr.write(f"nho: {stop.word}{rest}\n")
            sys.exit(stop.exit_code)
