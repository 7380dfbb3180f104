"""A mesh as a network sees it: values at its vertices and operators, as tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.learned.architecture import CHANNELS, Architecture
from nho.learned.diffusion_net import Surface
from nho.learned.local_shape import local_shape
from nho.learned.operators import Operators, operators

FEWEST = 4  # vertices that have any spectrum worth the name
# Of the heat kernel signatures, in units of the area: from a few edges to the whole shape.
_FIRST_TIME, _LAST_TIME = 1e-3, 1.0


@dataclass(frozen=True)
class Shape:
    """One surface, ready for a network.

    Attributes
    ----------
    values : (n, c) tensor
        What goes in.
    surface : Surface
        With the eigenpairs that values diffuse in.
    eigenvalues : (k,) tensor
    functions : (n, k) tensor
        Basis of functional maps.
    points : (n, 3) float array
        Positions, for choosing vertices that are well spread.
    """

    values: Tensor
    surface: Surface
    eigenvalues: Tensor
    functions: Tensor
    points: np.ndarray

    @property
    def mass(self) -> Tensor:
        """(n,) vertex areas."""
        return self.surface.mass

    def project(self, values: Tensor) -> Tensor:
        """(k, c) coefficients of (n, c) values in the basis of functional maps."""
        return self.functions.T @ (self.mass[:, None] * values)


def shapes_of(
    partial: Mesh, full: Mesh, architecture: Architecture, laplacian: str = "robust"
) -> tuple[Shape, Shape]:
    """Both shapes at unit area of the full one, in the frame that the network wants."""
    unit = 1 / np.sqrt(full.area)
    modes = min(architecture.map_modes, partial.n_vertices, full.n_vertices)
    made = []
    for mesh in (partial, full):
        if mesh.n_vertices < FEWEST:
            raise InputError(
                f"{mesh.name}: {mesh.n_vertices} vertices are too few for a network; give a "
                f"finer mesh"
            )
        mesh = mesh.scaled(float(unit))
        if architecture.frame == "centred":
            mesh = Mesh(mesh.vertices - centre(mesh), mesh.faces, mesh.name)
        made.append(_shape(mesh, architecture, modes, laplacian))
    return made[0], made[1]


def centre(mesh: Mesh) -> np.ndarray:
    """(3,) mean of the surface, which does not depend on where vertices are dense."""
    return mesh.face_areas @ mesh.vertices[mesh.faces].mean(axis=1) / mesh.area


def _shape(mesh: Mesh, architecture: Architecture, map_modes: int, laplacian: str) -> Shape:
    found = operators(mesh, max(architecture.modes, map_modes), laplacian)
    diffusing = Operators(
        found.mass,
        found.eigenvalues[: architecture.modes],
        found.functions[:, : architecture.modes],
        found.gradient,
    )

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.array(array, dtype=np.float32))

    return Shape(
        tensor(_values(mesh, found, architecture.inputs)),
        Surface.of(diffusing),
        tensor(found.eigenvalues[:map_modes]),
        tensor(found.functions[:, :map_modes]),
        mesh.vertices,
    )


def _values(mesh: Mesh, found: Operators, inputs: str) -> np.ndarray:
    if inputs == "xyz":
        return mesh.vertices
    if inputs == "xyz+normals":
        return np.concatenate([mesh.vertices, mesh.vertex_normals], axis=1)
    if inputs == "local":
        return local_shape(mesh, found, 1.0)  # the area of the full shape is one here
    return heat_kernel_signature(found, CHANNELS[inputs])


def heat_kernel_signature(found: Operators, count: int) -> np.ndarray:
    """(n, count) how much heat stays at a vertex, after times from short to long.

    ``sum_i exp(-lambda_i t) phi_i(x)^2``, over its mean on the surface: numbers about 1.
    """
    area = found.mass.sum()
    times = area * np.geomspace(_FIRST_TIME, _LAST_TIME, count)
    heat = found.functions**2 @ np.exp(-found.eigenvalues[:, None] * times)
    return heat / (found.mass @ heat / area)
