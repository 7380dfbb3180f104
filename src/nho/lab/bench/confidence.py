"""Fit the confidence of preset `default` and show how far it can be trusted.

``python -m nho.lab.bench.confidence --data DIR --out FOLDER`` matches pairs with few and many
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
from nho.problem.preparation import prepare
from nho.progress import ignore
from nho.recipes.guided import recipe as guided
from nho.recipes.guided.confidence import RADIUS
from nho.runtime.parallel import workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import preset

_LEVELS = np.linspace(0, 1, 11)  # bins of the reliability table
_NEIGHBOURS = 20  # whose mean error stands for a perfect, but smooth, predictor


@dataclass(frozen=True)
class Sample:
    """Signals and errors (shares of sqrt(area)) at the annotated vertices of one match."""

    group: str
    anchors: int
    signals: np.ndarray
    errors: np.ndarray
    smooth: np.ndarray  # mean error of the neighbours: what any smooth predictor can know


def sample(group: str, pair: AnnotatedPair, anchors: int) -> Sample:
    """Match one pair and keep what confidence is made of."""
    problem = prepare(pair.partial, pair.full, pair.anchors(anchors))
    with workers(0) as pool:
        answer = guided.solve(problem, preset("default"), pool, Stopwatch(), ignore)
    assert answer.signals is not None
    points = problem.given_points(answer.points)
    known = (pair.truth.points.face >= 0) & (points.face >= 0)
    errors = geodesic_errors(pair.full, points, pair.truth.points)
    rows = problem.partial.solver_of_given[known]
    return Sample(group, anchors, answer.signals[rows], errors[known], _smooth(pair, known, errors))


def _smooth(pair: AnnotatedPair, known: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Mean error of the nearest annotated vertices, without the vertex itself."""
    chosen = np.flatnonzero(known)
    graph = edge_graph(pair.partial)
    reach = 6 * pair.partial.mean_edge_length
    near = dijkstra(graph, directed=False, indices=chosen, limit=reach)[:, chosen]
    np.fill_diagonal(near, np.inf)
    order = np.argsort(near, axis=1)[:, :_NEIGHBOURS]
    return errors[chosen][order].mean(axis=1)


def fitted(samples: list[Sample]) -> np.ndarray:
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


def held_out(samples: list[Sample]) -> list[np.ndarray]:
    """Confidence of every sample by a model fitted without its group."""
    models = {}
    for group in {s.group for s in samples}:
        models[group] = fitted([s for s in samples if s.group != group])
    return [1 / (1 + np.exp(-_with_one(s.signals) @ models[s.group])) for s in samples]


def reliability(confidence: np.ndarray, errors: np.ndarray) -> list[tuple[float, float, int]]:
    """(mean confidence, share within RADIUS, vertices) per bin that holds any."""
    place = np.clip(np.digitize(confidence, _LEVELS) - 1, 0, len(_LEVELS) - 2)
    return [
        (float(confidence[at].mean()), float((errors[at] <= RADIUS).mean()), int(at.sum()))
        for at in (place == level for level in range(len(_LEVELS) - 1))
        if at.any()
    ]


def risk(order_by: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Mean error of the k most trusted over that of all, k = 1 ... n."""
    ordered = errors[np.argsort(-order_by, kind="stable")]
    return np.cumsum(ordered) / np.arange(1, len(errors) + 1) / errors.mean()


def _with_one(signals: np.ndarray) -> np.ndarray:
    return np.concatenate([signals, np.ones((len(signals), 1))], axis=1)


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    budgets: Annotated[str, typer.Option("--anchors", help="Comma-separated.")] = "5,10,25",
    every: Annotated[int, typer.Option("--every", help="Only every n-th pair.")] = 3,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figure.")] = Path("."),
) -> None:
    """Print the fitted numbers, the reliability table and the risks; write a figure."""
    samples = []
    for family in DEVELOPMENT:
        group = family.split("_")[0]
        for pair in islice(FAMILIES[family].pairs(data), 0, None, every):
            for count in (int(word) for word in budgets.split(",")):
                samples.append(sample(group, pair, count))
                typer.echo(f"{family} {pair.name} {count}", err=True)
    typer.echo(f"weights and constant: {np.round(fitted(samples), 3).tolist()}")
    trusted = held_out(samples)
    typer.echo("| confidence | within reach | vertices |\n|---|---|---|")
    for mean, share, count in reliability(
        np.concatenate(trusted), np.concatenate([s.errors for s in samples])
    ):
        typer.echo(f"| {mean:.2f} | {share:.2f} | {count} |")
    typer.echo("| anchors | risk of the surer half | smooth oracle | oracle |\n|---|---|---|---|")
    curves = {}
    for count in sorted({s.anchors for s in samples}):
        chosen = [(c, s) for c, s in zip(trusted, samples, strict=True) if s.anchors == count]
        kinds = {
            "confidence": [risk(c, s.errors) for c, s in chosen],
            "smooth oracle": [risk(-s.smooth, s.errors) for _, s in chosen],
            "oracle": [risk(-s.errors, s.errors) for _, s in chosen],
        }
        halves = [np.mean([r[len(r) // 2 - 1] for r in rows]) for rows in kinds.values()]
        typer.echo(f"| {count} | " + " | ".join(f"{half:.2f}" for half in halves) + " |")
        curves[count] = kinds
    np.savez(
        out / "confidence.npz",
        confidence=np.concatenate(trusted),
        errors=np.concatenate([s.errors for s in samples]),
    )
    _draw(out / "confidence.png", trusted, samples, curves)


def _draw(
    path: Path,
    trusted: list[np.ndarray],
    samples: list[Sample],
    curves: dict[int, dict[str, list[np.ndarray]]],
) -> None:
    """Reliability on the left, risk against coverage on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot([0, 1], [0, 1], color="0.7", lw=1)
    for count in curves:
        chosen = [i for i, s in enumerate(samples) if s.anchors == count]
        table = reliability(
            np.concatenate([trusted[i] for i in chosen]),
            np.concatenate([samples[i].errors for i in chosen]),
        )
        left.plot(*np.array(table)[:, :2].T, marker="o", ms=4, label=f"{count} anchors")
        grid = np.linspace(0.02, 1, 50)
        for kind, style in (("confidence", "-"), ("smooth oracle", ":")):
            rows = [
                np.interp(grid, np.arange(1, len(r) + 1) / len(r), r) for r in curves[count][kind]
            ]
            right.plot(
                grid, np.mean(rows, axis=0), style, color=left.lines[-1].get_color(), label=None
            )
    left.set(xlabel="confidence", ylabel=f"share of matches less than {RADIUS:.0%} off")
    left.legend(frameon=False)
    right.set(xlabel="share of the vertices, surest first", ylabel="mean error / that of all")
    right.set_ylim(0, 1.05)
    right.text(0.98, 0.04, "dotted: knowing the error of the neighbours", ha="right", fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    typer.run(run)
