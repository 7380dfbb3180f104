"""The command line: one module a command."""

from __future__ import annotations

import atexit
import gc
import sys

from nho.runtime.interrupts import Stopped, stops_raised
from nho.runtime.terminal import spell_out_foreign_signs

__all__ = ["main"]


def main() -> None:
    """Run the command ``nho``."""
    rest = "; nothing was written"
    # Modules are no garbage: looking for some while they are loaded, and at the very end, would
    # take a fifth of the start-up time. `nho.cli.app.load` enables it again.
    gc.disable()
    atexit.register(gc.freeze)
    spell_out_foreign_signs()
    with stops_raised():
        try:
            from nho.cli.app import run  # takes a tenth of a second

            rest = ""  # from here on the commands know more
            run()
        except Stopped as stop:
            sys.stderr.write(f"nho: {stop.word}{rest}\n")
            sys.exit(stop.exit_code)
        finally:
            gc.enable()
