"""Dense refinement of a map by growing spectral dimension: ZoomOut and Neural ZoomOut (App. D).

A stage of dimension d takes the first d coordinates of both shapes, explains the partial shape's
by the full shape's under the present map, and reads a new map off by nearest neighbours.
ZoomOut explains with a matrix; Neural ZoomOut with a neural adjoint map (NAM): a matrix plus a
small network.
"""

from __future__ import annotations

import logging

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from nho.operator.correspondence import align, nearest_rows
from nho.operator.network import DTYPES, Adam, Perceptron, uniform_by_fan_in, xavier_uniform
from nho.problem.solution import Curve
from nho.runtime.parallel import SERIAL, Workers
from nho.runtime.run import Run
from nho.settings import PaperRecipe

log = logging.getLogger(__name__)

_NONLINEAR_SHARE = np.float32(0.01)  # of the network's output in a NAM
_WIDTH = 128  # of the NAM's two hidden layers
_COUPLING = np.float32(0.1)  # of new coordinates with known ones, beside the usual random weights


def rms_normalised(functions: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Columns divided by their root mean square, over rows of the given (n,) weights."""
    rms = np.sqrt(np.average(functions**2, axis=0, weights=weights))
    return functions / np.where(rms > 0, rms, 1)


class NeuralAdjointMap:
    """``f(x) = x W + 0.01 MLP(x)``, fitted to pairs of rows by Adam on the mean squared error.

    Parameters
    ----------
    smaller : NeuralAdjointMap, optional
        NAM of fewer dimensions; its parameters initialise this one.
    dtype : data type
        Of all that it computes.
    """

    def __init__(
        self,
        dimension: int,
        random: np.random.Generator,
        smaller: NeuralAdjointMap | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self._dimension = dimension
        self._network = Perceptron((dimension, _WIDTH, _WIDTH, dimension), "leaky-relu")
        self.parameters = np.empty(dimension**2 + self._network.parameter_count, dtype=dtype)
        linear, network = self._split(self.parameters)
        linear[:] = xavier_uniform(linear.shape, random)
        network[:] = uniform_by_fan_in(self._network, random)  # for the biases
        for weight, _ in self._network.layers(network):
            weight[:] = xavier_uniform(weight.shape, random)

        if smaller is not None:
            self._grow_from(smaller)

    def _grow_from(self, smaller: NeuralAdjointMap) -> None:
        old = smaller._dimension
        (linear, network), (known, known_network) = (
            of._split(of.parameters) for of in (self, smaller)
        )
        linear[:old, old:] *= _COUPLING
        linear[old:, :old] *= _COUPLING
        linear[:old, :old] = known
        layers = zip(self._network.layers(network), smaller._network.layers(known_network))
        for (weight, bias), (known_weight, known_bias) in layers:
            weight[: len(known_weight), : known_weight.shape[1]] = known_weight
            bias[: len(known_bias)] = known_bias

    def _split(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        square = self._dimension**2
        return flat[:square].reshape(self._dimension, self._dimension), flat[square:]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Images of (n, d) rows."""
        x = np.ascontiguousarray(rows, dtype=self.parameters.dtype)
        linear, network = self._split(self.parameters)
        output = self._network.forward(network, x)[-1]
        return np.asarray(x @ linear + _NONLINEAR_SHARE * output)

    def loss_and_gradient(
        self, x: np.ndarray, y: np.ndarray, weights: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Sum of squared errors over rows of the given (n, 1) weights, and its gradient."""
        linear, network = self._split(self.parameters)
        outputs = self._network.forward(network, x)
        error = x @ linear
        error += _NONLINEAR_SHARE * outputs[-1]
        error -= y
        weighted = weights * error
        loss = float(np.vdot(weighted, error))
        weighted *= 2
        gradient = np.empty_like(self.parameters)
        by_linear, by_network = self._split(gradient)
        np.matmul(x.T, weighted, out=by_linear)
        weighted *= _NONLINEAR_SHARE
        by_network[:] = self._network.backward(network, outputs, weighted)
        return loss, gradient

    def fit(
        self,
        vertices: np.ndarray,
        coordinates: np.ndarray,
        wanted: np.ndarray,
        recipe: PaperRecipe,
        steps: int,
        pool: Workers = SERIAL,
    ) -> tuple[float, str]:
        """Minimise the mean squared error between f(``coordinates[vertices]``) and ``wanted``.

        Rows at the same vertex have the same image, so they count as one row of their mean and
        number: the same loss and gradient for less work (about half, for a map of the loop).

        Returns
        -------
        loss : float
            The last one; NaN if not even the first was finite.
        trouble : str
            Why the fit broke down, in which case the best iterate before that is kept; else empty.
        """
        rows = _spread_out(len(vertices), recipe.refine_rows)
        distinct, group, counts = np.unique(vertices[rows], return_inverse=True, return_counts=True)
        total = wanted[rows].size
        sums = sp.csr_matrix((np.ones(len(rows)), (group, np.arange(len(rows))))) @ wanted[rows]
        means = sums / counts[:, None]
        rest = float(((wanted[rows] - means[group]) ** 2).sum())  # what no f can explain
        dtype = self.parameters.dtype
        x = np.ascontiguousarray(coordinates[distinct], dtype=dtype)
        y, weights = means.astype(dtype), counts[:, None].astype(dtype)
        optimiser = Adam(recipe.refine_learning_rate, recipe.refine_weight_decay)
        loss, best_loss, best = np.nan, np.inf, self.parameters
        for step in range(steps):
            parts = pool.over_rows(
                lambda block: self.loss_and_gradient(x[block], y[block], weights[block]), len(x)
            )
            loss = (sum(part[0] for part in parts) + rest) / total
            gradient = sum((part[1] for part in parts), np.zeros_like(self.parameters))
            if loss < best_loss:
                best_loss, best = loss, self.parameters.copy()
            if not (np.isfinite(loss) and np.isfinite(gradient).all()):
                self.parameters[:] = best
                trouble = (
                    f"refinement in {self._dimension} dimensions: the loss was not finite at step "
                    f"{step}; the best iterate was kept"
                )
                log.info("%s", trouble)  # the caller makes a status of it
                return best_loss if np.isfinite(best_loss) else np.nan, trouble
            optimiser.step(self.parameters, gradient / dtype.type(total))
        return loss, ""


def _spread_out(rows: int, most: int) -> np.ndarray:
    """At most ``most`` of the row numbers, evenly spread; all if it is 0."""
    count = min(most or rows, rows)
    return np.unique(np.linspace(0, rows - 1, count).astype(np.int64))


def stages(recipe: PaperRecipe, available: int) -> list[int]:
    """The spectral dimensions to go through, none above what is available."""
    first = min(recipe.refine_first, available)
    last = min(recipe.refine_last, available)
    return list(range(first, last + 1, recipe.refine_increment))


def refine(
    target: np.ndarray,
    partial_coordinates: np.ndarray,
    full_coordinates: np.ndarray,
    recipe: PaperRecipe,
    random: np.random.Generator,
    run: Run,
    within: np.ndarray | None = None,
) -> tuple[np.ndarray, Curve, list[str]]:
    """Refine the (n_partial,) vertex map ``target`` through all stages.

    Parameters
    ----------
    partial_coordinates, full_coordinates : (n, d) float arrays
        Each column with a root mean square of one.
    within : int array, optional
        Full vertices among which images are sought; all if not given.

    Returns
    -------
    target : (n_partial,) int array
    curve : list of dict
        Per stage its dimension and the mean squared error of its fit.
    troubles : list of str
        What broke down. A stage without any finite loss ends the refinement with the map before it.
    """
    partial, full = partial_coordinates, full_coordinates
    among = np.arange(len(full)) if within is None else within
    dimensions = stages(recipe, min(partial.shape[1], full.shape[1]))
    curve: Curve = []
    troubles: list[str] = []
    nam: NeuralAdjointMap | None = None
    with run.stage("refine", len(dimensions), part_of="refinement") as progress:
        for d in dimensions:
            wanted = partial[:, :d]
            if recipe.refinement == "neural-zoomout":
                goes_on = nam is not None and recipe.refine_later_steps > 0
                steps = recipe.refine_later_steps if goes_on else recipe.refine_steps
                nam = NeuralAdjointMap(
                    d, random, nam if goes_on else None, DTYPES[recipe.precision]
                )
                loss, trouble = nam.fit(target, full[:, :d], wanted, recipe, steps, run.pool)
                troubles += [trouble] if trouble else []
                if steps and not np.isfinite(loss):
                    break
                images = nam(full[among, :d])
            else:
                source = full[target, :d]
                matrix = align(source, wanted)
                loss = float(((source @ matrix - wanted) ** 2).mean())
                images = full[among, :d] @ matrix
            target = among[nearest_rows(wanted, images, run.pool)]
            curve.append({"dimension": d, "loss": loss})
            progress.step(loss)
    return target, curve, troubles
