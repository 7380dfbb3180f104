"""Text on its way to a terminal.

Names of files, and what is quoted from them, may hold control characters that move the cursor,
change the title of the window or hide a line. Whatever is shown has them spelt out.
"""

from __future__ import annotations

import io
import logging
import sys


def printable(text: str) -> str:
    r"""The same in one line, with everything that is no plain character spelt out (``\x1b``)."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


class PrintableFormatter(logging.Formatter):
    """Log records line by line, as a traceback has many."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return "\n".join(map(printable, super().format(record).split("\n")))


def spell_out_foreign_signs() -> None:
    r"""Let stdout spell out (``\u2192``) what its encoding does not have, as stderr does."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def log_to_terminal(level: int) -> None:
    """Let this program's log go to stderr, from ``level`` on."""
    handler = logging.StreamHandler()
    handler.setFormatter(PrintableFormatter("%(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
