"""No command overwrites what it reads, by whatever name; it says so before it computes."""

import os

import pytest

from tests.faults.given import make_pairs, match_words
from tests.faults.running import one_sentence, run_here
from tests.fuzz import seeds


@pytest.fixture
def place(tmp_path):
    """Two pairs, their table and a result, and what is in all files."""
    make_pairs(tmp_path, 2, level=1)
    (tmp_path / "D").mkdir()
    for role, name in (("partial", "scan0"), ("full", "full0")):
        os.rename(tmp_path / f"{name}.ply", tmp_path / "D" / f"{role}.ply")
        (tmp_path / f"{name}.ply").symlink_to(tmp_path / "D" / f"{role}.ply")
    (tmp_path / "result").mkdir()
    seeds.result().save(tmp_path / "result")
    (tmp_path / "truth.map").write_text("0\n")
    (tmp_path / "hard").mkdir()
    os.link(tmp_path / "D" / "partial.ply", tmp_path / "hard" / "partial.ply")
    os.link(tmp_path / "D" / "partial.ply", tmp_path / "hard.ply")
    os.link(tmp_path / "anchors0.csv", tmp_path / "hard.csv")
    (tmp_path / "pose").symlink_to(tmp_path / "D")
    return tmp_path


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


MESHES = ["scan0.ply", "full0.ply"]
CASES = [
    *(
        ["match", *MESHES, "--anchors", "anchors0.csv", "--out", out]
        for out in ("D", "pose", "hard")
    ),
    ["match", "D/partial.ply", "D/full.ply", "--anchors", "auto", "--out", "D"],
    ["match", *MESHES, "--anchors", "auto", "--set", "checkpoints=result/result.npz"]
    + ["--out", "result"],
    *(["transfer", "result", *MESHES, "--from", "full", "--out", out] for out in MESHES),
    ["transfer", "result", *MESHES, "--from", "full", "--out", "hard.ply"],
    ["transfer", "result", *MESHES, "--from", "full", "--out", "result/result.npz"],
    ["transfer", "result", *MESHES, "--from", "full", "--out", "truth.csv", "--data", "truth.csv"],
    ["transfer", "result", *MESHES, "--from", "full", "--landmarks", "anchors0.csv", "hard.csv"],
    ["fit", "result", *MESHES, "--out", "full0.ply"],
    ["fit", "result", *MESHES, "--out", "pose/full.ply"],
    ["anchors", "convert", "anchors0.csv", "--out", "hard.csv"],
    ["anchors", "convert", "anchors0.csv", "--out", "new.csv", "--out", "anchors0.csv"],
    ["anchors", "sample", "scan0.ply", "--full", "full0.ply", "--ground-truth", "truth.csv"]
    + ["--out", "truth.csv"],
    ["anchors", "find", *MESHES, "--checkpoints", "anchors1.csv", "--out", "anchors1.csv"],
    ["bench", "--data", "D", "--out", "pose"],
    ["bench", "--data", ".", "--study", "speed", "--out", "D/new"],
]


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_command_refuses_to_overwrite_its_inputs(place, words, monkeypatch):
    monkeypatch.chdir(place)
    os.link("truth.map", "truth.csv")
    before = content(place)
    code, _, err = run_here(*words)
    one_sentence(code, err, "input", "give another --out")
    assert content(place) == before


def test_other_files_in_the_folder_of_a_result_may_be_written_again(place, monkeypatch):
    from nho.cli import transfer

    monkeypatch.chdir(place)
    (place / "result" / "fitted.ply").write_text("of an earlier run")

    class WentOnError(Exception):
        pass

    def go_on(*_):
        raise WentOnError

    monkeypatch.setattr(transfer, "load_for", go_on)
    with pytest.raises(WentOnError):
        run_here("fit", "result", *MESHES, "--out", "result/fitted.ply")


def test_data_and_landmarks_need_two_files(place, monkeypatch):
    monkeypatch.chdir(place)
    words = ["transfer", "result", *MESHES, "--from", "full", "--out", "new.csv"]
    code, _, err = run_here(*words, "--landmarks", "anchors0.csv", "./new.csv")
    one_sentence(code, err, "new.csv", "give two names")


def test_a_material_of_another_mesh_is_kept(tmp_path):
    from nho.errors import InputError
    from nho.io.attributes import read_with_attributes, write_with_attributes

    (tmp_path / "new.mtl").write_text("newmtl mine\n")
    (tmp_path / "in.obj").write_text(
        "mtllib new.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "b.mtl").write_text("newmtl a\nmap_Kd a.png\n")
    (tmp_path / "b.obj").write_text(
        "mtllib b.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    )
    mesh, attributes = read_with_attributes(tmp_path / "b.obj")
    assert attributes.textures
    with pytest.raises(InputError, match=r"new\.mtl: already exists with different content"):
        write_with_attributes(tmp_path / "new.obj", mesh, attributes)
    assert (tmp_path / "new.mtl").read_text() == "newmtl mine\n"
    assert not (tmp_path / "new.obj").exists()


def test_a_batch_refuses_a_folder_with_inputs_and_runs_the_other_pairs(place, monkeypatch):
    monkeypatch.chdir(place)
    rows = ["name,partial,full,anchors", "D,D/partial.ply,D/full.ply,anchors0.csv"]
    (place / "pairs.csv").write_text(
        "\n".join([*rows, "b,scan1.ply,full1.ply,anchors1.csv"]) + "\n"
    )
    before = content(place / "D")
    code, _, err = run_here(
        "batch", "pairs.csv", "--out", ".", "--jobs", 1, "--no-report", "--quiet"
    )
    assert code == 1 and "failed: D: " in err and "holds an input" in err and "b:" not in err
    assert content(place / "D") == before and (place / "b" / "result.npz").exists()


@pytest.mark.parametrize("name", ["summary.csv", ".batch/done/a.json"])
def test_a_batch_refuses_to_overwrite_its_table(place, name, monkeypatch):
    monkeypatch.chdir(place)
    (place / ".batch" / "done").mkdir(parents=True)
    text = "partial,full,anchors\nscan1.ply,full1.ply,anchors1.csv\n"
    (place / name).write_text(text)
    code, _, err = run_here("batch", name, "--out", ".")
    one_sentence(code, err, "input", "give another --out")
    assert (place / name).read_text() == text


def test_a_match_may_be_repeated_into_its_own_folder(place, monkeypatch):
    monkeypatch.chdir(place)
    for _ in range(2):
        code, _, err = run_here(*match_words(place, 1, place / "out", "--quiet"))
        assert code == 0, err
