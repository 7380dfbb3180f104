"""Fit the chance that preset `default` laid a part where it belongs, and judge it.

``python -m nho.lab.bench.fit_placement --data DIR`` matches pairs with right anchors and with
impossible ones, fits the logistic model of `nho.recipes.guided.placement` to half of the families
and judges it on the others. Impossible are: partners mirrored as a set, shifted by a row, shuffled,
and the full shape of another family. So is done with anchors that were found, of which the rivals
of a search, and those found on a foreign shape, are mostly wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import minimize
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from nho.anchor_search.search import placed_anchors, searched
from nho.errors import NhoError
from nho.geometry.mesh import Mesh
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.studies import StudyRequest
from nho.pipeline.matching import with_more_anchors
from nho.pipeline.multiresolution import solve_at_size
from nho.problem.anchors import Anchors
from nho.problem.preparation import prepare
from nho.recipes.guided import recipe as guided
from nho.recipes.guided.confidence import RADIUS
from nho.runtime.run import started
from nho.settings import Settings

CHOOSE = ("pfaust_m", "pfarm", "faces", "shrec16_cuts", "skulls")
JUDGE = ("pfaust_h", "tosca", "species", "tibias", "shrec16_holes")
_RIGHT = (25, 5, 3)  # anchors
_WRONG = (12, 5)
_MIRRORED = 2.0  # mean edges: shapes that miss their mirror image by more are not symmetric
_PENALTY = 2e-4  # on squared weights: separable cases would drive them to infinity


@dataclass(frozen=True)
class Trial:
    """One match: what it tells of its place, and the truth."""

    family: str
    case: str
    signals: np.ndarray
    right: bool


def mirrored(full: Mesh) -> np.ndarray | None:
    """(n,) vertices across the plane of symmetry, if the shape has one."""
    centred = full.vertices - full.vertices.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T
    tree, found = cKDTree(centred), []
    for axis in axes:
        gaps, partners = tree.query(centred - 2 * np.outer(centred @ axis, axis))
        found.append((float(np.mean(gaps)), np.asarray(partners)))
    gap, partners = min(found, key=lambda each: each[0])
    return partners if gap < _MIRRORED * full.mean_edge_length else None


def cases(pair: AnnotatedPair, foreign: Mesh) -> Iterator[tuple[str, Mesh, np.ndarray]]:
    """(name, full shape, anchors) of everything that is tried on a pair."""
    for count in _RIGHT:
        yield "right", pair.full, pair.anchors(count)
    partners = mirrored(pair.full)
    random = np.random.default_rng(0)
    for count in _WRONG:
        own, other = np.asarray(pair.anchors(count)).T
        if partners is not None:
            yield "mirrored", pair.full, np.stack([own, partners[other]], axis=1)
        yield "shifted", pair.full, np.stack([own, np.roll(other, 1)], axis=1)
        if count == max(_WRONG):
            yield "shuffled", pair.full, np.stack([own, random.permutation(other)], axis=1)
            continue
        elsewhere = random.choice(foreign.n_vertices, len(own), replace=False)
        yield "foreign", foreign, np.stack([own, elsewhere], axis=1)


def found_cases(pair: AnnotatedPair, foreign: Mesh) -> Iterator[tuple[str, Mesh, Anchors]]:
    """The same with anchors that were found: all placements of a search, and a foreign one."""
    with started(Settings(), None) as run:
        for full, cases in ((pair.full, ("found", "rival", "rival")), (foreign, ("foreign",))):
            problem = prepare(pair.partial, full, None)
            placements = searched(problem, run, all_rivals=True)
            for case, anchors in zip(cases, placed_anchors(problem, placements), strict=False):
                yield case, full, anchors


def tried(
    family: str,
    pair: AnnotatedPair,
    case: str,
    full: Mesh,
    anchors: np.ndarray | Anchors,
    marked: bool = True,
) -> Trial:
    """Match, and see whether most matches are right."""
    problem = prepare(pair.partial, full, anchors)
    with started(Settings().replace(pin_anchors=marked), None) as run:
        solution = solve_at_size(problem, run, with_more_anchors if marked else guided.solve)
    assert solution.placement is not None
    right = False
    if full is pair.full:
        points, truth = problem.given_points(solution.points), pair.truth.points
        known = np.flatnonzero((truth.face >= 0) & (points.face >= 0))
        away = truth[known].positions(full) - points[known].positions(full)
        right = bool(np.median(np.linalg.norm(away, axis=1)) < RADIUS * np.sqrt(full.area))
    return Trial(family, case, solution.placement, right)


def fitted(trials: list[Trial]) -> np.ndarray:
    """(k + 1,) weights and constant of the logistic model; right and wrong count alike."""
    x = np.array([[*trial.signals, 1.0] for trial in trials])
    y = np.array([trial.right for trial in trials])
    weight = np.where(y, 0.5 / max(y.sum(), 1), 0.5 / max((~y).sum(), 1))

    def loss(c: np.ndarray) -> float:
        score = x @ c
        value = weight @ (np.logaddexp(0, score) - y * score)
        return float(value + _PENALTY * (c[:-1] ** 2).sum())

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), method="BFGS").x)


def area_under_curve(scores: np.ndarray, right: np.ndarray) -> float:
    """Chance that a right placement has a higher score than a wrong one."""
    ranks, count = rankdata(scores), right.sum()
    return float((ranks[right].sum() - count * (count + 1) / 2) / (count * (~right).sum()))


def judged(trials: list[Trial], model: np.ndarray) -> str:
    """A table: mean chance by case, then the area under the curve and the errors at one half."""
    scores = np.array([np.append(trial.signals, 1.0) @ model for trial in trials])
    chance, right = 1 / (1 + np.exp(-scores)), np.array([trial.right for trial in trials])
    lines = ["| case | runs | lie right | mean chance | below one half |", "|---|---|---|---|---|"]
    for case in dict.fromkeys(trial.case for trial in trials):
        of = np.array([trial.case == case for trial in trials])
        lines.append(
            f"| {case} | {of.sum()} | {right[of].sum()} | {chance[of].mean():.2f} | "
            f"{(chance[of] < 0.5).sum()} |"
        )
    lines.append(
        f"\narea under the curve {area_under_curve(scores, right):.3f}; right and doubted "
        f"{(right & (chance < 0.5)).sum()} of {right.sum()}, wrong and believed "
        f"{(~right & (chance >= 0.5)).sum()} of {(~right).sum()}"
    )
    return "\n".join(lines)


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    pairs: Annotated[int, typer.Option("--pairs", help="Of every family.")] = 3,
    found: Annotated[bool, typer.Option("--found", help="With anchors that were found.")] = False,
) -> None:
    """Print the fitted numbers and what they are worth on families left out of the fit."""
    trials: dict[str, list[Trial]] = {}
    for families in (CHOOSE, JUDGE):
        for number, family in enumerate(families):
            other = families[number - 1]
            foreign = FAMILIES[other].load(data, FAMILIES[other].names(data)[0]).full
            for _, name in StudyRequest(data, (family,), most=pairs).pairs():
                pair = FAMILIES[family].load(data, name)
                for case, full, anchors in (found_cases if found else cases)(pair, foreign):
                    try:
                        trial = tried(family, pair, case, full, anchors, marked=not found)
                    except NhoError as error:  # refused: no answer, so none that is wrong
                        typer.echo(f"{family} {name} {case}: {error}", err=True)
                        continue
                    trials.setdefault(family, []).append(trial)
                    about = f"{case} {'right' if trial.right else 'wrong'}"
                    typer.echo(f"{family} {name} {about} {trial.signals.round(2)}", err=True)
    chosen = [trial for family in CHOOSE for trial in trials[family]]
    model = fitted(chosen)
    typer.echo(f"weights and constant: {np.round(model, 2).tolist()}")
    for title, families in (("chosen on", CHOOSE), ("judged on", JUDGE)):
        typer.echo(f"\n{title} {', '.join(families)}\n")
        typer.echo(judged([trial for family in families for trial in trials[family]], model))


if __name__ == "__main__":
    typer.run(run)
