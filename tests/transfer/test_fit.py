"""The fitted template lies on the scan, keeps its vertices and faces, and its unseen parts."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.sample import load_pair, load_sample
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.synthetic import take_faces
from nho.transfer import fit_template
from tests.transfer.made import match_of, match_of_cut, match_of_shells, shell, tube, without


def turned(points: np.ndarray, angle: float = 2.0) -> np.ndarray:
    rotation = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    return points @ rotation.T + [3, -2, 5]


@pytest.fixture(scope="module")
def sample_fit():
    sample = load_sample("plane")
    truth = SurfacePoints(sample.truth_face, sample.truth_barycentric)
    result = match_of(truth, sample.full, sample.truth_region)
    return sample, fit_template(result, sample.partial, sample.full)


def test_a_piece_that_was_only_moved_brings_all_of_the_template_along(piece, whole):
    scan = Mesh(turned(piece.mesh.vertices), piece.mesh.faces, "scan")
    fit = fit_template(match_of_cut(piece, whole), scan, whole)
    np.testing.assert_allclose(fit.mesh.vertices, turned(whole.vertices), atol=1e-4)
    assert fit.size == pytest.approx(1) and fit.inverted_faces == 0
    assert fit.distance[fit.on_scan].max() < 1e-4


def test_the_result_is_in_the_unit_of_the_scan(piece, whole):
    scan = Mesh(1000 * turned(piece.mesh.vertices), piece.mesh.faces, "scan")
    fit = fit_template(match_of_cut(piece, whole, scale=1e-3), scan, whole)
    np.testing.assert_allclose(fit.mesh.vertices, 1000 * turned(whole.vertices), rtol=1e-3)
    assert fit.size == pytest.approx(1)


def test_a_larger_subject_makes_the_unseen_part_larger_too(piece, whole):
    scan = Mesh(1.2 * piece.mesh.vertices, piece.mesh.faces, "scan")
    fit = fit_template(match_of_cut(piece, whole), scan, whole)
    assert fit.size == pytest.approx(1.2)
    np.testing.assert_allclose(fit.mesh.vertices, 1.2 * whole.vertices, atol=1e-3)


def test_vertices_and_faces_are_those_of_the_template(sample_fit):
    sample, fit = sample_fit
    np.testing.assert_array_equal(fit.mesh.faces, sample.full.faces)
    assert len(fit.mesh.vertices) == len(sample.full.vertices)
    assert fit.on_scan.shape == fit.distance.shape == (sample.full.n_vertices,)
    np.testing.assert_array_equal(np.isfinite(fit.distance), fit.on_scan)


def test_the_template_lies_on_the_scan_and_the_scan_on_it(sample_fit):
    sample, fit = sample_fit
    told = fit.summary()
    assert told["on_scan"] > 0.95 * sample.truth_region.sum()
    assert told["mean_distance_percent"] < 0.03 and told["p95_distance_percent"] < 0.1
    assert told["inverted_faces"] <= 3
    _, real = project(sample.partial, fit.mesh.vertices[fit.on_scan])
    np.testing.assert_allclose(fit.distance[fit.on_scan], real, atol=1e-3 * fit.scan_size)
    _, back = project(fit.mesh, sample.partial.vertices)
    assert np.percentile(back, 95) < 0.003 * fit.scan_size


def test_every_vertex_is_near_its_true_place(sample_fit):
    """The whole posed body is known: what was cut off is rigid on the whole, and so predicted."""
    _, fit = sample_fit
    pair = load_pair()
    true = pair.full_on_posed.positions(pair.posed)
    miss = np.linalg.norm(fit.mesh.vertices - true, axis=1) / fit.scan_size
    assert np.percentile(miss[fit.on_scan], 95) < 0.01
    assert miss[~fit.on_scan].mean() < 0.05


def test_unseen_parts_keep_their_shape(sample_fit):
    sample, fit = sample_fit
    edges = sample.full.edges
    outside = ~fit.on_scan[edges].any(axis=1)
    stretch = fit.mesh.edge_lengths[outside] / sample.full.edge_lengths[outside] / fit.size
    assert 0.8 < np.percentile(stretch, 2) and np.percentile(stretch, 98) < 1.25


def test_holes_are_bridged_smoothly(whole):
    """A ball of the scan is missing: the template goes on over it, not through it."""
    centre = whole.vertices[100]
    near = np.linalg.norm(whole.vertices - centre, axis=1) < 0.45
    holed = take_faces(whole, ~near[whole.faces].any(axis=1))
    bent = whole.vertices.copy()
    bent[:, 0] += 0.15 * bent[:, 2] ** 2  # not the template's shape
    scan = Mesh(bent[holed.vertex_of_parent], holed.mesh.faces, "scan")
    fit = fit_template(match_of_cut(holed, whole), scan, whole)
    inside = ~holed.kept_vertices
    miss = np.linalg.norm(fit.mesh.vertices - bent, axis=1)
    assert not fit.on_scan[inside].any()
    edge = whole.mean_edge_length
    assert miss[inside].max() < 0.5 * edge and miss[fit.on_scan].max() < 0.25 * edge
    normals, rest = fit.mesh.face_normals, Mesh(bent, whole.faces).face_normals
    assert ((normals * rest).sum(axis=1) > 0.8).all()


def test_an_unseen_limb_goes_on_where_the_seen_part_of_it_points():
    """Half of an arm is seen and turned far from the body: the rest of it must turn as well."""
    arm = tube(12, 100, radius=0.4, length=10.0)
    posed = bent(arm.vertices, 2.0)
    seen = arm.vertices[:, 2] < 7
    cut = take_faces(arm, seen[arm.faces].all(axis=1))
    scan = Mesh(posed[cut.vertex_of_parent], cut.mesh.faces, "scan")
    fit = fit_template(match_of_cut(cut, arm), scan, arm)
    miss = np.linalg.norm(fit.mesh.vertices - posed, axis=1)
    assert miss[~seen].max() < 0.3  # as far off as its elbow is bent: 4.6


def bent(points: np.ndarray, angle: float, start: float = 5.0, end: float = 6.5) -> np.ndarray:
    """A bar along z, bent towards x between two heights."""
    x, y, z = points.T
    turn = np.clip((z - start) / (end - start), 0, 1) * angle
    radius, beyond = (end - start) / angle, np.maximum(z - end, 0)
    along = np.minimum(z, start) + radius * np.sin(turn) + beyond * np.cos(turn)
    away = radius * (1 - np.cos(turn)) + beyond * np.sin(turn)
    return np.stack([away + np.cos(turn) * x, y, along - np.sin(turn) * x], axis=1)


def test_spikes_of_the_scan_are_not_followed(piece, whole):
    vertices = piece.mesh.vertices.copy()
    spikes = np.flatnonzero(~piece.mesh.boundary_vertices)[::25]
    vertices[spikes] *= 2
    scan = Mesh(vertices, piece.mesh.faces, "spiky")
    fit = fit_template(match_of_cut(piece, whole), scan, whole)
    assert fit.size == pytest.approx(1, abs=0.01)
    miss = np.linalg.norm(fit.mesh.vertices - whole.vertices, axis=1) / whole.mean_edge_length
    assert miss.max() < 1.2 and miss.mean() < 0.2  # a spike is six edges long


def test_matches_count_by_their_confidence(piece, whole):
    """A patch is matched off by some edges; the less it is trusted, the less it pulls."""
    centre = piece.mesh.vertices[~piece.mesh.boundary_vertices][0]
    patch = np.linalg.norm(piece.mesh.vertices - centre, axis=1) < 0.4
    truth = SurfacePoints.at_vertices(whole, piece.vertex_of_parent)
    angle = np.where(patch, 0.3, 0.0)
    x, y, z = piece.mesh.vertices.T
    moved = np.stack(
        [x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), z], axis=1
    )
    shifted, _ = project(whole, moved)
    points = SurfacePoints(
        np.where(patch, shifted.face, truth.face),
        np.where(patch[:, None], shifted.barycentric, truth.barycentric),
    )
    errors = []
    for trust in (1.0, 0.02):
        confidence = np.where(patch, trust, 1.0)
        result = match_of(points, whole, piece.kept_vertices, confidence)
        fit = fit_template(result, piece.mesh, whole)
        errors.append(np.linalg.norm(fit.mesh.vertices - whole.vertices, axis=1).sum())
    assert errors[1] < 0.7 * errors[0]


def test_what_lies_beyond_the_rim_is_not_drawn_to_it(piece, whole):
    """The region of a match reaches beyond the rim by a part of an edge."""
    truth = match_of_cut(piece, whole)
    crossing = whole.edges[piece.kept_vertices[whole.edges].any(axis=1)]
    wider = piece.kept_vertices.copy()
    wider[crossing] = True
    arrays = {**truth.arrays(), "region": wider}
    result = type(truth)(**arrays, anchors=truth.anchors, settings=truth.settings)
    fit = fit_template(result, piece.mesh, whole)
    np.testing.assert_allclose(fit.mesh.vertices, whole.vertices, atol=1e-3)


@pytest.mark.parametrize("inside_out", [False, True])
def test_the_sides_of_a_thin_wall_stay_apart(inside_out):
    fine, coarse = shell(48, 20), shell(24, 8)
    result = match_of_shells(coarse, fine)
    scan = Mesh(coarse.vertices, coarse.faces[:, ::-1], "inside out") if inside_out else coarse
    fit = fit_template(result, scan, fine)
    radius = np.linalg.norm(fit.mesh.vertices[:, :2], axis=1)
    half = fine.n_vertices // 2
    wall = radius[:half] - radius[half:]
    assert wall.min() > 0.005 and wall.max() < 0.015


def test_a_scan_that_is_inside_out_is_followed_all_the_same(piece, whole):
    scan = Mesh(piece.mesh.vertices, piece.mesh.faces[:, ::-1], "inside out")
    fit = fit_template(match_of_cut(piece, whole), scan, whole)
    np.testing.assert_allclose(fit.mesh.vertices, whole.vertices, atol=1e-4)
    assert fit.on_scan.sum() > 0.8 * piece.mesh.n_vertices


def test_vertices_split_at_seams_stay_together(piece, whole):
    """As GLB has them: every face with three vertices of its own."""
    soup = Mesh(
        whole.vertices[whole.faces.ravel()], np.arange(3 * whole.n_faces).reshape(-1, 3), "soup"
    )
    placed = np.zeros(whole.n_vertices, dtype=np.int64)
    placed[whole.faces.ravel()] = np.arange(3 * whole.n_faces)
    points = SurfacePoints.at_vertices(soup, placed[piece.vertex_of_parent])
    result = match_of(points, soup, piece.kept_vertices[whole.faces.ravel()])
    scan = Mesh(turned(piece.mesh.vertices), piece.mesh.faces, "scan")
    fit = fit_template(result, scan, soup)
    np.testing.assert_allclose(fit.mesh.vertices, turned(soup.vertices), atol=1e-4)


def test_loose_parts_and_vertices_of_no_face_go_along():
    """A ring around the end of a bent arm has no match of its own."""
    arm = tube(12, 100, radius=0.4, length=10.0)
    ring = tube(12, 2, radius=0.5, length=0.4).vertices + [0, 0, 9.3]
    vertices = np.concatenate([arm.vertices, ring, [[0.0, 0.0, 9.5]]])
    faces = np.concatenate([arm.faces, tube(12, 2).faces + arm.n_vertices])
    template = Mesh(vertices, faces, "with a ring")
    every = np.arange(arm.n_vertices)
    region = np.arange(len(vertices)) < arm.n_vertices
    scan = Mesh(bent(arm.vertices, 2.0), arm.faces, "scan")
    result = match_of(SurfacePoints.at_vertices(template, every), template, region)
    fit = fit_template(result, scan, template)
    end = vertices[:, 2] > 8
    np.testing.assert_allclose(fit.mesh.vertices[end], bent(vertices, 2.0)[end], atol=0.02)
    assert not fit.on_scan[arm.n_vertices :].any()


def test_the_same_input_gives_the_same_bits(piece, whole):
    result = match_of_cut(piece, whole)
    first, second = (fit_template(result, piece.mesh, whole) for _ in range(2))
    assert first.mesh.digest() == second.mesh.digest()


def test_progress_is_told_to_its_end(piece, whole):
    heard = []
    fit_template(match_of_cut(piece, whole), piece.mesh, whole, progress=heard.append)
    assert heard[-1].step == heard[-1].steps == len(heard)


def test_without_matches_there_is_nothing_to_follow(piece, whole):
    nothing = without(match_of_cut(piece, whole), np.arange(piece.mesh.n_vertices))
    with pytest.raises(InputError, match="puts 0 vertices .* too few to fit the template"):
        fit_template(nothing, piece.mesh, whole)
