"""Faces, bones, range scans and species: pairs are as they are described.

The folders are written here, tiny, in the layouts of the data sets.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.cutting import ends_of
from nho.lab.bench.perturb import Conditions, present
from tests.lab.bench.pairs_on_disk import folder_of, refused, same

LONG = np.array([1.0, 1.0, 2.5])


# Faces


@pytest.fixture
def faces(tmp_path, whole) -> Path:
    root = folder_of(tmp_path / "worlds/faces")
    names = ("generic_neutral", "id00_neutral", "id00_smile", "id01_smile_open")
    for number, name in enumerate(names):
        swollen = whole.vertices * (1 + 0.04 * number * np.sin(whole.vertices + number))
        whole.moved(swollen).write(root / f"{name}.ply")
    np.savez(root / "info.npz", landmarks68=np.arange(20))
    return tmp_path


def test_faces_are_meshed_anew_and_their_truth_is_exact(faces):
    assert FAMILIES["faces"].names(faces) == ["id00_neutral", "id00_smile", "id01_smile_open"]
    for pair in FAMILIES["faces"].pairs(faces):
        head = Mesh.read(faces / f"worlds/faces/{pair.name}.ply")
        assert pair.full.digest() == Mesh.read(faces / "worlds/faces/generic_neutral.ply").digest()
        # The triangles are the same on all heads: the point of the partial vertex itself is known.
        at = pair.truth.points.positions(head)
        np.testing.assert_allclose(at, pair.partial.vertices, atol=1e-9)
        inside = pair.truth.points.barycentric.max(axis=1) < 0.99
        assert inside.mean() > 0.5
        images = pair.truth.points.nearest_vertex(pair.full)
        assert pair.truth.region[images].mean() > 0.95 and not pair.truth.region.all()


def test_the_same_person_is_matched_to_its_neutral_head(faces):
    assert FAMILIES["faces_same"].names(faces) == ["id00_smile", "id01_smile_open"]
    pair = FAMILIES["faces_same"].load(faces, "id00_smile")
    generic = FAMILIES["faces"].load(faces, "id00_smile")
    assert pair.partial.digest() == generic.partial.digest()
    assert pair.full.digest() == Mesh.read(faces / "worlds/faces/id00_neutral.ply").digest()
    with pytest.raises(InputError, match=r"id01_neutral\.ply: not found"):
        FAMILIES["faces_same"].load(faces, "id01_smile_open")


def test_a_head_of_other_triangles_or_without_landmarks_is_refused(faces):
    info = faces / "worlds/faces/info.npz"
    np.savez(info, landmarks68=np.array([5000]))
    refused("faces", faces, r"info\.npz: row 0 names number 5000 of id00_neutral\.ply")
    np.savez(info, n_face=3)
    refused("faces", faces, r"info\.npz: has no array 'landmarks68'")
    info.write_bytes(b"PK no archive")
    refused("faces", faces, r"info\.npz: cannot be read as an \.npz file")
    bumpy_sphere(2).write(faces / "worlds/faces/id00_neutral.ply")
    refused("faces", faces, r"id00_neutral\.ply: has other triangles than generic_neutral\.ply")


# Tibias


@pytest.fixture
def tibias(tmp_path, whole) -> Path:
    root = folder_of(tmp_path / "worlds/tibias")
    rows = {}
    for number, name in enumerate(("100", "200", "300")):
        order = np.random.default_rng(number).permutation(whole.n_vertices)
        place = np.argsort(order)
        Mesh(whole.vertices[order] * LONG, place[whole.faces]).write(root / f"{name}.ply")
        rows[name] = place[:400].astype(np.int32)
    np.savez(root / "truth.npz", **rows)
    return tmp_path


def test_tibias_follow_the_rows(tibias):
    assert FAMILIES["tibias"].names(tibias) == ["200", "300"]
    for pair in FAMILIES["tibias"].pairs(tibias):
        known = pair.annotated
        assert known.sum() == 400 and pair.truth.region.all()
        at = pair.truth.points.positions(pair.full)
        np.testing.assert_allclose(at[known], pair.partial.vertices[known], atol=1e-6)


def test_rows_at_one_vertex_give_the_point_amid_them(tibias):
    path = tibias / "worlds/tibias/truth.npz"
    rows = dict(np.load(path))
    full = Mesh.read(path.parent / "100.ply")
    near = full.edges[np.isin(full.edges, rows["100"]).all(axis=1)][0]
    a, b = (int(np.flatnonzero(rows["100"] == vertex)[0]) for vertex in near)
    rows["200"][b] = rows["200"][a]
    np.savez(path, **rows)
    pair = FAMILIES["tibias"].load(tibias, "200")
    at = pair.truth.points[rows["200"][[a]]].positions(pair.full)[0]
    np.testing.assert_allclose(at, full.vertices[near].mean(axis=0), atol=1e-6)


def test_a_cut_tibia_keeps_two_thirds_from_one_end(tibias):
    first, second = FAMILIES["tibias_cut"].pairs(tibias)
    assert (first.name, second.name) == ("200-cut1", "300-cut2")
    ends = ends_of(first.full.vertices)
    assert np.ptp(first.full.vertices[ends, 2]) > 0.9 * np.ptp(first.full.vertices[:, 2])
    for pair in (first, second):
        assert pair.partial.area / pair.full.area == pytest.approx(2 / 3, abs=0.03)
        assert pair.truth.region.mean() == pytest.approx(2 / 3, abs=0.1)
        assert pair.truth.region[ends].sum() == 1
    assert (first.truth.region[ends] != second.truth.region[ends]).all()


def test_rows_of_other_bones_are_refused(tibias):
    path = tibias / "worlds/tibias/truth.npz"
    rows = dict(np.load(path))
    np.savez(path, **{**rows, "200": rows["200"][:-1]})
    refused("tibias", tibias, r"truth\.npz: has 399 rows, but 100\.ply there asks for 400")
    np.savez(path, **{**rows, "200": rows["200"] + 600})
    refused("tibias", tibias, r"truth\.npz: row \d+ names number \d+ of 200\.ply")
    np.savez(path, **{**rows, "200": rows["300"]})
    refused("tibias", tibias, r"truth\.npz: maps 200\.ply to 100\.ply with lengths changed")


# Scans


@pytest.fixture
def scans(tmp_path, whole) -> Path:
    """Two scans of one side in frames of their own, with a vertex of no face and a loose spike."""
    root = folder_of(tmp_path / "worlds/scans")
    whole.write(root / "full.ply")
    side = cut_by_plane(whole, np.array([0.0, 1.0, 0.0]), keep_area=0.4).mesh
    for number, name in enumerate(("a", "a_s2")):
        transform = np.eye(4)
        transform[:3, :3] = random_rotation(np.random.default_rng(number))
        transform[:3, 3] = 1, 2, 3
        noisy = np.vstack([side.vertices, [[9, 9, 9]]])
        noisy[0] *= 1.5
        own = (noisy - transform[:3, 3]) @ transform[:3, :3]
        Mesh(own, side.faces).write(root / f"{name}.ply")
        np.savez(root / f"{name}.npz", transform=transform)
    return tmp_path


def test_scans_stay_in_their_frames_and_noise_is_not_annotated(scans):
    assert FAMILIES["scans"].names(scans) == ["a_s2", "a"]  # the coarser ones first
    for pair in FAMILIES["scans"].pairs(scans):
        assert pair.partial.digest() == Mesh.read(scans / f"worlds/scans/{pair.name}.ply").digest()
        known = np.flatnonzero(~pair.annotated)
        np.testing.assert_array_equal(known, [0, pair.partial.n_vertices - 1])
        transform = np.load(scans / f"worlds/scans/{pair.name}.npz")["transform"]
        laid = pair.partial.vertices @ transform[:3, :3].T + transform[:3, 3]
        at = pair.truth.points.positions(pair.full)
        np.testing.assert_allclose(at[1:-1], laid[1:-1], atol=1e-6)
        assert 0.3 < pair.truth.region.mean() < 0.6


@pytest.mark.parametrize("transform", [np.eye(3), 2 * np.eye(4), np.full((4, 4), np.nan)])
def test_a_transform_that_is_not_rigid_is_refused(scans, transform):
    np.savez(scans / "worlds/scans/a_s2.npz", transform=transform)
    refused("scans", scans, r"a_s2\.npz: 'transform' is no rigid motion")


# Species


@pytest.fixture
def species(tmp_path, whole) -> Path:
    """Two overlapping cuts of one shape, and the map of the first."""
    left = cut_by_plane(whole, np.array([1.0, 0.0, 0.2]), keep_area=0.7)
    right = cut_by_plane(whole, np.array([-1.0, 0.3, 0.0]), keep_area=0.6)
    folder_of(tmp_path / "psmal/maps")
    folder_of(tmp_path / "psmal/shapes")
    left.mesh.write(tmp_path / "psmal/shapes/cuts_0_cow_02.off")
    right.mesh.write(tmp_path / "psmal/shapes/cuts_22_dog_05.off")
    place = np.full(whole.n_vertices, -1)
    place[right.vertex_of_parent] = np.arange(right.mesh.n_vertices)
    path = tmp_path / "psmal/maps/cuts_0_cow_02_cuts_22_dog_05.vts"
    np.savetxt(path, place[left.vertex_of_parent], fmt="%d")
    return tmp_path


def test_species_know_who_has_no_partner(species):
    [pair] = FAMILIES["species"].pairs(species)
    assert pair.name == "cuts_0_cow_02_cuts_22_dog_05"
    unmatched = pair.truth.unmatched
    assert unmatched is not None and 0.2 < unmatched.mean() < 0.8
    np.testing.assert_array_equal(unmatched, ~pair.annotated)
    at = pair.truth.points.positions(pair.full)[~unmatched]
    np.testing.assert_allclose(at, pair.partial.vertices[~unmatched], atol=1e-6)
    # No other condition, and no other rule for the region, forgets it.
    for shown in (pair.truth.under("near", pair.full), present(pair, Conditions(9)).pair.truth):
        np.testing.assert_array_equal(shown.unmatched, unmatched)


def test_a_map_of_the_second_shape_is_read_as_well(species):
    [pair] = FAMILIES["species"].pairs(species)
    back = np.full(pair.full.n_vertices, -1)
    back[pair.truth.points.nearest_vertex(pair.full)[pair.annotated]] = np.flatnonzero(
        pair.annotated
    )
    path = species / f"psmal/maps/{pair.name}.vts"
    np.savetxt(path, back, fmt="%d")
    [turned] = FAMILIES["species"].pairs(species)
    assert turned.partial.digest() == pair.full.digest()
    assert turned.full.digest() == pair.partial.digest()
    np.testing.assert_array_equal(turned.truth.points.nearest_vertex(turned.full), back)
    np.savetxt(path, back[:-1], fmt="%d")
    refused("species", species, r"\.vts: has \d+ rows, but cuts_0_cow_02\.off asks for")
    np.savetxt(path, back - 1, fmt="%d")
    refused("species", species, r"\.vts: row \d+ names number -2 of cuts_0_cow_02\.off")


# All of them


@pytest.mark.parametrize(
    "family", ["faces", "faces_same", "tibias", "tibias_cut", "scans", "species"]
)
def test_a_pair_is_the_same_every_time(family, request):
    folder = request.getfixturevalue(family.partition("_")[0])
    name = FAMILIES[family].names(folder)[0]
    same(*(FAMILIES[family].load(folder, name) for _ in range(2)))
