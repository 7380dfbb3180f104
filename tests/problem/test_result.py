"""A result survives the disk, and a damaged one is refused instead of believed."""

import dataclasses
import json
import os

import numpy as np
import pytest

from nho.errors import InputError
from nho.problem.result import ARRAYS, MatchResult
from nho.settings import GuidedRecipe, Settings

N_PARTIAL, N_FULL = 7, 11


@pytest.fixture
def result():
    random = np.random.default_rng(0)
    barycentric = random.dirichlet([1, 1, 1], size=N_PARTIAL)
    vertex_map, face = random.integers(N_FULL, size=(2, N_PARTIAL))
    vertex_map[2], face[2], barycentric[2] = -1, -1, np.nan
    score = random.random(N_FULL)
    return MatchResult(
        vertex_map=vertex_map,
        face=face,
        barycentric=barycentric,
        confidence=random.random(N_PARTIAL),
        region=score > 0.5,
        region_score=score,
        anchors=np.array([[0, 1], [3, 4], [6, 10]]),
        settings=Settings(seed=3, recipe=GuidedRecipe(barrier_factor=12.5)),
        status="did not converge",
        warnings=("one", "zwei ü"),
        notes=("welded",),
        anchor_names=("nasion", "2", "inion"),
        timings={"total": 1.25, "fit": 0.5},
        curves={"fit": [{"loss": 1.0, "area": 0.1}, {"loss": 0.5, "area": 0.2}]},
    )


@pytest.fixture
def saved(result, tmp_path):
    result.save(tmp_path)
    return tmp_path


def refused(folder, *parts):
    with pytest.raises(InputError) as caught:
        MatchResult.load(folder)
    message = str(caught.value)
    assert str(folder) in message and all(part in message for part in parts), message


def rewrite(folder, **changes):
    with np.load(folder / "result.npz") as stored:
        arrays = {**stored, **changes}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    np.savez(folder / "result.npz", **arrays)


def rewrite_json(folder, **changes):
    path = folder / "result.json"
    about = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in about.items() if v is not None}))


def test_what_is_saved_is_what_is_loaded(result, saved):
    loaded = MatchResult.load(saved)
    for name in (*ARRAYS, "anchors"):
        before, after = getattr(result, name), getattr(loaded, name)
        assert before.dtype == after.dtype
        assert np.array_equal(before, after, equal_nan=before.dtype.kind == "f"), name
    for name in ("settings", "status", "warnings", "notes", "timings", "curves", "anchor_names"):
        assert getattr(result, name) == getattr(loaded, name), name


def test_the_folder_holds_two_files_and_the_arrays_of_the_contract(result, saved):
    assert sorted(entry.name for entry in saved.iterdir()) == ["result.json", "result.npz"]
    with np.load(saved / "result.npz", allow_pickle=False) as stored:
        assert tuple(stored) == ARRAYS
    assert tuple(result.arrays()) == ARRAYS


def test_extra_entries_are_kept_beside_the_description(result, tmp_path):
    result.save(tmp_path, versions={"nho": "1"})
    about = json.loads((tmp_path / "result.json").read_text())
    assert about["versions"] == {"nho": "1"} and about["settings"]["seed"] == 3
    assert MatchResult.load(tmp_path).settings == result.settings


def test_the_points_are_face_and_weights(result):
    assert result.points.face is result.face
    assert result.points.barycentric is result.barycentric


def test_the_mean_confidence_is_that_of_matched_vertices(result):
    n = len(result.vertex_map)
    confidence, vertex_map = np.full(n, 0.5), np.full(n, -1)
    vertex_map[:3], confidence[:3] = 0, (0.2, 0.4, np.nan)
    summary = dataclasses.replace(result, vertex_map=vertex_map, confidence=confidence).summary()
    assert summary["mean_confidence"] == pytest.approx(0.3)
    assert (summary["matched_vertices"], summary["partial_vertices"]) == (3, n)
    nowhere = dataclasses.replace(result, vertex_map=np.full(n, -1))
    assert nowhere.summary()["mean_confidence"] == 0


def test_json_never_holds_nan_or_infinity(result, tmp_path):
    def not_a_number(text):
        raise AssertionError(f"{text} is not JSON")

    curves = {"fit": [{"loss": float("nan")}, {"loss": float("inf")}, {"loss": 0.5}]}
    dataclasses.replace(result, curves=curves).save(tmp_path)
    text = (tmp_path / "result.json").read_text()
    about = json.loads(text, parse_constant=not_a_number)
    assert about["curves"]["fit"][2] == {"loss": 0.5}
    MatchResult.load(tmp_path)


def test_text_beyond_ascii_survives(saved):
    assert MatchResult.load(saved).warnings == ("one", "zwei ü")


def test_anchors_without_names_are_numbered_from_one(result, tmp_path):
    dataclasses.replace(result, anchor_names=()).save(tmp_path)
    loaded = MatchResult.load(tmp_path)
    assert [loaded.anchor_name(row) for row in range(3)] == ["1", "2", "3"]
    assert json.loads((tmp_path / "result.json").read_text())["anchor_names"] == ["1", "2", "3"]


def test_an_older_result_without_notes_and_names_is_read(saved):
    about = json.loads((saved / "result.json").read_text())
    del about["notes"], about["anchor_names"]
    (saved / "result.json").write_text(json.dumps(about))
    loaded = MatchResult.load(saved)
    assert loaded.notes == () and loaded.anchor_name(2) == "3"


def test_an_older_result_whose_description_is_called_settings_json_is_read(result, saved):
    (saved / "result.json").rename(saved / "settings.json")
    assert MatchResult.load(saved).settings == result.settings
    (saved / "result.npz").unlink()
    refused(saved, "result.npz", "missing")


def test_beside_a_new_description_an_old_one_does_not_count(result, saved):
    (saved / "settings.json").write_text("no JSON")
    assert MatchResult.load(saved).settings == result.settings


@pytest.mark.parametrize("name", ["result.npz", "result.json"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    refused(saved, name, "missing")


def test_a_missing_folder_and_a_file_are_refused(tmp_path):
    refused(tmp_path / "absent", "no result here")
    file = tmp_path / "file"
    file.write_text("x")
    refused(file)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_a_truncated_archive_is_refused(saved, share):
    path = saved / "result.npz"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(saved)


def test_a_truncated_description_is_refused(saved):
    path = saved / "result.json"
    path.write_text(path.read_text()[:100])
    refused(saved, "damaged")


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "overlap"])
def test_a_missing_array_is_refused(saved, name):
    rewrite(saved, **{name: None})
    refused(saved, name)


@pytest.mark.parametrize("name", ["anchors", "settings", "status", "warnings", "timings", "curves"])
def test_a_missing_entry_is_refused(saved, name):
    rewrite_json(saved, **{name: None})
    refused(saved, name)


@pytest.mark.parametrize("name", [n for n in ARRAYS if n not in ("vertex_map", "region")])
def test_an_array_of_the_wrong_length_is_refused(result, saved, name):
    rewrite(saved, **{name: result.arrays()[name][:-1]})
    refused(saved, name)


@pytest.mark.parametrize("name", ["vertex_map", "region"])
def test_lengths_that_disagree_are_refused(result, saved, name):
    rewrite(saved, **{name: result.arrays()[name][:-1]})
    refused(saved)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_the_wrong_type_is_refused(result, saved, name):
    wrong = {"i": np.float64, "f": np.int64, "b": np.int64}[result.arrays()[name].dtype.kind]
    with np.errstate(invalid="ignore"):
        rewrite(saved, **{name: result.arrays()[name].astype(wrong)})
    refused(saved, name)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_scalar_is_refused(saved, name):
    rewrite(saved, **{name: np.array(1.0)})
    refused(saved)


@pytest.mark.parametrize("name", ARRAYS)
def test_pickled_objects_are_refused(saved, name):
    rewrite(saved, **{name: np.array([{"a": 1}], dtype=object)})
    refused(saved)


def test_nothing_of_a_pickle_is_ever_run(saved):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(saved / "sprung"),)

    trap = np.empty(1, dtype=object)
    trap[0] = Trap()
    rewrite(saved, confidence=trap)
    refused(saved)
    assert not (saved / "sprung").exists()


def test_a_map_beyond_the_full_mesh_is_refused(result, saved):
    outside = result.vertex_map.copy()
    outside[0] = N_FULL
    rewrite(saved, vertex_map=outside)
    refused(saved, "vertex_map")


@pytest.mark.parametrize("name", ["vertex_map", "face"])
def test_a_negative_index_other_than_minus_one_is_refused(result, saved, name):
    negative = result.arrays()[name].copy()
    negative[0] = -2
    rewrite(saved, **{name: negative})
    refused(saved, name)


@pytest.mark.parametrize(
    "changes",
    [
        {"anchors": [[1, 2, 3]]},
        {"anchors": [["a", "b"]]},
        {"settings": {"seed": -1}},
        {"settings": {"no_such_setting": 1}},
        {"settings": 3},
        {"warnings": 3},
        {"notes": 3},
        {"anchor_names": ["only one"]},
        {"timings": [1]},
    ],
)
def test_a_description_of_another_form_is_refused(saved, changes):
    rewrite_json(saved, **changes)
    refused(saved)


def test_result_json_that_is_no_object_is_refused(saved):
    (saved / "result.json").write_text("[1, 2]")
    refused(saved)
