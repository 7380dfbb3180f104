"""Estimation of the operator: Adam on the field's parameters (Sec. 4.2)."""

from __future__ import annotations

import logging

import numpy as np

from nho.field import NeuralField
from nho.losses import NOBODY, Objective
from nho.network import Adam
from nho.progress import Progress, ProgressCallback

log = logging.getLogger(__name__)


def fit_operator(
    field: NeuralField,
    objective: Objective,
    positives: np.ndarray,
    stage: str,
    progress: ProgressCallback,
    negatives: np.ndarray = NOBODY,
) -> tuple[np.ndarray, list[dict[str, float]], bool]:
    """Minimise the objective from the field's present parameters on.

    Parameters
    ----------
    positives, negatives : int arrays
        Vertices of the full shape that belong to the region, and that do not.

    Returns
    -------
    indicator : (n,) float array
        s after the last step.
    curve : list of dict
        Loss and its terms at every step.
    finite : bool
        False if the loss broke down; the best iterate before that is returned.
    """
    settings = objective.settings
    optimiser = Adam(settings.fit_learning_rate)
    curve: list[dict[str, float]] = []
    best_loss, best = np.inf, field.parameters.copy()
    for step in range(settings.fit_steps):
        loss, by_indicator, terms = objective(field.indicator(), positives, negatives)
        if not np.isfinite(loss):
            log.warning("%s: loss not finite at step %d; keeping the best iterate", stage, step)
            field.parameters[:] = best
            return field.indicator(), curve, False
        if loss < best_loss:
            best_loss, best[:] = loss, field.parameters
        curve.append({"loss": loss, **terms})
        optimiser.step(field.parameters, field.gradient(by_indicator))
        progress(Progress(stage, step + 1, settings.fit_steps, loss))
    return field.indicator(), curve, True
