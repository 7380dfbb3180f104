"""What is computed once for a pair of shapes: operators, spectra and neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import Neighbourhoods, cached_neighbourhoods
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, Laplacian, cached_basis, laplacian
from nho.problem.preparation import Problem
from nho.runtime.cache import Cache
from nho.runtime.parallel import Workers
from nho.settings import Settings


@dataclass(frozen=True)
class Shapes:
    """What is computed once per pair: operators, spectra and neighbourhoods."""

    partial: Mesh
    full: Mesh
    partial_mass: np.ndarray
    full_laplacian: Laplacian
    partial_basis: Basis  # Dirichlet
    full_basis: Basis  # Neumann
    partial_near: Neighbourhoods
    full_near: Neighbourhoods
    settings: Settings  # with modes reduced to what the meshes can give
    warnings: tuple[str, ...]


def analyse(problem: Problem, settings: Settings, pool: Workers) -> Shapes:
    """Laplacians, eigenbases and local distances of both shapes."""
    partial, full = problem.partial.mesh, problem.full.mesh
    settings, warnings = fit_to_size(settings, partial, full)
    modes = max(settings.spectral_modes, settings.refine_last)
    boundary, store = partial.boundary_vertices, Cache.default()

    def of_partial() -> tuple[Laplacian, Basis, Neighbourhoods]:
        operator = laplacian(partial, settings.laplacian)
        near = cached_neighbourhoods(store, partial, settings.distortion_neighbours)
        return operator, cached_basis(store, operator, modes, boundary), near

    def of_full() -> tuple[Laplacian, Basis, Neighbourhoods]:
        operator = laplacian(full, settings.laplacian)
        near = cached_neighbourhoods(store, full, settings.distortion_neighbours)
        count = max(settings.encoding_modes, settings.galerkin_modes)
        return operator, cached_basis(store, operator, count), near

    (m_operator, m_basis, m_near), (n_operator, n_basis, n_near) = pool.together(
        of_partial, of_full
    )
    if not boundary.any():
        warnings.append(
            f"{partial.name}: the surface is closed, so its first eigenvalue is zero; zero "
            "eigenvalues are left out of the spectral loss"
        )
    return Shapes(
        partial,
        full,
        m_operator.mass,
        n_operator,
        m_basis,
        n_basis,
        m_near,
        n_near,
        settings,
        tuple(warnings),
    )


def fit_to_size(settings: Settings, partial: Mesh, full: Mesh) -> tuple[Settings, list[str]]:
    """Fewer modes where a mesh is too small for those asked for; each cut is a warning."""
    interior = int((~partial.boundary_vertices).sum())
    n = len(full.vertices)
    if interior < 4 or n < 4:
        raise InputError(
            f"{partial.name}: {interior} interior vertices (and {n} vertices of {full.name}) are "
            "too few to match; at least 4 are needed, so give finer meshes"
        )
    available = {
        "spectral_modes": min(interior, n),
        "galerkin_modes": n,
        "encoding_modes": n,
        "refine_last": min(interior, n),
        "refine_first": min(interior, n),
    }
    warnings, cuts = [], {}
    for name, most in available.items():
        wanted = getattr(settings, name)
        if wanted > most:
            cuts[name] = most
            mesh = full if name in ("galerkin_modes", "encoding_modes") else partial
            warnings.append(
                f"{mesh.name}: only {most} modes are available, {name} is lowered from {wanted}"
            )
    return settings.replace(**cuts), warnings
