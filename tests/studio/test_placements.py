"""Anchors without a person: placements as outcomes, and pairs read off one of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.io.attributes import COLOUR, Attributes, read_with_attributes
from nho.problem.alternative import Alternative
from nho.studio import Studio
from nho.studio.marks import Marks
from nho.studio.outcome import MatchOutcome
from nho.studio.placements import pairs_from, placements
from nho.studio.products import PRODUCTS
from tests.studio.paired import open_pair, true_marks
from tests.studio.test_server import ask, upload


@pytest.fixture(scope="module")
def found(whole: Mesh, piece: Cut) -> nho.MatchResult:
    """A match, and the same place turned around as its alternative."""
    quick = nho.preset("default").replace(rounds=0, own_anchors=0, threads=1)
    anchors = true_marks(whole, piece, 14).anchors(piece.mesh, whole)
    result = nho.match(piece.mesh, whole, anchors, quick)
    turned = whole.vertices[result.vertex_map] * [-1, -1, 1]
    away = np.linalg.norm(whole.vertices[:, None] - turned, axis=2)
    other = away.argmin(axis=0)
    points = SurfacePoints.at_vertices(whole, other)
    region = np.isin(np.arange(whole.n_vertices), other)
    alternative = Alternative(other, points.face, points.barycentric, region, 0.3)
    return replace(result, chance=0.6, alternatives=(alternative,))


def offer(studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult) -> None:
    """As if a search had found two placements."""
    open_pair(studio, whole, piece, 3)
    studio.session.change(lambda _: Marks())
    partial, full = studio.session.both()
    studio.session.choices = placements(MatchOutcome(partial, full, (), found, 1))
    studio.session.change(lambda marks: marks)


def test_pairs_of_a_placement_are_spread_seen_and_its_own(
    studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    offer(studio, whole, piece, found)
    first, second = studio.session.choices
    assert (first.result.chance, second.result.chance) == (0.6, 0.3)
    pairs = pairs_from(second, Marks())
    assert len(pairs) == 12
    own = np.array([piece.mesh.faces[mark.face][np.argmax(mark.barycentric)] for mark, _ in pairs])
    assert len(set(own.tolist())) == 12 and (second.partial.seen_from[own] >= 0).all()
    goal = [whole.faces[mark.face][np.argmax(mark.barycentric)] for _, mark in pairs]
    np.testing.assert_array_equal(goal, found.alternatives[0].vertex_map[own])
    # What is there already stays, and new pairs keep away from it.
    marks = true_marks(whole, piece, 5)
    more = pairs_from(first, marks)
    assert len(more) == 7
    studio.session.choose(1)
    assert len(studio.session.marks.complete) == 12 and not studio.session.choices
    assert studio.session.state()["outcome"]["stale"] is False


def test_the_result_of_a_chosen_placement_names_the_pairs_of_the_page(
    studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    note = "25 anchors were found automatically; look at the report before you trust them"
    offer(studio, whole, piece, replace(found, notes=(note, "another")))
    studio.session.choose(1)
    outcome, pairs = studio.session.outcome, studio.session.state()["pairs"]
    assert outcome is not None and len(pairs) == 12
    shown = [[pair["partial"]["vertex"], pair["full"]["vertex"]] for pair in pairs]
    np.testing.assert_array_equal(outcome.result.anchors, shown)
    assert list(outcome.result.anchor_names) == [pair["name"] for pair in pairs]
    assert outcome.result.notes == ("another",)  # 12 pairs are there, not 25


def test_what_a_match_makes_possible_is_written(
    studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult, tmp_path: Path
) -> None:
    open_pair(studio, whole, piece)
    ramp = np.linspace(0, 255, whole.n_vertices).astype(np.uint8)
    names = np.where(whole.vertices[:, 2] > 0, "upper", "lower")
    given = Attributes(vertex={COLOUR: np.stack([ramp] * 3, axis=1), "part": names})
    studio.session.open("full", Mesh(whole.vertices, whole.faces, "template.ply"), given)
    partial, full = studio.session.both()
    studio.session.outcome = MatchOutcome(partial, full, (), found, 1)
    made = tmp_path / "scan-with-data.ply"
    PRODUCTS[made.name](studio.session, made)
    _, carried = read_with_attributes(made)
    true = ramp[piece.vertex_of_parent]
    assert np.median(np.abs(carried.vertex[COLOUR][:, 0].astype(int) - true)) < 4
    assert (tmp_path / "scan-with-data_labels.csv").read_text().count("\n") == 3
    PRODUCTS["complete.ply"](studio.session, tmp_path / "complete.ply")
    assert Mesh.read(tmp_path / "complete.ply").n_vertices >= whole.n_vertices
    PRODUCTS["mirrored-template.ply"](studio.session, tmp_path / "mirrored-template.ply")
    mirrored = Mesh.read(tmp_path / "mirrored-template.ply")
    assert mirrored.area == pytest.approx(whole.area, rel=1e-6)


def test_colours_tell_how_far_two_matches_and_the_fitted_template_are_apart(
    studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult
) -> None:
    open_pair(studio, whole, piece)
    session = studio.session
    partial, full = session.both()
    session.outcome = MatchOutcome(partial, full, (), found, 7)
    assert ask(studio, "outcome/change")[0] == 404  # there was no match before
    session.earlier = placements(session.outcome)[1]
    status, body, _ = ask(studio, "outcome/change?version=7")
    assert status == 200 and len(body) == 3 * piece.mesh.n_vertices + 4
    most = np.frombuffer(body[-4:], "<f4")[0]
    moved = whole.vertices[session.earlier.result.vertex_map] - whole.vertices[found.vertex_map]
    assert most == pytest.approx(np.quantile(np.linalg.norm(moved, axis=1), 0.98), rel=0.05)
    status, body, _ = ask(studio, "outcome/misfit?version=7")
    assert status == 200 and np.frombuffer(body[-4:], "<f4")[0] < 0.05 * np.sqrt(whole.area)
    assert len(ask(studio, "outcome/earlier?version=7")[1]) == 3 * piece.mesh.n_vertices


def test_a_table_dropped_on_a_shape_is_transferred(
    studio: Studio, whole: Mesh, piece: Cut, found: nho.MatchResult, tmp_path: Path
) -> None:
    open_pair(studio, whole, piece)
    before = studio.session.marks
    rows = "\n".join(str(round(z, 6)) for z in whole.vertices[:, 2].tolist())
    status, answer = upload(studio, "height.csv", f"height\n{rows}\n".encode(), "full")
    assert (status, answer["side"]) == (200, "full") and studio.session.marks == before
    assert "height on the template" in studio.session.state()["notice"]["text"]
    partial, full = studio.session.both()
    studio.session.outcome = MatchOutcome(partial, full, (), found, 1)
    PRODUCTS["scan-with-data.ply"](studio.session, tmp_path / "scan-with-data.ply")
    _, carried = read_with_attributes(tmp_path / "scan-with-data.ply")
    off = carried.vertex["height"] - piece.mesh.vertices[:, 2]
    assert np.nanmedian(np.abs(off)) < 0.02
    status, answer = upload(studio, "height.csv", b"height\n1\n2\n", "full")
    assert status == 422 and "height.csv" in answer["error"]


def test_a_texture_gives_the_vertices_their_colours(
    studio: Studio, whole: Mesh, tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 4), (10, 200, 30)).save(tmp_path / "skin.png")
    (tmp_path / "m.mtl").write_text("newmtl skin\nmap_Kd skin.png\n")
    lines = ["mtllib m.mtl", "usemtl skin"]
    lines += [f"v {x} {y} {z}" for x, y, z in whole.vertices]
    lines += ["vt 0.5 0.5"] + [f"f {a + 1}/1 {b + 1}/1 {c + 1}/1" for a, b, c in whole.faces]
    (tmp_path / "m.obj").write_text("\n".join(lines) + "\n")
    studio.session.open("full", *read_with_attributes(tmp_path / "m.obj"))
    shape = studio.session.shape("full")
    assert shape.own_colours is not None
    assert (shape.own_colours == (10, 200, 30)).all()
    assert studio.session.state()["shapes"]["full"]["coloured"]
