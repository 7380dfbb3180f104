"""What `nho bench` does: one method on one pair under one condition, in any process."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from nho.errors import InputError
from nho.lab.baselines import METHODS
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.perturb import Conditions, present
from nho.lab.bench.scores import Scores, judge
from nho.lab.effort import watched
from nho.problem.result import MatchResult
from nho.settings import PRESETS, Settings, preset

KEYS = ("family", "pair", "method", "changes", "seed", *Conditions().as_text())
COLUMNS = (*KEYS, *(field.name for field in fields(Scores)), "version", "settings_hash")
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
class Contender:
    """A method as it is run.

    Attributes
    ----------
    call : callable
        Takes partial, full, anchors and settings.
    settings : Settings or None
        Given to ``call``.
    changes : str
        Settings that differ from the preset's, as given to ``--set``.
    seed : str
        "-" for a baseline, which draws nothing.
    """

    name: str
    call: Callable[..., MatchResult]
    settings: Settings | None = None
    changes: str = ""
    seed: str = "-"

    @cached_property
    def settings_hash(self) -> str:
        """Twelve digits that stand for all settings but the threads, which change no answer."""
        if self.settings is None:
            return "-"
        text = self.settings.replace(threads=0).to_json()
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=64)  # thousands of tasks share a few; hashing settings takes a millisecond
def contender(name: str, changes: tuple[str, ...] = (), seed: int = 0) -> Contender:
    """A preset with its settings changed, or a baseline."""
    if name not in METHODS:
        raise InputError(f"method {name!r} is unknown; choose {', '.join(METHODS)}")
    method = METHODS[name]
    if name in PRESETS:
        settings = preset(name).with_text(list(changes)).replace(seed=seed)
        return Contender(name, method, settings, shlex.join(changes), str(seed))
    if method.solver is None:
        return Contender(name, method, preset("default"))
    # Of settings a baseline reads none but the checkpoints of its network, if it has one.
    own = [text for text in changes if text.partition("=")[0].strip() == "checkpoints"]
    if not method.learned or not own:
        return Contender(name, method)
    return Contender(name, method, Settings().with_text(own), shlex.join(own))


def run_one(pair: AnnotatedPair, method: Contender, conditions: Conditions) -> Scores:
    """The scores of one method on one pair under one condition."""
    given = present(pair, conditions)
    with watched() as effort:
        result = method.call(given.pair.partial, given.pair.full, given.anchors, method.settings)
    return replace(judge(result, given), **asdict(effort))


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
        return contender(self.method, self.changes, self.seed)

    @cached_property
    def keys(self) -> dict[str, str]:
        """What names the row."""
        method = self.contender
        own = (self.family, self.pair, method.name, method.changes, method.seed)
        return dict(zip(KEYS, (*own, *self.conditions.as_text().values()), strict=True))

    @property
    def stamp(self) -> dict[str, str]:
        """The settings behind the names."""
        return {"settings_hash": self.contender.settings_hash}

    @property
    def effort(self) -> float:
        """The paper's recipe takes much longer, most of it in 3,400 steps of NAM."""
        return {"paper": 30.0, "nho-dpfm": 30.0, "paper-fast": 10.0}.get(self.method, 1.0)

    def solved_on(self, vertices: int) -> MatchTask:
        """The same with larger shapes solved on so many vertices; baselines stay as they are."""
        if not vertices or self.method not in PRESETS:
            return self
        return replace(self, changes=(_solved_on(vertices), *self.changes))

    def measure(self, data: Path | None, threads: int) -> Values:
        """Match and judge."""
        method = self.contender
        # Baselines too: the threads are theirs as well.
        settings = (method.settings or Settings()).replace(threads=threads)
        method = replace(method, settings=settings)
        scores = run_one(loaded(self.family, data, self.pair), method, self.conditions)
        return {**scores.as_dict(), "version": version("nho"), **self.stamp}

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


def as_planned(row: Mapping[str, str], vertices: int) -> dict[str, str]:
    """The row of a task `solved_on` so many vertices, named as if it were not."""
    changes = shlex.split(row.get("changes", ""))
    if not vertices or changes[:1] != [_solved_on(vertices)]:
        return dict(row)
    return {**row, "changes": shlex.join(changes[1:])}


def _solved_on(vertices: int) -> str:
    return f"solve_vertices={vertices}"


@lru_cache(maxsize=2)  # the tasks of one pair come one after the other
def loaded(family: str, data: Path | None, name: str) -> AnnotatedPair:
    """A pair with its truth."""
    return FAMILIES[family].load(data, name)
