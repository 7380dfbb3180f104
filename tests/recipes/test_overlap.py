"""What has no partner on the full shape is told, and does not disturb the rest."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.evaluation.sample import load_pair
from nho.geometry.foreign import PROFILES, stitched_on
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import Cut, cut_by_plane

FAST = nho.preset("default").replace(rounds=0, own_anchors=0, threads=1)


def lacking(whole: Mesh, piece: Cut) -> tuple[Cut, np.ndarray]:
    """A template that ends in the middle of the piece, and which vertices of the piece it has."""
    template = cut_by_plane(whole, np.array([1.0, 0.3, 0.2]), keep_area=0.6)
    return template, template.kept_vertices[piece.vertex_of_parent]


def anchors_in(piece: Cut, template: Cut, has: np.ndarray, count: int = 12) -> np.ndarray:
    new = np.cumsum(template.kept_vertices) - 1
    chosen = sample_vertices(piece.mesh, count, candidates=np.flatnonzero(has))
    return np.stack([chosen, new[piece.vertex_of_parent[chosen]]], axis=1)


@pytest.fixture(scope="module")
def matched(whole, piece):
    template, has = lacking(whole, piece)
    anchors = anchors_in(piece, template, has)
    return template, has, nho.match(piece.mesh, template.mesh, anchors, FAST)


def test_the_part_that_the_template_lacks_is_found(matched):
    _, has, result = matched
    assert 0.2 < has.mean() < 0.8
    assert ((result.overlap >= 0.5) == has).mean() > 0.97


def test_without_a_partner_there_is_no_match_and_no_confidence(matched):
    _, _, result = matched
    without = result.overlap < 0.5
    assert without.any()
    np.testing.assert_array_equal(result.vertex_map < 0, without)
    np.testing.assert_array_equal(result.face < 0, without)
    assert np.isnan(result.barycentric[without]).all()
    assert (result.confidence[without] == 0).all()
    assert any("has no partner" in note for note in result.notes)


def test_the_rest_is_matched_as_it_should_be(matched, piece):
    template, has, result = matched
    both = has & (result.face >= 0)
    images = result.points[np.flatnonzero(both)].positions(template.mesh)
    away = np.linalg.norm(images - piece.mesh.vertices[both], axis=1)
    assert away.mean() < 0.01 * np.sqrt(template.mesh.area)


def test_the_next_anchor_is_one_that_has_a_partner(matched):
    _, _, result = matched
    assert result.overlap[result.next_anchor] >= 0.5


def test_a_whole_template_has_partners_for_all(piece, whole):
    chosen = sample_vertices(piece.mesh, 12)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    result = nho.match(piece.mesh, whole, pairs, FAST)
    assert (result.overlap == 1).all() and (result.vertex_map >= 0).all()


def test_switched_off_every_vertex_has_a_partner(piece, whole):
    template, has = lacking(whole, piece)
    anchors = anchors_in(piece, template, has)
    result = nho.match(piece.mesh, template.mesh, anchors, FAST.replace(overlap=False))
    assert (result.overlap == 1).all() and (result.vertex_map >= 0).all()


def test_overlap_is_stored_and_older_results_have_it_where_there_is_a_match(matched, tmp_path):
    _, _, result = matched
    result.save(tmp_path)
    np.testing.assert_array_equal(nho.MatchResult.load(tmp_path).overlap, result.overlap)
    with np.load(tmp_path / "result.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if name != "overlap"}
    np.savez(tmp_path / "result.npz", **arrays)
    older = nho.MatchResult.load(tmp_path)
    np.testing.assert_array_equal(older.overlap, (result.vertex_map >= 0).astype(float))


def test_coarse_surfaces_tell_it_too(whole, piece):
    template, has = lacking(whole, piece)
    anchors = anchors_in(piece, template, has)
    result = nho.match(piece.mesh, template.mesh, anchors, FAST.replace(solve_vertices=400))
    assert ((result.overlap >= 0.5) == has).mean() > 0.9


@pytest.mark.parametrize("count", [3, 5])
def test_few_anchors_are_not_cut_off(whole, piece, count):
    template, has = lacking(whole, piece)
    result = nho.match(piece.mesh, template.mesh, anchors_in(piece, template, has, count), FAST)
    found = result.overlap >= 0.5
    assert found[has].mean() > 0.9 and found[~has].mean() < 0.3


UPRIGHT, TILTED = (0.0, 1.0, 0.0), (0.5, 0.6, -0.6)


@pytest.fixture(
    scope="module", params=[("plinth", UPRIGHT), ("floor", UPRIGHT), ("ball", TILTED)], ids=str
)
def on_foreign_matter(request):
    """A bust on something, the bust alone, the template, and the result."""
    kind, direction = request.param
    pair, up = load_pair(), np.array(direction)
    bust = cut_by_plane(pair.posed, up, keep_area=0.6)
    unit = float(np.sqrt(pair.full.area))
    scan = stitched_on(bust.mesh, bust.mesh.boundary_vertices, up, PROFILES[kind], unit)
    chosen = sample_vertices(bust.mesh, 20)
    points = pair.posed_on_full[bust.vertex_of_parent]
    anchors = np.stack([chosen, points[chosen].nearest_vertex(pair.full)], axis=1)
    settings = FAST.replace(solve_vertices=1500)
    return scan, pair.full, points, nho.match(scan, pair.full, anchors, settings)


def test_foreign_matter_has_no_partner_although_the_template_is_closed(on_foreign_matter):
    scan, _, points, result = on_foreign_matter
    foreign = np.arange(scan.n_vertices) >= len(points)
    found = result.overlap < 0.5
    assert found[foreign].mean() > 0.8
    assert found[~foreign].mean() < 0.05  # a band along the rim


def test_foreign_matter_does_not_disturb_what_stands_on_it(on_foreign_matter):
    _, full, points, result = on_foreign_matter
    own = np.flatnonzero(result.face[: len(points)] >= 0)
    away = result.points[own].positions(full) - points[own].positions(full)
    assert np.linalg.norm(away, axis=1).mean() < 0.02 * np.sqrt(full.area)


@pytest.mark.parametrize("weight_spectral", [0.0, 0.01])
def test_fields_on_both_shapes_help_to_tell(whole, piece, weight_spectral):
    template, has = lacking(whole, piece)
    settings = FAST.replace(overlap_by="fields", weight_spectral=weight_spectral)
    result = nho.match(piece.mesh, template.mesh, anchors_in(piece, template, has), settings)
    assert ((result.overlap >= 0.5) == has).mean() > 0.95


def test_an_anchor_outside_the_overlap_is_named_and_what_it_claims_is_in_doubt(whole, piece):
    template, has = lacking(whole, piece)
    right = anchors_in(piece, template, has)
    rim = np.flatnonzero(template.mesh.boundary_vertices)
    apart = piece.mesh.vertices[:, None] - template.mesh.vertices[rim]
    away = np.linalg.norm(apart, axis=2) / np.sqrt(template.mesh.area)
    # Not so far that distances contradict it, and no right anchor would be left so far away.
    outside = int(np.where(has, np.inf, np.abs(away.min(axis=1) - 0.22)).argmin())
    wrong = [outside, rim[away[outside].argmin()]]
    result = nho.match(piece.mesh, template.mesh, np.vstack([right, wrong]), FAST)
    assert not result.suspect_anchors
    [told] = [each for each in result.warnings if f"partial vertex {outside}," in each]
    assert "anchor 13" in told and "is the only one on" in told
    assert result.overlap[outside] == 0.5 and result.confidence[outside] <= 0.5


def test_right_anchors_are_not_named_as_the_only_ones(matched):
    assert not any("is the only one on" in told for told in matched[2].warnings)
