"""Two shapes and some points on them, for all tests of landmarks."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import sphere, torus
from nho.io.landmarks import Landmarks

# Away from the origin, as scanners give shapes, so that flipped axes can be told.
PARTIAL = Mesh(40 * sphere(2).vertices + [120.0, 70, 30], sphere(2).faces, "scan.ply")
FULL = Mesh(30 * torus(24, 16).vertices - [90.0, 200, 10], torus(24, 16).faces, "template.ply")
NAMES = ("left eye", "Nasenfl\u00fcgel, links", 'say "ah"', "\u9f3b", "a;b <c> & d'e")
FACES = np.array([3, 17, 40, 99, 250])
WEIGHTS = np.array(
    [[0.2, 0.3, 0.5], [0.1, 0.7, 0.2], [1 / 3, 1 / 3, 1 / 3], [1.0, 0, 0], [0.6, 0.4, 0]]
)


def points() -> SurfacePoints:
    """Five points: three inside faces, a vertex, one on an edge."""
    return SurfacePoints(FACES.copy(), WEIGHTS.copy())


def marks(mesh: Mesh = PARTIAL, names: tuple[str, ...] = NAMES) -> Landmarks:
    """The five points as landmarks."""
    return Landmarks.at(mesh, points(), names, "marks")
