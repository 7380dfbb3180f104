"""Fit the confidence of preset `default` and show how far it can be trusted.

``python -m nho.lab.bench.fit_confidence --data DIR --out FOLDER`` matches pairs with few and many
anchors and fits the level of the logistic model of `nho.recipes.guided.confidence` to what it
finds: a factor of its weights, which leaves the order of the matches of a pair as it is, the weight
of strain, and the constant. It is judged on families left out of the fit: a reliability table and
curve, a line a family, and the risk among the most confident. With ``--anchors 0`` anchors are
found, for the numbers of found ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import minimize
from scipy.sparse.csgraph import dijkstra

from nho.evaluation.metrics import geodesic_errors
from nho.geometry.geodesics import edge_graph
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.figures.curves import trust_figure
from nho.lab.bench.figures.plotstyle import save
from nho.lab.bench.scores import RISK_COVERAGES, reliability, risk_at_coverages, risk_half
from nho.lab.bench.studies import StudyRequest
from nho.pipeline.automatic_anchors import AUTO, found_rivals
from nho.pipeline.matching import with_more_anchors
from nho.pipeline.multiresolution import solve_at_size
from nho.pipeline.rivals import Placed, solved_by_found
from nho.problem.preparation import prepare
from nho.problem.result import HAS_PARTNER
from nho.recipes.guided import recipe as guided
from nho.recipes.guided.confidence import RADIUS, WEIGHTS, WEIGHTS_FOUND
from nho.recipes.guided.placement import DOUBTFUL_BELOW
from nho.runtime.run import started
from nho.settings import Settings

_FAMILIES = "pfaust_m,pfaust_h,pfarm,tosca,shrec16_cuts,shrec16_holes,faces,tibias,species,scans"
_NEIGHBOURS = 20  # whose mean error stands for a perfect, but smooth, predictor
_ASKED = 3000  # vertices of a match, at most


@dataclass(frozen=True)
class MatchSignals:
    """Signals and errors (shares of sqrt(area)) at annotated vertices of one match."""

    family: str
    anchors: int
    signals: np.ndarray
    errors: np.ndarray
    smooth: np.ndarray  # mean error of the neighbours: what any smooth predictor can know

    @property
    def group(self) -> str:
        """What is left out of the fit together."""
        return self.family.split("_")[0]

    @property
    def right(self) -> np.ndarray:
        """(k,) bool: the match is less than `RADIUS` off."""
        return np.asarray(self.errors <= RADIUS)


Judged = tuple[np.ndarray, MatchSignals]  # confidence, and what it belongs to


def sample(family: str, pair: AnnotatedPair, anchors: int) -> MatchSignals | None:
    """Match one pair and keep what confidence is made of; None if its place is in doubt."""
    placed, judged = _placed(pair, anchors)
    problem, solution = placed.problem, placed.solution
    if solution.chance < DOUBTFUL_BELOW or solution.signals is None or solution.overlap is None:
        return None
    points = problem.given_points(solution.points)
    has_partner = problem.partial.to_given(solution.overlap, 0.0) >= HAS_PARTNER
    known = np.flatnonzero(judged & (points.face >= 0) & has_partner)
    some = np.random.default_rng(0).permutation(known)[:_ASKED]
    errors = geodesic_errors(pair.full, points[some], pair.truth.points[some])
    signals = solution.signals[problem.partial.solver_of_given[some]]
    return MatchSignals(family, anchors, signals, errors, _smooth(pair, some, errors))


def _placed(pair: AnnotatedPair, anchors: int) -> tuple[Placed, np.ndarray]:
    """The pair, matched, and (n_partial,) the vertices to judge it at."""
    meshes = pair.partial, pair.full
    with started(Settings(), None) as run:
        if not anchors:
            rivals = found_rivals(AUTO, *meshes, run)
            return solved_by_found(rivals, meshes, [], run, guided.solve)[0], pair.annotated
        marked = pair.anchors(anchors)
        problem = prepare(*meshes, marked, keep_loose=True)
        solution = solve_at_size(problem, run, with_more_anchors)
        return Placed(problem, solution), pair.judged(marked)


def _smooth(pair: AnnotatedPair, chosen: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """(k,) mean error of the nearest chosen vertices, without the vertex itself."""
    reach = 6 * pair.partial.mean_edge_length
    near = dijkstra(edge_graph(pair.partial), directed=False, indices=chosen, limit=reach)
    near = near[:, chosen]
    np.fill_diagonal(near, np.inf)
    order = np.argsort(near, axis=1)[:, :_NEIGHBOURS]
    smooth: np.ndarray = errors[order].mean(axis=1)
    return smooth


def fitted(samples: list[MatchSignals]) -> np.ndarray:
    """(3,) factor of the weights, weight of strain, constant; every match counts alike."""
    x = np.concatenate([_level(s) for s in samples])
    y = np.concatenate([s.right for s in samples]).astype(float)
    weight = np.concatenate([np.full(len(s.errors), 1 / len(s.errors)) for s in samples])

    def loss(c: np.ndarray) -> tuple[float, np.ndarray]:
        score = x @ c
        p = 1 / (1 + np.exp(-np.clip(score, -50, 50)))
        value = weight @ (np.logaddexp(0, score) - y * score)
        return float(value), x.T @ (weight * (p - y))

    return minimize(loss, np.zeros(x.shape[1]), jac=True, method="BFGS").x


def cross_validated(samples: list[MatchSignals]) -> list[np.ndarray]:
    """Confidence of every sample by a model fitted without its group."""
    models = {}
    for group in {s.group for s in samples}:
        models[group] = fitted([s for s in samples if s.group != group])
    return [1 / (1 + np.exp(-_level(s) @ models[s.group])) for s in samples]


def _level(sample: MatchSignals) -> np.ndarray:
    """(k, 3) what orders the matches of a pair, the strain of the pair, and one."""
    weights = WEIGHTS if sample.anchors else WEIGHTS_FOUND
    order, strain = sample.signals[:, :-1] @ weights[:-1], sample.signals[:, -1]
    return np.stack([order, strain, np.ones(len(order))], axis=1)


def calibration_error(judged: list[Judged]) -> float:
    """Mean gap between confidence and the share of right matches, over bins of confidence."""
    confidence, errors = _joined(judged)
    vertices, mean, share = reliability(100 * errors, confidence).T
    return float(np.average(np.abs(mean - share), weights=vertices))


def _joined(judged: list[Judged]) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and errors of all vertices."""
    return np.concatenate([c for c, _ in judged]), np.concatenate([s.errors for _, s in judged])


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    families: Annotated[str, typer.Option("--families", help="Comma-separated.")] = _FAMILIES,
    budgets: Annotated[
        str, typer.Option("--anchors", help="Comma-separated; 0 = found without a person.")
    ] = "3,5,10,25",
    pairs: Annotated[int, typer.Option("--pairs", help="Of each family.")] = 2,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figure.")] = Path("."),
) -> None:
    """Print the fitted numbers, reliability by confidence and by family, and the risks."""
    samples = []
    for family, name in StudyRequest(data, tuple(families.split(",")), most=pairs).pairs():
        pair = FAMILIES[family].load(data, name)
        for count in (int(word) for word in budgets.split(",")):
            found = sample(family, pair, count)
            about = "in doubt" if found is None else f"error {100 * found.errors.mean():.2f}"
            typer.echo(f"{family} {name} {count}: {about}", err=True)
            samples += [] if found is None else [found]
    level = np.round(fitted(samples), 3).tolist()
    typer.echo(f"factor of the weights, weight of strain, constant: {level}")
    judged = list(zip(cross_validated(samples), samples, strict=True))
    confidence, errors = _joined(judged)
    typer.echo("| confidence | within reach | vertices |\n|---|---|---|")
    for vertices, mean, share in reliability(100 * errors, confidence):
        if vertices:
            typer.echo(f"| {mean:.2f} | {share:.2f} | {vertices:.0f} |")
    typer.echo("| family | matches | confidence | within reach | calibration error |")
    typer.echo("|---|---|---|---|---|")
    for family in dict.fromkeys(s.family for s in samples):
        of = [(c, s) for c, s in judged if s.family == family]
        trust, off = _joined(of)
        typer.echo(
            f"| {family} | {len(of)} | {trust.mean():.2f} | {(off <= RADIUS).mean():.2f} | "
            f"{calibration_error(of):.3f} |"
        )
    _risks(judged, out)


def _risks(judged: list[Judged], out: Path) -> None:
    """Print what is risked among the more confident, and draw it with the reliability."""
    typer.echo("| anchors | risk of the surer half | smooth oracle | oracle |\n|---|---|---|---|")
    tables, risks = {}, {}
    for count in sorted({s.anchors for _, s in judged}):
        chosen = [(c, s) for c, s in judged if s.anchors == count]
        halves = [
            np.mean([risk_half(s.errors, order) for order, s in orders])
            for orders in (chosen, *_oracles(chosen))
        ]
        typer.echo(f"| {count} | " + " | ".join(f"{half:.2f}" for half in halves) + " |")
        confidence, errors = _joined(chosen)
        tables[count] = reliability(100 * errors, confidence)
        risks[count] = np.mean([risk_at_coverages(s.errors, c) for c, s in chosen], axis=0)
    save(trust_figure(tables, RISK_COVERAGES, risks, RADIUS), out / "confidence")


def _oracles(chosen: list[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Orders that know the mean error of the neighbours, and the error itself."""
    return [(-s.smooth, s) for _, s in chosen], [(-s.errors, s) for _, s in chosen]


if __name__ == "__main__":
    typer.run(run)
