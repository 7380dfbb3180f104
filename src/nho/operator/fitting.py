"""Estimation of the operator: Adam on the field's parameters (Sec. 4.2)."""

from __future__ import annotations

import logging

import numpy as np

from nho.errors import SolverError
from nho.operator.field import NeuralField
from nho.operator.losses import NO_VERTICES, Objective
from nho.operator.network import Adam
from nho.problem.solution import Curve
from nho.runtime.run import Stage

log = logging.getLogger(__name__)


class _BrokeDown(Exception):
    """The fit cannot go on; the text says why."""


def fit_operator(
    field: NeuralField,
    objective: Objective,
    positives: np.ndarray,
    stage: Stage,
    negatives: np.ndarray = NO_VERTICES,
    optimiser: Adam | None = None,
) -> tuple[np.ndarray, Curve, str]:
    """Minimise the objective from the field's present parameters on.

    Parameters
    ----------
    positives, negatives : int arrays
        Vertices of the full shape that belong to the region, and that do not.
    stage : Stage
        Steps are reported to it.
    optimiser : Adam, optional
        One that has been used before goes on with its moments.

    Returns
    -------
    indicator : (n,) float array
        s after the last step.
    curve : list of dict
        Loss and its terms at every step.
    trouble : str
        Why the fit broke down, in which case the best iterate before that is returned; else empty.
    """
    recipe = objective.recipe
    optimiser = optimiser or Adam(recipe.fit_learning_rate)
    curve: Curve = []
    best_loss, best = np.inf, field.parameters.copy()
    try:
        for step in range(recipe.fit_steps):
            loss, by_indicator, terms = _evaluated(field, objective, positives, negatives, step)
            if loss < best_loss:
                best_loss, best[:] = loss, field.parameters
            curve.append({"loss": loss, **terms})
            with np.errstate(invalid="ignore", over="ignore"):  # checked next
                gradient = field.gradient(by_indicator)
            if not np.isfinite(gradient).all():
                raise _BrokeDown(f"the gradient was not finite at step {step}")
            optimiser.step(field.parameters, gradient)
            stage.step(loss)
        return _finite_indicator(field, recipe.fit_steps), curve, ""
    except _BrokeDown as error:
        trouble = f"{stage.name}: {error}; the best iterate was kept"
        log.info("%s", trouble)  # the caller makes a status of it
    field.parameters[:] = best
    return field.indicator(), curve, trouble


def _evaluated(
    field: NeuralField,
    objective: Objective,
    positives: np.ndarray,
    negatives: np.ndarray,
    step: int,
) -> tuple[float, np.ndarray, dict[str, float]]:
    """The objective at the present parameters."""
    indicator = _finite_indicator(field, step)
    try:
        loss, by_indicator, terms = objective(indicator, positives, negatives)
    except SolverError as error:
        raise _BrokeDown(f"the loss could not be computed at step {step} ({error})") from error
    if not np.isfinite(loss):
        raise _BrokeDown(f"the loss was not finite at step {step}")
    return loss, by_indicator, terms


def _finite_indicator(field: NeuralField, step: int) -> np.ndarray:
    indicator = field.indicator()
    if not np.isfinite(indicator).all():
        raise _BrokeDown(f"the field was not finite at step {step}")
    return indicator
