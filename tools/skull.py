"""A skull-like pair for the tutorial: `python tools/skull.py FOLDER`.

Writes `template.ply`, and `scan.ply`: another individual in another pose, with the back of the left
side broken off. Both are in millimetres and coloured like bone, with darker sutures. `template.csv`
and `scan.csv` hold named landmarks; those of the broken-off part are missing on the scan, and one
is wrong: *left porion* lies on the right side.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import sphere, take_faces
from nho.io.attributes import COLOUR, Attributes, write_with_attributes

# Directions from the middle of the skull: x to its left, y to the back, z up.
PLACES = {
    "nasion": (0, -1, 0.12),
    "glabella": (0, -1, 0.38),
    "bregma": (0, -0.25, 1),
    "lambda": (0, 0.85, 0.6),
    "inion": (0, 1, -0.12),
    "prosthion": (0, -0.92, -0.62),
    "left orbit": (0.62, -0.9, 0.08),
    "right orbit": (-0.62, -0.9, 0.08),
    "left zygion": (0.95, -0.6, -0.25),
    "right zygion": (-0.95, -0.6, -0.25),
    "left porion": (1, 0.25, -0.22),
    "right porion": (-1, 0.25, -0.22),
    "left asterion": (0.75, 0.8, -0.1),
    "right asterion": (-0.75, 0.8, -0.1),
}
BROKEN_OFF = ("inion", "left asterion", "lambda")
WRONG = "left porion"
_BUMPS = (  # direction, height, width
    ((0, -1, 0.42), 0.05, 0.22),  # brow
    ((0.36, -1, 0.1), -0.2, 0.16),  # orbits
    ((-0.36, -1, 0.1), -0.2, 0.16),
    ((0, -1, -0.2), -0.16, 0.11),  # nose
    ((0.75, -0.75, -0.25), 0.1, 0.17),  # cheeks
    ((-0.75, -0.75, -0.25), 0.1, 0.17),
    ((0, -0.9, -0.65), 0.22, 0.24),  # jaw
    ((0, 1, -0.1), 0.06, 0.25),  # occiput
    ((0.95, 0.25, -0.35), 0.06, 0.13),  # mastoids
    ((-0.95, 0.25, -0.35), 0.06, 0.13),
    ((0, 0.15, -1), -0.2, 0.3),  # base
)


def surface(directions: np.ndarray, individual: float) -> np.ndarray:
    """(n, 3) points of a skull in millimetres; another ``individual`` differs smoothly."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    radius = 1 / np.linalg.norm(unit / [0.76, 1.0, 0.8], axis=1)
    for number, (at, height, width) in enumerate(_BUMPS):
        gap = np.linalg.norm(unit - np.array(at) / np.linalg.norm(at), axis=1)
        radius += height * (1 + individual * np.sin(number)) * np.exp(-((gap / width) ** 2))
    points = 90 * radius[:, None] * unit
    x, y, z = points.T
    longer = 1 + 0.08 * individual
    narrower = 1 - 0.05 * individual * np.cos(y / 60)
    # In the file, y is up and z points to the front.
    return np.stack([x * narrower, z + 3 * individual * np.sin(y / 40), -y * longer], axis=1)


def bone(directions: np.ndarray) -> np.ndarray:
    """(n, 3) uint8 colours: bone, with sutures across the crown and along it."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    wiggle = 0.03 * np.sin(40 * unit[:, 0]) + 0.03 * np.sin(37 * unit[:, 1])
    coronal = (np.abs(unit[:, 1] + 0.25 + wiggle) < 0.02) & (unit[:, 2] > 0.3)
    sagittal = (np.abs(unit[:, 0] + wiggle) < 0.02) & (unit[:, 2] > 0.3) & (unit[:, 1] > -0.25)
    mottled = 12 * np.sin(9 * unit[:, 0]) * np.sin(8 * unit[:, 1] + 1) * np.sin(7 * unit[:, 2])
    colour = np.array([222.0, 206.0, 178.0]) + mottled[:, None]
    colour[coronal | sagittal] = (110, 84, 62)
    return np.clip(colour, 0, 255).astype(np.uint8)


def rotation(degrees: float) -> np.ndarray:
    """About an axis that is nobody's."""
    axis = np.array([0.3, 0.2, 0.93])
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.deg2rad(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


POSE, SHIFT = rotation(-40), np.array([30.0, -200, 55])  # of the scan


def write(folder: Path, subdivisions: int = 5) -> None:
    """All four files."""
    folder.mkdir(parents=True, exist_ok=True)
    ball = sphere(subdivisions)
    places = np.array(list(PLACES.values()), dtype=float)
    full = Mesh(surface(ball.vertices, 0.0), ball.faces, "template.ply")
    write_with_attributes(
        folder / "template.ply", full, Attributes(vertex={COLOUR: bone(ball.vertices)})
    )
    _landmarks(folder / "template.csv", dict(zip(PLACES, surface(places, 0.0), strict=True)))
    # Another individual: other triangles, another pose, another place of the scanner.
    turned = ball.vertices @ rotation(17).T
    there = turned @ np.array([0.55, 0.8, -0.1]) < 0.62
    cut = take_faces(Mesh(surface(turned, 1.0), ball.faces), there[ball.faces].all(axis=1))
    scan = Mesh(cut.mesh.vertices @ POSE.T + SHIFT, cut.mesh.faces, "scan.ply")
    colours = bone(turned[cut.vertex_of_parent])
    write_with_attributes(folder / "scan.ply", scan, Attributes(vertex={COLOUR: colours}))
    found = dict(zip(PLACES, surface(places, 1.0) @ POSE.T + SHIFT, strict=True))
    found[WRONG] = found["right porion"] + [2.0, 6.0, 1.0]
    _landmarks(
        folder / "scan.csv", {name: at for name, at in found.items() if name not in BROKEN_OFF}
    )


def _landmarks(path: Path, points: dict[str, np.ndarray]) -> None:
    rows = [f"{name},{x:.3f},{y:.3f},{z:.3f}" for name, (x, y, z) in points.items()]
    path.write_text("name,x,y,z\n" + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
