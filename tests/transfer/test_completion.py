"""Completion: the scan where it was measured, a prediction elsewhere, and no step between them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.symmetry import find_symmetry
from nho.geometry.synthetic import cut_by_plane
from nho.io.attributes import read_with_attributes
from nho.report.result_folder import write_outputs
from nho.transfer import complete, fit_template
from nho.transfer.completion import plane_of_fit
from tests.geometry.test_symmetry import symmetric_shape
from tests.transfer.made import match_of, match_of_cut

TEMPLATE = symmetric_shape(3)
SYMMETRY = find_symmetry(TEMPLATE)


def subject(shape):
    """The template with a wider left and right and a bump on either side."""
    bump = 0.15 * np.exp(-(((np.abs(shape.vertices) - [0.8, 0.3, 0.2]) / 0.3) ** 2).sum(axis=1))
    return shape.moved(shape.vertices * [1.15, 0.95, 1.0] * (1 + bump)[:, None])


@pytest.fixture(scope="module")
def half():
    """Half of the subject, left of the plane and a little more, in another pose and unit."""
    whole = subject(TEMPLATE)
    cut = cut_by_plane(whole, [1.0, 0.05, 0.0], offset=-0.2)
    rotation = random_rotation(np.random.default_rng(4))
    truth = whole.moved(10 * whole.vertices @ rotation.T + [5, 6, 7])
    scan = cut.mesh.moved(10 * cut.mesh.vertices @ rotation.T + [5, 6, 7])
    points = SurfacePoints.at_vertices(TEMPLATE, cut.vertex_of_parent)
    return match_of(points, TEMPLATE, cut.kept_vertices, scale=0.1), scan, truth


def test_measured_vertices_lie_on_the_scan_and_others_are_marked(half):
    result, scan, _ = half
    found = complete(result, scan, TEMPLATE)
    _, distance = project(scan, found.mesh.vertices[found.measured])
    assert distance.max() < 1e-9 * scan.diagonal
    assert 0.3 < found.measured.mean() < 0.7 and not found.mirrored.any()
    assert (found.uncertainty[found.measured] == 0).all()
    assert (found.uncertainty[~found.measured] > 0).all()


def test_uncertainty_grows_away_from_the_data(half):
    result, scan, _ = half
    found = complete(result, scan, TEMPLATE, refine=False)
    _, away = project(scan, found.mesh.vertices)
    rest = ~found.measured
    near, far = (found.uncertainty[rest][away[rest] < 2], found.uncertainty[rest][away[rest] > 8])
    assert far.min() > near.mean()


def test_the_completed_mesh_is_watertight_as_the_template_is(half):
    result, scan, _ = half
    for refine in (True, False):
        found = complete(result, scan, TEMPLATE, refine=refine)
        assert (found.mesh.edge_face_counts == 2).all()


def test_where_the_scan_is_finer_so_is_the_completion():
    coarse, fine = symmetric_shape(2), symmetric_shape(4)
    cut = cut_by_plane(fine, [1.0, 0.0, 0.0], offset=-0.05)
    points, _ = project(coarse, cut.mesh.vertices)
    region = coarse.vertices[:, 0] > -0.05
    result = match_of(points, coarse, region)
    plain = complete(result, cut.mesh, coarse, refine=False)
    finer = complete(result, cut.mesh, coarse)
    assert plain.mesh.n_vertices == coarse.n_vertices
    assert finer.mesh.n_vertices > 3 * coarse.n_vertices
    assert (finer.mesh.edge_face_counts == 2).all()
    gaps = [np.quantile(project(each.mesh, cut.mesh.vertices)[1], 0.7) for each in (plain, finer)]
    assert gaps[1] < 0.5 * gaps[0]


def test_there_is_no_step_at_the_seam(half):
    result, scan, _ = half
    moved = scan.moved(scan.vertices + 0.02 * scan.diagonal * scan.vertex_normals)  # off the fit
    fit = fit_template(result, scan, TEMPLATE)
    found = complete(result, moved, TEMPLATE, fit=fit, refine=False)
    change = np.linalg.norm(found.mesh.vertices - fit.mesh.vertices, axis=1)
    at_seam = found.measured[found.mesh.edges].sum(axis=1) == 1
    inside, farthest = change[found.measured].mean(), change[~found.measured].min()
    step = np.abs(np.diff(change[found.mesh.edges[at_seam]], axis=1))
    assert inside > 0.01 * scan.diagonal and farthest < 0.1 * inside
    assert step.mean() < 0.4 * inside


def test_the_other_side_is_better_than_the_template(half):
    result, scan, truth = half
    plain, other = (
        complete(result, scan, TEMPLATE, symmetry=symmetry, refine=False)
        for symmetry in (None, SYMMETRY)
    )
    errors = [
        np.linalg.norm(each.mesh.vertices - truth.vertices, axis=1) for each in (plain, other)
    ]
    rest = other.mirrored
    assert rest.sum() > 0.3 * TEMPLATE.n_vertices and not (rest & other.measured).any()
    assert np.median(errors[1][rest]) < 0.5 * np.median(errors[0][rest])
    assert (other.uncertainty[rest] < plain.uncertainty[rest]).mean() > 0.8


@pytest.mark.parametrize("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
def test_the_plane_of_the_subject_is_found_whichever_half_is_left(normal):
    whole = subject(TEMPLATE)
    cut = cut_by_plane(whole, normal, keep_area=0.55)
    fit = fit_template(match_of_cut(cut, TEMPLATE), cut.mesh, TEMPLATE)
    plane = plane_of_fit(fit, TEMPLATE, SYMMETRY)
    assert abs(plane.normal[0]) > np.cos(np.deg2rad(2.5))
    assert abs(plane.point @ plane.normal) < 0.02 * whole.diagonal


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def written(folder, scan, result):
    """The arguments that name a match in files."""
    scan.write(folder / "scan.ply")
    TEMPLATE.write(folder / "template.ply")
    write_outputs(folder / "result", scan, TEMPLATE, result, report=False)
    return folder / "scan.ply", folder / "template.ply", "--result", folder / "result"


def test_the_command_writes_what_python_computes(tmp_path, half):
    result, scan, _ = half
    files = written(tmp_path, scan, result)
    out = tmp_path / "complete.ply"
    outcome = run("complete", *files, "--mirror", "--out", out, "--json", "--quiet")
    assert outcome.exit_code == 0, outcome.output
    expected = complete(result, scan, TEMPLATE, symmetry=SYMMETRY)
    mesh, attributes = read_with_attributes(out)
    np.testing.assert_array_equal(mesh.vertices, expected.mesh.vertices)
    np.testing.assert_array_equal(attributes.vertex["measured"], expected.measured)
    np.testing.assert_allclose(attributes.vertex["uncertainty"], expected.uncertainty, rtol=1e-6)
    told = json.loads(outcome.stdout)
    assert told["measured_percent"] == pytest.approx(expected.summary()["measured_percent"])
    assert told["mirrored_percent"] > 20 and told["notes"] == []


def test_a_note_says_that_the_other_side_is_missing_as_well(tmp_path):
    cut = cut_by_plane(TEMPLATE, [0.0, 1.0, 0.0], keep_area=0.5)  # across the plane of symmetry
    files = written(tmp_path, cut.mesh, match_of_cut(cut, TEMPLATE))
    outcome = run("complete", *files, "--mirror", "--out", tmp_path / "complete.ply")
    assert outcome.exit_code == 0, outcome.output
    said = " ".join(outcome.output.split())
    assert "missing on the other as well: --mirror changed next to nothing" in said
    assert "0.0 % from the other side" in said


def test_refusals_name_the_remedy(tmp_path, half):
    _, scan, _ = half
    scan.write(tmp_path / "scan.ply")
    TEMPLATE.write(tmp_path / "template.ply")
    files = (tmp_path / "scan.ply", tmp_path / "template.ply")
    for arguments, said in (
        (("complete", *files, "--out", tmp_path / "o.ply"), "either --result DIR"),
        (("complete", *files, "--anchors", "auto", "--out", files[0]), "this is an input"),
        (("complete", *files, "--anchors", "auto", "--out", tmp_path / "o.csv"), "written as .ply"),
        (
            ("mirror", files[0], "--plane", "w", "--out", tmp_path / "o.ply"),
            "choose auto, x, y or z",
        ),
    ):
        outcome = run(*arguments)
        assert isinstance(outcome.exception, InputError) and said in str(outcome.exception)


def test_a_mirrored_file_keeps_order_and_attributes(tmp_path, half):
    _, scan, _ = half
    colours = np.random.default_rng(0).integers(0, 255, (scan.n_vertices, 3), dtype=np.uint8)
    scan.write(tmp_path / "scan.ply", colours)
    outcome = run("mirror", tmp_path / "scan.ply", "--plane", "x", "--out", tmp_path / "other.ply")
    assert outcome.exit_code == 0, outcome.output
    mesh, attributes = read_with_attributes(tmp_path / "other.ply")
    middle = (scan.vertices.min(axis=0) + scan.vertices.max(axis=0)) / 2
    np.testing.assert_allclose(mesh.vertices[:, 0], 2 * middle[0] - scan.vertices[:, 0])
    np.testing.assert_array_equal(mesh.vertices[:, 1:], scan.vertices[:, 1:])
    np.testing.assert_array_equal(attributes.vertex["color"], colours)
    TEMPLATE.write(tmp_path / "template.ply")
    out = tmp_path / "same.ply"
    outcome = run("mirror", tmp_path / "template.ply", "--out", out, "--json")
    assert outcome.exit_code == 0, outcome.output
    assert abs(json.loads(outcome.stdout)["normal"][0]) == pytest.approx(1, abs=1e-4)
    assert project(TEMPLATE, Mesh.read(out).vertices)[1].max() < 1e-2
