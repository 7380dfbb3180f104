"""Pairs that need no files: the shipped body and two families of bent shapes, cut here.

Full and partial shape are meshed on their own, so a true point lies inside a triangle, hardly ever
on a vertex. Both meshes take their vertices from a finer pair of surfaces whose map is known; the
truth is that map, read off the coarse full mesh at the closest point, and is as exact as the coarse
mesh follows the fine one. The region is exact in the same sense: a full vertex belongs to it if
its point on the uncut posed mesh lies in a face that was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.sample import PosePair, load_pair
from nho.geometry.coarsening import coarsened
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_balls, cut_by_plane, torus
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing

_NO_VERTICES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class _Recipe:
    """How a pair is made; sizes are the vertices asked for, before the cut."""

    make: Callable[[int], PosePair]
    cut: str
    seed: int
    posed_size: int
    full_size: int


def listing(folder: Path | None = None) -> Listing:
    """All pairs; the first few show every kind of shape. The folder plays no part."""
    return {name: bind(load, name) for name in _RECIPES}


def load(name: str) -> AnnotatedPair:
    """One pair."""
    surfaces, recipe = uncut(name), _RECIPES[name]
    cut = _cut(surfaces.posed, recipe.cut, recipe.seed)
    points = surfaces.posed_on_full[cut.vertex_of_parent]
    region = np.isin(surfaces.full_on_posed.face, cut.face_of_parent)
    return AnnotatedPair(name, cut.mesh, surfaces.full, GroundTruth(points, region))


def uncut(name: str) -> PosePair:
    """The two meshes of a pair before anything is cut away."""
    recipe = _RECIPES[name]
    fine = recipe.make(recipe.seed)
    posed = coarsened(fine.posed, recipe.posed_size, _NO_VERTICES)
    full = coarsened(fine.full, recipe.full_size, _NO_VERTICES)
    on_full = fine.posed_on_full[posed.vertex].positions(fine.full)
    on_posed = fine.full_on_posed[full.vertex].positions(fine.posed)
    to_full, to_posed = project(full.mesh, on_full)[0], project(posed.mesh, on_posed)[0]
    return PosePair(posed.mesh, full.mesh, to_full, to_posed)


def _body(seed: int) -> PosePair:
    """The shipped body; even seeds cut the template instead of the pose."""
    sample = load_pair()
    return sample if seed % 2 else sample.swapped()


def _bean(seed: int) -> PosePair:
    """A long bumpy body, straight and bent about an axis: lengths change by up to a third."""
    full = bumpy_sphere(5, seed)
    full = Mesh(full.vertices * [0.9, 2.2, 0.8], full.faces, "bean")
    x, y, z = full.vertices.T
    curvature = 0.25
    radius, angle = 1 / curvature - x, curvature * y
    bent = np.column_stack([1 / curvature - radius * np.cos(angle), radius * np.sin(angle), z])
    posed = Mesh(bent, full.faces, "bent bean")
    return PosePair.of_one_mesh(posed, full, np.random.default_rng(seed))


def _ring(seed: int) -> PosePair:
    """A ring of uneven thickness, flat and warped like a saddle."""
    phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, size=3)
    plain = torus(144, 60, 0.35)
    angle = np.arctan2(plain.vertices[:, 1], plain.vertices[:, 0])
    centre = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))])
    thickness = 1 + 0.3 * np.cos(angle + phase[0])
    width = 1 + 0.15 * np.cos(2 * angle + phase[1])
    tube = (plain.vertices - centre) * thickness[:, None]
    full = Mesh(centre * width[:, None] + tube, plain.faces, "ring")
    lift = 0.25 * np.cos(2 * angle + phase[2])
    warped = full.vertices + np.column_stack([np.zeros((len(angle), 2)), lift])
    posed = Mesh(warped, full.faces, "warped ring")
    return PosePair.of_one_mesh(posed, full, np.random.default_rng(seed))


def _cut(mesh: Mesh, kind: str, seed: int) -> Cut:
    """By a plane that keeps 45 to 75 % of the area, or by balls as in PFAUST-M and -H."""
    if kind == "plane":
        random = np.random.default_rng(seed)
        return cut_by_plane(mesh, random.standard_normal(3), keep_area=random.uniform(0.45, 0.75))
    count, radius = {"holes": (4, 0.16), "sieve": (13, 0.1)}[kind]
    return cut_by_balls(mesh, count, radius, seed)


_RECIPES = {
    "body-plane": _Recipe(_body, "plane", 1, 1200, 1300),
    "bean-holes": _Recipe(_bean, "holes", 3, 1100, 1000),
    "ring-plane": _Recipe(_ring, "plane", 5, 1000, 1100),
    "body-holes": _Recipe(_body, "holes", 15, 1100, 1500),
    "bean-plane": _Recipe(_bean, "plane", 9, 1300, 1200),
    "ring-holes": _Recipe(_ring, "holes", 11, 1200, 1150),
    "body-sieve": _Recipe(_body, "sieve", 2, 1400, 1250),
    "bean-sieve": _Recipe(_bean, "sieve", 4, 1400, 1300),
    "body-plane-2": _Recipe(_body, "plane", 6, 1400, 1200),
    "bean-plane-2": _Recipe(_bean, "plane", 8, 1000, 1400),
    "body-holes-2": _Recipe(_body, "holes", 10, 1000, 1100),
    "body-sieve-2": _Recipe(_body, "sieve", 13, 1300, 1200),
}
