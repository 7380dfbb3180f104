"""What a network is given of a mesh: values at its vertices and operators, as tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.learned.architecture import CHANNELS, Architecture
from nho.learned.diffusion_net import OperatorTensors
from nho.learned.mesh_operators import Operators, heat_kernel_signature, local_shape, operators

_FEWEST = 4  # vertices that have any spectrum worth the name


@dataclass(frozen=True)
class NetworkInput:
    """One shape, ready for a network.

    Attributes
    ----------
    values : (n, c) tensor
        What goes in.
    operators : OperatorTensors
        With the eigenpairs that values diffuse in.
    eigenvalues : (k,) tensor
    functions : (n, k) tensor
        Basis of functional maps.
    points : (n, 3) float array
        Positions, for choosing vertices that lie far from each other.
    """

    values: Tensor
    operators: OperatorTensors
    eigenvalues: Tensor
    functions: Tensor
    points: np.ndarray

    @property
    def mass(self) -> Tensor:
        """(n,) vertex areas."""
        return self.operators.mass

    def project(self, values: Tensor) -> Tensor:
        """(k, c) coefficients of (n, c) values in the basis of functional maps."""
        return self.functions.T @ (self.mass[:, None] * values)


def network_inputs(
    partial: Mesh, full: Mesh, architecture: Architecture, laplacian: str = "robust"
) -> tuple[NetworkInput, NetworkInput]:
    """Both shapes at unit area of the full one, in the frame that the network wants."""
    modes = min(architecture.map_modes, partial.n_vertices, full.n_vertices)

    def made(mesh: Mesh) -> NetworkInput:
        if mesh.n_vertices < _FEWEST:
            raise InputError(
                f"{mesh.name}: {mesh.n_vertices} vertices are too few for a network; give a "
                f"finer mesh"
            )
        mesh = mesh.scaled(float(1 / np.sqrt(full.area)))
        if architecture.frame == "centred":
            mesh = mesh.moved(mesh.vertices - _centre(mesh))
        return _network_input(mesh, architecture, modes, laplacian)

    return made(partial), made(full)


def _centre(mesh: Mesh) -> np.ndarray:
    """(3,) mean of the surface, which does not depend on where vertices are dense."""
    centre: np.ndarray = mesh.face_areas @ mesh.vertices[mesh.faces].mean(axis=1) / mesh.area
    return centre


def _network_input(
    mesh: Mesh, architecture: Architecture, map_modes: int, laplacian: str
) -> NetworkInput:
    found = operators(mesh, max(architecture.modes, map_modes), laplacian)

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.array(array, dtype=np.float32))

    return NetworkInput(
        tensor(_values(mesh, found, architecture.inputs)),
        OperatorTensors.of(found.with_modes(architecture.modes)),
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
