"""Run methods on pairs under conditions, a row of measurements each; what is done is skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from nho.baselines import BASELINES
from nho.bench.datasets import Pair
from nho.bench.perturb import Conditions, present
from nho.bench.rowfile import append_row, check_columns, read_rows
from nho.bench.scores import Scores, judge
from nho.errors import InputError, NhoError
from nho.matching import match
from nho.result import MatchResult
from nho.settings import PRESETS, Settings, preset

KEYS = ("family", "pair", "method", "changes", "seed", *Conditions().as_text())
COLUMNS = (*KEYS, *(field.name for field in fields(Scores)))


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


def contenders(methods: list[str], changes: list[str], seeds: list[int]) -> list[Contender]:
    """Presets with their settings changed, once per seed, and baselines, once."""
    found: list[Contender] = []
    for name in methods:
        if name in PRESETS:
            changed = preset(name).with_text(changes)
            for seed in seeds:
                settings = changed.replace(seed=seed)
                found.append(Contender(name, " ".join(changes), str(seed), match, settings))
        elif name in BASELINES:
            found.append(Contender(name, "", "-", BASELINES[name], None))
        else:
            known = ", ".join([*PRESETS, *BASELINES])
            raise InputError(f"method {name!r} is unknown; choose {known}")
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of one run: its scores, or why there are none."""

    keys: dict[str, str]
    scores: Scores | None
    failure: str = ""


def measure(
    families: Mapping[str, Iterable[Pair]],
    methods: list[Contender],
    conditions: list[Conditions],
    out: Path,
) -> Iterator[Outcome]:
    """Every method on every pair under all conditions, written to ``out`` one by one.

    What ``out`` already holds is not computed again. A failure is told and not written, so the
    next start tries again.
    """
    check_columns(out, COLUMNS)
    done = {tuple(row[key] for key in KEYS) for row in read_rows(out)}
    for family, pairs in families.items():
        for pair in pairs:
            for condition in conditions:
                for method in methods:
                    keys = _keys(family, pair, method, condition)
                    if tuple(keys.values()) in done:
                        continue
                    outcome = _run(pair, method, condition, keys)
                    if outcome.scores:
                        append_row(out, keys, outcome.scores.as_dict())
                        done.add(tuple(keys.values()))
                    yield outcome


def _run(pair: Pair, method: Contender, condition: Conditions, keys: dict[str, str]) -> Outcome:
    try:
        trial = present(pair, condition)
        result = method.call(trial.pair.partial, trial.pair.full, trial.anchors, method.settings)
        return Outcome(keys, judge(result, trial))
    except NhoError as problem:
        return Outcome(keys, None, str(problem))


def _keys(family: str, pair: Pair, method: Contender, condition: Conditions) -> dict[str, str]:
    own = (family, pair.name, method.name, method.changes, method.seed)
    return dict(zip(KEYS, (*own, *condition.as_text().values()), strict=True))
