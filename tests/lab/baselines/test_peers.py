"""Tools that practitioners use, as baselines: what each recovers, and how it says what it lacks."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import take_faces
from nho.lab import baselines
from nho.lab.baselines.packages import failures_in_words, package_of
from tests.lab.baselines.conftest import visibly

BENDING = ["tps", "tps+meshmonk", "tps+pycpd", "rustcpd", "biocpd"]
BORROWED = ["tps+meshmonk", "tps+pycpd", "rustcpd", "biocpd", "nricp", "pyfm", "geomfum"]
SPECTRAL = ["pyfm", "geomfum"]


@pytest.fixture(scope="module")
def anchors(piece):
    chosen = sample_vertices(piece.mesh, 15)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def mean_gap(result, whole, piece):
    """Mean distance to the true vertices, in mean edges."""
    missed = result.points.positions(whole) - whole.vertices[piece.vertex_of_parent]
    return np.linalg.norm(missed, axis=1).mean() / whole.mean_edge_length


@pytest.fixture(scope="module")
def rigid_gap(whole, piece, bulged, anchors):
    """What the similarity and closest points alone leave."""
    return mean_gap(baselines.run("nearest", bulged, whole, anchors), whole, piece)


@pytest.mark.parametrize("name", visibly(BENDING))
def test_a_bulged_piece_is_bent_back_from_any_pose_and_unit(
    whole, piece, bulged, anchors, rigid_gap, name
):
    result = baselines.run(name, bulged, whole, anchors)
    assert mean_gap(result, whole, piece) < min(0.5, 0.7 * rigid_gap)
    assert result.scale == pytest.approx(1 / 40, rel=0.2)


@pytest.mark.parametrize("name", visibly(BENDING))
def test_bending_answers_the_same_twice(whole, bulged, anchors, name):
    first, second = (baselines.run(name, bulged, whole, anchors) for _ in range(2))
    np.testing.assert_array_equal(first.barycentric, second.barycentric)


@pytest.mark.parametrize("name", visibly(SPECTRAL))
def test_functional_maps_lay_a_piece_where_it_was_cut_out(whole, piece, anchors, name):
    assert mean_gap(baselines.run(name, piece.mesh, whole, anchors), whole, piece) < 1.5


def test_the_spline_takes_anchors_to_their_partners(whole, bulged, anchors):
    found = baselines.run("tps", bulged, whole, anchors).points.positions(whole)
    goal = whole.vertices[anchors[:, 1]]
    np.testing.assert_allclose(found[anchors[:, 0]], goal, atol=1e-6 * np.sqrt(whole.area))


def test_icp_undoes_what_crooked_anchors_do_to_a_rigid_scan(whole, piece, anchors):
    crooked = anchors.copy()
    beside = dict(np.concatenate([whole.edges, whole.edges[:, ::-1]]))  # a neighbour of each
    crooked[:, 1] = [beside[vertex] for vertex in anchors[:, 1]]
    nearest, icp = (
        baselines.run(name, piece.mesh, whole, crooked) for name in ("nearest", "similarity+icp")
    )
    assert mean_gap(icp, whole, piece) < 0.1 * mean_gap(nearest, whole, piece)
    assert abs(icp.scale - 1) < 0.1 * abs(nearest.scale - 1)


def test_icp_leaves_alone_what_fits(whole, piece, anchors):
    result = baselines.run("similarity+icp", piece.mesh, whole, anchors)
    assert mean_gap(result, whole, piece) < 1e-6


def flat(size):
    """A sheet of squares, each halved, and four fifths of it."""
    x, y = (axis.ravel().astype(float) for axis in np.meshgrid(range(size), range(size)))
    squares = size - 1
    corner = (np.arange(squares) + size * np.arange(squares)[:, None]).ravel()[:, None]
    faces = np.concatenate([corner + [0, 1, size + 1], corner + [0, size + 1, size]])
    sheet = Mesh(np.stack([x, y, 0 * x], axis=1), faces)
    return sheet, take_faces(sheet, np.arange(len(faces)) % squares**2 < 0.8 * squares**2)


@pytest.mark.parametrize("name", visibly(["tps", "tps+meshmonk"]))
def test_a_spline_of_flat_or_too_few_anchors_is_refused(whole, piece, anchors, name):
    with pytest.raises(nho.InputError, match="four anchors that do not lie in one plane"):
        baselines.run(name, piece.mesh, whole, anchors[:3])
    sheet, cut = flat(6)
    pairs = np.stack([[0, 4, 12, 22], cut.vertex_of_parent[[0, 4, 12, 22]]], axis=1)
    with pytest.raises(nho.InputError, match="these 4 do; add anchors"):
        baselines.run(name, cut.mesh, sheet, pairs)


@pytest.mark.parametrize("name", visibly(["rustcpd", "biocpd"]))
def test_drift_takes_flat_scans_along_the_axes(name):
    sheet, cut = flat(21)
    chosen = sample_vertices(cut.mesh, 6)
    pairs = np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)
    assert mean_gap(baselines.run(name, cut.mesh, sheet, pairs), sheet, cut) < 0.25


@pytest.mark.parametrize("name", BORROWED)
def test_without_its_package_one_sentence_says_what_to_install(
    whole, piece, anchors, monkeypatch, name
):
    package = package_of(baselines.METHODS[name].needs)
    monkeypatch.setitem(sys.modules, package, None)
    asked = re.split("[<>=]", baselines.METHODS[name].needs)[0]
    said = f"baseline '{name.replace('+', '.')}' is that of {package}.*: pip install '?{asked}"
    with pytest.raises(nho.InputError, match=said):
        baselines.run(name, piece.mesh, whole, anchors)


class PanicException(BaseException):
    """As Rust's has it."""


@pytest.mark.parametrize("kind", [ValueError, PanicException])
def test_what_a_package_raises_becomes_one_sentence(kind):
    with (
        pytest.raises(nho.InputError, match=r"scan.ply: rustcpd gave up \(k is 0\); use more"),
        failures_in_words("rustcpd", "scan.ply"),
    ):
        raise kind("k is 0")


def test_an_interruption_stays_one():
    with pytest.raises(KeyboardInterrupt), failures_in_words("rustcpd", "scan.ply"):
        raise KeyboardInterrupt


def test_pins_are_those_of_the_extra(pytestconfig):
    extra = (pytestconfig.rootpath / "pyproject.toml").read_text(encoding="utf-8")
    for name in [name for name in BORROWED if name != "nricp"]:
        assert f'"{baselines.METHODS[name].needs}",' in extra
