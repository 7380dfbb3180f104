"""`ShapeSpace`: mean, components and scores of a collection of shapes, whole or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.symmetry import Plane, Symmetry
from nho.shapes.component_fit import extended, fit_components
from nho.shapes.components import Components, Posterior
from nho.shapes.given_shapes import PartFit, checked_parts, checked_shapes, spread_vertices
from nho.shapes.mirror_images import with_mirror_images
from nho.shapes.missing_parts import deformations, whole_shapes, with_missing_parts
from nho.shapes.procrustes import Pose, pose_onto, procrustes_mean
from nho.shapes.smooth_field import SmoothField
from nho.shapes.stored import (
    damaged,
    file_in,
    model_arrays,
    model_of,
    read_stored,
    validation_arrays,
    validation_of,
)
from nho.shapes.validation import Validation, outliers, validated

_MOST = 20  # components that are fitted unless asked otherwise


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
        leave open, what the modes leave open, and errors of the map if the space has part fits.
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
    mirror : Plane, optional
        The plane of symmetry of the mean, if what is known of one side shall tell of the other.
    """

    faces: np.ndarray
    model: Components
    names: tuple[str, ...]
    scores: np.ndarray
    score_errors: np.ndarray
    sizes: np.ndarray
    measured: np.ndarray
    validation: Validation = field(repr=False)
    mirror: Plane | None = None

    @classmethod
    def fit(
        cls,
        positions: np.ndarray | Sequence[np.ndarray],
        template: Mesh,
        weights: np.ndarray | Sequence[np.ndarray] | None = None,
        names: Sequence[str] = (),
        components: int | None = None,
        symmetry: Symmetry | None = None,
        groups: Sequence[str] | None = None,
        parts: Mapping[str, PartFit] = MappingProxyType({}),
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
        symmetry : Symmetry, optional
            Of the template (`nho.geometry.symmetry.find_symmetry`): what is known of one side then
            tells of the other, and mirror images of the shapes count as shapes.
        groups : sequence of str, optional
            The individual that each shape is of, if there are several shapes of one: these are left
            out together, so that errors are those of an individual that was not seen.
        parts : mapping, optional
            Some of the shapes again, by name, each fitted from a part of its scan: how far what
            these predict is off says how wide the errors of `estimate` have to be. Without them
            errors of the map are left out of these, which are too small then.
        """
        shapes, known, names = checked_shapes(positions, weights, names, template)
        areas = template.vertex_areas / template.vertex_areas.sum()
        rows = spread_vertices(areas)
        learnt = with_mirror_images(shapes, known, template, symmetry)
        every = range(len(learnt.positions))
        few = np.stack([learnt.positions[i][rows] for i in every]).astype(np.float64)
        few_known = np.stack([learnt.weights[i][rows] for i in every]).astype(np.float64)
        shares = np.full(len(rows), 1 / len(rows))
        count = min(components or min(_MOST, len(shapes) // 2), len(shapes) - 2)
        corners = template.vertices[rows]
        mean = procrustes_mean(few, few_known, shares, corners)
        plane = _plane_on(pose_onto(corners, mean, shares), symmetry)
        smooth = SmoothField.on(mean, plane)
        inferred = deformations(few, few_known, mean, smooth)
        filled, trust = with_missing_parts(inferred, few, few_known)
        model = fit_components(filled, trust, mean, shares, count, smooth=smooth)
        some_parts = checked_parts(parts, names, rows, template.n_vertices)
        own = list(groups if groups is not None else range(len(shapes)))
        together = own * (len(few) // len(own))  # a shape and its mirror image
        validation = validated(model, few, few_known, together, some_parts, inferred=inferred)
        validation = validation.of_first(len(shapes))
        kept = components or max(validation.components, min(2, count))
        if kept < len(model.modes):
            model = fit_components(filled, trust, model.mean, shares, kept, start=model)
        whole = whole_shapes(inferred, learnt, filled, rows, template)
        model = extended(model, rows, *whole, template.vertices, areas)
        plane = _plane_on(pose_onto(template.vertices, model.mean, areas), symmetry)
        model = validation.with_noise(replace(model, smooth=SmoothField.on(model.mean, plane)))
        judge = model.at(rows)
        scores, errors = np.empty((2, len(shapes), len(model.modes)))
        sizes = np.empty(len(shapes))
        for i in range(len(shapes)):
            found = judge.posterior(few[i], few_known[i])
            scores[i], errors[i] = found.scores, _errors(found, validation.inflation)
            sizes[i] = 1 / found.pose.scale
        share = np.array([float(areas @ row) for row in known])
        return cls(template.faces, model, names, scores, errors, sizes, share, validation, plane)

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
        found = self.model.posterior(place, known, rounds=4, spread=True)
        errors = _errors(found, self.validation.inflation)
        deviation = self.validation.position_inflation * np.sqrt(found.variance)
        return Estimate(
            found.pose.undo(self.model.shape(found.scores) + found.field),
            found.scores,
            errors,
            1 / found.pose.scale,
            deviation / found.pose.scale,
        )

    def check_template(self, template: Mesh) -> None:
        """Refuse a template with other vertices or faces than the shapes have."""
        same = template.n_vertices == len(self.model.mean)
        if not same or not np.array_equal(template.faces, self.faces):
            raise InputError(
                f"{template.name}: the shape space was made with another template, of "
                f"{len(self.model.mean)} vertices; give that one, or make a shape space with this"
            )

    def outliers(self) -> dict[str, str]:
        """Names of shapes that do not fit the others, and why."""
        return outliers(self.validation, self.names)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays by name, for ``shapes.npz``."""
        return {
            "faces": self.faces,
            "names": np.array(self.names),
            "scores": self.scores,
            "score_errors": self.score_errors,
            "sizes": self.sizes,
            "measured": self.measured,
            **model_arrays(self.model, self.mirror),
            **validation_arrays(self.validation),
        }

    def save(self, path: str | Path) -> None:
        """Write ``shapes.npz``: to this file, or into this folder if it is one."""
        with open(file_in(Path(path)), "wb") as stream:
            np.savez_compressed(stream, **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> ShapeSpace:
        """Read what `save` or `nho shapes` wrote: the file, or the folder that holds it."""
        stored = read_stored(Path(path))
        try:
            (model, mirror), validation = model_of(stored), validation_of(stored)
        except (ValueError, TypeError, IndexError) as problem:
            raise damaged(file_in(Path(path)), problem) from problem
        return cls(
            stored["faces"],
            model,
            tuple(map(str, stored["names"])),
            stored["scores"],
            stored["score_errors"],
            stored["sizes"],
            stored["measured"],
            validation,
            mirror,
        )

    def first(self, count: int) -> ShapeSpace:
        """The same with fewer components."""
        return replace(
            self,
            model=self.model.first(count),
            scores=self.scores[:, :count],
            score_errors=self.score_errors[:, :count],
        )


def _plane_on(pose: Pose, symmetry: Symmetry | None) -> Plane | None:
    """The plane of symmetry of the template, moved along with it."""
    if symmetry is None:
        return None
    point = pose.apply(symmetry.plane.point[None])[0]
    return Plane(point, pose.rotation @ symmetry.plane.normal)


def _errors(found: Posterior, inflation: float) -> FloatArray:
    """(q,) standard errors of scores."""
    return np.asarray(inflation * np.sqrt(np.diag(found.covariance)))
