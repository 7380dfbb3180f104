"""What is computed once for a pair of shapes: operators, spectra and neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import Neighbourhoods, cached_neighbourhoods
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, Laplacian, cached_basis, laplacian
from nho.problem.preparation import Problem
from nho.runtime.cache import Cache
from nho.runtime.run import Run
from nho.settings import GuidedRecipe, PaperRecipe

AnyRecipe = TypeVar("AnyRecipe", GuidedRecipe, PaperRecipe)


@dataclass(frozen=True)
class PairSpectra:
    """Operators, spectra and neighbourhoods of a pair of shapes."""

    partial: Mesh
    full: Mesh
    partial_mass: np.ndarray
    full_laplacian: Laplacian
    partial_basis: Basis  # Dirichlet
    full_basis: Basis  # Neumann
    partial_near: Neighbourhoods
    full_near: Neighbourhoods
    given_unit: float  # 1 / sqrt(area of the full shape) in the unit of its file
    recipe: PaperRecipe  # with modes reduced to what the meshes can give
    notes: tuple[str, ...]


def analyse(problem: Problem, run: Run) -> PairSpectra:
    """Laplacians, eigenbases and local distances of both shapes."""
    partial, full = problem.partial.mesh, problem.full.mesh
    check_size(partial, full)
    recipe, notes = fit_to_size(run.recipe(PaperRecipe), partial, full)
    modes = max(recipe.spectral_modes, recipe.refine_last)
    boundary, store = partial.boundary_vertices, Cache.default()

    def of_partial() -> tuple[Laplacian, Basis, Neighbourhoods]:
        own = laplacian(partial, recipe.laplacian)
        near = cached_neighbourhoods(store, partial, recipe.distortion_neighbours)
        return own, cached_basis(store, own, modes, boundary), near

    def of_full() -> tuple[Laplacian, Basis, Neighbourhoods]:
        own = laplacian(full, recipe.laplacian)
        near = cached_neighbourhoods(store, full, recipe.distortion_front)
        count = max(recipe.encoding_modes, recipe.galerkin_modes)
        return own, cached_basis(store, own, count), near

    (partial_laplacian, partial_basis, partial_near), (full_laplacian, full_basis, full_near) = (
        run.pool.together(of_partial, of_full)
    )
    if not boundary.any():
        notes.append(
            f"{partial.name}: the surface is closed, so its first eigenvalue is zero; zero "
            "eigenvalues are left out of the spectral loss"
        )
    return PairSpectra(
        partial=partial,
        full=full,
        partial_mass=partial_laplacian.mass,
        full_laplacian=full_laplacian,
        partial_basis=partial_basis,
        full_basis=full_basis,
        partial_near=partial_near,
        full_near=full_near,
        given_unit=1 / np.sqrt(problem.full.given.area),
        recipe=recipe,
        notes=tuple(notes),
    )


def check_size(partial: Mesh, full: Mesh) -> None:
    """Refuse meshes that are too small to have a spectrum."""
    interior, n = _interior(partial), len(full.vertices)
    if interior < 4 or n < 4:
        raise InputError(
            f"{partial.name}: {interior} interior vertices (and {n} vertices of {full.name}) are "
            "too few to match; at least 4 are needed, so give finer meshes"
        )


def fit_to_size(recipe: AnyRecipe, partial: Mesh, full: Mesh) -> tuple[AnyRecipe, list[str]]:
    """Fewer modes where a mesh is too small for those asked for; each cut is a note."""
    of_full = (len(full.vertices), full)
    of_both = min((_interior(partial), partial), of_full, key=lambda each: each[0])
    available = {"encoding_modes": of_full}
    if isinstance(recipe, PaperRecipe) or recipe.weight_spectral:
        available |= {"spectral_modes": of_both, "galerkin_modes": of_full}
    if isinstance(recipe, PaperRecipe):
        available |= {"refine_last": of_both, "refine_first": of_both}
    notes, cuts = [], {}
    for name, (most, mesh) in available.items():
        wanted = getattr(recipe, name)
        if wanted > most:
            cuts[name] = most
            notes.append(
                f"{mesh.name}: only {most} modes are available, {name} is lowered from {wanted}"
            )
    return recipe.replace(**cuts), notes


def _interior(mesh: Mesh) -> int:
    """Number of vertices that are not on the boundary."""
    return int((~mesh.boundary_vertices).sum())
