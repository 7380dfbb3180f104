"""`nho review`: wrong scans of a batch are named, by fits and by cycles, in one page."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from nho.batch.cycles import MIRRORED, NONE, TURNED, Cycle, compared, cycle_between, ring
from nho.batch.review import suspicions
from nho.batch.summary import SummaryRow, write_summary
from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.report.result_folder import write_outputs
from tests.transfer.made import match_of

TEMPLATE = bumpy_sphere(2)


def cycle(first, second="", error=0.005, flip=NONE):
    return Cycle(first, second, error, 1.0, flip)


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A batch of five pieces with exact maps and anchors, one anchor wrong, and its review."""
    folder = tmp_path_factory.mktemp("review")
    random = np.random.default_rng(3)
    for number in range(5):
        cut = cut_by_plane(TEMPLATE, random.normal(size=3), keep_area=0.8)
        points = SurfacePoints.at_vertices(TEMPLATE, cut.vertex_of_parent)
        rows = np.linspace(0, cut.mesh.n_vertices - 1, 12).astype(int)
        anchors = np.stack([rows, cut.vertex_of_parent[rows]], axis=1)
        if number == 3:
            anchors[4, 1] = anchors[9, 1]
        result = replace(match_of(points, TEMPLATE, cut.kept_vertices), anchors=anchors)
        write_outputs(folder / f"results/s{number}", cut.mesh, TEMPLATE, result, report=False)
    rows = [SummaryRow("s0", "ok"), SummaryRow("s9", "failed", "scan.ply: no such file")]
    write_summary(folder / "results", rows)
    arguments = ["review", folder / "results", "--out", folder / "review.html", "--jobs", 1]
    outcome = CliRunner().invoke(app, [*map(str, arguments), "--quiet", "--json"])
    assert outcome.exit_code == 0, outcome.output
    return folder, json.loads(outcome.stdout)


def test_a_wrong_anchor_is_named_and_comes_first(reviewed):
    folder, told = reviewed
    assert told["scans"] == 5 and list(told["suspicious"]) == ["s3"]
    assert any("anchor 4 is far" in reason for reason in told["suspicious"]["s3"])
    page = (folder / "review.html").read_text()
    assert page.index('scope="row">s3') < page.index('scope="row">s0')


def test_the_page_has_pictures_and_asks_the_network_for_nothing(reviewed):
    folder, _ = reviewed
    page = (folder / "review.html").read_text()
    assert page.count("data:image/png;base64,") == 5
    assert "http:" not in page and "https:" not in page and "There and back" in page


def test_a_pair_without_a_result_is_not_passed_over(reviewed):
    page = (reviewed[0] / "review.html").read_text()
    assert "s9: failed: scan.ply: no such file" in page and "s0: " not in page


def test_an_input_is_never_overwritten(reviewed):
    folder, _ = reviewed
    (folder / "results/page.html").write_text("x")
    for out in (folder / "none/review.html", folder / "review.txt"):
        found = CliRunner().invoke(app, ["review", str(folder / "results"), "--out", str(out)])
        assert isinstance(found.exception, InputError)


def test_every_scan_is_compared_with_so_many_others():
    names = list("abcde")
    assert len(ring(names, 1)) == 5 and len(ring(names, 2)) == 10
    assert len(ring(names[:2], 3)) == 1
    count = {name: sum(name in pair for pair in ring(names, 2)) for name in names}
    assert set(count.values()) == {4}


def test_the_scan_whose_ways_all_go_wrong_is_blamed():
    fine = [cycle(a, b) for a, b in (("a", "b"), ("d", "a"), ("b", "d"))]
    bad = [cycle("b", "c", 0.4, MIRRORED), cycle("c", "d", 0.3), cycle("c", "a", 0.3)]
    found = suspicions([*fine, *bad])
    assert list(found) == ["c"] and len(found["c"]) == 3
    assert "a direct match with b says that it is mirrored" in found["c"][0]
    assert suspicions([*fine, cycle("a", "b", float("nan"))]) == {}


def test_direct_matches_that_mostly_disagree_accuse_nobody():
    bad = [cycle(a, b, 0.4, TURNED) for a, b in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"))]
    assert suspicions([*bad, cycle("a", "c")]) == {}
    fine = [cycle(a, b) for a, b in (("a", "c"), ("b", "d"), ("a", "e"), ("b", "e"))]
    assert suspicions([*fine, cycle("a", "b", 0.4)]) == {}  # one way of several: the direct match


def test_a_scan_that_does_not_come_back_is_named():
    found = suspicions([cycle("a"), cycle("b"), cycle("c", error=0.2)])
    assert list(found) == ["c"] and "misses itself by 20.0 %" in found["c"][0]


@pytest.mark.parametrize(("motion", "name"), [
    (np.diag([-1.0, 1, 1]), MIRRORED),
    (np.diag([-1.0, -1, 1]), TURNED),
    (np.eye(3), NONE),
])  # fmt: skip
def test_a_flip_is_told_from_an_error(motion, name):
    everywhere = SurfacePoints.at_vertices(TEMPLATE, np.arange(TEMPLATE.n_vertices))
    direct = match_of(everywhere, TEMPLATE, np.ones(TEMPLATE.n_vertices, dtype=bool))
    through = project(TEMPLATE, TEMPLATE.vertices @ motion)[0]
    found = compared("a", "b", direct, through, TEMPLATE)
    assert found.flip == name
    assert (found.error < 0.01) == (name == NONE)


@pytest.mark.slow
def test_two_pieces_with_right_maps_agree_with_a_direct_match(tmp_path):
    full = bumpy_sphere(3)
    full = Mesh(full.vertices * [1.6, 1.2, 1.0], full.faces, "full")
    for name, normal in (("a", [1.0, 0.2, 0]), ("b", [0, 0.1, 1.0])):
        cut = cut_by_plane(full, np.array(normal), keep_area=0.85)
        points = SurfacePoints.at_vertices(full, cut.vertex_of_parent)
        made = match_of(points, full, cut.kept_vertices)
        write_outputs(tmp_path / name, cut.mesh, full, made, report=False)
    found = cycle_between(tmp_path / "a", tmp_path / "b")
    assert found.error < 0.05 and found.flip == NONE and found.shared > 0.5
