"""Where automatic anchors come from, and what the commands make of the words for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.batch.pairs import read_pairs
from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane
from nho.lab import baselines
from nho.pipeline.automatic_anchors import LEARNED, check_source, is_automatic


@pytest.fixture(scope="module")
def whole() -> Mesh:
    return bumpy_sphere(2, seed=3)


@pytest.fixture(scope="module")
def piece(whole) -> Cut:
    return cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.6)


@pytest.fixture
def files(tmp_path, piece, whole) -> Path:
    piece.mesh.write(tmp_path / "part.ply")
    whole.write(tmp_path / "whole.ply")
    return tmp_path


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_words_and_files_are_told_apart():
    assert is_automatic("auto")
    assert is_automatic(Path("auto"))
    assert is_automatic("auto:dpfm")
    assert not is_automatic("./auto/pairs.csv")
    assert not is_automatic("automatic.csv")
    assert not is_automatic(np.zeros((3, 2)))


def test_every_learned_method_has_a_word_and_others_are_refused():
    assert check_source("auto") == ""
    assert [check_source(f"auto:{name}") for name in LEARNED] == list(LEARNED)
    for wrong in ("auto:", "auto:magic"):
        with pytest.raises(InputError, match="choose auto, auto:dpfm"):
            check_source(wrong)


@pytest.mark.slow
def test_the_command_matches_without_a_file_of_anchors(files, piece):
    out = files / "result"
    told = run("match", files / "part.ply", files / "whole.ply", "--anchors", "auto", "--out", out)
    assert told.exit_code == 0, told.output
    result = nho.MatchResult.load(out)
    assert (result.vertex_map == piece.vertex_of_parent).mean() > 0.98


def test_an_unknown_source_is_one_sentence_and_nothing_is_written(files):
    out = files / "result"
    words = ("match", files / "part.ply", files / "whole.ply", "--out", out)
    told = run(*words, "--anchors", "auto:magic")
    assert isinstance(told.exception, InputError | SystemExit)
    assert not out.exists()


@pytest.mark.slow
def test_anchors_that_were_found_can_be_written_and_used(files, piece, whole):
    out = files / "pairs.csv"
    told = run("anchors", "find", files / "part.ply", files / "whole.ply", "--out", out)
    assert told.exit_code == 0, told.output
    pairs = nho.read_anchors(out, piece.mesh, whole).vertices(piece.mesh, whole)
    assert len(pairs) == 25
    assert (piece.vertex_of_parent[pairs[:, 0]] == pairs[:, 1]).mean() > 0.9


def test_a_table_of_pairs_may_ask_for_anchors_to_be_found(files):
    table = files / "pairs.csv"
    table.write_text("partial,full,anchors\npart.ply,whole.ply,auto\n")
    (pair,) = read_pairs(table)
    assert pair.automatic == "auto"
    table.write_text("partial,full,anchors\npart.ply,whole.ply,auto:dpfm\n")
    (learned,) = read_pairs(table)
    assert learned.anchors_content() != pair.anchors_content()
    table.write_text("partial,full,anchors\npart.ply,whole.ply,auto:magic\n")
    with pytest.raises(InputError, match="line 2.*auto:magic"):
        read_pairs(table)


@pytest.mark.slow
def test_the_method_without_anchors_ignores_those_it_is_given(piece, whole):
    wrong = np.array([[0, 5], [1, 3], [2, 1], [3, 9]])
    result = baselines.run("nho-auto", piece.mesh, whole, wrong)
    assert (result.vertex_map == piece.vertex_of_parent).mean() > 0.98
    assert not baselines.BASELINES["nho-auto"].anchored


def test_without_torch_a_network_is_one_sentence(monkeypatch, piece, whole):
    monkeypatch.setattr("nho.learned.backend.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"need torch.*nho\[learned\]"):
        nho.match(piece.mesh, whole, "auto:dpfm")
