"""`nho shapes`: from the folders of a batch to tables, meshes and a page."""

import csv
import json
import struct

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.batch.summary import SummaryRow, write_summary
from nho.cli.app import app
from nho.errors import InputError
from nho.io.landmarks import read_specimens
from nho.shapes.collection import ScanFit, judged
from tests.shapes.family import TEMPLATE, write_batch


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A batch and the folder of its shape space."""
    folder = tmp_path_factory.mktemp("collection")
    write_batch(folder / "results")
    doubtful = folder / "results" / "scan3" / "result.json"
    doubtful.write_text(doubtful.read_text().replace('"status": "ok"', '"status": "doubtful: x"'))
    (folder / "marks.csv").write_text("name,vertex\na,3\nb,50\nc,200\n")
    write_summary(folder / "results", [SummaryRow("scan9", "skipped", "not tried yet")])
    arguments = ["shapes", folder / "results", "--landmarks", folder / "marks.csv", "--out"]
    out = folder / "space"
    outcome = CliRunner().invoke(
        app, [*map(str, arguments), str(out), "--jobs", "1", "--quiet", "--json"]
    )
    assert outcome.exit_code == 0, outcome.output
    return folder, out, json.loads(outcome.stdout)


def test_the_folder_holds_what_python_loads(made):
    _, out, told = made
    space = nho.ShapeSpace.load(out)
    assert told["shapes"] == len(space.names) == 8
    assert told["components"] == len(space.model.variances)
    with open(out / "scores.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["name"] for row in rows] == list(space.names)
    np.testing.assert_allclose([float(row["pc1"]) for row in rows], space.scores[:, 0], rtol=1e-6)
    errors = [float(row["pc1_error"]) for row in rows]
    np.testing.assert_allclose(errors, space.score_errors[:, 0], rtol=1e-6)
    mean = nho.Mesh.read(out / "mean.ply")
    np.testing.assert_array_equal(mean.faces, TEMPLATE.faces)


def test_morph_targets_are_one_standard_deviation(made):
    _, out, _ = made
    space = nho.ShapeSpace.load(out)
    data = (out / "shapes.glb").read_bytes()
    assert data[:4] == b"glTF" and struct.unpack("<I", data[8:12])[0] == len(data)
    length = struct.unpack("<I", data[12:16])[0]
    document = json.loads(data[20 : 20 + length])
    binary = data[28 + length :]
    targets = document["meshes"][0]["primitives"][0]["targets"]
    assert len(targets) == len(space.model.variances)
    accessor = document["accessors"][targets[0]["POSITION"]]
    view = document["bufferViews"][accessor["bufferView"]]
    start = view["byteOffset"]
    found = np.frombuffer(binary[start : start + view["byteLength"]], "<f4").reshape(-1, 3)
    expected = np.sqrt(space.model.variances[0]) * space.model.modes[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_landmarks_of_all_scans_come_with_na(made):
    _, out, _ = made
    table = read_specimens(out / "landmarks.csv")
    assert table.landmarks == ("a", "b", "c") and len(table.names) == 8
    assert np.isnan(table.positions).any() and np.isfinite(table.positions).any()
    np.testing.assert_array_equal(read_specimens(out / "landmarks.tps").positions, table.positions)


def test_the_page_asks_the_network_for_nothing_and_escapes_names(made):
    _, out, _ = made
    page = (out / "shapes.html").read_text()
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert 'data-component="0"' in page and "scan3" in page


def test_doubtful_scans_are_named(made):
    assert made[2]["suspicious"] == {"scan3": ["doubtful: x"]}


def test_pairs_without_a_result_are_named(made):
    assert "scan9: left out, skipped: not tried yet" in (made[1] / "shapes.html").read_text()


def test_a_folder_with_other_files_is_refused(made):
    folder, _, _ = made
    outcome = CliRunner().invoke(
        app, ["shapes", str(folder / "results"), "--out", str(folder), "--quiet"]
    )
    assert isinstance(outcome.exception, InputError)


def scan_fit(**changes):
    given = {
        "positions": np.empty((0, 3)),
        "weights": np.empty(0),
        "distance": 0.01,
        "scan_distance": 0.02,
        "scan_size": 10.0,
        "coverage": 0.5,
        "anchor_error": np.full(6, 0.05),
        "status": "ok",
        "confidence": 0.9,
        "suspects": 0,
        "template": "x",
    }
    return ScanFit(**{**given, **changes})


def test_the_worst_scan_comes_first_with_its_reasons():
    fits = {f"s{i}": scan_fit(distance=0.01 + 0.001 * i) for i in range(8)}
    fits["far"] = scan_fit(scan_distance=0.5)
    fits["wrong"] = scan_fit(status="doubtful: mirrored")
    fits["slip"] = scan_fit(anchor_error=np.array([0.05, 0.06, 0.04, 0.05, 3.0, 0.05]))
    found = judged(fits)
    assert {each.name for each in found[:3]} == {"far", "wrong", "slip"}
    reasons = {each.name: "; ".join(each.reasons) for each in found}
    assert "times as far from the fitted template" in reasons["far"]
    assert "mirrored" in reasons["wrong"] and "anchor 4 is far" in reasons["slip"]
    assert all(not each.reasons for each in found[3:])
