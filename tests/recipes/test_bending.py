"""Bending: the truth is kept, noise is removed, anchors are met."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from nho.geometry.geodesics import edge_graph, neighbourhoods
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import project
from nho.recipes.guided.bending import FIRM, GENTLE, Bending
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.runtime.parallel import workers


@pytest.fixture(scope="module")
def bent(piece) -> Mesh:
    """The piece in another pose and place: a smooth bend, a turn and a shift."""
    v = piece.mesh.vertices + 0.04 * np.sin(3 * piece.mesh.vertices[:, [1, 2, 0]])
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    return Mesh(v @ turn.T + 10, piece.mesh.faces)


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = sample_vertices(piece.mesh, 12)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def bending(whole, bent, anchors):
    return Bending(bent, whole, AnchorDistances.measure(bent, whole, anchors))


@pytest.fixture(scope="module")
def noisy(whole, piece):
    """The true map with every image a few vertices off and one in five anywhere."""
    random = np.random.default_rng(0)
    near = neighbourhoods(edge_graph(whole), 15).index
    n = len(piece.vertex_of_parent)
    target = near[piece.vertex_of_parent, random.integers(15, size=n)]
    anywhere = random.uniform(size=n) < 0.2
    target[anywhere] = random.integers(len(whole.vertices), size=anywhere.sum())
    return target


@pytest.fixture(scope="module")
def from_noise(bending, noisy):
    return bending.from_images(bending.images(noisy))


def gaps(whole, piece, positions):
    truth = whole.vertices[piece.vertex_of_parent]
    return np.linalg.norm(positions - truth, axis=1) / whole.mean_edge_length


def test_the_true_map_stays_near_the_truth(whole, piece, bending):
    pose = bending.from_images(bending.images(piece.vertex_of_parent))
    found = bending.read_off(pose).positions(whole)
    assert gaps(whole, piece, found).mean() < 0.4
    assert gaps(whole, piece, found).max() < 2


def test_a_noisy_map_ends_much_nearer_to_the_truth(whole, piece, bending, noisy, from_noise):
    before = gaps(whole, piece, whole.vertices[noisy]).mean()
    after = gaps(whole, piece, bending.read_off(from_noise).positions(whole)).mean()
    assert before > 1.5 and after < 0.2 * before


def test_bending_lowers_the_distortion(whole, bending, noisy, from_noise):
    assert bending.distortion(from_noise) < 0.2 * bending.distortion(whole.vertices[noisy])
    mean = bending.elastic.distortion(from_noise).mean()
    assert bending.distortion(from_noise) == pytest.approx(mean)


def missed(whole, anchors, pose):
    """Distances from the anchors of a pose to their partners, in mean edges."""
    away = np.linalg.norm(pose[anchors[:, 0]] - whole.vertices[anchors[:, 1]], axis=1)
    return away / whole.mean_edge_length


def turned_map(whole, piece, angle: float) -> np.ndarray:
    """The true map, turned around an axis as a whole: smooth, and wrong everywhere."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    truth = whole.vertices[piece.vertex_of_parent]
    return cKDTree(whole.vertices).query(truth @ turn.T)[1]


def test_anchors_are_met(whole, anchors, from_noise):
    assert missed(whole, anchors, from_noise).max() < 0.35
    assert missed(whole, anchors, from_noise).mean() < 0.15


def test_anchors_lead_a_map_that_is_wrong_everywhere_to_the_truth(whole, piece, bending, anchors):
    target = turned_map(whole, piece, 0.4)
    pose = bending.from_images(bending.images(target))
    assert gaps(whole, piece, whole.vertices[target]).mean() > 1.5
    assert gaps(whole, piece, pose).mean() < 0.2
    assert missed(whole, anchors, pose).max() < 0.35


def test_what_is_left_at_the_anchors_is_spread_over_the_surface(whole, piece, bending, anchors):
    # Without gentle phases the anchors' own pull has no time to turn the surface.
    target = turned_map(whole, piece, 0.8)
    pose = bending.from_images(bending.images(target), 0)
    assert gaps(whole, piece, whole.vertices[target]).mean() > 3
    assert missed(whole, anchors, pose).max() < 0.5
    assert gaps(whole, piece, pose).mean() < 0.8


def test_an_anchor_that_is_an_edge_off_hardly_pulls_the_surface_along(whole, piece, bent):
    # One partner a ring off; the others hold, and the surface follows them.
    chosen = sample_vertices(piece.mesh, 12)
    right = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    beside = neighbourhoods(edge_graph(whole), 3).index[right[4, 1]]
    wrong = right.copy()
    wrong[4, 1] = beside[beside != right[4, 1]][0]
    pose = Bending(bent, whole, AnchorDistances.measure(bent, whole, wrong)).from_images(
        whole.vertices[piece.vertex_of_parent]
    )
    off = missed(whole, wrong[4:5], whole.vertices[piece.vertex_of_parent])
    assert off > 0.5 and gaps(whole, piece, pose)[chosen[4]] < 0.5 * off
    assert gaps(whole, piece, pose).mean() < 0.2


def test_relief_draws_a_surface_to_its_like(whole, piece, bent, anchors):
    target = turned_map(whole, piece, 0.3)
    distances = AnchorDistances.measure(bent, whole, anchors[:3])
    curvatures = 1.4 * np.sin(3 * whole.vertices)  # unit deviation, different everywhere
    own = curvatures[piece.vertex_of_parent]

    def error(pair: tuple[np.ndarray, np.ndarray] | None) -> float:
        pose = Bending(bent, whole, distances, pair).from_images(whole.vertices[target])
        return float(gaps(whole, piece, pose).mean())

    blind = error(None)
    assert error((own, curvatures)) < 0.7 * blind
    assert error((-own, curvatures)) > 1.5 * blind  # what it follows when it is misled


def test_relief_does_not_decide_the_last_phases(whole, piece, bent, anchors, bending):
    # Without gentle phases nothing is left that could look at them.
    curvatures = np.sin(3 * whole.vertices)
    seeing = Bending(
        bent,
        whole,
        AnchorDistances.measure(bent, whole, anchors),
        (-curvatures[piece.vertex_of_parent], curvatures),
    )
    plain = bending.from_images(bending.images(piece.vertex_of_parent), 0)
    assert seeing.from_images(seeing.images(piece.vertex_of_parent), 0).tobytes() == plain.tobytes()
    assert seeing.from_images(seeing.images(piece.vertex_of_parent), 1).tobytes() != plain.tobytes()


def test_every_iteration_of_the_phases_asked_for_is_watched(bending, noisy):
    for gentle in (0, 2, len(GENTLE)):
        gaps = []
        bending.from_images(bending.images(noisy), gentle, watch=gaps.append)
        assert len(gaps) == sum(len(phase) for phase in GENTLE[:gentle] + FIRM)
        assert 0 < gaps[-1] < gaps[0]


def test_the_number_of_threads_does_not_change_a_bit(bending, noisy, from_noise):
    with workers(3) as pool:
        assert (
            bending.from_images(bending.images(noisy), pool=pool).tobytes() == from_noise.tobytes()
        )


def test_the_pose_lies_on_the_full_surface(whole, from_noise):
    _, off = project(whole, from_noise)
    assert off.mean() < 0.1 * whole.mean_edge_length


def test_read_off_gives_valid_points_near_the_pose(whole, bending, from_noise):
    points = bending.read_off(from_noise)
    assert len(points) == len(from_noise)
    assert (points.face >= 0).all() and (points.face < len(whole.faces)).all()
    assert (points.barycentric >= 0).all()
    np.testing.assert_allclose(points.barycentric.sum(axis=1), 1)
    away = np.linalg.norm(points.positions(whole) - from_noise, axis=1)
    assert np.percentile(away, 95) < 0.5 * whole.mean_edge_length


def test_position_of_the_partial_shape_does_not_matter(
    whole, piece, bent, anchors, noisy, from_noise
):
    back = Mesh((bent.vertices - 10) @ np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), bent.faces)
    bending = Bending(back, whole, AnchorDistances.measure(back, whole, anchors))
    again = bending.from_images(bending.images(noisy))
    np.testing.assert_allclose(again, from_noise, atol=1e-6)


def test_inputs_are_never_changed(whole, bent, anchors, noisy):
    distances = AnchorDistances.measure(bent, whole, anchors)
    held = (distances.anchors, distances.partial, distances.full, noisy)
    before = [array.tobytes() for array in held]
    bending = Bending(bent, whole, distances)
    pose = bending.from_images(bending.images(noisy), 1)
    kept = pose.copy()
    bending.read_off(pose)
    bending.distortion(pose)
    assert before == [array.tobytes() for array in held]
    np.testing.assert_array_equal(pose, kept)


def test_bending_twice_gives_the_same_bits(bending, noisy, from_noise):
    assert bending.from_images(bending.images(noisy)).tobytes() == from_noise.tobytes()
