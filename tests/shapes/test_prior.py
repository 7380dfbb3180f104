"""A shape space as a prior: it completes scans and helps to match them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.io.attributes import read_with_attributes
from nho.pipeline.shape_prior import stretch, with_prior
from nho.report.result_folder import write_outputs
from nho.shapes.prior import estimate_from_fit
from nho.transfer import complete, fit_template
from tests.shapes.family import TEMPLATE, family, shape_of
from tests.transfer.made import match_of


@pytest.fixture(scope="module")
def space():
    positions, _, _ = family(12)
    return nho.ShapeSpace.fit(positions, TEMPLATE, components=2)


@pytest.fixture(scope="module")
def scanned():
    """A scan of a half that tells of the whole, its exact match, and the truth."""
    truth = 20 * shape_of(2.0, 1.5)
    cut = cut_by_plane(TEMPLATE.moved(truth), np.array([0.0, 0.3, 1.0]), keep_area=0.6)
    points = SurfacePoints.at_vertices(TEMPLATE, cut.vertex_of_parent)
    return cut.mesh, match_of(points, TEMPLATE, cut.kept_vertices, scale=1 / 20), truth


def test_a_model_completes_better_than_the_template_without_a_step(space, scanned):
    scan, result, truth = scanned
    fit = fit_template(result, scan, TEMPLATE)
    predicted = estimate_from_fit(space, result, scan, TEMPLATE, fit)
    plain = complete(result, scan, TEMPLATE, refine=False, fit=fit)
    found = complete(result, scan, TEMPLATE, refine=False, fit=fit, predicted=predicted)
    hidden = ~found.measured
    off, plain_off = (
        np.linalg.norm(each.mesh.vertices - truth, axis=1)[hidden] for each in (found, plain)
    )
    assert np.sqrt((off**2).mean()) < 0.7 * np.sqrt((plain_off**2).mean())
    np.testing.assert_array_equal(found.uncertainty[hidden], predicted.errors[hidden])
    assert (found.uncertainty[found.measured] == 0).all()
    edges = found.mesh.edges
    rim = found.measured[edges[:, 0]] != found.measured[edges[:, 1]]
    true_lengths = np.linalg.norm(truth[edges[:, 0]] - truth[edges[:, 1]], axis=1)
    np.testing.assert_allclose(found.mesh.edge_lengths[rim], true_lengths[rim], rtol=0.5)


def test_the_commands_use_a_model(space, scanned, tmp_path):
    scan, result, _ = scanned
    scan.write(tmp_path / "scan.ply")
    TEMPLATE.write(tmp_path / "template.ply")
    scan, template = (Mesh.read(tmp_path / name) for name in ("scan.ply", "template.ply"))
    write_outputs(tmp_path / "result", scan, template, result, report=False)
    (tmp_path / "shapes").mkdir()
    space.save(tmp_path / "shapes")
    names = ("scan.ply", "template.ply", "result", "shapes", "whole.ply")
    places = {name: str(tmp_path / name) for name in names}
    arguments = ["complete", places["scan.ply"], places["template.ply"]]
    arguments += ["--result", places["result"], "--out", places["whole.ply"], "--quiet", "--json"]
    outcome = CliRunner().invoke(app, [*arguments, "--model", places["shapes"]])
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(outcome.stdout)
    mesh, attributes = read_with_attributes(tmp_path / "whole.ply")
    assert attributes.vertex["uncertainty"].max() == pytest.approx(told["largest_uncertainty"])
    both = CliRunner().invoke(app, [*arguments, "--model", places["shapes"], "--mirror"])
    assert isinstance(both.exception, InputError) and "--symmetric" in str(both.exception)
    rows = np.linspace(0, scan.n_vertices - 1, 5).astype(int)
    pairs = [f"{row},{result.vertex_map[row]}" for row in rows]
    (tmp_path / "pairs.csv").write_text("\n".join(["partial,full", *pairs]) + "\n")
    arguments = ["match", places["scan.ply"], places["template.ply"]]
    arguments += ["--anchors", str(tmp_path / "pairs.csv"), "--out", str(tmp_path / "new")]
    outcome = CliRunner().invoke(app, [*arguments, "--model", places["shapes"]])
    assert outcome.exit_code == 0, outcome.output
    assert f"the shape space of {len(space.names)} shapes" in outcome.stderr


def test_another_template_is_refused(space):
    other = bumpy_sphere(2)
    with pytest.raises(InputError, match="another template, of 642 vertices"):
        nho.match(TEMPLATE, other, np.array([[0, 0], [1, 1], [2, 2]]), model=space)


def test_a_match_with_a_model_is_the_less_stretched_of_two(space, scanned):
    scan, exact, _ = scanned
    rows = np.flatnonzero(exact.vertex_map >= 0)[:: len(exact.vertex_map) // 5][:5]
    anchors = np.stack([rows, exact.vertex_map[rows]], axis=1)
    plain = nho.match(scan, TEMPLATE, anchors)
    found = nho.match(scan, TEMPLATE, anchors, model=space)
    [note] = [note for note in found.notes if "shape space" in note]
    truth = exact.points.positions(TEMPLATE)

    def error(result):
        away = result.points.positions(TEMPLATE) - truth
        return float(np.nanmean(np.linalg.norm(away, axis=1)))

    assert "expects: it stretches" in note
    assert error(found) < error(plain)
    assert found.scale == plain.scale and len(found.anchors) == len(anchors)
    np.testing.assert_array_equal(found.vertex_map, found.points.nearest_vertex(TEMPLATE))


def test_stretch_ignores_size_and_sees_shear(scanned):
    scan, exact, _ = scanned
    larger = scan.moved(3 * scan.vertices)
    assert stretch(exact, larger, TEMPLATE) == pytest.approx(stretch(exact, scan, TEMPLATE))
    sheared = scan.moved(scan.vertices * [1.5, 1, 1])
    assert stretch(exact, sheared, TEMPLATE) > 1.5 * stretch(exact, scan, TEMPLATE)


def test_components_that_predict_nothing_are_not_used(space, scanned):
    scan, exact, _ = scanned
    useless = np.full_like(space.validation.hidden_error, 0.1)
    validation = replace(space.validation, hidden_error=useless)
    found = with_prior(exact, (scan, TEMPLATE), replace(space, validation=validation), pytest.fail)
    assert "no unseen shape better" in found.notes[-1]
    np.testing.assert_array_equal(found.vertex_map, exact.vertex_map)
