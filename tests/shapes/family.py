"""A family of shapes with two known directions, whole or cut, in any pose and unit."""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.report.result_folder import write_outputs
from tests.transfer.made import match_of

TEMPLATE = bumpy_sphere(3)


def shape_of(first: float, second: float) -> np.ndarray:
    """(p, 3) the template with a longer nose and a wider head."""
    nose = np.exp(3 * (TEMPLATE.vertices @ [0, 0, 1] - 1))[:, None]
    return TEMPLATE.vertices * (1 + 0.15 * first * nose) * [1 + 0.06 * second, 1, 1]


def family(
    count: int, seed: int = 0, keep: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions (n, p, 3) in any pose and unit, weights (n, p), and the two true coordinates."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=(count, 2))
    positions, weights = [], []
    for first, second in truth:
        shape = shape_of(first, second)
        known = np.ones(len(shape))
        if keep < 1:
            cut = cut_by_plane(TEMPLATE.moved(shape), random.normal(size=3), keep_area=keep)
            known = np.where(cut.kept_vertices, 1.0, 0.0)
        # A scanner and a map are never exact.
        shape = shape + 0.002 * random.normal(size=shape.shape)
        moved = random.uniform(1, 50) * shape @ random_rotation(random).T + random.normal(size=3)
        positions.append(np.where(known[:, None] > 0, moved, 1e3 * random.normal(size=3)))
        weights.append(known)
    return np.stack(positions), np.stack(weights), truth


def write_batch(folder, count: int = 8) -> np.ndarray:
    """Result folders of cut members of the family, as `nho batch` leaves them; their truth."""
    random = np.random.default_rng(5)
    truth = random.normal(size=(count, 2))
    for number, (first, second) in enumerate(truth):
        whole = TEMPLATE.moved(shape_of(first, second))
        cut = cut_by_plane(whole, random.normal(size=3), keep_area=0.6)
        scan = Mesh(20 * cut.mesh.vertices @ random_rotation(random).T, cut.mesh.faces, "scan")
        points = SurfacePoints.at_vertices(TEMPLATE, cut.vertex_of_parent)
        result = match_of(points, TEMPLATE, cut.kept_vertices, scale=1 / 20)
        write_outputs(folder / f"scan{number}", scan, TEMPLATE, result, report=False)
    return truth
