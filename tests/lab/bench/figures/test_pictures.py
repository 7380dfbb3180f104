"""The qualitative figures: colours that tell the truth, and files that show something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.metrics import evaluate
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.figures import pictures
from nho.lab.bench.figures.cases import (
    CORRECT,
    ELSEWHERE,
    FALSE_POSITIVE,
    MISSED,
    Case,
    support_colours,
    upright,
)
from nho.lab.bench.figures.evolution import (
    FIRST,
    diverging,
    draw_evolution,
    evolve,
    sequential,
)
from nho.lab.bench.figures.operator_sheet import draw_operator
from nho.lab.bench.figures.pictures import draw, draw_discretisation, picture_size, support_panel
from nho.lab.bench.figures.sheet import Panel, PanelRow, save_sheet
from nho.problem.result import MatchResult
from nho.report.colours import UNMATCHED, position_colours
from nho.report.views import first_view
from nho.settings import Settings

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of fewer pixels than for print: the tests need no more."""
    monkeypatch.setattr(pictures, "DPI", 80)
    monkeypatch.setattr(pictures, "_OVERSAMPLE", 1)


def known_case(title: str = "a piece", subdivisions: int = 2) -> Case:
    """A piece of a shape; "good" knows the answer, "bad" is a vertex off and claims too much."""
    ball = bumpy_sphere(subdivisions, seed=1)
    full = Mesh(ball.vertices * [2.0, 3.0, 1.0], ball.faces, "whole.off")
    cut = cut_by_plane(full, np.array([1.0, 0.2, 0.0]), keep_area=0.6)
    partners = cut.vertex_of_parent.copy()
    partners[0] = -1
    truth = GroundTruth(SurfacePoints.at_vertices(full, partners), cut.kept_vertices)
    rows = np.linspace(5, len(partners) - 1, 25).astype(int)
    anchors = np.stack([rows, partners[rows]], axis=1)

    def answer(target: np.ndarray, region: np.ndarray) -> MatchResult:
        points = SurfacePoints.at_vertices(full, target)
        return MatchResult(
            vertex_map=target,
            face=points.face,
            barycentric=points.barycentric,
            confidence=np.ones(len(target)),
            region=region,
            region_score=region.astype(float),
            anchors=anchors,
            settings=Settings(),
        )

    region = cut.kept_vertices
    wrong = region.copy()
    wrong[np.flatnonzero(region)[:5]] = False
    wrong[np.flatnonzero(~region)[:9]] = True
    neighbour = np.zeros(full.n_vertices, dtype=int)
    neighbour[full.edges[:, 0]] = full.edges[:, 1]
    neighbour[full.edges[:, 1]] = full.edges[:, 0]
    off = np.where(partners >= 0, neighbour[partners], -1)
    results = {"good": answer(partners, region), "bad": answer(off, wrong)}
    return Case(title, AnnotatedPair("pair", cut.mesh, full, truth), anchors, results)


def read(path: Path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(path)


def ink(path: Path) -> float:
    """Share of pixels of a PNG that are not white."""
    return float((read(path)[:, :, :3].min(axis=2) < 0.97).mean())


def test_support_is_green_orange_purple_and_grey_by_its_four_kinds() -> None:
    claimed = np.array([True, True, False, False])
    truth = np.array([True, False, True, False])
    expected = [CORRECT, FALSE_POSITIVE, MISSED, ELSEWHERE]
    np.testing.assert_array_equal(support_colours(claimed, truth), expected)


def test_the_colours_of_support_read_as_named_and_differ_in_lightness() -> None:
    red, green, blue = np.array(CORRECT)
    assert green > red and green > blue
    red, green, blue = np.array(FALSE_POSITIVE)
    assert red > green > blue
    red, green, blue = np.array(MISSED)
    assert blue > red > green
    weights = np.array([0.2126, 0.7152, 0.0722])
    light = [float(weights @ (np.array(c) / 255) ** 2.2) for c in (MISSED, CORRECT, FALSE_POSITIVE)]
    light.append(float(weights @ (np.array(ELSEWHERE) / 255) ** 2.2))
    for darker, lighter in zip(light, light[1:], strict=False):
        assert (lighter + 0.05) / (darker + 0.05) > 1.3


def test_a_case_colours_known_vertices_by_right_and_wrong() -> None:
    case = known_case()
    truth, claimed = case.pair.truth.region, case.results["bad"].region
    colours = case.support("bad")
    assert tuple(colours[np.flatnonzero(truth & ~claimed)[0]]) == MISSED
    assert tuple(colours[np.flatnonzero(claimed & ~truth)[0]]) == FALSE_POSITIVE
    assert tuple(colours[np.flatnonzero(claimed & truth)[0]]) == CORRECT
    assert (case.support("truth")[truth] == CORRECT).all()
    assert (case.support("truth")[~truth] == ELSEWHERE).all()


def test_partners_lend_their_colour_and_no_partner_is_grey() -> None:
    case = known_case()
    by_place = position_colours(case.pair.full)
    for name in ("good", "bad"):
        target = case.results[name].vertex_map
        carried = case.transferred(name)
        np.testing.assert_array_equal(carried[1:], by_place[target[1:]])
        assert tuple(carried[0]) == UNMATCHED


def test_the_truth_of_a_vertex_without_annotation_is_that_of_its_neighbour() -> None:
    case = known_case()
    carried = case.transferred("truth")
    np.testing.assert_array_equal(carried[1:], case.transferred("good")[1:])
    edges = case.pair.partial.edges
    around = np.setdiff1d(edges[(edges == 0).any(axis=1)], [0])
    assert tuple(carried[0]) in {tuple(carried[vertex]) for vertex in around}


def test_both_shapes_are_seen_from_one_side_even_if_one_was_turned() -> None:
    case = known_case()
    view = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    pair = case.pair
    turned = Mesh(pair.partial.vertices @ view.T, pair.partial.faces, "turned.off")
    other = replace(case, pair=replace(pair, partial=turned))
    seen, again = (
        c.pair.partial.vertices @ c.partial_view.T - c.pair.partial.vertices[0] @ c.partial_view.T
        for c in (case, other)
    )
    np.testing.assert_allclose(seen, again, atol=1e-9)


def test_a_shape_thin_along_x_is_seen_from_its_side_with_z_up() -> None:
    ball = bumpy_sphere(2, seed=1)
    animal = Mesh(ball.vertices * [1, 6, 3], ball.faces)
    view = upright(animal)
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) > 0
    assert view[1, 2] > 0.9 and view[2, 0] > 0.9 and view[0, 1] > 0.9  # up, to the eye, right
    person = Mesh(ball.vertices * [3, 6, 1], ball.faces)
    np.testing.assert_array_equal(upright(person), first_view(person))


def test_scores_are_those_of_the_evaluation() -> None:
    case = known_case()
    for name, result in case.results.items():
        wanted = evaluate(result, case.pair.full, case.pair.truth)
        assert case.scores[name].iou == pytest.approx(wanted.iou)
        assert case.scores[name].geodesic_error == pytest.approx(wanted.geodesic_error)
    assert case.scores["good"].iou == 100 and case.scores["good"].geodesic_error == 0
    assert case.scores["bad"].iou < 100 and case.scores["bad"].geodesic_error > 1


def test_the_picture_of_support_shows_all_its_colours() -> None:
    case = known_case(subdivisions=3)
    region = np.zeros(case.pair.full.n_vertices, dtype=bool)
    half = case.pair.full.vertices @ case.full_view[1] > 0  # what is above the middle of the view
    region[half] = True
    case = replace(case, results={"half": replace(case.results["good"], region=region)})
    size = picture_size([(case.pair.full, case.full_view)], 2.0)
    panel = support_panel(case, "half", size)
    assert panel is not None and panel.below == f"{case.scores['half'].iou:.1f}"
    pixels = panel.image.reshape(-1, 4)[:, :3].astype(float)
    pixels = pixels[pixels.min(axis=1) < 250]
    hue = pixels / pixels.max(axis=1, keepdims=True)
    for colour in (CORRECT, FALSE_POSITIVE, MISSED, ELSEWHERE):
        wanted = np.array(colour) / max(colour)
        assert (np.abs(hue - wanted).max(axis=1) < 0.03).sum() > 50


@pytest.mark.slow
def test_draw_writes_pictures_that_are_not_blank(tmp_path: Path) -> None:
    odd = known_case(r"$\nothing$ & <b>")  # signs that a text engine might take for something else
    less = replace(odd, title="one method less", results={"good": odd.results["good"]})
    written = draw([odd, less], tmp_path / "new")
    names = ["support.png", "support.pdf", "transfer.png", "transfer.pdf"]
    assert [path.name for path in written] == names
    for path in written:
        if path.suffix == ".png":
            assert 0.1 < ink(path) < 0.9
        else:
            content = path.read_bytes()
            assert content.startswith(b"%PDF") and b"/Subtype /Image" in content
    again = draw([odd, less], tmp_path / "again")
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_more_cases_than_a_sheet_holds_go_to_a_second_one(tmp_path: Path) -> None:
    panel = Panel(np.zeros((4, 4, 4), dtype=np.uint8))
    from nho.lab.bench.figures.pictures import _ROWS, _sheets

    rows = [PanelRow((panel,), str(number)) for number in range(_ROWS + 1)]
    written = _sheets(rows, tmp_path, "many", "a note")
    assert [path.name for path in written] == ["many.png", "many.pdf", "many-2.png", "many-2.pdf"]
    assert read(written[0]).shape[0] > 2 * read(written[2]).shape[0]


def test_columns_and_rows_are_where_they_belong(tmp_path: Path) -> None:
    colours = np.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)], dtype=np.uint8)
    panels = [Panel(np.full((30, 30, 4), (*colour, 255), dtype=np.uint8)) for colour in colours]
    rows = [PanelRow(tuple(panels[:2])), PanelRow((None, *panels[2:]))]
    picture = read(save_sheet(rows, tmp_path / "sheet", "note")[0])[:, :, :3]
    height, width = picture.shape[:2]
    centres = []
    for colour in colours / 255:
        y, x = np.nonzero((np.abs(picture - colour) < 0.02).all(axis=2))
        centres.append((x.mean() / width, y.mean() / height))
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = centres
    assert ax < bx == pytest.approx(cx, abs=0.01) and cx < dx
    assert ay == pytest.approx(by, abs=0.01) and cy == pytest.approx(dy, abs=0.01) and ay < cy


def test_coarse_meshes_are_compared_side_by_side(tmp_path: Path) -> None:
    cases = [known_case(subdivisions=2)]
    coarse = [known_case(subdivisions=1)]
    written = draw_discretisation({"10 %": cases, "5 %": coarse}, tmp_path)
    assert [path.name for path in written] == ["discretisation.png", "discretisation.pdf"]
    assert ink(written[0]) > 0.1
    with pytest.raises(InputError, match="different numbers"):
        draw_discretisation({"10 %": cases, "5 %": []}, tmp_path)


def test_no_cases_and_wrong_meshes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cases"):
        draw([], tmp_path)
    case = known_case()
    with pytest.raises(InputError, match="vertices"):
        replace(case, pair=known_case(subdivisions=3).pair)
    with pytest.raises(InputError, match="truth"):
        replace(case, results={"truth": case.results["good"]})


def test_a_region_on_the_far_side_is_seen_from_behind() -> None:
    case = known_case(subdivisions=3)
    front, truth = upright(case.pair.full), case.pair.truth
    depth = case.pair.full.vertices @ front[2]

    def seen(region: np.ndarray, view: np.ndarray | None = None) -> np.ndarray:
        pair = replace(case.pair, truth=GroundTruth(truth.points, region))
        return Case("a piece", pair, case.anchors, {}, view).full_view

    np.testing.assert_array_equal(seen(depth > 0), front)
    np.testing.assert_array_equal(seen(np.ones(len(depth), dtype=bool)), front)
    behind = seen(depth < 0)
    np.testing.assert_allclose(behind, front * [[-1], [1], [-1]])
    assert np.linalg.det(behind) == pytest.approx(1)  # half a turn, no mirror
    np.testing.assert_array_equal(seen(depth < 0, front), front)  # as asked for


def quick() -> Settings:
    return nho.preset("paper").replace(
        rounds=2, fit_steps=4, refinement="none", galerkin_modes=40, spectral_modes=10, threads=1
    )


def test_the_last_stage_seen_is_the_answer_of_the_loop() -> None:
    case = known_case(subdivisions=3)
    found = evolve(case, quick())
    assert list(found.stages) == [FIRST, "round 1", "round 2"]
    answer = nho.match(case.pair.partial, case.pair.full, case.anchors, quick())
    first, last = found.case.results[FIRST], found.case.results["round 2"]
    np.testing.assert_array_equal(last.region, answer.region)
    np.testing.assert_array_equal(last.vertex_map, answer.vertex_map)
    assert any(
        (first.region_score != last.region_score).tolist()
    )  # the stages are looks at different times


def test_aligned_eigenfunctions_resemble_those_of_the_partial_shape() -> None:
    case = known_case(subdivisions=3)
    found = evolve(case, quick())
    rows, partners = case.anchors.T
    aligned, wanted = found.stages["round 2"].aligned[partners, 0], found.partial_modes[rows, 0]
    assert np.corrcoef(aligned, wanted)[0, 1] > 0.8
    boundary = case.pair.partial.boundary_vertices
    assert np.abs(found.partial_modes[boundary]).max() == 0  # Dirichlet
    assert np.ptp(found.full_modes[:, 0]) < 1e-6 * np.abs(found.full_modes[:, 0]).max()  # constant


@pytest.mark.slow
def test_the_evolution_is_drawn(tmp_path: Path) -> None:
    case = known_case(subdivisions=3)
    found = evolve(case, quick().replace(rounds=1))
    written = draw_evolution(found, tmp_path)
    assert [path.name for path in written] == [
        "evolution.png",
        "evolution.pdf",
        "evolution-eigenfunctions.png",
        "evolution-eigenfunctions.pdf",
    ]
    written += draw_operator({"one": found, "other": found}, tmp_path / "operator")
    assert [path.name for path in written[4:]] == ["operator.png", "operator.pdf"]
    assert all(ink(path) > 0.1 for path in written if path.suffix == ".png")


def test_signed_values_are_blue_pale_and_red() -> None:
    colours = diverging(np.array([-2.0, 0.0, 5.0, np.nan]), 2.0).astype(int)
    assert colours[0, 2] > colours[0, 0] + 50 and colours[2, 0] > colours[2, 2] + 50
    assert np.ptp(colours[1]) < 12 and colours[1].min() > 230
    assert tuple(colours[3]) == UNMATCHED
    assert (diverging(np.zeros(3), 0.0) == colours[1]).all()  # nothing to scale by


def test_unsigned_values_darken_from_zero_on_one_scale() -> None:
    colours = sequential(np.array([0.0, 1.0, 2.0, 9.0, np.nan]), 2.0, "PuBu").astype(int)
    assert (np.diff(colours[:3].sum(axis=1)) < -50).all()
    assert (colours[3] == colours[2]).all()  # the end of the scale
    assert tuple(colours[4]) == UNMATCHED
