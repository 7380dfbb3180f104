"""`ShapeSpace`: mean, components and scores of a collection of shapes, whole or in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, Mesh
from nho.runtime.npz import load_arrays
from nho.shapes.components import Components, Posterior, extended, fit_components
from nho.shapes.procrustes import procrustes_mean
from nho.shapes.validation import Validation, outliers, position_variance, validated

MODEL = "shapes.npz"
_MOST = 20  # components that are fitted unless asked otherwise
_FEWEST = 4  # shapes
_JUDGES = 800  # vertices that poses and scores are found from; the others follow
_ARRAYS = (
    "faces",
    "mean",
    "modes",
    "variances",
    "noise",
    "areas",
    "names",
    "scores",
    "score_errors",
    "sizes",
    "measured",
    "hidden_error",
    "residual",
    "distance",
    "inflation",
    "position_inflation",
)


@dataclass(frozen=True)
class Estimate:
    """A shape as the space sees it, in its own pose and unit.

    Attributes
    ----------
    positions : (p, 3) float array
        Every vertex, also where nothing was known.
    scores, score_errors : (q,) float arrays
        Scores, and their standard errors.
    size : float
        Centroid size, in the unit of the shape.
    errors : (p,) float array
        Standard error of the positions (root of the mean square), in that unit: what the scores
        leave open and what the modes leave.
    """

    positions: np.ndarray
    scores: np.ndarray
    score_errors: np.ndarray
    size: float
    errors: np.ndarray


@dataclass(frozen=True)
class ShapeSpace:
    """Shapes with the vertices and faces of one template.

    Attributes
    ----------
    faces : (m, 3) int array
        Of the template.
    model : Components
        Mean of centroid size 1, modes, variances, noise.
    names : tuple of str
    scores : (n, q) float array
        In the unit of centroid size 1; their variances are ``model.variances``.
    score_errors : (n, q) float array
        Standard errors, from what was missing and how well the rest is known.
    sizes : (n,) float array
        Centroid sizes, in the units of the shapes.
    measured : (n,) float array
        Share of the area that was known.
    validation : Validation
        Errors by leave-one-out.
    """

    faces: np.ndarray
    model: Components
    names: tuple[str, ...]
    scores: np.ndarray
    score_errors: np.ndarray
    sizes: np.ndarray
    measured: np.ndarray
    validation: Validation = field(repr=False)

    @classmethod
    def fit(
        cls,
        positions: np.ndarray | Sequence[np.ndarray],
        template: Mesh,
        weights: np.ndarray | Sequence[np.ndarray] | None = None,
        names: Sequence[str] = (),
        components: int | None = None,
    ) -> ShapeSpace:
        """The space of shapes that share the vertices of a template.

        Parameters
        ----------
        positions : (n, p, 3) float array
            In any pose and unit each; `nho.transfer.fit_template` makes them. Read one by one, so
            it may be mapped from a file (`numpy.load(..., mmap_mode="r")`).
        weights : (n, p) float array, optional
            How well every vertex is known, 0 (not at all) to 1; all are if not given.
        components : int, optional
            At most 20, and as many as leave-one-out finds worth having, if not given.
        """
        shapes = positions if isinstance(positions, np.ndarray) else np.stack(positions)
        known = _weights(shapes, weights)
        names = tuple(names) or tuple(str(number) for number in range(len(shapes)))
        _check(shapes, known, names, template)
        areas = template.vertex_areas / template.vertex_areas.sum()
        rows = _spread_vertices(areas)
        few = np.stack([shape[rows] for shape in shapes]).astype(np.float64)
        few_known = np.stack([row[rows] for row in known]).astype(np.float64)
        shares = np.full(len(rows), 1 / len(rows))
        count = min(components or min(_MOST, len(shapes) // 2), len(shapes) - 2)
        mean = procrustes_mean(few, few_known, shares, template.vertices[rows])
        model = fit_components(few, few_known, mean, shares, count)
        validation = validated(model, few, few_known)
        kept = components or max(validation.components, min(2, count))
        if kept < len(model.modes):
            model = fit_components(few, few_known, model.mean, shares, kept, start=model)
        model = extended(model, rows, shapes, known, template.vertices, areas)
        found = [model.posterior(shape, row) for shape, row in zip(shapes, known, strict=True)]
        scores = np.stack([each.scores for each in found])
        errors = np.stack([_errors(each, validation.inflation) for each in found])
        sizes = np.array([1 / each.pose.scale for each in found])
        share = np.array([float(areas @ row) for row in known])
        return cls(template.faces, model, names, scores, errors, sizes, share, validation)

    @property
    def mean(self) -> Mesh:
        """The mean shape, of centroid size 1."""
        return Mesh(self.model.mean, self.faces, "mean")

    @property
    def explained(self) -> FloatArray:
        """(q,) shares of the whole variance."""
        total = self.model.variances.sum() + 3 * self.model.noise
        share: FloatArray = self.model.variances / total
        return share

    def mesh(self, scores: Sequence[float] | np.ndarray, name: str = "shape") -> Mesh:
        """The shape with these scores; fewer scores leave the last modes out."""
        return Mesh(self.model.shape(np.asarray(scores)), self.faces, name)

    def estimate(self, positions: np.ndarray, weights: np.ndarray) -> Estimate:
        """Complete a shape from the vertices that are known.

        Parameters
        ----------
        positions : (p, 3) float array
            In any pose and unit; where the weight is 0 they do not matter.
        weights : (p,) float array
            How well every vertex is known, 0 to 1.
        """
        known = np.asarray(weights, dtype=np.float64)
        place = np.where(known[:, None] > 0, positions, 0.0)
        if place.shape != self.model.mean.shape or not (known > 0).any():
            raise InputError(
                f"positions have the shape {np.shape(positions)}, {(known > 0).sum()} vertices are "
                f"known; give all {len(self.model.mean)} vertices of the space, some of them known"
            )
        found = self.model.posterior(place, known)
        errors = _errors(found, self.validation.inflation)
        spread = self.validation.position_inflation**2 * position_variance(self.model, found)
        return Estimate(
            found.pose.undo(self.model.shape(found.scores)),
            found.scores,
            errors,
            1 / found.pose.scale,
            np.sqrt(spread) / found.pose.scale,
        )

    def outliers(self) -> dict[str, str]:
        """Names of shapes that do not fit the others, and why."""
        return outliers(self.validation, self.names)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays by name, for ``shapes.npz``."""
        model, validation = self.model, self.validation
        values = {
            "faces": self.faces,
            "mean": model.mean,
            "modes": model.modes.astype(np.float32),
            "variances": model.variances,
            "noise": np.array(model.noise),
            "areas": model.areas,
            "names": np.array(self.names),
            "scores": self.scores,
            "score_errors": self.score_errors,
            "sizes": self.sizes,
            "measured": self.measured,
            "hidden_error": validation.hidden_error,
            "residual": validation.residual,
            "distance": validation.distance,
            "inflation": np.array(validation.inflation),
            "position_inflation": np.array(validation.position_inflation),
        }
        return {name: values[name] for name in _ARRAYS}

    def save(self, path: str | Path) -> None:
        """Write ``shapes.npz``: to this file, or into this folder if it is one."""
        path = Path(path)
        with open(path / MODEL if path.is_dir() else path, "wb") as stream:
            np.savez_compressed(stream, **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> ShapeSpace:
        """Read what `save` or `nho shapes` wrote: the file, or the folder that holds it."""
        path = Path(path)
        path = path / MODEL if path.is_dir() else path
        try:
            stored = load_arrays(path, list(_ARRAYS))
        except (ValueError, BadZipFile) as problem:
            raise InputError(f"{path}: is damaged ({problem}); run `nho shapes` again") from problem
        missing = [name for name in _ARRAYS if name not in stored]
        if missing:
            raise InputError(f"{path}: array {missing[0]!r} is missing; run `nho shapes` again")
        try:
            return cls._of(stored)
        except (ValueError, TypeError, IndexError) as problem:
            raise InputError(f"{path}: is damaged ({problem}); run `nho shapes` again") from problem

    @classmethod
    def _of(cls, stored: dict[str, np.ndarray]) -> ShapeSpace:
        model = Components(
            stored["mean"],
            stored["modes"].astype(np.float64),
            stored["variances"],
            float(stored["noise"]),
            stored["areas"],
        )
        p, q = len(model.mean), len(model.variances)
        if model.modes.shape != (q, p, 3) or stored["faces"].max(initial=-1) >= p:
            raise ValueError("modes, mean and faces do not belong together")
        validation = Validation(
            stored["hidden_error"],
            stored["residual"],
            stored["distance"],
            float(stored["inflation"]),
            float(stored["position_inflation"]),
        )
        names = tuple(map(str, stored["names"]))
        return cls(
            stored["faces"],
            model,
            names,
            stored["scores"],
            stored["score_errors"],
            stored["sizes"],
            stored["measured"],
            validation,
        )

    def first(self, count: int) -> ShapeSpace:
        """The same with fewer components."""
        return replace(
            self,
            model=self.model.first(count),
            scores=self.scores[:, :count],
            score_errors=self.score_errors[:, :count],
        )


def _spread_vertices(areas: np.ndarray) -> np.ndarray:
    """Vertices that stand for all, drawn by the area around them."""
    if len(areas) <= _JUDGES:
        return np.arange(len(areas))
    used = int(np.count_nonzero(areas))
    random = np.random.default_rng(0)
    chosen = random.choice(len(areas), min(_JUDGES, used), replace=False, p=areas)
    return np.sort(chosen)


def _errors(found: Posterior, inflation: float) -> FloatArray:
    """(q,) standard errors of scores."""
    return np.asarray(inflation * np.sqrt(np.diag(found.covariance)))


def _weights(shapes: np.ndarray, weights: np.ndarray | Sequence[np.ndarray] | None) -> np.ndarray:
    if weights is None:
        return np.broadcast_to(np.float64(1.0), shapes.shape[:2])
    return weights if isinstance(weights, np.ndarray) else np.stack(weights)


def _check(shapes: np.ndarray, weights: np.ndarray, names: tuple[str, ...], template: Mesh) -> None:
    if shapes.ndim != 3 or shapes.shape[1:] != (template.n_vertices, 3):
        raise InputError(
            f"positions have the shape {shapes.shape}; {template.name} has {template.n_vertices} "
            f"vertices, so (n, {template.n_vertices}, 3) is needed"
        )
    if len(shapes) < _FEWEST:
        raise InputError(
            f"a shape space of {len(shapes)} shapes says nothing; give at least {_FEWEST}"
        )
    if weights.shape != shapes.shape[:2] or len(names) != len(shapes):
        raise InputError(
            f"there are {len(shapes)} shapes, but {len(names)} names and weights of the shape "
            f"{weights.shape}; give one name and one row of weights for each shape"
        )
    for name, row in zip(names, weights, strict=True):
        if not (np.isfinite(row).all() and row.min() >= 0 and row.max() > 0):
            raise InputError(f"{name}: weights must be 0 to 1 and not all 0; leave the shape out")
