"""Does the suggested next anchor help? Pairs that get one anchor after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nho.evaluation.metrics import geodesic_errors
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import summary_cell
from nho.lab.bench.studies.scoreboard import chosen, counted
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Section, Table
from nho.lab.bench.tasks import MatchTask, Values, loaded
from nho.pipeline.matching import match
from nho.problem.result import MatchResult
from nho.settings import preset

FIRST, LAST = 4, 8  # anchors a sequence begins and ends with
QUICK_LAST = 5  # in a quick run

Choice = Callable[[AnnotatedPair, np.ndarray, MatchResult | None], int]


def suggested(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The annotated vertex nearest to the suggestion."""
    assert result is not None
    return _nearest_annotated(pair, chosen, pair.partial.vertices[result.next_anchor])


def farthest(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The next of farthest-point sampling, which does not depend on how many follow."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    more = sample_vertices(pair.partial, len(chosen) + 1, "geodesic", 0, annotated)
    return int(more[-1])


def at_random(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """Any annotated vertex that is not an anchor yet."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    return int(np.random.default_rng(len(chosen)).choice(np.setdiff1d(annotated, chosen)))


def _nearest_annotated(pair: AnnotatedPair, chosen: np.ndarray, place: np.ndarray) -> int:
    annotated = np.setdiff1d(np.flatnonzero(pair.truth.points.face >= 0), chosen)
    gaps = np.linalg.norm(pair.partial.vertices[annotated] - place, axis=1)
    return int(annotated[gaps.argmin()])


CHOICES: dict[str, Choice] = {
    "suggested": suggested,
    "farthest point": farthest,
    "random": at_random,
}


def anchor_sequence(
    pair: AnnotatedPair, choice: Choice, first: int, last: int, threads: int = 0
) -> list[float]:
    """Mean error x100 (at vertices) with ``first`` ... ``last`` anchors."""
    settings = preset("default").replace(threads=threads)
    chosen = pair.anchors(first)[:, 0]
    errors = []
    for count in range(first, last + 1):
        partner = pair.truth.points[chosen].nearest_vertex(pair.full)
        result = match(pair.partial, pair.full, np.stack([chosen, partner], axis=1), settings)
        found = SurfacePoints.at_vertices(pair.full, result.vertex_map)
        errors.append(100 * float(np.nanmean(geodesic_errors(pair.full, found, pair.truth.points))))
        if count < last:
            chosen = np.append(chosen, choice(pair, chosen, result))
    return errors


@dataclass(frozen=True)
class AnchorSequenceTask:
    """A pair that gets one anchor after the other, chosen in one way."""

    family: str
    pair: str
    choice: str
    last: int = LAST

    kind = "courses"
    columns = ("family", "pair", "choice", "first", "last", "errors", "version", "settings_hash")

    @property
    def effort(self) -> float:
        """Few anchors take twice the time of many."""
        return 2.0 * (self.last - FIRST + 1)

    @property
    def keys(self) -> dict[str, str]:
        """What names the row."""
        return {
            "family": self.family,
            "pair": self.pair,
            "choice": self.choice,
            "first": str(FIRST),
            "last": str(self.last),
        }

    @property
    def stamp(self) -> dict[str, str]:
        """The settings behind it."""
        return {"settings_hash": MatchTask("", "", "default").contender.settings_hash}

    def measure(self, data: Path | None, threads: int) -> Values:
        """Errors with FIRST ... ``last`` anchors."""
        pair = loaded(self.family, data, self.pair)
        errors = anchor_sequence(pair, CHOICES[self.choice], FIRST, self.last, threads)
        text = " ".join(f"{error:.4f}" for error in errors)
        return {"errors": text, "version": version("nho"), **self.stamp}


def plan(request: StudyRequest) -> list[AnchorSequenceTask]:
    """Every way to choose, on every pair."""
    pairs = request.pairs()[:1] if request.quick else request.pairs()
    last = QUICK_LAST if request.quick else LAST
    return [
        AnchorSequenceTask(family, pair, choice, last)
        for family, pair in pairs
        for choice in CHOICES
    ]


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Mean error against the number of anchors."""
    from nho.lab.bench.figures.curves import Series, budget_figure
    from nho.lab.bench.figures.plotstyle import save

    counts = range(FIRST, (QUICK_LAST if request.quick else LAST) + 1)
    lines = []
    for choice in CHOICES:
        of_choice = np.array(
            [row["errors"].split() for row in chosen(rows, choice=choice)], dtype=float
        ).reshape(-1, len(counts))
        lines.append((choice, tuple(summary_cell(column) for column in of_choice.T)))
    table = Table(
        "next-anchor",
        "One anchor after the other",
        f"{counted(rows)}. Mean error ×100 at vertices, preset default, from {FIRST} anchors on.",
        (tuple((str(count), 1) for count in counts),),
        (Section("", tuple(lines), ("low",) * len(counts)),),
    )
    series = [Series(name, tuple(map(float, counts)), cells) for name, cells in lines]
    figure = budget_figure({"error ×100 at vertices": series}, "anchors", logarithmic=False)
    return Findings([table], save(figure, folder / "next-anchor"))


STUDY = Study(
    "next-anchor",
    "The next anchor",
    "Does the suggested next anchor lower the error faster than the usual choices?",
    plan,
    report,
)
