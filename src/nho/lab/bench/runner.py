"""One method on one pair under one condition, and the row that it becomes."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.metadata import version

from nho.errors import InputError, NhoError
from nho.lab.baselines import METHODS
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.perturb import Conditions, present
from nho.lab.bench.scores import Scores, judge
from nho.problem.result import MatchResult
from nho.settings import PRESETS, Settings, preset

KEYS = ("family", "pair", "method", "changes", "seed", *Conditions().as_text())
COLUMNS = (*KEYS, *(field.name for field in fields(Scores)), "version", "settings_hash")


@dataclass(frozen=True)
class Contender:
    """A method as it is run.

    Attributes
    ----------
    name : str
        Of the preset or baseline.
    changes : str
        Settings that differ from the preset's, as given to ``--set``.
    seed : str
        "-" for a baseline, which draws nothing.
    call : callable
        Takes partial, full, anchors and settings.
    """

    name: str
    changes: str
    seed: str
    call: Callable[..., MatchResult]
    settings: Settings | None

    @cached_property
    def settings_hash(self) -> str:
        """Twelve digits that stand for all settings but the threads, which change no answer."""
        if self.settings is None:
            return "-"
        text = self.settings.replace(threads=0).to_json()
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def contenders(methods: list[str], changes: list[str], seeds: list[int]) -> list[Contender]:
    """Presets with their settings changed, once per seed, and baselines, once."""
    found: list[Contender] = []
    for name in methods:
        if name in PRESETS:
            changed = preset(name).with_text(changes)
            for seed in seeds:
                settings = changed.replace(seed=seed)
                found.append(
                    Contender(name, shlex.join(changes), str(seed), METHODS[name], settings)
                )
        elif name in METHODS:
            method = METHODS[name]
            # Of settings a baseline reads none but the checkpoints of its network, if it has one.
            own = [text for text in changes if text.partition("=")[0].strip() == "checkpoints"]
            own = own if method.learned else []
            if name == "nho-auto":  # the one without numbers of its own
                chosen: Settings | None = preset("default")
            else:
                chosen = Settings().with_text(own) if own else None
            found.append(Contender(name, shlex.join(own), "-", method, chosen))
        else:
            raise InputError(f"method {name!r} is unknown; choose {', '.join(METHODS)}")
    return found


@dataclass(frozen=True)
class ScoredRun:
    """What became of one run: its scores, or why there are none."""

    keys: dict[str, str]
    scores: Scores | None
    failure: str = ""
    settings_hash: str = "-"

    def values(self) -> dict[str, float | str]:
        """What a row has besides the keys."""
        assert self.scores is not None
        made_by = {"version": version("nho"), "settings_hash": self.settings_hash}
        return self.scores.as_dict() | made_by


def run_one(
    family: str, pair: AnnotatedPair, method: Contender, condition: Conditions
) -> ScoredRun:
    """One method on one pair under one condition; a failure is part of the answer."""
    keys = run_keys(family, pair.name, method, condition)
    try:
        given = present(pair, condition)
        result = method.call(given.pair.partial, given.pair.full, given.anchors, method.settings)
        return ScoredRun(keys, judge(result, given), settings_hash=method.settings_hash)
    except NhoError as problem:
        return ScoredRun(keys, None, str(problem))


def run_keys(family: str, pair: str, method: Contender, condition: Conditions) -> dict[str, str]:
    """What names a run: its row is the only one with these."""
    own = (family, pair, method.name, method.changes, method.seed)
    return dict(zip(KEYS, (*own, *condition.as_text().values()), strict=True))
