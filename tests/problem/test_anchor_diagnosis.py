"""Mistakes that spoil all anchors at once are said as what they probably are, and said first."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import nho
from nho.errors import InputError
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.anchor_diagnosis import diagnose
from nho.problem.anchors import Anchors
from nho.problem.preparation import prepare

QUICK = nho.preset("default").replace(rounds=0, threads=1, solve_vertices=0)


class Scattered:
    """A bent piece and the whole it is of, both with vertices in no order; right anchors."""

    def __init__(self) -> None:
        random = np.random.default_rng(5)
        whole = bumpy_sphere(3, seed=3)
        piece = cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
        v = piece.mesh.vertices
        bent = Mesh(v + 0.05 * np.sin(3 * v[:, [1, 2, 0]]), piece.mesh.faces)
        self.partial, of_piece = shuffled(bent, random, "scan.ply")
        self.full, of_whole = shuffled(whole, random, "template.ply")
        self.truth = np.empty(len(of_piece), dtype=np.int64)
        self.truth[of_piece] = of_whole[piece.vertex_of_parent]

    def anchors(self, count: int = 12, seed: int = 0) -> np.ndarray:
        # The last vertex would have no successor.
        able = np.flatnonzero(self.truth[:-1] < self.full.n_vertices - 1)
        chosen = sample_vertices(self.partial, count, seed=seed, candidates=able)
        return np.stack([chosen, self.truth[chosen]], axis=1)

    def said(self, anchors: np.ndarray | Anchors) -> list[str]:
        return diagnose(prepare(self.partial, self.full, anchors))


def shuffled(mesh: Mesh, random: np.random.Generator, name: str) -> tuple[Mesh, np.ndarray]:
    """The mesh with its vertices in another order, and the new index of every old one."""
    new = random.permutation(mesh.n_vertices)
    return Mesh(mesh.vertices[np.argsort(new)], new[mesh.faces], name), new


@pytest.fixture(scope="module")
def pair() -> Scattered:
    return Scattered()


@pytest.mark.parametrize("count", [3, 5, 8, 25, 60])
def test_right_anchors_are_not_suspected(pair, count):
    for seed in range(4):
        assert pair.said(pair.anchors(count, seed)) == []


def test_a_fifth_of_wrong_anchors_is_not_a_mistake_of_all(pair):
    for seed in range(6):
        anchors = pair.anchors(15, seed)
        anchors[:3, 1] = np.random.default_rng(seed).choice(pair.full.n_vertices, 3, replace=False)
        assert pair.said(anchors) == []


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([0, 1], "the indices of the anchors seem to count from 1"),
        ([0], "the indices on scan.ply of the anchors seem to count from 1"),
        ([1], "the indices on template.ply of the anchors seem to count from 1"),
    ],
)
def test_indices_that_count_from_1(pair, columns, words):
    anchors = pair.anchors()
    anchors[:, columns] += 1
    said = pair.said(anchors)
    assert len(said) == 1 and said[0].startswith(words) and "subtract 1" in said[0]


@pytest.mark.parametrize(("step", "row"), [(1, "previous"), (-1, "next")])
def test_rows_shifted_by_one(pair, step, row):
    for count in (8, 40):  # of many only some are compared
        anchors = pair.anchors(count)
        anchors[:, 1] = np.roll(anchors[:, 1], step)
        said = pair.said(anchors)
        assert len(said) == 1 and said[0].startswith("the rows of the anchors seem to be shifted")
        assert f"belongs to the {row} row" in said[0]


def test_exchanged_columns_that_fit_both_meshes(pair):
    anchors = pair.anchors(60)
    low = anchors[anchors[:, 1] < pair.partial.n_vertices]
    said = pair.said(low[:, ::-1])
    assert len(low) > 8 and len(said) == 1
    assert said[0].startswith("the columns of the anchors seem to be exchanged")
    assert "scan.ply first, that of template.ply second" in said[0]


def test_exchanged_columns_that_do_not_fit_are_refused_as_such(pair, tmp_path):
    anchors = pair.anchors(25)[:, ::-1]
    row = int(np.flatnonzero(anchors[:, 0] >= pair.partial.n_vertices)[0])
    file = tmp_path / "pairs.csv"
    file.write_text("partial,full\n" + "\n".join(f"{p},{q}" for p, q in anchors))
    for given in (anchors, file):
        words = f"anchor {row + 1} refers to vertex {anchors[row, 0]} of scan.ply, .* exchanged all"
        with pytest.raises(InputError, match=words):
            prepare(pair.partial, pair.full, given)


def test_an_index_beyond_the_last_names_counting_from_1(pair):
    anchors = pair.anchors()
    last = pair.full.n_vertices - 1
    anchors = np.concatenate([anchors, [[np.flatnonzero(pair.truth == last)[0], last]]])
    with pytest.raises(InputError, match="seem to count from 1: subtract 1 from each"):
        prepare(pair.partial, pair.full, anchors + 1)
    anchors[0, 0] = 0  # so they do count from 0, and one is wrong
    anchors[-1, 1] += 5
    with pytest.raises(InputError, match="indices count from 0$"):
        prepare(pair.partial, pair.full, anchors)


def test_indices_are_not_blamed_where_coordinates_were_given(pair):
    own, other = (pair.anchors() + 1).T
    places = pair.partial.vertices[own], pair.full.vertices[other]
    assert pair.said(Anchors.from_positions(pair.partial, pair.full, *places)) == []


def test_mirrored_anchors(pair):
    x, y, z = pair.full.vertices.T
    mirrored = Mesh(np.stack([-x, y, z], axis=1), pair.full.faces[:, ::-1], "mirrored.ply")
    own = sample_vertices(pair.full, 12)
    said = diagnose(prepare(pair.full, mirrored, np.stack([own, own], axis=1)))
    assert len(said) == 1 and "mirror image of those on mirrored.ply" in said[0]


def test_anchors_in_one_place_with_where_to_add(pair):
    away = np.linalg.norm(pair.partial.vertices - pair.partial.vertices[7], axis=1)
    near = np.argsort(away)[:12]
    said = pair.said(np.stack([near, pair.truth[near]], axis=1))
    assert len(said) == 1 and "all anchors lie in one place, on" in said[0]
    vertex = int(said[0].split("partial vertex ")[1].split(",")[0])
    assert away[vertex] > 0.7 * away.max()


@pytest.mark.parametrize("count", [3, 8])
def test_anchors_on_a_line(pair, count):
    start = int(pair.partial.vertices[:, 0].argmin())
    away, before = dijkstra(edge_graph(pair.partial), indices=start, return_predecessors=True)
    path = [int(away.argmax())]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    beside = [path[int(place)] for place in np.linspace(0, len(path) - 1, count)]
    said = pair.said(np.stack([beside, pair.truth[beside]], axis=1))
    assert len(said) == 1 and "nearly on a line of scan.ply" in said[0]


@pytest.mark.parametrize("settings", [QUICK, QUICK.replace(solve_vertices=300)])
def test_the_diagnosis_is_the_first_warning(pair, settings):
    x = [0.0, 0.0, 0.0]  # a loose vertex: housekeeping
    partial = Mesh(np.concatenate([pair.partial.vertices, [x]]), pair.partial.faces, "scan.ply")
    result = nho.match(partial, pair.full, pair.anchors(12) + 1, settings)
    assert result.warnings[0].startswith("the indices of the anchors seem to count from 1")
    assert any("scan.ply" in note for note in result.notes)
    assert not any("no face uses" in warning for warning in result.warnings)


def test_anchors_that_were_found_are_not_diagnosed(pair, monkeypatch):
    found = Anchors.from_vertices(pair.partial, pair.full, pair.anchors(12) + 1)
    monkeypatch.setattr("nho.pipeline.matching.found_rivals", lambda *given: [found])
    result = nho.match(pair.partial, pair.full, "auto", QUICK)
    assert not any("seem to" in warning for warning in result.warnings)
