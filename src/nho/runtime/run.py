"""`Run`: what a solver needs beside its problem."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nho.progress import Progress, ProgressCallback, ignore
from nho.runtime.parallel import SERIAL, Workers, workers
from nho.settings import Settings
from nho.settings.recipes import Recipe

RecipeKind = TypeVar("RecipeKind", bound=Recipe)


class Stopwatch:
    """Seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Add the duration of the block to ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Stage:
    """Steps of a stage, reported as they are done."""

    def __init__(self, name: str, steps: int = 1, progress: ProgressCallback = ignore) -> None:
        self.name, self._steps, self._progress = name, steps, progress
        self._count = itertools.count(1)  # threads may report side by side
        self._done = 0
        progress(Progress(name, 0, steps))

    def step(self, loss: float | None = None) -> None:
        """One more step is done."""
        self._done = next(self._count)
        self._progress(Progress(self.name, self._done, self._steps, loss))

    def finish(self) -> None:
        """Report the stage as complete, if its last step has not."""
        if self._done < self._steps:
            self._progress(Progress(self.name, self._steps, self._steps))


@dataclass(frozen=True)
class Run:
    """Settings, worker pool, stopwatch and progress callback of one match."""

    settings: Settings = field(default_factory=Settings)
    pool: Workers = SERIAL
    clock: Stopwatch = field(default_factory=Stopwatch)
    progress: ProgressCallback = ignore

    def recipe(self, kind: type[RecipeKind]) -> RecipeKind:
        """The recipe of the settings, which must be of this kind."""
        recipe = self.settings.recipe
        if not isinstance(recipe, kind):
            raise TypeError(f"this solver needs a {kind.__name__}, not a {type(recipe).__name__}")
        return recipe

    @contextmanager
    def stage(self, name: str, steps: int = 1, part_of: str = "") -> Iterator[Stage]:
        """Time a stage and report its progress.

        Parameters
        ----------
        steps : int
            Times that the body calls ``step`` at most; it need not call it at all.
        part_of : str
            Name under which the time is added up, if not its own.
        """
        with self.clock.time(part_of or name):
            stage = Stage(name, steps, self.progress)
            yield stage
            stage.finish()

    def quiet(self) -> Run:
        """The same without reports of progress."""
        return replace(self, progress=ignore)

    def with_settings(self, settings: Settings) -> Run:
        """The same with other settings."""
        return replace(self, settings=settings)


@contextmanager
def started(settings: Settings, progress: ProgressCallback | None) -> Iterator[Run]:
    """A run with workers of its own, timed as ``"total"``."""
    clock = Stopwatch()
    with clock.time("total"), workers(settings.threads) as pool:
        yield Run(settings, pool, clock, progress or ignore)
