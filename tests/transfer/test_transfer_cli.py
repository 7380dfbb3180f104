"""`nho transfer` and `nho fit`: files in, files out, and one sentence for what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from typer.testing import CliRunner

from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import (
    Attributes,
    Texture,
    read_data,
    read_with_attributes,
    write_with_attributes,
)
from nho.io.landmarks import Landmarks, read_landmarks, write_landmarks
from nho.report.result_folder import write_outputs
from nho.transfer import Transfer
from tests.transfer.made import match_of_cut, random_points


@pytest.fixture
def pair(tmp_path, piece, whole):
    """A result folder beside the files that were matched; the template has something on it."""
    scan, template = tmp_path / "scan.ply", tmp_path / "template.ply"
    piece.mesh.write(scan)
    n = whole.n_vertices
    given = Attributes(
        vertex={
            "label": np.arange(n) % 7,
            "height": whole.vertices[:, 2],
            "color": np.random.default_rng(0).integers(0, 256, (n, 3), dtype=np.uint8),
        },
        face={"patch": np.arange(whole.n_faces) % 5},
    )
    write_with_attributes(template, whole, given)
    result = match_of_cut(piece, whole)
    timed = type(result)(
        **result.arrays(), anchors=result.anchors, settings=result.settings, timings={"total": 1.0}
    )
    write_outputs(tmp_path / "result", Mesh.read(scan), Mesh.read(template), timed, report=False)
    return tmp_path, given


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def transfer(folder, *more, side="full"):
    files = (folder / "result", folder / "scan.ply", folder / "template.ply")
    return run("transfer", *files, "--from", side, *more)


def refused(folder, message, *more, **options):
    outcome = transfer(folder, *more, **options)
    assert isinstance(outcome.exception, InputError), outcome.output
    assert message in str(outcome.exception)


def test_everything_on_the_template_comes_to_the_scan(pair, piece):
    folder, given = pair
    outcome = transfer(folder, "--out", folder / "out.ply")
    assert outcome.exit_code == 0, outcome.output
    assert "label (label)" in outcome.output and "385 of 385 vertices of scan.ply" in outcome.output
    mesh, found = read_with_attributes(folder / "out.ply")
    np.testing.assert_array_equal(mesh.vertices, piece.mesh.vertices)
    np.testing.assert_array_equal(mesh.faces, piece.mesh.faces)
    for name, values in given.vertex.items():
        np.testing.assert_array_equal(found.vertex[name], values[piece.vertex_of_parent])
    np.testing.assert_array_equal(found.face["patch"], given.face["patch"][piece.face_of_parent])
    assert found.vertex["transferred"].all()


def test_a_result_of_an_older_version_with_settings_json_is_used(pair):
    folder = pair[0]
    (folder / "result" / "result.json").rename(folder / "result" / "settings.json")
    assert transfer(folder, "--out", folder / "labelled.ply").exit_code == 0
    (folder / "template.ply").write_bytes((folder / "scan.ply").read_bytes())
    refused(folder, "is not the full mesh", "--out", folder / "never.ply")


def test_what_the_target_has_stays_unless_it_is_replaced(pair, piece):
    folder, _ = pair
    own = Attributes(vertex={"mine": np.arange(385), "label": np.full(385, 99)})
    write_with_attributes(folder / "scan.ply", piece.mesh, own)
    transfer(folder, "--out", folder / "out.ply")
    _, found = read_with_attributes(folder / "out.ply")
    assert found.vertex["mine"].tolist() == list(range(385))
    assert 99 not in found.vertex["label"]


@pytest.mark.parametrize("suffix", [".obj", ".glb", ".vtp", ".npz", ".csv"])
def test_the_suffix_chooses_the_format(pair, suffix):
    folder, _ = pair
    outcome = transfer(folder, "--out", folder / f"out{suffix}", "--json")
    assert outcome.exit_code == 0 and (folder / f"out{suffix}").stat().st_size > 0
    told = json.loads(outcome.stdout.splitlines()[-1])
    assert told["with_data"] == told["vertices"] == 385


def test_a_table_on_the_scan_comes_to_the_template(pair, piece, whole):
    folder, _ = pair
    rows = "".join(f"{i},{i}.5,{'left' if i % 2 else 'right'}\n" for i in range(385))
    (folder / "data.csv").write_text("vertex,thickness,side\n" + rows)
    outcome = transfer(
        folder, "--data", folder / "data.csv", "--out", folder / "out.csv", side="partial"
    )
    assert outcome.exit_code == 0, outcome.output
    found = read_data(folder / "out.csv", whole).vertex
    np.testing.assert_array_equal(found["thickness"][piece.vertex_of_parent], np.arange(385) + 0.5)
    assert np.isnan(found["thickness"][~piece.kept_vertices]).all()
    assert (found["side"][~piece.kept_vertices] == "").all()
    np.testing.assert_array_equal(found["transferred"], piece.kept_vertices)
    # With --data, what is in the mesh file stays behind; the target's own data stay.
    assert "height" in found


def test_a_selection_goes_as_a_list_of_vertices(pair, piece):
    folder, _ = pair
    chosen = piece.vertex_of_parent[:5]
    (folder / "picked.txt").write_text(" ".join(map(str, chosen)))
    transfer(folder, "--data", folder / "picked.txt", "--out", folder / "out.txt")
    found = read_data(folder / "out.txt", piece.mesh).vertex["out"]
    assert np.flatnonzero(found).tolist() == [0, 1, 2, 3, 4]


def test_names_choose_what_is_carried_and_what_it_means(pair, piece):
    folder, given = pair
    transfer(folder, "--only", "label,color", "--scalars", "label", "--out", folder / "out.ply")
    _, found = read_with_attributes(folder / "out.ply")
    assert set(found.vertex) == {"label", "color", "transferred"} and not found.face
    assert found.vertex["label"].dtype.kind == "f"
    np.savez(folder / "labels.npz", part=np.arange(642.0) // 10)
    transfer(folder, "--data", folder / "labels.npz", "--labels", "part", "--out", folder / "b.ply")
    _, found = read_with_attributes(folder / "b.ply")
    assert found.vertex["part"].dtype.kind == "i"
    np.testing.assert_array_equal(found.vertex["part"], piece.vertex_of_parent // 10)


def test_texture_is_carried_with_its_image_or_as_colours(pair, piece, whole):
    folder, _ = pair
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 4), (10, 200, 30)).save(folder / "skin.png")
    data = (folder / "skin.png").read_bytes()
    uv = np.random.default_rng(0).random((whole.n_faces, 3, 2))
    textured = Attributes(uv=uv, textures=(Texture("skin.png", data),))
    write_with_attributes(folder / "template.ply", whole, textured)
    transfer(folder, "--out", folder / "out.obj")
    _, found = read_with_attributes(folder / "out.obj")
    np.testing.assert_allclose(found.uv, uv[piece.face_of_parent], atol=1e-6)
    assert found.textures[0].data == data
    transfer(folder, "--bake", "--out", folder / "out.ply")
    _, found = read_with_attributes(folder / "out.ply")
    assert found.uv is None and (found.vertex["color"] == (10, 200, 30)).all()


def test_landmarks_go_from_file_to_file(pair, piece, whole):
    folder, _ = pair
    outside = np.flatnonzero(~piece.kept_vertices)[0]
    points = random_points(piece.mesh, 4)
    on_template = np.concatenate(
        [points.positions(piece.mesh), whole.vertices[[outside]]]  # the piece was only cut out
    )
    lines = [f"{name},{x},{y},{z}" for name, (x, y, z) in zip("abcde", on_template.tolist())]
    (folder / "in.csv").write_text("\n".join(["name,x,y,z", *lines]))
    outcome = transfer(folder, "--landmarks", folder / "in.csv", folder / "out.csv")
    assert outcome.exit_code == 0, outcome.output
    assert "nothing is matched: e" in outcome.output
    assert "transferred 4 of 5 landmarks" in outcome.output
    found = read_landmarks(folder / "out.csv")
    assert found.names == ("a", "b", "c", "d", "e")
    assert found.defined.tolist() == [True] * 4 + [False]
    np.testing.assert_allclose(found.position[:4], on_template[:4], atol=1e-9)
    header, *_, last = (folder / "out.csv").read_text().splitlines()
    assert (
        header == ("name,x,y,z,status,confidence,expected_error,standard_error,error_95")
        and last == "e,NA,NA,NA,missing,NA,NA,NA,NA"
    )
    outcome = transfer(folder, "--landmarks", folder / "in.csv", folder / "out.tps", "--predict")
    assert "predicted 1" in outcome.output and "has no room for status" in outcome.output
    places = read_landmarks(folder / "out.tps").position
    assert np.linalg.norm(places[4] - on_template[4]) < 0.1 * whole.diagonal


def test_predict_without_landmarks_says_what_goes_with_it(pair):
    folder, _ = pair
    refused(folder, "it goes with --from full --landmarks IN OUT", "--predict")


def test_the_map_is_written_as_a_table_and_as_matrices(pair, piece, whole):
    folder, _ = pair
    result = match_of_cut(piece, whole)
    values = np.random.default_rng(0).normal(size=(whole.n_vertices, 2))
    carry = Transfer(result, piece.mesh, whole)
    expected = np.nan_to_num(carry.vertices(values).values)
    assert transfer(folder, "--map", folder / "map.npz").exit_code == 0
    assert transfer(folder, "--map", folder / "map.mtx").exit_code == 0
    assert transfer(folder, "--map", folder / "map.csv").exit_code == 0
    for matrix in (sp.load_npz(folder / "map.npz"), scipy.io.mmread(folder / "map.mtx")):
        assert matrix.shape == (piece.mesh.n_vertices, whole.n_vertices)
        np.testing.assert_allclose(matrix @ values, expected, atol=1e-12)
    table = np.genfromtxt(folder / "map.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(np.nan_to_num(table["nearest"], nan=-1), result.vertex_map)
    np.testing.assert_array_equal(np.nan_to_num(table["face"], nan=-1), result.face)
    np.testing.assert_array_equal(table["overlap"], result.overlap)
    refused(folder, "a map is written as", "--map", folder / "map.xyz")


def test_a_ply_file_as_text_holds_the_same(pair):
    folder, _ = pair
    transfer(folder, "--out", folder / "binary.ply")
    transfer(folder, "--out", folder / "text.ply", "--ascii")
    assert (folder / "text.ply").read_text(encoding="ascii").startswith("ply\nformat ascii 1.0\n")
    (first, one), (second, other) = map(
        read_with_attributes, (folder / "binary.ply", folder / "text.ply")
    )
    np.testing.assert_array_equal(first.vertices, second.vertices)
    np.testing.assert_array_equal(first.faces, second.faces)
    assert one.vertex.keys() == other.vertex.keys() and one.vertex
    for name, values in one.vertex.items():
        np.testing.assert_array_equal(values, other.vertex[name])
    refused(folder, "only PLY is written as text", "--out", folder / "text.obj", "--ascii")


def test_landmarks_of_the_scan_come_to_the_template(pair, piece, whole):
    folder, _ = pair
    given = Landmarks.at(piece.mesh, random_points(piece.mesh, 3), ["a", "b", "c"])
    write_landmarks(folder / "in.pp", given, piece.mesh)
    transfer(folder, "--landmarks", folder / "in.pp", folder / "out.json", side="partial")
    places = read_landmarks(folder / "out.json").on(whole)[0].positions(whole)
    expected = random_points(piece.mesh, 3).positions(piece.mesh)
    np.testing.assert_allclose(places, expected, atol=1e-6)


def test_meshes_other_than_those_matched_are_refused_by_their_content(pair, piece):
    folder, _ = pair
    moved = Mesh(piece.mesh.vertices + 1e-9, piece.mesh.faces)
    moved.write(folder / "scan.ply")
    refused(
        folder, "scan.ply: this is not the partial mesh of the result", "--out", folder / "out.ply"
    )
    assert not (folder / "out.ply").exists()
    swapped = run(
        "transfer",
        folder / "result",
        folder / "template.ply",
        folder / "scan.ply",
        "--from",
        "full",
        "--out",
        folder / "out.ply",
    )
    assert isinstance(swapped.exception, InputError)


def test_swapped_meshes_are_told_apart(pair):
    folder, _ = pair
    outcome = run(
        "fit",
        folder / "result",
        folder / "template.ply",
        folder / "scan.ply",
        "--out",
        folder / "out.ply",
    )
    assert "give the partial mesh first" in str(outcome.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to do"),
        (["--out", "out.stl"], "not as '.stl'"),
        (["--out", "missing/out.ply"], "in a folder that exists"),
        (["--out", "out.ply", "--only", "lable"], "no attribute 'lable'; it has label"),
        (["--out", "out.ply", "--labels", "height"], "'height' holds"),
        (["--out", "out.ply", "--data", "nothing.csv"], "there is no such file"),
        (["--out", "out.ply", "--bake"], "there is no texture"),
        (
            ["--out", "out.ply", "--min-confidence", "2"],
            "min_confidence is 2; give a number from 0 to 1",
        ),
        (["--landmarks", "in.csv", "out.doc"], "out.doc"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(pair, monkeypatch, arguments, message):
    folder, _ = pair
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    refused(folder, message, *arguments)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_side_that_does_not_exist_is_refused(pair):
    refused(pair[0], "--from is 'left'", "--out", pair[0] / "out.ply", side="left")


def test_a_bare_mesh_has_nothing_to_carry(pair):
    folder, _ = pair
    refused(folder, "there is nothing on it to transfer", "--out", folder / "a.ply", side="partial")


def test_a_fitted_template_keeps_its_data(pair, whole):
    folder, given = pair
    outcome = run(
        "fit",
        folder / "result",
        folder / "scan.ply",
        folder / "template.ply",
        "--out",
        folder / "fitted.ply",
        "--quiet",
    )
    assert outcome.exit_code == 0, outcome.output
    mesh, found = read_with_attributes(folder / "fitted.ply")
    np.testing.assert_array_equal(mesh.faces, whole.faces)
    np.testing.assert_allclose(mesh.vertices, whole.vertices, atol=1e-4)
    for name, values in given.vertex.items():
        np.testing.assert_array_equal(found.vertex[name], values)
    np.testing.assert_array_equal(found.face["patch"], given.face["patch"])
    assert 0 < found.vertex["on_scan"].sum() < whole.n_vertices


def test_a_fit_tells_how_close_it_is(pair):
    folder, _ = pair
    files = (folder / "result", folder / "scan.ply", folder / "template.ply")
    outcome = run("fit", *files, "--out", folder / "fitted.npz", "--quiet", "--json")
    told = json.loads(outcome.stdout.splitlines()[-1])
    assert told["p95_distance_percent"] < 0.01 and told["inverted_faces"] == 0
    table = run("fit", *files, "--out", folder / "fitted.csv")
    assert "a fitted template is a mesh" in str(table.exception)
