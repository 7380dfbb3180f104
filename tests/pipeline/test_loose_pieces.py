"""Pieces of a scan without an anchor are carried along by the rest."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere

FAST = nho.preset("default").replace(rounds=0, threads=1)


@pytest.fixture(scope="module")
def whole() -> Mesh:
    return bumpy_sphere(4)


def pieces_of(whole: Mesh, *ranges: tuple[float, float]) -> tuple[Mesh, np.ndarray]:
    """Faces whose centres have x within one of the ranges, moved; and their old vertices."""
    centre = whole.vertices[whole.faces].mean(axis=1)[:, 0]
    kept = np.any([(centre > low) & (centre < high) for low, high in ranges], axis=0)
    used, faces = np.unique(whole.faces[kept], return_inverse=True)
    rotation = random_rotation(np.random.default_rng(1))
    vertices = whole.vertices[used] @ rotation.T + [5.0, -3.0, 2.0]
    return Mesh(vertices, faces.reshape(-1, 3), "scan.ply"), used


@pytest.fixture(scope="module")
def broken(whole: Mesh) -> tuple[Mesh, np.ndarray, np.ndarray]:
    """A scan in two pieces, its vertices on the whole, and which of them have anchors near."""
    scan, used = pieces_of(whole, (-0.2, 0.35), (0.5, 2.0))
    return scan, used, whole.vertices[used][:, 0] < 0.45


def anchors_on(used: np.ndarray, where: np.ndarray, count: int = 8) -> np.ndarray:
    rows = np.flatnonzero(where)
    chosen = rows[np.linspace(0, len(rows) - 1, count).astype(int)]
    return np.stack([chosen, used[chosen]], axis=1)


@pytest.fixture(scope="module")
def answer(whole, broken) -> nho.MatchResult:
    scan, used, main = broken
    return nho.match(scan, whole, anchors_on(used, main), FAST)


def error(whole: Mesh, result: nho.MatchResult, used: np.ndarray, of: np.ndarray) -> float:
    away = result.points.positions(whole) - whole.vertices[used]
    return float(np.linalg.norm(away[of], axis=1).mean() / whole.mean_edge_length)


def test_a_piece_without_an_anchor_lies_where_it_belongs(whole, broken, answer):
    scan, used, main = broken
    assert scan.components.max() == 1 and (answer.face >= 0).all()
    assert error(whole, answer, used, ~main) < 0.1 and error(whole, answer, used, main) < 0.1


def test_it_covers_its_part_of_the_region(whole, broken, answer):
    _, used, _ = broken
    inside = np.zeros(whole.n_vertices, dtype=bool)
    inside[used] = True
    assert (answer.region & inside).sum() / (answer.region | inside).sum() > 0.9


def test_it_is_said_once_with_its_size(broken, answer):
    _, _, main = broken
    said = [text for text in answer.notes if "without an anchor" in text]
    assert len(said) == 1 and f"1 component without an anchor ({(~main).sum()} vertices)" in said[0]
    assert not any("left out" in text for text in (*answer.warnings, *answer.notes))


def test_it_is_trusted_no_more_than_what_carried_it(broken, answer):
    main = broken[2]
    assert 0.5 < answer.confidence[~main].mean() <= answer.confidence[main].mean()


def test_a_piece_that_belongs_nowhere_is_not_trusted(whole, broken):
    scan, used, main = broken
    vertices = scan.vertices.copy()
    vertices[~main] += 3 * np.linalg.norm(whole.vertices, axis=1).max()  # it floats far away
    astray = nho.match(Mesh(vertices, scan.faces), whole, anchors_on(used, main), FAST)
    assert astray.confidence[~main].max() < 0.2 < 0.5 < astray.confidence[main].mean()


def test_debris_is_left_out_and_said_in_one_note(whole, broken):
    scan, used, main = broken
    corner = scan.vertices[:1] + 1e-3 * np.eye(3)
    faces = np.concatenate([scan.faces, [[0, 1, 2] + np.array(scan.n_vertices)]])
    dirty = Mesh(np.concatenate([scan.vertices, corner]), faces, "scan.ply")
    result = nho.match(dirty, whole, anchors_on(used, main), FAST)
    assert (result.face[-3:] == -1).all() and (result.face[:-3] >= 0).all()
    said = [text for text in result.notes if "left out" in text]
    assert len(said) == 1 and "1 of 3 connected components" in said[0]


def test_the_order_of_the_file_does_not_matter(whole, broken, answer):
    scan, used, main = broken
    order = np.random.default_rng(0).permutation(scan.n_vertices)
    place = np.argsort(order)
    shuffled = Mesh(scan.vertices[order], place[scan.faces][::-1], scan.name)
    pairs = anchors_on(used, main)
    pairs[:, 0] = place[pairs[:, 0]]
    again = nho.match(shuffled, whole, pairs, FAST)
    assert again.confidence[place].tobytes() == answer.confidence.tobytes()
    assert (again.vertex_map[place] == answer.vertex_map).all()


def test_other_presets_leave_it_out_and_say_so(whole, broken):
    scan, used, main = broken
    paper = nho.preset("paper-fast").replace(fit_steps=2, rounds=0, refinement="none", threads=1)
    result = nho.match(scan, whole, anchors_on(used, main), paper)
    assert (result.face[~main] == -1).all()
    assert any("hold no anchor and are left out" in text for text in result.warnings)
