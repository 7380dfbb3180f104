"""Outputs are compared with inputs by what they are, whatever they are called."""

import os

import pytest

from nho.errors import InputError
from nho.runtime.input_protection import NO_INPUTS, InputFiles, listed_files


@pytest.fixture
def place(tmp_path):
    """A scan in a folder, and other ways to it."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    scan = tmp_path / "in" / "deep" / "scan.ply"
    scan.write_text("years of work")
    (tmp_path / "link.ply").symlink_to(scan)
    os.link(scan, tmp_path / "hard.ply")
    (tmp_path / "folder").symlink_to(tmp_path / "in")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "partial.ply").symlink_to(scan)
    (tmp_path / "more").mkdir()
    os.link(scan, tmp_path / "more" / "full.ply")
    return tmp_path


SAME = ["in/deep/scan.ply", "in/../in/deep/scan.ply", "link.ply", "hard.ply"]
SAME += ["folder/deep/scan.ply", "other/partial.ply", "more/full.ply"]


@pytest.mark.parametrize("given", SAME)
@pytest.mark.parametrize("out", SAME)
def test_a_file_that_is_an_input_is_refused_by_any_name(place, given, out):
    with pytest.raises(InputError, match=r"this is an input.*; give another --out"):
        InputFiles([place / given]).refuse_file(place / out)


@pytest.mark.parametrize("out", ["in", "in/deep", "folder", "folder/deep", "other", "more", "."])
def test_a_folder_that_holds_an_input_is_refused(place, out):
    with pytest.raises(InputError, match="holds an input.*; give another --out"):
        InputFiles([place / "in" / "deep" / "scan.ply"]).refuse_folder(place / out)


def test_a_link_that_is_an_input_must_stay_too(place):
    with pytest.raises(InputError, match="holds an input"):
        InputFiles([place / "other" / "partial.ply"]).refuse_folder(place / "other")


def test_a_folder_that_is_an_input_is_not_written_over(place):
    inputs = InputFiles([place / "in"])
    for refuse, out in (
        (inputs.refuse_folder, "folder"),
        (inputs.refuse_inside, "in"),
        (inputs.refuse_inside, "folder/deep/new"),
        (inputs.refuse_file, "in/deep/scan.ply"),
    ):
        with pytest.raises(InputError, match="input"):
            refuse(place / out)
    inputs.refuse_file(place / "in" / "new.ply")  # takes nothing away


def test_other_places_are_free(place):
    (place / "copy.ply").write_text("years of work")
    (place / "empty").mkdir()
    inputs = InputFiles([place / "in" / "deep" / "scan.ply", place / "absent.ply", "", "a\0b"])
    inputs.refuse_file(place / "copy.ply")
    inputs.refuse_file(place / "absent.ply")
    inputs.refuse_folder(place / "empty")
    inputs.refuse_folder(place / "absent")
    NO_INPUTS.refuse_folder(place)


def test_a_file_system_that_ignores_case_is_asked(place, monkeypatch):
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: real(str(path).lower(), **more))
    lower = str(place).lower()
    if not os.path.exists(lower):
        pytest.skip("the folder of the tests has capitals in its name")
    with pytest.raises(InputError, match="this is an input"):
        InputFiles([place / "in" / "deep" / "scan.ply"]).refuse_file(place / "in/deep/SCAN.PLY")


def test_lists_of_files():
    assert [str(path) for path in listed_files(" a.npz, ,b ")] == ["a.npz", "b"]
