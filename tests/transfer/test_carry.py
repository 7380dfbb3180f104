"""Data carried both ways through a known map are where they belong, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.sample import load_sample
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.io.attributes import Attributes
from nho.transfer import SurfaceMap, Transfer
from tests.transfer.made import (
    match_of,
    match_of_cut,
    match_of_shells,
    random_points,
    shell,
    tube,
    without,
)


@pytest.fixture(scope="module")
def result(piece, whole):
    return match_of_cut(piece, whole)


def both(result, partial, full, **options):
    return (
        Transfer(result, partial, full, "full", **options),
        Transfer(result, partial, full, "partial", **options),
    )


def test_a_cut_gets_exactly_the_data_of_the_whole(result, piece, whole):
    carry, _ = both(result, piece.mesh, whole)
    carried = carry.vertices(whole.vertices)
    assert carried.known.all()
    np.testing.assert_array_equal(carried.values, piece.mesh.vertices)
    labels = np.arange(whole.n_vertices)
    np.testing.assert_array_equal(carry.vertices(labels).values, piece.vertex_of_parent)
    of_faces = carry.faces(np.arange(whole.n_faces))
    np.testing.assert_array_equal(of_faces.values, piece.face_of_parent)


def test_the_whole_gets_exactly_the_data_of_the_cut_and_none_beside_it(result, piece, whole):
    _, carry = both(result, piece.mesh, whole)
    carried = carry.vertices(piece.mesh.vertices)
    np.testing.assert_array_equal(carried.known, piece.kept_vertices)
    np.testing.assert_array_equal(carried.values[carried.known], whole.vertices[carried.known])
    assert np.isnan(carried.values[~carried.known]).all()
    labels = carry.vertices(np.arange(piece.mesh.n_vertices)).values
    np.testing.assert_array_equal(
        labels[piece.vertex_of_parent], np.arange(len(labels[carried.known]))
    )
    assert (labels[~carried.known] == -1).all()


def test_face_labels_of_the_cut_come_back_to_the_same_faces(result, piece, whole):
    _, carry = both(result, piece.mesh, whole)
    carried = carry.faces(np.arange(piece.mesh.n_faces))
    np.testing.assert_array_equal(
        carried.values[piece.face_of_parent], np.arange(piece.mesh.n_faces)
    )
    # Beyond the rim only faces that have most of their corners in the region get anything.
    beyond = np.setdiff1d(np.flatnonzero(carried.known), piece.face_of_parent)
    assert (piece.kept_vertices[whole.faces[beyond]].sum(axis=1) >= 2).all()


def test_landmarks_inside_triangles_go_there_and_back(result, piece, whole):
    from_full, from_partial = both(result, piece.mesh, whole)
    points = random_points(piece.mesh, 300)
    on_full = from_partial.points(points)
    np.testing.assert_array_equal(on_full.face, piece.face_of_parent[points.face])
    np.testing.assert_allclose(on_full.barycentric, points.barycentric, atol=1e-12)
    back = from_full.points(on_full)
    np.testing.assert_array_equal(back.face, points.face)
    np.testing.assert_allclose(back.barycentric, points.barycentric, atol=1e-12)


def test_landmarks_outside_the_region_have_no_partner(result, piece, whole):
    from_full, _ = both(result, piece.mesh, whole)
    outside = np.flatnonzero(~piece.kept_vertices)
    assert (from_full.points(SurfacePoints.at_vertices(whole, outside)).face == -1).all()


def test_another_meshing_of_the_surface_comes_back_within_a_fraction_of_an_edge():
    sample = load_sample("plane")
    truth = SurfacePoints(sample.truth_face, sample.truth_barycentric)
    result = match_of(truth, sample.full, sample.truth_region)
    from_full, from_partial = both(result, sample.partial, sample.full)
    there = from_full.vertices(sample.full.vertices).values
    back = from_partial.vertices(there)
    np.testing.assert_array_equal(back.known, sample.truth_region)
    miss = np.linalg.norm(back.values - sample.full.vertices, axis=1)[back.known]
    assert miss.mean() < 0.1 * sample.full.mean_edge_length
    assert miss.max() < sample.full.mean_edge_length


def test_unmatched_vertices_get_and_give_nothing(result, piece, whole):
    lost = np.sort(np.argsort(piece.mesh.vertices[:, 0])[:60])
    carry, back = both(without(result, lost), piece.mesh, whole)
    carried = carry.vertices(whole.vertices[:, 0])
    np.testing.assert_array_equal(np.flatnonzero(~carried.known), lost)
    is_lost = np.isin(np.arange(piece.mesh.n_vertices), lost)
    given = back.vertices(is_lost)
    assert not given.values.any()
    assert not given.known[piece.vertex_of_parent[lost]].all()


def test_matches_below_the_confidence_limit_carry_nothing(piece, whole):
    confidence = np.linspace(0, 1, piece.mesh.n_vertices)
    result = match_of_cut(piece, whole, confidence)
    carry, _ = both(result, piece.mesh, whole, min_confidence=0.5)
    np.testing.assert_array_equal(carry.vertices(whole.vertices).known, confidence >= 0.5)


def test_the_region_is_the_limit_even_if_the_surface_goes_on(result, piece, whole):
    smaller = result.region & (whole.vertices[:, 0] > 0)
    arrays = {**result.arrays(), "region": smaller}
    narrow = type(result)(**arrays, anchors=result.anchors, settings=result.settings)
    _, carry = both(narrow, piece.mesh, whole)
    np.testing.assert_array_equal(carry.vertices(piece.mesh.vertices).known, smaller)


def test_full_vertices_far_from_every_image_get_nothing(result, piece, whole):
    arrays = {**result.arrays(), "region": np.ones(whole.n_vertices, dtype=bool)}
    generous = type(result)(**arrays, anchors=result.anchors, settings=result.settings)
    _, carry = both(generous, piece.mesh, whole, reach=1e-6)
    np.testing.assert_array_equal(carry.vertices(piece.mesh.vertices).known, piece.kept_vertices)


def test_faces_written_the_other_way_round_change_nothing(piece, whole):
    """The scan, the template, or some faces of either may be inside out."""
    plain = both(match_of_cut(piece, whole), piece.mesh, whole)
    partial = piece.mesh
    some = np.random.default_rng(0).random(whole.n_faces) < 0.2
    mixed = Mesh(
        whole.vertices, np.where(some[:, None], whole.faces[:, [0, 2, 1]], whole.faces), "mixed"
    )
    inside_out = Mesh(partial.vertices, partial.faces[:, ::-1], "inside out")
    points = SurfacePoints.at_vertices(mixed, piece.vertex_of_parent)
    turned = both(match_of(points, mixed, piece.kept_vertices), inside_out, mixed)
    for one, other, mesh in zip(plain, turned, (whole, partial), strict=True):
        values = mesh.vertices
        np.testing.assert_allclose(other.vertices(values).values, one.vertices(values).values)
    np.testing.assert_array_equal(
        turned[0].faces(np.arange(whole.n_faces)).values, piece.face_of_parent
    )
    landmarks = random_points(inside_out, 100)
    moved = turned[1].points(landmarks)
    np.testing.assert_allclose(moved.positions(mixed), landmarks.positions(inside_out), atol=1e-12)


def test_the_unit_of_the_partial_shape_does_not_matter(piece, whole):
    plain = both(match_of_cut(piece, whole), piece.mesh, whole)[1]
    tiny = both(match_of_cut(piece, whole, scale=1e6), piece.mesh.scaled(1e-6), whole)[1]
    np.testing.assert_allclose(
        tiny.vertices(piece.mesh.vertices).values, plain.vertices(piece.mesh.vertices).values
    )
    assert len(tiny.map.mapped_faces) == piece.mesh.n_faces


@pytest.mark.parametrize("inside_out", [False, True])
def test_two_sheets_close_together_are_kept_apart(inside_out):
    """A thin wall; between its vertices, the coarse mesh of one side lies beyond the other side."""
    fine, coarse = shell(48, 20), shell(16, 8)
    result = match_of_shells(coarse, fine)
    partial = Mesh(coarse.vertices, coarse.faces[:, ::-1], "inside out") if inside_out else coarse
    carry = Transfer(result, partial, fine, "partial")
    is_inner = np.arange(coarse.n_vertices) >= coarse.n_vertices // 2
    found = carry.vertices(is_inner.astype(np.int64))
    assert found.known.all()
    np.testing.assert_array_equal(found.values, np.arange(fine.n_vertices) >= fine.n_vertices // 2)


def test_a_coarse_partial_mesh_in_another_unit_is_not_taken_for_torn():
    fine, coarse = tube(48, 24), tube(9, 4)
    points, _ = project(fine, coarse.vertices)
    result = match_of(points, fine, np.ones(fine.n_vertices, dtype=bool), scale=1e3)
    surface = SurfaceMap(result, coarse.scaled(1e-3), fine)
    assert len(surface.mapped_faces) == coarse.n_faces


def test_where_the_map_is_torn_a_point_goes_with_its_nearest_corner(result, piece, whole):
    """One vertex is sent to the other side: its neighbours' triangles must not stretch there."""
    away = int(np.argmax(np.linalg.norm(piece.mesh.vertices - piece.mesh.vertices[0], axis=1)))
    arrays = {name: array.copy() for name, array in result.arrays().items()}
    for name in ("vertex_map", "face", "barycentric"):
        arrays[name][0] = result.arrays()[name][away]
    torn = type(result)(**arrays, anchors=result.anchors, settings=result.settings)
    surface = SurfaceMap(torn, piece.mesh, whole)
    at = np.flatnonzero((piece.mesh.faces == 0).any(axis=1))
    assert not np.isin(at, surface.mapped_faces).any()
    weights = np.full((len(at), 3), 0.2)
    corner = (piece.mesh.faces[at] != 0).argmax(axis=1)
    weights[np.arange(len(at)), corner] = 0.6
    found = surface.to_full(SurfacePoints(at, weights)).positions(whole)
    near = whole.vertices[piece.vertex_of_parent[piece.mesh.faces[at, corner]]]
    np.testing.assert_allclose(found, near, atol=1e-12)


def test_all_attributes_are_carried_with_a_mask(result, piece, whole):
    given = Attributes(
        vertex={"height": piece.mesh.vertices[:, 1], "part": np.arange(piece.mesh.n_vertices)},
        face={"patch": np.arange(piece.mesh.n_faces)},
    )
    _, carry = both(result, piece.mesh, whole)
    carried = carry.attributes(given)
    np.testing.assert_array_equal(carried.vertex["transferred"], piece.kept_vertices)
    assert carried.face["transferred"][piece.face_of_parent].all()
    carried.check(whole.n_vertices, whole.n_faces, "carried")
    # Carried back, what was not there is still not there.
    back = both(result, piece.mesh, whole)[0].attributes(carried)
    np.testing.assert_array_equal(back.vertex["part"], given.vertex["part"])
    np.testing.assert_array_equal(back.vertex["height"], given.vertex["height"])
    assert back.vertex["transferred"].all()


def test_an_earlier_mask_is_respected(result, piece, whole):
    known = whole.vertices[:, 0] > 0
    given = Attributes(
        vertex={"part": np.ones(whole.n_vertices, dtype=np.int64), "transferred": known}
    )
    carried = both(result, piece.mesh, whole)[0].attributes(given)
    expected = known[piece.vertex_of_parent]
    np.testing.assert_array_equal(carried.vertex["transferred"], expected)
    np.testing.assert_array_equal(carried.vertex["part"], np.where(expected, 1, -1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "left"}, "'full' or 'partial'"),
        ({"min_confidence": 1.5}, "number from 0 to 1"),
        ({"min_confidence": float("nan")}, "number from 0 to 1"),
        ({"reach": 0.0}, "above 0"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(result, piece, whole, options, message):
    with pytest.raises(InputError, match=message):
        Transfer(result, piece.mesh, whole, **options)


def test_meshes_of_another_match_are_refused(result, piece, whole):
    with pytest.raises(InputError, match="give the mesh that was matched"):
        Transfer(result, whole, whole)
    fewer = Mesh(whole.vertices, whole.faces[:10], "few faces")
    with pytest.raises(InputError, match="few faces: the result names face"):
        Transfer(result, piece.mesh, fewer)


def test_without_any_match_nothing_is_carried(result, piece, whole):
    nothing = without(result, np.arange(piece.mesh.n_vertices))
    for carry, mesh in zip(both(nothing, piece.mesh, whole), (whole, piece.mesh), strict=True):
        assert not carry.vertices(mesh.vertices).known.any()
        assert not carry.faces(np.zeros(mesh.n_faces)).known.any()
