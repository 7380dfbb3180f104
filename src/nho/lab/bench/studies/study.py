"""What a study is: the tasks it needs, and what it makes of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nho.evaluation.ground_truth import region_rule
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.roles import roles_note
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.tabular import Table
from nho.lab.bench.tasks import MatchTask, Task, as_planned

ALWAYS_THERE = "synthetic"  # the family that needs no files
_FEW = 2  # families that do for a quick run of most studies
_QUICKLY = 500  # vertices that presets solve on in a quick run


@dataclass(frozen=True)
class StudyRequest:
    """What the user asked for.

    Attributes
    ----------
    data : Path or None
        Folder of data sets.
    families : tuple of str
        To measure on.
    methods : tuple of str
        Instead of a study's own choice; empty = that one.
    quick : bool
        One pair per family, one rotation, few variants: minutes instead of hours.
    every : int
        Only every n-th pair.
    most : int
        Pairs of a family at most, evenly spread over it; 0 = all.
    seeds : tuple of int
        Of the settings, where a study speaks of seeds; empty = its own, mostly 0 alone.
    as_given : bool
        Main tables without the normalised and rotated input settings.
    rotations : int
        Main tables: random rotations whose mean is the rotated setting; the paper has three.
    checkpoints : str
        Main tables: files or folders of weights for learned methods; empty = those shipped.
    vertices : int
        Presets solve larger shapes on about so many vertices; 0 = as a study and they choose.
    region_truth : str
        Rule for the true region that tables and figures show, see `nho.evaluation.ground_truth`.
    tell : callable
        Gets a sentence when something begins that takes long.
    """

    data: Path | None
    families: tuple[str, ...]
    methods: tuple[str, ...] = ()
    quick: bool = False
    every: int = 1
    most: int = 0
    seeds: tuple[int, ...] = ()
    as_given: bool = False
    rotations: int = 3
    checkpoints: str = ""
    vertices: int = 0
    region_truth: str = "usual"
    tell: Callable[[str], None] = lambda note: None

    def __post_init__(self) -> None:
        region_rule(self.region_truth)  # before anything is measured

    def pairs(self, method: str = "default") -> list[tuple[str, str]]:
        """(family, pair) names; the paper's recipe, which takes long, sees fewer in a quick run."""
        families = self.families
        if self.quick and method in ("paper", "paper-fast"):
            small = [name for name in families if name == ALWAYS_THERE]
            families = tuple(small) or families[:1]
        found = []
        for family in families:
            names = _spread(FAMILIES[family].names(self.data)[:: self.every], self.most)
            found += [(family, name) for name in (names[:1] if self.quick else names)]
        return found

    def tasks(
        self,
        method: str,
        conditions: Sequence[Conditions] = (Conditions(),),
        changes: tuple[str, ...] = (),
        seeds: tuple[int, ...] = (0,),
    ) -> list[MatchTask]:
        """A method on all pairs under all conditions."""
        return [
            MatchTask(family, pair, method, condition, changes, seed)
            for family, pair in self.pairs(method)
            for condition in conditions
            for seed in seeds or (0,)
        ]


def _spread(names: list[str], most: int) -> list[str]:
    """At most so many of them, the first and the last included; all if ``most`` is 0."""
    if not most or len(names) <= most:
        return names
    apart = (len(names) - 1) / max(most - 1, 1)
    return [names[round(number * apart)] for number in range(most)]


@dataclass(frozen=True)
class Findings:
    """What a study shows."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Study:
    """One question, with the tasks that answer it.

    Attributes
    ----------
    plan : callable
        From a `StudyRequest` to tasks.
    report : callable
        From the request, the rows of those tasks and a folder for figures to `Findings`.
    wide : bool
        A quick run still sees all families.
    vertices : int
        As in the request, where that does not say.
    """

    name: str
    title: str
    question: str
    plan: Callable[[StudyRequest], Sequence[Task]]
    report: Callable[[StudyRequest, list[ResultRow], Path], Findings]
    wide: bool = False
    vertices: int = 0

    def narrowed(self, request: StudyRequest) -> StudyRequest:
        """The request with as many families as the study needs to see in a quick run."""
        if request.quick and not self.wide:
            return replace(request, families=request.families[:_FEW])
        return request

    def solved_on(self, request: StudyRequest) -> int:
        """The request's number of vertices, that of a quick run, or the study's own."""
        return request.vertices or (_QUICKLY if request.quick else self.vertices)

    def tasks(self, request: StudyRequest) -> list[Task]:
        """What is measured: the plan, on so many vertices."""
        vertices = self.solved_on(request)
        return [
            task.solved_on(vertices) if isinstance(task, MatchTask) else task
            for task in self.plan(self.narrowed(request))
        ]

    def findings(self, request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
        """The report on the rows of its tasks.

        Every table says which families choose and which judge, and on how many vertices the
        presets solved.
        """
        vertices = self.solved_on(request)
        own = [as_planned(row, vertices) for row in rows]
        narrowed = self.narrowed(request)
        found = self.report(narrowed, own, folder)
        families = dict.fromkeys(row["family"] for row in rows) or narrowed.families
        notes = [roles_note((name, FAMILIES[name].title) for name in families)]
        if vertices and own != rows:
            notes += [f"Presets solve larger shapes on about {vertices:,} vertices (--vertices)."]
        tables = [
            replace(table, note=" ".join(filter(None, [table.note, *notes])))
            for table in found.tables
        ]
        return replace(found, tables=tables)
