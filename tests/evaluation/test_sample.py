"""The shipped sample is clean, small, and its truth holds in both directions."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, dijkstra

from nho.errors import InputError
from nho.evaluation.sample import KINDS, load_pair, load_sample, sample_paths
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh


@pytest.fixture(scope="module")
def pair():
    return load_pair()


@pytest.fixture(scope="module", params=KINDS)
def sample(request):
    return load_sample(request.param, seed=1)


def mean_edge(mesh):
    return mesh.edge_lengths.mean()


def test_the_shipped_files_are_few_small_and_say_their_licence():
    files = {entry.name: entry for entry in sample_paths().iterdir()}
    assert set(files) == {"full.ply", "posed.ply", "truth.npz", "LICENSE.md"}
    assert sum(len(entry.read_bytes()) for entry in files.values()) < 1_000_000
    assert "CC0" in files["LICENSE.md"].read_text(encoding="utf-8")


@pytest.mark.parametrize("which", ["posed", "full"])
def test_shipped_meshes_are_closed_connected_manifold_spheres(pair, which):
    mesh = getattr(pair, which)
    assert 4500 <= len(mesh.vertices) <= 5000
    directed = np.vstack([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    assert len(np.unique(directed, axis=0)) == len(directed) == 2 * len(mesh.edges)
    assert not mesh.boundary_vertices.any()
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == 2
    assert connected_components(edge_graph(mesh), directed=False)[0] == 1
    assert np.linalg.det(mesh.vertices[mesh.faces]).sum() > 0  # faces look outward


@pytest.mark.parametrize("which", ["posed", "full"])
def test_shipped_triangles_are_far_from_degenerate(pair, which):
    mesh = getattr(pair, which)
    corners = mesh.vertices[mesh.faces]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    quality = 4 * np.sqrt(3) * mesh.face_areas / (sides**2).sum(axis=1)  # 1: equilateral
    assert quality.min() > 0.1
    assert np.median(quality) > 0.8


def test_the_body_is_of_human_size_in_metres(pair):
    assert 1.3 < pair.full.area < 2.2
    assert pair.posed.area == pytest.approx(pair.full.area, rel=0.05)


def test_the_two_meshes_are_different_samplings(pair):
    on_a_vertex = pair.posed_on_full.barycentric.max(axis=1) > 0.999
    assert on_a_vertex.mean() < 0.05


@pytest.mark.parametrize("which", ["posed_on_full", "full_on_posed"])
def test_truth_points_are_inside_their_triangles(pair, which):
    points = getattr(pair, which)
    source, target = (getattr(pair, name) for name in which.split("_on_"))
    assert len(points) == len(source.vertices)
    assert points.face.min() >= 0 and points.face.max() < len(target.faces)
    assert points.barycentric.min() >= 0
    assert np.allclose(points.barycentric.sum(axis=1), 1, rtol=0, atol=1e-14)


def test_from_full_to_posed_and_back_ends_within_an_edge(pair):
    posed_vertices_on_full = pair.posed_on_full.positions(pair.full)
    returned = pair.full_on_posed.interpolate(pair.posed, posed_vertices_on_full)
    gap = np.linalg.norm(returned - pair.full.vertices, axis=1)
    assert gap.max() < mean_edge(pair.full)
    assert np.median(gap) < 0.1 * mean_edge(pair.full)


def test_from_posed_to_full_and_back_ends_within_an_edge(pair):
    full_vertices_on_posed = pair.full_on_posed.positions(pair.posed)
    returned = pair.posed_on_full.interpolate(pair.full, full_vertices_on_posed)
    gap = np.linalg.norm(returned - pair.posed.vertices, axis=1)
    assert gap.max() < mean_edge(pair.posed)


def test_the_poses_are_nearly_isometric_edge_by_edge(pair):
    on_full = pair.posed_on_full.positions(pair.full)
    i, j = pair.posed.edges.T
    ratio = np.linalg.norm(on_full[i] - on_full[j], axis=1) / pair.posed.edge_lengths
    assert np.median(ratio) == pytest.approx(1, abs=0.01)
    assert np.mean((ratio > 0.8) & (ratio < 1.25)) > 0.97  # joints stretch, the rest does not


def test_the_poses_are_nearly_isometric_along_geodesics_but_not_in_space(pair):
    # The posed triangles laid on the full body: with one graph in both poses, what is compared is
    # the surface and not how well either mesh's edges follow a straight path.
    on_full = Mesh(pair.posed_on_full.positions(pair.full), pair.posed.faces)
    sources = np.linspace(0, len(pair.posed.vertices) - 1, 12).astype(int)
    before = distances_from(edge_graph(on_full), sources)
    after = distances_from(edge_graph(pair.posed), sources)
    far = before > 0.25 * np.sqrt(on_full.area)
    ratio = after[far] / before[far]
    assert np.mean(np.abs(ratio - 1) < 0.12) > 0.97
    assert 0.8 < ratio.min() and ratio.max() < 1.25  # skin over the armpit and the groin
    assert np.median(ratio) == pytest.approx(1, abs=0.03)

    moved = pair.posed.vertices - on_full.vertices
    assert np.linalg.norm(moved - moved.mean(axis=0), axis=1).max() > 0.3  # metres: a real pose


def test_partial_vertices_carry_the_truth_of_the_posed_vertices_they_are(pair, sample):
    index = {tuple(row): i for i, row in enumerate(pair.posed.vertices)}
    parent = np.array([index[tuple(row)] for row in sample.partial.vertices])
    assert np.array_equal(sample.truth_face, pair.posed_on_full.face[parent])
    assert np.array_equal(sample.truth_barycentric, pair.posed_on_full.barycentric[parent])


def test_truth_vertex_is_the_nearest_corner_of_the_truth_face(sample):
    corners = sample.full.faces[sample.truth_face]
    point = np.einsum("nc,ncx->nx", sample.truth_barycentric, sample.full.vertices[corners])
    gaps = np.linalg.norm(sample.full.vertices[corners] - point[:, None], axis=2)
    own = np.linalg.norm(sample.full.vertices[sample.truth_vertex] - point, axis=1)
    assert (corners == sample.truth_vertex[:, None]).any(axis=1).all()
    assert np.allclose(own, gaps.min(axis=1), rtol=1e-12, atol=0)


def test_region_has_the_area_of_the_partial_shape(pair, sample):
    around = np.bincount(pair.full.faces.ravel(), np.repeat(pair.full.face_areas / 3, 3))
    region = around[sample.truth_region].sum() / pair.full.area
    partial = sample.partial.area / pair.posed.area
    assert region == pytest.approx(partial, abs=0.02)


def test_region_and_dense_truth_agree_up_to_an_edge_at_the_rim(sample):
    graph = edge_graph(sample.full)
    hit = np.unique(sample.truth_vertex)
    to_hit = dijkstra(graph, directed=False, indices=hit, min_only=True)
    region = np.flatnonzero(sample.truth_region)
    to_region = dijkstra(graph, directed=False, indices=region, min_only=True)
    longest = sample.full.edge_lengths.max()
    assert to_hit[sample.truth_region].max() < longest  # the region is covered by the truth
    assert to_region[hit].max() < longest  # and the truth does not leave it


def test_whole_is_whole_and_cuts_are_cuts(pair):
    whole = load_sample("whole")
    assert len(whole.partial.vertices) == len(pair.posed.vertices) and whole.truth_region.all()
    for kind in ("plane", "balls"):
        share = load_sample(kind).partial.area / pair.posed.area
        assert 0.2 < share < 0.95


@pytest.mark.parametrize("kind", ["plane", "balls"])
def test_the_seed_alone_decides_the_cut(kind):
    first, same, other = (load_sample(kind, seed) for seed in (0, 0, 2))
    assert np.array_equal(first.partial.vertices, same.partial.vertices)
    assert np.array_equal(first.truth_region, same.truth_region)
    assert not np.array_equal(first.truth_region, other.truth_region)


def test_an_unknown_kind_is_refused_with_the_choices():
    with pytest.raises(InputError, match="plane, balls, whole"):
        load_sample("cube")
