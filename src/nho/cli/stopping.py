"""What a command says when it is stopped: what is there, and how to go on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nho.errors import NhoError
from nho.runtime.interrupts import Stopped


class Ended(NhoError):
    """A signal ended the command; the text is for the user."""

    def __init__(self, stop: KeyboardInterrupt, rest: str) -> None:
        stopped = stop if isinstance(stop, Stopped) else Stopped(signal.SIGINT)
        super().__init__(f"{stopped.word}; {rest}")
        self.exit_code = stopped.exit_code


@contextmanager
def if_stopped(told: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C and SIGTERM in this block end the command with what ``told`` returns then."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Ended(stop, told()) from None


def result_in(out: Path) -> Callable[[], str]:
    """For a command that writes the folder of a result: whether it got that far."""
    earlier = _settings(out)

    def told() -> str:
        now = _settings(out)
        if now is None:
            return "nothing was written; the same command starts anew"
        if now == earlier:
            return f"{out} still holds the earlier result; the same command starts anew"
        return f"but the result in {out} is complete"

    return told


def _settings(out: Path) -> bytes | None:
    """What tells one result from another, as they hold their timings."""
    try:
        return (out / "settings.json").read_bytes()
    except OSError:
        return None
