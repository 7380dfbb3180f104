"""Faces, skulls, bones, scans and species: the real files, and what is said without them."""

from __future__ import annotations

import pytest

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.pair import median_stretch

WORLDS = ["faces", "faces_same", "skulls", "skulls_cut", "tibias", "tibias_cut", "scans", "species"]
LEAST_ANNOTATED = {"skulls": 0.003, "skulls_cut": 0.003, "tibias": 0.1, "tibias_cut": 0.1}
LONG_LOADS = ("faces", "faces_same", "scans")


@pytest.mark.data
@pytest.mark.parametrize("family", WORLDS)
def test_real_families_list_their_pairs(data, family):
    names = FAMILIES[family].names(data)
    assert len(names) == len(set(names)) >= 2
    assert names == FAMILIES[family].names(data)


@pytest.mark.data
@pytest.mark.parametrize(
    "family",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG_LOADS else name for name in WORLDS],
)
def test_real_pairs_are_plausible(data, family):
    pair = FAMILIES[family].load(data, FAMILIES[family].names(data)[0])
    assert pair.annotated.mean() > LEAST_ANNOTATED.get(family, 0.6)
    assert 0.8 < median_stretch(pair) < 1.2
    assert pair.truth.region.shape == (pair.full.n_vertices,)
    images = pair.truth.points.nearest_vertex(pair.full)[pair.annotated]
    away = distances_from(edge_graph(pair.full), images[:: max(len(images) // 20, 1)])
    assert away[:, pair.truth.region].min(axis=1).max() <= 4 * pair.full.mean_edge_length


@pytest.mark.parametrize(
    ("family", "files"),
    [
        ("faces", "worlds/faces/generic_neutral.ply"),
        ("faces_same", "https://github.com/ICT-VGL/ICT-FaceKit"),
        ("skulls", "worlds/skulls/<strain>.mrk.json"),
        ("skulls_cut", "https://github.com/SlicerMorph/Mouse_Models"),
        ("tibias", "worlds/tibias/truth.npz"),
        ("tibias_cut", "https://github.com/aaronsfox/tibial-geometry"),
        ("scans", "worlds/scans/<scan>.npz"),
        ("species", "psmal/maps/cuts_0_cow_02_cuts_22_dog_05.vts"),
    ],
)
def test_absent_data_is_asked_for_with_its_source(tmp_path, family, files):
    assert not FAMILIES[family].present(tmp_path)
    with pytest.raises(InputError) as fault:
        FAMILIES[family].names(tmp_path)
    assert files in str(fault.value) and str(tmp_path) in str(fault.value)
