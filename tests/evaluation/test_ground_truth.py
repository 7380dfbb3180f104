"""Ground truth: every format says the same, and a file of another pair is refused."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth, read_ground_truth, region_around
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import cut_by_plane, sphere

FULL = Mesh(sphere(2).vertices * [1, 1.3, 1.7], sphere(2).faces, "template.ply")
CUT = cut_by_plane(FULL, np.array([0.2, 0.5, 1.0]), keep_area=0.5)
PARTIAL = Mesh(CUT.mesh.vertices, CUT.mesh.faces, "scan.ply")
N = len(PARTIAL.vertices)
TRUTH = CUT.vertex_of_parent.copy()
TRUTH[[2, 9]] = -1  # not annotated


def write(path, rows):
    path.write_text("\n".join(" ".join(map(repr, np.atleast_1d(row).tolist())) for row in rows))
    return path


def refused(path, *parts):
    with pytest.raises(InputError) as caught:
        read_ground_truth(path, PARTIAL, FULL)
    message = str(caught.value)
    assert path.name in message and "\n" not in message
    assert all(part in message for part in parts), message


def check_vertices(truth):
    assert np.array_equal(truth.points.nearest_vertex(FULL), TRUTH)
    assert np.array_equal(truth.points.face >= 0, TRUTH >= 0)
    known = TRUTH >= 0
    assert np.array_equal(truth.points.positions(FULL)[known], FULL.vertices[TRUTH[known]])


@pytest.mark.parametrize("suffix", [".map", ".txt"])
def test_a_vertex_list_counts_from_zero_with_minus_one_for_unknown(tmp_path, suffix):
    truth = read_ground_truth(write(tmp_path / f"gt{suffix}", TRUTH), PARTIAL, FULL)
    check_vertices(truth)


def test_pairs_of_a_csv_are_the_known_rows(tmp_path):
    rows = [f"{p},{q}" for p, q in enumerate(TRUTH) if q >= 0]
    path = tmp_path / "gt.csv"
    path.write_text("partial,full\n" + "\n".join(rows))
    check_vertices(read_ground_truth(path, PARTIAL, FULL))


def test_a_vertex_map_in_npz(tmp_path):
    np.savez(tmp_path / "gt.npz", vertex_map=TRUTH.astype(np.int32))
    check_vertices(read_ground_truth(tmp_path / "gt.npz", PARTIAL, FULL))


@pytest.fixture
def inner_points():
    random = np.random.default_rng(0)
    weights = random.dirichlet([1, 1, 1], size=N)
    return SurfacePoints(random.integers(len(FULL.faces), size=N), weights)


def test_faces_of_baryc_gt_count_from_one(tmp_path, inner_points):
    rows = np.column_stack([inner_points.face + 1, inner_points.barycentric])
    truth = read_ground_truth(write(tmp_path / "gt.baryc_gt", rows), PARTIAL, FULL)
    assert np.array_equal(truth.points.face, inner_points.face)
    assert np.array_equal(truth.points.barycentric, inner_points.barycentric)


def test_face_zero_of_baryc_gt_is_unknown(tmp_path, inner_points):
    rows = np.column_stack([inner_points.face + 1, inner_points.barycentric])
    rows[4] = [0, 0, 0, 0]
    truth = read_ground_truth(write(tmp_path / "gt.baryc_gt", rows), PARTIAL, FULL)
    assert truth.points.face[4] == -1 and (np.delete(truth.points.face, 4) >= 0).all()


def test_points_and_region_in_npz(tmp_path, inner_points):
    region = np.arange(len(FULL.vertices)) % 3 == 0
    face, weights = inner_points.face.copy(), inner_points.barycentric.copy()
    face[3], weights[3] = -1, np.nan
    np.savez(tmp_path / "gt.npz", face=face, barycentric=weights, region=region)
    truth = read_ground_truth(tmp_path / "gt.npz", PARTIAL, FULL)
    assert np.array_equal(truth.points.face, face)
    assert np.array_equal(truth.points.barycentric, weights, equal_nan=True)
    assert np.array_equal(truth.region, region)


def test_the_region_is_within_one_and_a_half_edges_of_a_true_image(tmp_path):
    truth = read_ground_truth(write(tmp_path / "gt.map", TRUTH), PARTIAL, FULL)
    near = distances_from(edge_graph(FULL), TRUTH[TRUTH >= 0]).min(axis=0)
    assert truth.region.dtype == bool and truth.region.shape == (len(FULL.vertices),)
    assert np.array_equal(truth.region, near <= 1.5 * FULL.mean_edge_length)
    assert 0.4 < truth.region.mean() < 0.8


def test_the_region_of_one_image_is_its_ring():
    points = SurfacePoints.at_vertices(FULL, np.array([7, -1]))
    distances = distances_from(edge_graph(FULL), np.array([7]))[0]
    region = region_around(FULL, points)
    assert region[7] and np.array_equal(region, distances <= 1.5 * FULL.mean_edge_length)


@pytest.mark.parametrize(("rule", "reach"), [("usual", 1.5), ("near", 1.2), ("images", 0)])
def test_a_rule_is_how_far_the_region_reaches_from_the_images(tmp_path, rule, reach):
    truth = read_ground_truth(write(tmp_path / "gt.map", TRUTH), PARTIAL, FULL)
    near = distances_from(edge_graph(FULL), TRUTH[TRUTH >= 0]).min(axis=0)
    found = truth.under(rule, FULL)
    assert found.points is truth.points
    assert np.array_equal(found.region, near <= reach * FULL.mean_edge_length)


def test_the_images_lie_inside_near_and_that_inside_the_usual_region():
    coarse = SurfacePoints.at_vertices(FULL, TRUTH[::7])  # few, so that every rule leaves gaps
    truth = GroundTruth(coarse, region_around(FULL, coarse))
    images, near, usual = (truth.under(r, FULL).region for r in ("images", "near", "usual"))
    assert (images <= near).all() and (near <= usual).all()
    assert 0 < images.sum() < near.sum() < usual.sum() < len(FULL.vertices)


def test_a_region_of_the_file_is_the_usual_one_only(tmp_path):
    region = np.arange(len(FULL.vertices)) % 3 == 0
    np.savez(tmp_path / "gt.npz", vertex_map=TRUTH, region=region)
    truth = read_ground_truth(tmp_path / "gt.npz", PARTIAL, FULL)
    assert np.array_equal(truth.under("usual", FULL).region, region)
    images = np.isin(np.arange(len(FULL.vertices)), TRUTH)
    assert np.array_equal(truth.under("images", FULL).region, images)


def test_an_unknown_rule_is_refused_with_the_known_ones():
    truth = GroundTruth(SurfacePoints.at_vertices(FULL, TRUTH), np.ones(len(FULL.vertices), bool))
    with pytest.raises(InputError, match="'strict' is unknown; choose one of usual, near, images"):
        truth.under("strict", FULL)


def test_no_image_at_all_is_an_empty_region():
    region = region_around(FULL, SurfacePoints.at_vertices(FULL, np.array([-1, -1])))
    assert region.shape == (len(FULL.vertices),) and not region.any()


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_number_of_rows_is_refused(tmp_path, inner_points, change):
    rows = np.resize(TRUTH, N + change)
    refused(write(tmp_path / "gt.map", rows), str(N + change), str(N), "scan.ply")
    table = np.column_stack([inner_points.face + 1, inner_points.barycentric])
    table = np.resize(table, (N + change, 4))
    refused(write(tmp_path / "gt.baryc_gt", table), str(N + change), "scan.ply")
    np.savez(tmp_path / "gt.npz", vertex_map=rows)
    refused(tmp_path / "gt.npz", str(N + change), "scan.ply")


@pytest.mark.parametrize("bad", [len(FULL.vertices), -2])
@pytest.mark.parametrize("suffix", [".map", ".npz"])
def test_a_vertex_out_of_range_is_refused_with_file_and_row(tmp_path, bad, suffix):
    rows = TRUTH.copy()
    rows[5] = bad
    path = tmp_path / f"gt{suffix}"
    if suffix == ".npz":
        np.savez(path, vertex_map=rows)
    else:
        write(path, rows)
    refused(path, "row 5", str(bad), "template.ply")


def test_a_face_out_of_range_is_refused_with_its_row(tmp_path, inner_points):
    rows = np.column_stack([inner_points.face + 1, inner_points.barycentric])
    rows[6, 0] = len(FULL.faces) + 1
    refused(write(tmp_path / "gt.baryc_gt", rows), "row 6", "template.ply")
    rows[6, 0] = len(FULL.faces)  # the last one
    read_ground_truth(write(tmp_path / "gt.baryc_gt", rows), PARTIAL, FULL)


@pytest.mark.parametrize("bad", [3.5, np.nan])
def test_an_index_that_is_no_whole_number_is_refused(tmp_path, bad):
    rows = TRUTH.astype(float)
    rows[5] = bad
    refused(write(tmp_path / "gt.map", rows))


def test_a_table_with_the_wrong_columns_is_refused(tmp_path, inner_points):
    refused(write(tmp_path / "gt.map", np.column_stack([TRUTH, TRUTH])))
    rows = np.column_stack([inner_points.face + 1, inner_points.barycentric])
    refused(write(tmp_path / "gt.baryc_gt", rows[:, :3]))


@pytest.mark.parametrize("shape", [(N, 2), (N - 1, 3), (N,)])
def test_weights_of_the_wrong_shape_are_refused(tmp_path, inner_points, shape):
    np.savez(tmp_path / "gt.npz", face=inner_points.face, barycentric=np.ones(shape) / 3)
    refused(tmp_path / "gt.npz")


def test_a_region_of_the_wrong_length_is_refused(tmp_path):
    np.savez(tmp_path / "gt.npz", vertex_map=TRUTH, region=np.ones(5, dtype=bool))
    refused(tmp_path / "gt.npz", "region", "5")


def test_files_that_are_not_ground_truth_are_refused(tmp_path):
    refused(tmp_path / "absent.map", "no such file")
    text = tmp_path / "gt.map"
    text.write_text("hello\nworld\n")
    refused(text)
    other = tmp_path / "gt.mat"
    other.write_text("1\n")
    refused(other, ".baryc_gt")
    np.savez(tmp_path / "gt.npz", something=TRUTH)
    refused(tmp_path / "gt.npz", "vertex_map")
    broken = tmp_path / "broken.npz"
    broken.write_bytes((tmp_path / "gt.npz").read_bytes()[:60])
    refused(broken)
    np.savez(tmp_path / "object.npz", vertex_map=np.array([{}], dtype=object))
    refused(tmp_path / "object.npz")
