"""The report: complete, self-contained, and safe whatever the meshes are called."""

import base64
import dataclasses
import html.parser
import json
import re
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.result import MatchResult
from nho.report import render_report
from nho.report.colours import position_colours, transfer_colours, with_no_partner
from nho.report.curves import charts
from nho.report.scene import VIEWER
from nho.settings import Settings


def example(subdivisions: int = 2) -> tuple[Mesh, Mesh, MatchResult]:
    """A known match: a turned piece of a shape, some of its vertices unmatched."""
    ball = bumpy_sphere(subdivisions, seed=1)
    full = Mesh(ball.vertices * [3.0, 2.0, 1.0], ball.faces, "whole.off")
    cut = cut_by_plane(full, np.array([1.0, 0.2, 0.0]), keep_area=0.6)
    turn = Rotation.from_euler("xyz", [70, 20, 110], degrees=True).as_matrix()
    partial = Mesh(7 * cut.mesh.vertices @ turn.T + 100.0, cut.mesh.faces, "piece.off")
    partners = cut.vertex_of_parent.copy()
    partners[:5] = -1
    points = SurfacePoints.at_vertices(full, partners)
    rows = np.linspace(5, len(partners) - 1, 4).astype(int)
    result = MatchResult(
        vertex_map=partners,
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.linspace(0, 1, len(partners)),
        region=cut.kept_vertices,
        region_score=np.where(cut.kept_vertices, 0.9, 0.1),
        anchors=np.stack([rows, partners[rows]], axis=1),
        settings=Settings(seed=12345),
        timings={"spectra": 1.25, "fit": 2.5},
        curves={
            "fit": [{"loss": 1.0 / (i + 1), "area": 0.5 / (i + 1)} for i in range(30)],
            "refine": [{"dimension": d, "loss": 1.0 / d} for d in (20, 25, 30)],
        },
    )
    return partial, full, result


class _Page(html.parser.HTMLParser):
    """Tags with their attributes, the text, and the contents of the scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: dict[str | None, str] = {}
        self._inside: str | None = None
        self._script: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside, self._script = tag, dict(attrs).get("id")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif self._inside is None:
            self.text += data

    def ids(self) -> set[str | None]:
        return {attributes.get("id") for _, attributes in self.tags}


def scene_of(text: str) -> dict[str, Any]:
    return json.loads(_Page(text).scripts["scene"])


def unpack(text: str, kind: str, columns: int = 3) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(-1, columns)


def test_geometry_and_map_survive_the_packing() -> None:
    partial, full, result = example()
    scene = scene_of(render_report(partial, full, result))
    for mesh, shape in ((partial, scene["partial"]), (full, scene["full"])):
        np.testing.assert_array_equal(unpack(shape["faces"], "<u4"), mesh.faces)
        shown = unpack(shape["positions"], "<f4").astype(float)
        assert np.linalg.norm(shown, axis=1).max() == pytest.approx(1, abs=1e-5)
        edges = np.linalg.norm(shown[mesh.edges[:, 0]] - shown[mesh.edges[:, 1]], axis=1)
        ratio = edges / mesh.edge_lengths
        assert np.ptp(ratio) < 1e-4 * ratio.mean()
    partner = unpack(scene["partner"], "<f4")
    shown = unpack(scene["full"]["positions"], "<f4")
    matched = result.vertex_map >= 0
    np.testing.assert_allclose(partner[matched], shown[result.vertex_map[matched]], atol=1e-6)
    assert np.isnan(partner[~matched]).all()
    partners = unpack(scene["partnerVertex"], "<i4", 1).ravel()
    np.testing.assert_array_equal(partners, result.vertex_map)


def test_colours_of_partners_agree() -> None:
    partial, full, result = example()
    scene = scene_of(render_report(partial, full, result))
    colours = position_colours(full)
    np.testing.assert_array_equal(unpack(scene["full"]["colours"]["correspondence"], "u1"), colours)
    np.testing.assert_array_equal(
        unpack(scene["partial"]["colours"]["correspondence"], "u1"),
        with_no_partner(transfer_colours(full, result, colours), result),
    )
    inside = unpack(scene["full"]["colours"]["region"], "u1")
    assert len(np.unique(inside[result.region], axis=0)) == 1
    assert not (inside[result.region][0] == inside[~result.region][0]).all()


def test_both_shapes_are_first_seen_from_the_same_side() -> None:
    partial, full, result = example()
    scene = scene_of(render_report(partial, full, result))
    seen = []
    for shape, vertices in (
        (scene["partial"], np.flatnonzero(result.vertex_map >= 0)),
        (scene["full"], result.vertex_map[result.vertex_map >= 0]),
    ):
        rotation = np.array(shape["rotation"])
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(rotation) == pytest.approx(1)
        points = unpack(shape["positions"], "<f4")[vertices] @ rotation.T
        points = points - points.mean(axis=0)
        seen.append(points / np.linalg.norm(points))
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-5)


def test_the_page_refers_to_nothing_outside_itself() -> None:
    text = render_report(*example())
    page = _Page(text)
    for tag, attributes in page.tags:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            target = attributes.get(name)
            assert target is None or target.startswith(("#", "data:")), (tag, name, target)
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttpRequest|import\(", text)
    policy = [a["content"] for _, a in page.tags if a.get("http-equiv")]
    assert policy and "default-src 'none'" in str(policy[0])


def test_text_from_the_user_stays_text() -> None:
    partial, full, result = example()
    nasty = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&'\""
    partial = Mesh(partial.vertices, partial.faces, nasty)
    full = Mesh(full.vertices, full.faces, "full" + nasty)
    result = dataclasses.replace(
        result,
        warnings=("warn" + nasty,),
        status="status" + nasty,
        timings={"time" + nasty: 1.0},
        curves={"stage" + nasty: [{"term" + nasty: 1.0}, {"term" + nasty: 2.0}]},
    )
    text = render_report(partial, full, result, {"metric" + nasty: "value" + nasty})
    page, plain = _Page(text), _Page(render_report(*example()))
    ours = len(VIEWER) + 2  # and the data, and the page's own
    assert [tag for tag, _ in page.tags].count("script") == ours
    assert [tag for tag, _ in plain.tags].count("script") == ours
    assert "img" not in {tag for tag, _ in page.tags}
    for prefix in ("full", "warn", "status", "time", "stage", "term", "metric", "value"):
        assert prefix + nasty in page.text


def test_embedded_json_cannot_close_its_element() -> None:
    from nho.report.scene import json_for_html

    value = {"</script>": "<!--<script>&"}
    text = str(json_for_html(value))
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_a_file_name_that_is_not_unicode_can_be_written() -> None:
    partial, full, result = example()
    text = render_report(Mesh(partial.vertices, partial.faces, "a\udcff.off"), full, result)
    assert "a?.off" in text.encode("utf-8").decode("utf-8")


def test_numbers_are_those_of_the_match() -> None:
    partial, full, result = example()
    text = _Page(render_report(partial, full, result)).text
    share = 100 * (result.vertex_map >= 0).mean()
    thirds = np.bincount(full.faces.ravel(), weights=np.repeat(full.face_areas / 3, 3))
    region = 100 * thirds[result.region].sum() / full.area
    trust = result.confidence[result.vertex_map >= 0].mean()
    for figure in (f"{share:.1f} %", f"{region:.1f} %", f"{trust:.2f}", f"{len(full.vertices):,}"):
        assert figure in text
    assert abs(share - region) > 1  # else the figures above could stand for each other


def test_every_setting_timing_and_metric_is_listed() -> None:
    partial, full, result = example()
    metrics = {"mean error": 0.0123456, "pairs": 12, "missing": None}
    text = _Page(render_report(partial, full, result, metrics)).text
    for name, value in result.settings.flat().items():
        assert re.search(rf"{name}\s*{re.escape(str(value))}\b", text), name
    for words in ("spectra", "1.25 s", "mean error", "0.01235", "pairs", "12"):
        assert words in text


def test_optional_sections_appear_only_when_there_is_something_to_say() -> None:
    partial, full, result = example()
    optional = {"warnings", "notes", "suspect-anchors", "next-anchor", "metrics"}
    assert not optional & _Page(render_report(partial, full, result)).ids()
    about = {
        "warnings": ("beware",),
        "notes": ("welded",),
        "suspect_anchors": (2,),
        "next_anchor": 7,
    }
    text = render_report(partial, full, dataclasses.replace(result, **about), {"a": 1})
    assert optional <= _Page(text).ids()
    scene = scene_of(text)
    assert (scene["suspects"], scene["nextAnchor"]) == ([2], 7)
    assert scene["anchors"] == result.anchors.tolist()
    assert scene["names"] == [str(row + 1) for row in range(len(result.anchors))]


def test_a_match_of_nothing_still_has_a_report() -> None:
    partial, full, result = example()
    n = len(partial.vertices)
    empty = dataclasses.replace(
        result,
        vertex_map=np.full(n, -1),
        face=np.full(n, -1),
        barycentric=np.full((n, 3), np.nan),
        confidence=np.zeros(n),
        region=np.zeros(len(full.vertices), dtype=bool),
        anchors=np.zeros((0, 2), dtype=np.int64),
        curves={},
        timings={},
        next_anchor=0,
    )
    page = _Page(render_report(partial, full, empty))
    assert "0.0 %" in page.text and "unknown" in page.text
    assert not {"curves", "timings"} & page.ids()


def test_ten_thousand_vertices_stay_below_three_megabytes() -> None:
    partial, full, result = example(subdivisions=5)
    assert len(full.vertices) > 10_000
    assert len(render_report(partial, full, result).encode()) < 3_000_000


def test_the_same_match_gives_the_same_bytes() -> None:
    assert render_report(*example()) == render_report(*example())


@pytest.mark.parametrize(
    ("about", "words"),
    [({"suspect_anchors": (4,)}, "suspect anchor 4"), ({"next_anchor": 10**6}, "next anchor")],
)
def test_rows_beyond_the_meshes_are_refused(about: dict[str, Any], words: str) -> None:
    partial, full, result = example()
    with pytest.raises(InputError, match=words):
        render_report(partial, full, dataclasses.replace(result, **about))


def test_meshes_of_another_match_are_refused() -> None:
    partial, full, result = example()
    with pytest.raises(InputError, match="piece.off: the full mesh has"):
        render_report(partial, partial, result)


def test_curves_fall_where_the_loss_falls_and_break_on_nothing() -> None:
    fit, refine = charts(example()[2].curves)
    heights = [float(point.split(",")[1]) for point in fit.lines[0].path[1:].split("L")]
    assert (np.diff(heights) > 0).all()  # downwards on the page
    assert fit.logarithmic and not refine.logarithmic
    assert (fit.x_label, refine.x_label) == ("step", "spectral dimension")
    assert [line.name for line in refine.lines] == ["loss"]
    nan, infinity = float("nan"), float("inf")
    odd = {
        "none": [],
        "all nan": [{"loss": nan}],
        "gap": [{"loss": 1.0}, {"loss": nan}, {"loss": infinity}, {"loss": 2.0}],
        "zeros": [{"loss": 0.0}, {"loss": 0.0}],
        "one": [{"loss": 3.0}],
        "tiny": [{"loss": 1e-300}, {"loss": 1.0}, {"loss": 0.0}],
        "below zero": [{"loss": -5.0}, {"loss": 100.0}],
    }
    drawn = charts(odd)
    assert [chart.title for chart in drawn] == ["gap", "zeros", "one", "tiny", "below zero"]
    for chart in drawn:
        for line in chart.lines:
            for place in line.path[1:].split("L"):
                x, y = map(float, place.split(","))
                assert chart.left <= x <= chart.right and chart.top <= y <= chart.bottom
        assert chart.y_ticks and chart.x_ticks
