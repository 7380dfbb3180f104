"""Fit the confidence of preset `default` and show how far it can be trusted.

``python -m nho.lab.bench.fit_confidence --data DIR --out FOLDER`` matches pairs with few and many
anchors, fits the logistic model of `nho.recipes.guided.confidence` to what it finds, and judges it
on families left out of the fit: a reliability table and curve, and the risk among the most
confident.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import minimize
from scipy.sparse.csgraph import dijkstra

from nho.evaluation.metrics import geodesic_errors
from nho.geometry.geodesics import edge_graph
from nho.lab.bench.datasets import DEVELOPMENT, FAMILIES, AnnotatedPair
from nho.lab.bench.figures.curves import trust_figure
from nho.lab.bench.figures.plotstyle import save
from nho.lab.bench.scores import RISK_COVERAGES, reliability, risk_at_coverages, risk_half
from nho.problem.preparation import prepare
from nho.recipes.guided import recipe as guided
from nho.recipes.guided.confidence import RADIUS
from nho.runtime.run import started
from nho.settings import Settings

_NEIGHBOURS = 20  # whose mean error stands for a perfect, but smooth, predictor


@dataclass(frozen=True)
class MatchSignals:
    """Signals and errors (shares of sqrt(area)) at the annotated vertices of one match."""

    group: str
    anchors: int
    signals: np.ndarray
    errors: np.ndarray
    smooth: np.ndarray  # mean error of the neighbours: what any smooth predictor can know


Judged = tuple[np.ndarray, MatchSignals]  # confidence, and what it belongs to


def sample(group: str, pair: AnnotatedPair, anchors: int) -> MatchSignals:
    """Match one pair and keep what confidence is made of."""
    problem = prepare(pair.partial, pair.full, pair.anchors(anchors))
    with started(Settings(), None) as run:
        solution = guided.solve(problem, run)
    assert solution.signals is not None
    points = problem.given_points(solution.points)
    known = (pair.truth.points.face >= 0) & (points.face >= 0)
    errors = geodesic_errors(pair.full, points, pair.truth.points)
    rows = problem.partial.solver_of_given[known]
    signals = solution.signals[rows]
    return MatchSignals(group, anchors, signals, errors[known], _smooth(pair, known, errors))


def _smooth(pair: AnnotatedPair, known: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Mean error of the nearest annotated vertices, without the vertex itself."""
    chosen = np.flatnonzero(known)
    graph = edge_graph(pair.partial)
    reach = 6 * pair.partial.mean_edge_length
    near = dijkstra(graph, directed=False, indices=chosen, limit=reach)[:, chosen]
    np.fill_diagonal(near, np.inf)
    order = np.argsort(near, axis=1)[:, :_NEIGHBOURS]
    smooth: np.ndarray = errors[chosen][order].mean(axis=1)
    return smooth


def fitted(samples: list[MatchSignals]) -> np.ndarray:
    """(k + 1,) weights and constant of the logistic model; every match counts alike."""
    x = np.concatenate([_with_one(s.signals) for s in samples])
    y = np.concatenate([s.errors <= RADIUS for s in samples]).astype(float)
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
    return [1 / (1 + np.exp(-_with_one(s.signals) @ models[s.group])) for s in samples]


def _with_one(signals: np.ndarray) -> np.ndarray:
    return np.concatenate([signals, np.ones((len(signals), 1))], axis=1)


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    budgets: Annotated[str, typer.Option("--anchors", help="Comma-separated.")] = "5,10,25",
    every: Annotated[int, typer.Option("--every", help="Only every n-th pair.")] = 3,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figure.")] = Path("."),
) -> None:
    """Print the fitted numbers, the reliability table and the risks; draw both."""
    samples = []
    for family in DEVELOPMENT:
        group = family.split("_")[0]
        for pair in islice(FAMILIES[family].pairs(data), 0, None, every):
            for count in (int(word) for word in budgets.split(",")):
                samples.append(sample(group, pair, count))
                typer.echo(f"{family} {pair.name} {count}", err=True)
    typer.echo(f"weights and constant: {np.round(fitted(samples), 3).tolist()}")
    trusted = cross_validated(samples)
    confidence, errors = np.concatenate(trusted), np.concatenate([s.errors for s in samples])
    typer.echo("| confidence | within reach | vertices |\n|---|---|---|")
    for vertices, mean, share in reliability(100 * errors, confidence):
        if vertices:
            typer.echo(f"| {mean:.2f} | {share:.2f} | {vertices:.0f} |")
    typer.echo("| anchors | risk of the surer half | smooth oracle | oracle |\n|---|---|---|---|")
    tables, risks = {}, {}
    for count in sorted({s.anchors for s in samples}):
        chosen = [(c, s) for c, s in zip(trusted, samples, strict=True) if s.anchors == count]
        halves = [
            np.mean([risk_half(s.errors, order) for order, s in orders])
            for orders in (chosen, *_oracles(chosen))
        ]
        typer.echo(f"| {count} | " + " | ".join(f"{half:.2f}" for half in halves) + " |")
        tables[count] = reliability(
            100 * np.concatenate([s.errors for _, s in chosen]),
            np.concatenate([c for c, _ in chosen]),
        )
        risks[count] = np.mean([risk_at_coverages(s.errors, c) for c, s in chosen], axis=0)
    save(trust_figure(tables, RISK_COVERAGES, risks, RADIUS), out / "confidence")


def _oracles(chosen: list[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Orders that know the mean error of the neighbours, and the error itself."""
    return [(-s.smooth, s) for _, s in chosen], [(-s.errors, s) for _, s in chosen]


if __name__ == "__main__":
    typer.run(run)
