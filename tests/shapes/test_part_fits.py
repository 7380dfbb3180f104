"""Fits to parts of scans: they say how far what a shape space predicts is off."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.batch.half_fits import fit_half
from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.report.result_folder import write_outputs
from nho.settings import preset
from nho.shapes import PartFit
from nho.transfer import load_for
from tests.shapes.family import TEMPLATE, family, shape_of, write_batch


def part_of(shape, random, bent=0.04):
    """Half of a shape as a map sees it that is bent, as maps of halves are, in its own way."""
    height = TEMPLATE.vertices @ random.normal(size=3)
    known = (height > np.median(height)).astype(float)
    size = np.linalg.norm(shape - shape.mean(axis=0), axis=1).mean()
    turned = TEMPLATE.vertices @ random.normal(size=(3, 3))
    return PartFit(shape + bent * size * turned / np.sqrt(3), known)


@pytest.fixture(scope="module")
def spaces():
    """Of the same shapes, without and with part fits."""
    positions, _, _ = family(12)
    random = np.random.default_rng(7)
    parts = {str(i): part_of(shape, random) for i, shape in enumerate(positions)}
    fit = nho.ShapeSpace.fit
    return fit(positions, TEMPLATE, components=2), fit(
        positions, TEMPLATE, components=2, parts=parts
    )


def held(space):
    """Share of hidden vertices of new shapes within one standard error."""
    random = np.random.default_rng(11)
    shares = []
    for _ in range(30):
        truth = 5 * shape_of(*random.normal(size=2))
        part = part_of(truth, random)
        found = space.estimate(part.positions, part.weights)
        off = np.linalg.norm(found.positions - truth, axis=1) / found.errors
        shares.append((off < 1)[part.weights == 0].mean())
    return np.mean(shares)


def test_errors_of_predicted_vertices_hold_errors_of_the_map(spaces):
    without, with_parts = spaces
    assert held(without) < 0.45
    assert 0.55 < held(with_parts) < 0.85


def test_part_fits_change_nothing_but_the_errors_of_positions(spaces):
    without, with_parts = spaces
    np.testing.assert_array_equal(with_parts.scores, without.scores)
    np.testing.assert_array_equal(with_parts.score_errors, without.score_errors)
    assert (without.validation.part_fits, with_parts.validation.part_fits) == (0, 12)


def test_a_file_tells_whether_there_were_part_fits(spaces, tmp_path):
    _, space = spaces
    space.save(tmp_path)
    again = nho.ShapeSpace.load(tmp_path).validation
    assert again.part_fits == 12
    assert again.position_inflation == space.validation.position_inflation
    arrays = space.arrays()
    del arrays["part_fits"]  # an older file
    np.savez(tmp_path / "shapes.npz", **arrays)
    assert nho.ShapeSpace.load(tmp_path).validation.part_fits == 0


def test_part_fits_of_nothing_are_refused():
    positions, _, _ = family(5)
    part = PartFit(positions[0], np.ones(len(positions[0])))
    some = {str(i): part for i in range(4)}
    with pytest.raises(InputError, match="3 part fits do not tell"):
        nho.ShapeSpace.fit(positions, TEMPLATE, parts={name: some[name] for name in "012"})
    with pytest.raises(InputError, match="no such shape"):
        nho.ShapeSpace.fit(positions, TEMPLATE, parts={**some, "nobody": part})
    with pytest.raises(InputError, match="1: its part fit"):
        short = PartFit(positions[1][:9], np.ones(9))
        nho.ShapeSpace.fit(positions, TEMPLATE, parts={**some, "1": short})


def test_half_of_a_scan_is_matched_by_the_anchors_on_it():
    scan = TEMPLATE.moved(20 * shape_of(1.0, 0.5) + 3)
    anchors = np.repeat(np.arange(0, TEMPLATE.n_vertices, 40)[:, None], 2, axis=1)
    part = fit_half(scan, TEMPLATE, anchors, preset("default"), 0)
    seen = part.weights > 0
    assert 0.3 < seen.mean() < 0.7
    off = np.linalg.norm(part.positions - scan.vertices, axis=1)
    assert np.median(off[seen]) < 0.5  # of a diameter of 40
    with pytest.raises(InputError, match="no half of it has 3 anchors"):
        fit_half(scan, TEMPLATE, anchors[:2], preset("default"), 0)


def shapes_with_halves(folder):
    arguments = ["shapes", folder / "results", "--halves", "--out", folder / "space"]
    outcome = CliRunner().invoke(app, [*map(str, arguments), "--jobs", "1", "--quiet", "--json"])
    assert outcome.exit_code == 0, outcome.output
    return nho.ShapeSpace.load(folder / "space"), outcome


def test_scans_without_anchors_have_no_halves_and_a_note_says_so(tmp_path):
    write_batch(tmp_path / "results", 5)
    space, outcome = shapes_with_halves(tmp_path)
    assert space.validation.part_fits == 0
    assert "scan0: half of it was not fitted, " in outcome.stderr
    assert "--halves has no effect" in outcome.stderr
    assert json.loads(outcome.stdout)["shapes"] == 5


@pytest.mark.slow
def test_the_command_matches_halves(tmp_path):
    write_batch(tmp_path / "results", 5)
    for folder in (tmp_path / "results").iterdir():
        scan, template = (Mesh.read(folder / name) for name in ("partial.ply", "full.ply"))
        result = load_for(folder, scan, template)
        rows = np.flatnonzero(result.vertex_map >= 0)[::15]
        anchors = np.stack([rows, result.vertex_map[rows]], axis=1)
        write_outputs(folder, scan, template, replace(result, anchors=anchors), report=False)
    space, _ = shapes_with_halves(tmp_path)
    assert space.validation.part_fits == 5
