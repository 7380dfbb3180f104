"""Shapes to train on, each in two poses: bodies, trunks with limbs, bumpy beans and rings.

Everything is drawn from a seed. A shape is meshed finely, so that its coarse meshings differ from
one another; the map between the two poses is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from nho.evaluation.sample import PosePair, load_pair
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, sphere, torus

_TIPS = 5  # of a body: head, hands and feet
_JOINT = 0.12  # length of a limb that bends, in units of sqrt(area)
_MOST_TRIES = 50  # for limbs that do not overlap
_sample, _sphere = cache(load_pair), cache(sphere)


def body(random: np.random.Generator) -> PosePair:
    """The shipped body, of other proportions and in other poses; either may be the full one."""
    pair = _sample()
    proportions = random.uniform(0.8, 1.2, size=3)
    posed, full = (
        Mesh(
            _bent(_articulated(mesh, random) * proportions * _near_one(random), random, 0.5),
            mesh.faces,
            "body",
        )
        for mesh in (pair.posed, pair.full)
    )
    made = PosePair(posed, full, pair.posed_on_full, pair.full_on_posed)
    return made if random.random() < 0.5 else made.swapped()


def limbs(random: np.random.Generator) -> PosePair:
    """A bumpy trunk with limbs, each bent at a joint of its own."""
    ball = _sphere(5)
    trunk = _bumps(ball.vertices, random, 5, 0.15)
    directions, width = _limb_directions(random)
    axes = random.uniform([0.6, 0.8, 0.5], [1.0, 1.8, 0.9])
    length = random.uniform(1.0, 2.6, size=len(directions))
    if random.random() < 0.5:  # such as the sides of a body: nearly alike
        directions, width, length = _with_mirror_images(directions, width, length, random)
    joint = random.uniform(0.3, 0.6, size=len(directions))

    def bent_limbs() -> np.ndarray:
        vertices = trunk * axes
        for axis, angle, reach, bend in zip(directions, width, length, joint):
            near = ball.vertices @ axis > np.cos(angle)
            rotation = _rotation_across(axis, random.uniform(-1.3, 1.3), random)
            cap = ball.vertices[near], vertices[near]
            vertices[near] = _limb(*cap, axis, angle, reach, bend, rotation)
        return vertices

    return _two_poses("limbs", bent_limbs, ball.faces, 0.4, random)


def bean(random: np.random.Generator) -> PosePair:
    """A long bumpy body, bent in two ways."""
    ball = bumpy_sphere(4, int(random.integers(2**31)))
    straight = ball.vertices * random.uniform([0.7, 1.4, 0.6], [1.0, 2.4, 1.0])
    return _two_poses("bean", lambda: straight, ball.faces, 1.2, random)


def ring(random: np.random.Generator) -> PosePair:
    """A ring of uneven thickness, warped in two ways."""
    plain = torus(90, 40, random.uniform(0.25, 0.45))
    angle = np.arctan2(plain.vertices[:, 1], plain.vertices[:, 0])
    centre = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))])
    phase = random.uniform(0, 2 * np.pi, size=3)
    thickness = 1 + 0.35 * np.cos(angle + phase[0]) + 0.15 * np.cos(3 * angle + phase[1])
    wide = 1 + 0.2 * np.cos(2 * angle + phase[2])
    vertices = centre * wide[:, None] + (plain.vertices - centre) * thickness[:, None]
    return _two_poses("ring", lambda: vertices, plain.faces, 0.8, random)


# How often each kind is drawn.
KINDS: dict[str, tuple[Callable[[np.random.Generator], PosePair], float]] = {
    "body": (body, 0.4),
    "limbs": (limbs, 0.48),
    "bean": (bean, 0.08),
    "ring": (ring, 0.04),
}


def drawn(random: np.random.Generator) -> PosePair:
    """A shape of a random kind."""
    makers, shares = zip(*KINDS.values())
    made: PosePair = makers[random.choice(len(makers), p=shares)](random)
    return made


def _limb_directions(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Unit directions (m, 3) of limbs and the angles (m,) their roots take, without overlap."""
    directions: list[np.ndarray] = []
    widths: list[float] = []
    wanted = random.integers(2, 6)
    for _ in range(_MOST_TRIES):
        direction, width = _unit(random.standard_normal(3)), random.uniform(0.25, 0.42)
        apart = [np.arccos(np.clip(direction @ d, -1, 1)) - w for d, w in zip(directions, widths)]
        if all(gap > width for gap in apart):
            directions.append(direction)
            widths.append(width)
        if len(directions) == wanted:
            break
    return np.array(directions), np.array(widths)


def _with_mirror_images(
    directions: np.ndarray, width: np.ndarray, length: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Limbs off the plane x = 0 twice, once on either side, hardly different in length."""
    aside = directions[:, 0] > np.sin(width)
    kept = aside | (np.abs(directions[:, 0]) < 0.1)
    if not aside.any():
        return directions, width, length
    images = directions[aside] * [-1, 1, 1]
    other = length[aside] * random.uniform(0.97, 1.03, size=aside.sum())
    return (
        np.concatenate([directions[kept], images]),
        np.concatenate([width[kept], width[aside]]),
        np.concatenate([length[kept], other]),
    )


def _limb(
    on_ball: np.ndarray,
    on_trunk: np.ndarray,
    direction: np.ndarray,
    width: float,
    length: float,
    joint: float,
    rotation: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """(n, 3) a cap of the trunk drawn out to a limb and rotated beyond its joint.

    ``rotation`` takes (n,) shares of the angle, 0 to 1, to (n, 3, 3) matrices.
    """
    share = np.arccos(np.clip(on_ball @ direction, -1, 1)) / width  # 0 at the tip, 1 at the root
    aside = on_trunk - np.outer(on_trunk @ direction, direction)
    # Wide up to the tip, not a cone: the distance from the axis saturates.
    fuller = np.tanh(3 * share) / (np.maximum(share, 1e-9) * np.tanh(3))
    height = length * (1 - share**2) ** 2
    straight = on_trunk + aside * (fuller - 1)[:, None] + np.outer(height, direction)
    beyond = np.clip((height / length - joint) / 0.4 + 0.5, 0, 1)
    root = (on_trunk @ direction).mean()
    pivot = (root + joint * length) * direction
    return _rotated(straight, pivot, rotation(beyond * beyond * (3 - 2 * beyond)))


def _articulated(mesh: Mesh, random: np.random.Generator) -> np.ndarray:
    """(n, 3) positions with a joint set into each limb and the part beyond it rotated.

    Tips of limbs are far from each other along the surface, and the vertices at one distance from
    a tip lie around the limb: their mean is the joint.
    """
    unit = np.sqrt(mesh.area)
    tips = sample_vertices(mesh, 1 + _TIPS)[1:]  # the first is any vertex
    reach = distances_from(edge_graph(mesh), tips) / unit
    vertices = mesh.vertices.copy()
    for distance in reach:
        joint = random.uniform(0.15, 0.45)
        ring = np.abs(distance - joint) < _JOINT / 2
        beyond = np.clip((joint - distance) / _JOINT + 0.5, 0, 1)
        axis = _unit(random.standard_normal(3))
        angles = random.uniform(-0.8, 0.8) * beyond * beyond * (3 - 2 * beyond)
        vertices = _rotated(vertices, vertices[ring].mean(axis=0), _rotations(axis, angles))
    return vertices


def _rotated(vertices: np.ndarray, pivot: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """(n, 3) vertices rotated by (n, 3, 3) matrices about a pivot."""
    return np.asarray(np.einsum("nij,nj->ni", rotations, vertices - pivot) + pivot)


def _rotation_across(
    direction: np.ndarray, angle: float, random: np.random.Generator
) -> Callable[[np.ndarray], np.ndarray]:
    """Rotations by shares of an angle, about a random axis across a direction."""
    across = random.standard_normal(3)
    axis = _unit(across - (across @ direction) * direction)
    return lambda share: _rotations(axis, share * angle)


def _rotations(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations about one unit axis by (n,) angles."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sines, cosines = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.asarray(np.eye(3) + sines * cross + (1 - cosines) * (cross @ cross))


def _bent(vertices: np.ndarray, random: np.random.Generator, most: float) -> np.ndarray:
    """(n, 3) rolled onto an arc of at most ``most`` radians, about a random axis."""
    frame = np.linalg.qr(random.standard_normal((3, 3)))[0]
    x, y, z = frame.T @ (vertices - vertices.mean(axis=0)).T
    angle = random.uniform(-most, most)
    curvature = angle / np.ptp(y)
    if abs(angle) < 1e-3:  # an arc of a huge circle: nothing but round-off would change
        return vertices
    radius = 1 / curvature - x
    rolled = [1 / curvature - radius * np.cos(curvature * y), radius * np.sin(curvature * y), z]
    return np.asarray(np.column_stack(rolled) @ frame.T)


def _bumps(
    vertices: np.ndarray, random: np.random.Generator, count: int, height: float
) -> np.ndarray:
    """(n, 3) points of the unit sphere raised and sunk smoothly."""
    centres = random.standard_normal((count, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    heights = random.uniform(-height, 1.5 * height, size=count)
    bumps = np.exp(4 * (vertices @ centres.T - 1)) @ heights
    return np.asarray(vertices * (1 + bumps)[:, None])


def _near_one(random: np.random.Generator) -> np.ndarray:
    """(3,) factors by which two poses differ in proportion: no two shapes are exactly isometric."""
    return random.uniform(0.97, 1.03, size=3)


def _two_poses(
    name: str,
    vertices: Callable[[], np.ndarray],
    faces: np.ndarray,
    most: float,
    random: np.random.Generator,
) -> PosePair:
    """A mesh bent twice, see `_bent`, the vertices of the first pose in another order."""
    posed, full = (
        Mesh(_bent(vertices() * _near_one(random), random, most), faces, name) for _ in range(2)
    )
    return PosePair.of_one_mesh(posed, full, random)


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))
