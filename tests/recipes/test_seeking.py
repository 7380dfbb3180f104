"""Few anchors are solved between coarse surfaces first: the answer is that of the given ones."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane
from nho.recipes.guided import seeking

SEEK = nho.preset("default").replace(
    rounds=0, own_anchors=0, look_again_below=0, seek_vertices=600, threads=1
)
DIRECT = SEEK.replace(seek_vertices=0)


@pytest.fixture(scope="module")
def fine() -> Mesh:
    """A closed surface of 2,562 vertices."""
    return bumpy_sphere(4, seed=3)


@pytest.fixture(scope="module")
def part(fine) -> Cut:
    """Sixty percent of it."""
    return cut_by_plane(fine, np.array([0.2, 0.5, 1.0]), keep_area=0.6)


def anchors(part: Cut, count: int) -> np.ndarray:
    chosen = sample_vertices(part.mesh, count)
    return np.stack([chosen, part.vertex_of_parent[chosen]], axis=1)


def gap(result: nho.MatchResult, fine: Mesh, part: Cut) -> float:
    """Mean distance to the true points, in mean edges."""
    away = result.points.positions(fine) - fine.vertices[part.vertex_of_parent]
    return float(np.linalg.norm(away, axis=1).mean() / fine.mean_edge_length)


@pytest.fixture
def sizes(monkeypatch) -> list[int]:
    """Vertices of the full shape, at every search for a pose."""
    seen = []
    sought = seeking._sought_directly

    def watched(problem, run, propose):
        seen.append(problem.full.mesh.n_vertices)
        return sought(problem, run, propose)

    monkeypatch.setattr(seeking, "_sought_directly", watched)
    return seen


def test_few_anchors_are_sought_between_coarse_surfaces_and_answered_on_the_fine_ones(
    fine, part, sizes
):
    few = anchors(part, 5)
    result = nho.match(part.mesh, fine, few, SEEK)
    [coarse] = sizes
    assert 0.8 * 600 < coarse < 1.15 * 600
    direct = nho.match(part.mesh, fine, few, DIRECT)
    assert sizes[1] == fine.n_vertices
    # A coarse edge is two fine ones; carried up alone, points would be off by parts of it.
    assert gap(result, fine, part) < gap(direct, fine, part) + 0.1
    assert (result.region == direct.region).mean() > 0.98
    assert abs(result.confidence.mean() - direct.confidence.mean()) < 0.1


@pytest.mark.parametrize(("count", "pinned", "coarse"), [(13, True, False), (13, False, True)])
def test_many_marked_anchors_need_no_coarse_surfaces_but_found_ones_do(
    fine, part, sizes, count, pinned, coarse
):
    nho.match(part.mesh, fine, anchors(part, count), SEEK.replace(pin_anchors=pinned))
    assert (sizes[0] < fine.n_vertices) == coarse


def test_surfaces_that_are_hardly_finer_are_left_as_they_are(fine, part, sizes):
    nho.match(part.mesh, fine, anchors(part, 5), SEEK.replace(seek_vertices=2000))
    assert sizes == [fine.n_vertices]


def test_a_part_too_small_for_a_coarse_surface_is_sought_on_the_fine_one(
    fine, part, sizes, monkeypatch
):
    def refused(*_):
        raise InputError("too small")

    monkeypatch.setattr(seeking, "coarse_pair", refused)
    result = nho.match(part.mesh, fine, anchors(part, 5), SEEK)
    assert sizes == [fine.n_vertices] and result.status == "ok"


def test_an_anchor_that_was_left_out_between_coarse_surfaces_stays_out(fine, part):
    pairs = anchors(part, 10)
    pairs[4, 1] = fine.n_vertices - 1 - pairs[4, 1]
    result = nho.match(part.mesh, fine, pairs, SEEK)
    assert result.suspect_anchors == (4,)
    assert gap(result, fine, part) < 0.5


def test_the_unit_of_the_partial_shape_does_not_matter(fine, part):
    few = anchors(part, 6)
    plain = nho.match(part.mesh, fine, few, SEEK)
    other = Mesh(0.037 * part.mesh.vertices, part.mesh.faces)
    scaled = nho.match(other, fine, few, SEEK)
    assert scaled.scale == pytest.approx(1 / 0.037, rel=0.05)
    assert gap(scaled, fine, part) < gap(plain, fine, part) + 0.2
