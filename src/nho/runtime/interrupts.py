"""Ctrl-C and SIGTERM as one exception, and blocks in which they are deferred.

The command line turns these signals, and Ctrl-Break on Windows, into `Stopped` (`stops_raised`).
Python callers who do not ask for this keep whatever handling of signals they have.
"""

from __future__ import annotations

import atexit
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if sys.platform == "win32":
    _WORDS[signal.SIGBREAK] = "interrupted"


class Stopped(KeyboardInterrupt):
    """The user or the system wants the program to end.

    Attributes
    ----------
    number : int
        The signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number

    @property
    def word(self) -> str:
        """``interrupted`` or ``terminated``."""
        return _WORDS[signal.Signals(self.number)]

    @property
    def exit_code(self) -> int:
        """As shells report it: 130 or 143."""
        return 128 + self.number


class _Deferral:
    """How many blocks of `deferred` the main thread is in, and the signal that came meanwhile."""

    depth = 0
    signal: int | None = None


_deferral = _Deferral()


@contextmanager
def stops_raised() -> Iterator[None]:
    """The signals raise `Stopped` in this block; in threads other than the main one: no effect."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Who started us in the background, or with `nohup`, may have had them ignored.
    handled = [number for number in _WORDS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _on_signal) for number in handled}
    # While Python shuts down there is nothing left to tidy up, and a traceback would only confuse.
    atexit.register(_die_quietly)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def deferred() -> Iterator[None]:
    """A signal in this block is raised at its end; a second one is raised at once."""
    if threading.current_thread() is not threading.main_thread():  # signals do not come here
        yield
        return
    _deferral.depth += 1
    try:
        yield
    finally:
        _deferral.depth -= 1
        if not _deferral.depth and _deferral.signal is not None:
            number, _deferral.signal = _deferral.signal, None
            raise Stopped(number)


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _deferral.depth and _deferral.signal is None:
        _deferral.signal = number
        return
    sys.unraisablehook = _unless_half_made
    raise Stopped(number)


def _unless_half_made(unraisable: sys.UnraisableHookArgs) -> None:
    """Tell what an object complained about as it went, unless it misses a part of itself.

    It may have been only half made when the signal came, as an archive that was being opened.
    """
    if not isinstance(unraisable.exc_value, AttributeError):
        sys.__unraisablehook__(unraisable)


def _die_quietly() -> None:
    for number in _WORDS:
        signal.signal(number, signal.SIG_DFL)
