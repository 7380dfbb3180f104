"""What `nho bench` does: one method on one pair under one condition, in any process."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from nho.errors import InputError, NhoError
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.runner import COLUMNS, KEYS, Contender, contenders, run_keys, run_one
from nho.settings import Settings

Values = Mapping[str, float | str]


class Task(Protocol):
    """Something to measure; its row in the CSV ``<kind>.csv`` is the one with its keys."""

    @property
    def kind(self) -> str:
        """Name of the table that its row belongs to."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of that table."""
        ...

    @property
    def keys(self) -> dict[str, str]:
        """What names the row."""
        ...

    @property
    def stamp(self) -> dict[str, str]:
        """Columns of a finished row that must say this, or it is measured again."""
        ...

    @property
    def effort(self) -> float:
        """Roughly how long it takes, in units of one match by preset ``default``."""
        ...

    def measure(self, data: Path | None, threads: int) -> Values:
        """Do it, and return the columns besides the keys."""
        ...


@dataclass(frozen=True)
class MatchTask:
    """One match, judged."""

    family: str
    pair: str
    method: str
    conditions: Conditions = field(default_factory=Conditions)
    changes: tuple[str, ...] = ()
    seed: int = 0

    kind = "matches"
    columns = COLUMNS

    @property
    def contender(self) -> Contender:
        """The method with its settings."""
        return _contender(self.method, self.changes, self.seed)

    @cached_property
    def keys(self) -> dict[str, str]:
        """What names the row."""
        return run_keys(self.family, self.pair, self.contender, self.conditions)

    @property
    def stamp(self) -> dict[str, str]:
        """The settings behind the names."""
        return {"settings_hash": self.contender.settings_hash}

    @property
    def effort(self) -> float:
        """The paper's recipe takes about ten times as long."""
        return 10.0 if self.method == "paper" else 1.0

    def measure(self, data: Path | None, threads: int) -> Values:
        """Match and judge."""
        method = self.contender
        # Baselines too: the threads are theirs as well.
        settings = (method.settings or Settings()).replace(threads=threads)
        method = replace(method, settings=settings)
        outcome = run_one(
            self.family, loaded(self.family, data, self.pair), method, self.conditions
        )
        if outcome.scores is None:
            raise NhoError(outcome.failure)
        return {**outcome.values(), **self.stamp}

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> MatchTask:
        """The task that made a row of ``matches.csv``."""
        missing = [key for key in KEYS if key not in row]
        if missing:
            raise InputError(f"this is no row of nho bench: it has no {', '.join(missing)}")
        if row["family"] not in FAMILIES:
            raise InputError(f"this is no row of nho bench: no family {row['family']!r} is known")
        try:
            return cls(
                row["family"],
                row["pair"],
                row["method"],
                Conditions.from_text(row),
                tuple(shlex.split(row["changes"])),
                0 if row["seed"] == "-" else int(row["seed"]),
            )
        except ValueError as problem:
            raise InputError(f"this is no row of nho bench: {problem}") from problem


@lru_cache(maxsize=64)  # thousands of tasks share a few; hashing settings takes a millisecond
def _contender(method: str, changes: tuple[str, ...], seed: int) -> Contender:
    return contenders([method], list(changes), [seed])[0]


@lru_cache(maxsize=2)  # the tasks of one pair come one after the other
def loaded(family: str, data: Path | None, name: str) -> AnnotatedPair:
    """A pair with its truth."""
    return FAMILIES[family].load(data, name)
