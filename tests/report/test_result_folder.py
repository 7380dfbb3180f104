"""The output folder: all of it or nothing, exactly as promised, in the order given."""

import dataclasses
import json
import os
import shutil
import stat
import sys

import numpy as np
import pytest

import nho.report.result_folder
import nho.runtime.atomic_folder
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import cut_by_plane, sphere
from nho.pipeline.matching import match
from nho.problem.result import MatchResult
from nho.report.colours import position_colours, region_colours, transfer_colours, with_no_partner
from nho.report.result_folder import FILES, check_folder, write_outputs
from nho.settings import Settings, preset
from tests.links import link_to

PUT = "runtime.atomic_folder._put_in_place"
QUICK = preset("paper").replace(
    fit_steps=2, rounds=1, refine_steps=2, refine_last=30, galerkin_modes=40
)


@pytest.fixture(scope="module")
def pair():
    """A partial mesh with a loose vertex in front and a shuffled full mesh, and their match."""
    ball = sphere(2)
    shuffle = np.random.default_rng(0).permutation(len(ball.vertices))
    place = np.argsort(shuffle)
    full = Mesh((ball.vertices * [1, 1.3, 1.7])[shuffle], place[ball.faces], "template.obj")
    cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
    vertices = np.vstack([[[0.0, 0.0, 0.1]], cut.mesh.vertices])
    partial = Mesh(vertices, cut.mesh.faces + 1, "scan.ply")
    chosen = np.arange(0, len(cut.mesh.vertices), 9)
    anchors = np.stack([chosen + 1, cut.vertex_of_parent[chosen]], axis=1)
    return partial, full, match(partial, full, anchors, QUICK)


@pytest.fixture(scope="module")
def written(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs") / "new" / "result"
    write_outputs(folder, *pair)
    return folder


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def ply_table(path):
    """Positions, colours and faces of a binary PLY, read by the letter of its header."""
    header, _, body = path.read_bytes().partition(b"end_header\n")
    lines = header.decode().splitlines()
    n, m = (int(line.split()[2]) for line in lines if line.startswith("element"))
    properties = [line.split()[1:] for line in lines if line.startswith("property")]
    assert properties[:6] == [
        *(["double", axis] for axis in "xyz"),
        *(["uchar", channel] for channel in ("red", "green", "blue")),
    ]
    rows = np.frombuffer(body, dtype=[("xyz", "<f8", 3), ("rgb", "u1", 3)], count=n)
    kind = [("count", "u1"), ("face", "<i4", 3)]
    faces = np.frombuffer(body, dtype=kind, count=m, offset=rows.nbytes)
    assert len(body) == rows.nbytes + faces.nbytes
    return rows["xyz"], rows["rgb"], faces["face"]


def test_the_folder_holds_the_five_files_and_nothing_beside_it(written):
    assert names(written) == sorted(FILES)
    assert names(written.parent) == ["result"]


def test_the_arrays_keep_the_contract(pair, written):
    partial, full, result = pair
    n, m = len(partial.vertices), len(full.vertices)
    expected = {
        "vertex_map": ("i", (n,)),
        "face": ("i", (n,)),
        "barycentric": ("f", (n, 3)),
        "confidence": ("f", (n,)),
        "overlap": ("f", (n,)),
        "region": ("b", (m,)),
        "region_score": ("f", (m,)),
    }
    with np.load(written / "result.npz", allow_pickle=False) as stored:
        arrays = dict(stored)
    assert {k: (v.dtype.kind, v.shape) for k, v in arrays.items()} == expected
    for name, array in arrays.items():
        assert np.array_equal(array, getattr(result, name), equal_nan=array.dtype.kind == "f")
    matched = arrays["vertex_map"] >= 0
    assert not matched[0] and matched[1:].all()  # only the loose vertex has no match
    assert np.array_equal(matched, arrays["face"] >= 0)
    assert arrays["vertex_map"].max() < m and arrays["face"].max() < len(full.faces)
    assert np.array_equal(np.isnan(arrays["barycentric"]).all(axis=1), ~matched)
    np.testing.assert_allclose(arrays["barycentric"][matched].sum(axis=1), 1)
    for name in ("confidence", "region_score"):
        assert (arrays[name] >= 0).all() and (arrays[name] <= 1).all()
    # The vertex is a corner of the face: both are in the full file's own order.
    corners = full.faces[arrays["face"][matched]]
    assert (corners == arrays["vertex_map"][matched][:, None]).any(axis=1).all()


def test_result_json_is_enough_to_run_again(pair, written):
    partial, full, result = pair

    def not_a_number(text):
        raise AssertionError(f"{text} is not JSON")

    text = (written / "result.json").read_text(encoding="utf-8")
    about = json.loads(text, parse_constant=not_a_number)
    assert Settings.from_dict(about["settings"]) == result.settings
    assert set(about["settings"]) == set(Settings().as_dict())
    assert about["status"] == result.status and about["warnings"] == list(result.warnings)
    assert about["timings"] == result.timings and "total" in about["timings"]
    assert about["anchors"] == result.anchors.tolist()
    assert {"nho", "python", "numpy", "scipy"} <= set(about["versions"])
    for role, mesh in (("partial", partial), ("full", full)):
        assert about["inputs"][role] == {
            "name": mesh.name,
            "vertices": len(mesh.vertices),
            "faces": len(mesh.faces),
            "blake2b": mesh.digest(),
        }
    again = match(partial, full, np.array(about["anchors"]), Settings.from_dict(about["settings"]))
    assert np.array_equal(again.vertex_map, result.vertex_map)
    assert np.array_equal(again.region_score, result.region_score)


def test_the_coloured_meshes_keep_the_given_order_and_mark_the_region(pair, written):
    partial, full, result = pair
    colours = position_colours(full)
    transferred = transfer_colours(full, result, colours)
    for name, mesh, expected in (
        ("full.ply", full, region_colours(colours, result.region)),
        ("partial.ply", partial, with_no_partner(transferred, result)),
    ):
        xyz, rgb, faces = ply_table(written / name)
        assert np.array_equal(xyz, mesh.vertices) and np.array_equal(faces, mesh.faces)
        assert np.array_equal(rgb, expected)
    # Where a point lies exactly on a full vertex, it has its colour.
    at_vertex = np.nan_to_num(result.barycentric).max(axis=1) == 1
    assert at_vertex.any() and not at_vertex[0]
    _, partial_rgb, _ = ply_table(written / "partial.ply")
    assert np.array_equal(partial_rgb[at_vertex], colours[result.vertex_map[at_vertex]])


def test_the_report_is_one_page_that_asks_the_network_for_nothing(written):
    html = (written / "report.html").read_text(encoding="utf-8")
    assert html.lstrip().lower().startswith("<!doctype html")
    for outside in ('src="http', "src='http", 'href="http', "@import", "cdn."):
        assert outside not in html


def test_a_written_result_is_loaded_again(pair, written):
    loaded = MatchResult.load(written)
    assert np.array_equal(loaded.vertex_map, pair[2].vertex_map)
    assert loaded.settings == pair[2].settings


def test_an_earlier_result_is_replaced_and_nothing_of_it_stays(pair, earlier):
    folder, tmp_path = earlier, earlier.parent
    write_outputs(folder, *pair)
    assert names(folder) == sorted(FILES) and names(tmp_path) == ["result"]
    assert (folder / "report.html").read_text() != "old"
    write_outputs(folder, *pair)
    assert names(folder) == sorted(FILES) and names(tmp_path) == ["result"]


@pytest.fixture
def earlier(written, tmp_path):
    """A result with another report."""
    folder = tmp_path / "result"
    shutil.copytree(written, folder)
    (folder / "report.html").write_text("old")
    return folder


NO_RESULTS = {
    "meshes": {},
    "an empty object": {"result.json": b"{}", "result.npz": b""},
    "no arrays": {"result.json": None},
    "arrays alone": {"result.npz": None},
    "damaged arrays": {"result.json": None, "result.npz": b"PK"},
    "a list": {"result.json": b"[]", "result.npz": None},
    "settings of another program": {"settings.json": b'{"theme": "dark"}', "result.npz": None},
}


@pytest.mark.parametrize("what", NO_RESULTS)
def test_files_with_our_names_that_are_no_result_of_ours_are_kept(pair, written, tmp_path, what):
    folder = tmp_path / "mine"
    folder.mkdir()
    mine = {"partial.ply": b"years", "full.ply": b"of work", **NO_RESULTS[what]}
    for name, content in mine.items():
        (folder / name).write_bytes((written / name).read_bytes() if content is None else content)
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    with pytest.raises(InputError, match=r"mine: holds full\.ply but no result that nho wrote"):
        write_outputs(folder, *pair)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before
    assert names(tmp_path) == ["mine"]


def test_a_result_that_is_exchanged_while_it_is_looked_at_is_no_stranger(earlier, monkeypatch):
    looked = []

    def seen_during_exchange(folder):
        looked.append(folder)
        if len(looked) == 1:
            other = folder.with_name("other")
            shutil.copytree(folder, other)
            shutil.rmtree(folder)
            other.rename(folder)
            return False
        return holds_result(folder)

    holds_result = nho.report.result_folder.holds_result
    monkeypatch.setattr(nho.report.result_folder, "holds_result", seen_during_exchange)
    check_folder(earlier)
    assert len(looked) == 2


def test_an_older_result_with_settings_json_is_replaced_and_nothing_of_it_stays(
    pair, written, tmp_path
):
    folder = tmp_path / "result"
    shutil.copytree(written, folder)
    (folder / "result.json").rename(folder / "settings.json")
    check_folder(folder)
    write_outputs(folder, *pair)
    assert names(folder) == sorted(FILES)


def test_an_empty_folder_is_used(pair, tmp_path):
    (tmp_path / "result").mkdir()
    write_outputs(tmp_path / "result", *pair)
    assert names(tmp_path / "result") == sorted(FILES)


def test_a_folder_with_other_files_is_refused_and_left_alone(pair, tmp_path):
    folder = tmp_path / "result"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    (folder / "report.html").write_text("old")
    with pytest.raises(InputError, match=r"result: holds other files \(thesis\.tex\)"):
        check_folder(folder)
    with pytest.raises(InputError, match="thesis.tex"):
        write_outputs(folder, *pair)
    assert names(folder) == ["report.html", "thesis.tex"] and names(tmp_path) == ["result"]
    assert (folder / "report.html").read_text() == "old"


def test_a_file_in_place_of_the_folder_is_refused(pair, tmp_path):
    (tmp_path / "result").write_text("a file")
    with pytest.raises(InputError, match="is a file"):
        write_outputs(tmp_path / "result", *pair)
    assert (tmp_path / "result").read_text() == "a file"


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    "step", ["report.result_folder.render_report", "report.result_folder.view_colours", PUT]
)
@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt()])
def test_a_failure_in_the_middle_leaves_nothing_behind(
    pair, tmp_path, monkeypatch, step, error, again, request
):
    folder = request.getfixturevalue("earlier") if again else tmp_path / "result"

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(f"nho.{step}", fail)
    with pytest.raises(type(error)):
        write_outputs(folder, *pair)
    if again:
        assert names(tmp_path) == ["result"] and names(folder) == sorted(FILES)
        assert (folder / "report.html").read_text() == "old"
    else:
        assert names(tmp_path) == []


def test_a_full_disk_is_reported_and_leaves_nothing(pair, tmp_path, monkeypatch):
    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MatchResult, "save", full_disk)
    with pytest.raises(InputError, match="result: cannot be written .No space left on device"):
        write_outputs(tmp_path / "result", *pair)
    assert names(tmp_path) == []


def test_the_earlier_result_returns_if_the_swap_fails(pair, earlier, monkeypatch):
    folder, tmp_path = earlier, earlier.parent
    rename = os.rename

    def fail_on_new(source, target):
        # The second rename puts the new folder in place; only that one fails.
        if os.fspath(target) == os.fspath(folder) and not os.fspath(source).endswith(".old"):
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_on_new)
    with pytest.raises(InputError, match="Input/output error"):
        write_outputs(folder, *pair)
    assert names(tmp_path) == ["result"] and names(folder) == sorted(FILES)
    assert (folder / "report.html").read_text() == "old"


def test_a_parent_that_cannot_be_written_is_refused(pair, tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(nho.runtime.atomic_folder.tempfile, "mkdtemp", forbidden)
    with pytest.raises(InputError, match="result: cannot be written .Permission denied"):
        write_outputs(tmp_path / "result", *pair)
    assert names(tmp_path) == []


def test_a_parent_that_is_a_file_is_refused(pair, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="result"):
        write_outputs(tmp_path / "file" / "result", *pair)
    assert names(tmp_path) == ["file"]


def test_folders_made_on_the_way_go_again_on_failure(pair, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(nho.report.result_folder, "render_report", fail)
    with pytest.raises(RuntimeError):
        write_outputs(tmp_path / "a" / "b" / "result", *pair)
    assert names(tmp_path) == []


def test_a_link_to_a_folder_is_followed_or_refused_but_not_lost(pair, tmp_path):
    (tmp_path / "real").mkdir()
    link_to(tmp_path / "result", tmp_path / "real")
    try:
        write_outputs(tmp_path / "result", *pair)
    except InputError:
        return
    assert names(tmp_path) == ["real", "result"]
    assert (tmp_path / "result").is_symlink() and names(tmp_path / "real") == sorted(FILES)


def test_the_current_folder_can_be_named_by_a_dot(pair, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_outputs(".", *pair)
    assert names(tmp_path) == ["here"] and names(tmp_path / "here") == sorted(FILES)


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_others_may_read_the_folder_as_the_umask_says(pair, tmp_path):
    mask = os.umask(0o022)
    try:
        write_outputs(tmp_path / "result", *pair)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "result").stat().st_mode) == 0o755


def test_metrics_reach_the_report(pair, tmp_path):
    write_outputs(tmp_path / "result", *pair, {"geodesic_error": 1.2345})
    html = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "1.234" in html or "1.235" in html


def test_meshes_of_another_result_are_refused(pair, tmp_path):
    partial, full, result = pair
    with pytest.raises(InputError):
        write_outputs(tmp_path / "result", full, partial, result)
    assert names(tmp_path) == []


def test_a_loss_that_is_not_finite_does_not_lose_the_result(pair, tmp_path):
    partial, full, result = pair
    odd = dataclasses.replace(result, curves={"fit": [{"loss": float("nan")}]})
    write_outputs(tmp_path / "result", partial, full, odd)
    assert names(tmp_path / "result") == sorted(FILES)
