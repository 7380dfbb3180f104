"""Figures: they show what they are given, look the same everywhere, and are the same bytes."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.lab.bench.figures.curves import (
    Effects,
    Series,
    budget_figure,
    forest_figure,
    pck_figure,
    success_figure,
)
from nho.lab.bench.figures.plotstyle import PUBLISHED_SUFFIX, method_styles, save
from nho.lab.bench.scores import PCK_THRESHOLDS
from nho.lab.bench.statistics import Difference
from nho.lab.bench.tabular import Cell

matplotlib = pytest.importorskip("matplotlib")

METHODS = ("default", "paper", "anchor-distance+zoomout")
SETTINGS = ("default scale", "default, rotated", "normalised", "normalised, rotated")


def success():
    random = np.random.default_rng(0)
    return success_figure({s: {m: 60 + 40 * random.random(8) for m in METHODS} for s in SETTINGS})


def pck(ordered: bool = False):
    random = np.random.default_rng(1)
    rows = {m: 100 * (1 - np.exp(-random.random((6, 1)) * PCK_THRESHOLDS)) for m in METHODS}
    return pck_figure({"PFAUST-M": rows}, ordered)


def budget():
    at = (5.0, 15.0, 25.0, 50.0, 100.0)
    ours = Series("default", at, tuple(Cell(20 / x, 1 / x) for x in at))
    theirs = Series("NHO" + PUBLISHED_SUFFIX, at, tuple(Cell(90 / x) for x in at))
    return budget_figure({"error ×100": [ours, theirs], "IoU (%)": [ours]})


def forest():
    changes = {
        "without refinement": Difference(1.0, 0.5, 1.5, 9),
        "other start": Difference(-0.1, -0.4, 0.3, 9),
        "more steps": Difference(-0.6, -0.9, -0.3, 9),
        "one pair only": Difference(0.2, np.nan, np.nan, 1),
    }
    return forest_figure([Effects("error ×100", "low", changes), Effects("IoU", "high", changes)])


KINDS = {"success": success, "pck": pck, "budget": budget, "forest": forest}
ALL_SLOWLY = ["pck", *(pytest.param(k, marks=pytest.mark.slow) for k in KINDS if k != "pck")]


@pytest.mark.parametrize("kind", ALL_SLOWLY)
def test_files_are_written_alike_every_time_and_hold_no_date(kind: str, tmp_path: Path) -> None:
    first = save(KINDS[kind](), tmp_path / "figure.v1")
    again = save(KINDS[kind](), tmp_path / "again")
    assert [path.name for path in first] == ["figure.v1.svg", "figure.v1.pdf", "figure.v1.png"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    svg, pdf, _ = (path.read_bytes() for path in first)
    assert b"<dc:date>" not in svg and b"CreationDate" not in pdf
    assert svg.rstrip().endswith(b"</svg>") and pdf.startswith(b"%PDF")


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_not_blank(kind: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    KINDS[kind]().savefig(tmp_path / "figure.png", dpi=60)
    pixels = imread(tmp_path / "figure.png")[:, :, :3]
    assert (pixels == 1).all(axis=2).mean() > 0.5  # white paper
    strongest = pixels.max(axis=2) - pixels.min(axis=2)
    assert (strongest > 0.5).mean() > 0.001  # coloured lines


def line(figure, name: str, panel: int = 0):
    return next(entry for entry in figure.axes[panel].lines if entry.get_label() == name)


def test_the_success_curve_is_the_share_of_pairs_above() -> None:
    figure = success_figure({"": {"default": np.array([50.0, 80.0, 90.0, 100.0])}})
    x, y = line(figure, "default").get_data()
    shares = dict(zip(x, y, strict=True))
    assert [shares[at] for at in (0, 49.5, 50, 85, 100)] == [100, 100, 75, 50, 0]


def test_the_pck_curve_is_the_mean_over_pairs() -> None:
    rows = np.stack([np.full(50, 20.0), np.full(50, 60.0)])
    x, y = line(pck_figure({"": {"default": rows}}), "default").get_data()
    assert np.array_equal(x, PCK_THRESHOLDS) and np.allclose(y, 40)


def test_a_method_has_one_colour_in_every_figure() -> None:
    colours = {line(figure(), "default").get_color() for figure in (success, pck)}
    colours.add(method_styles(["default"])["default"]["color"])
    colours.add(method_styles(["zzz", "paper", "default"])["default"]["color"])
    assert len(colours) == 1


def test_different_methods_never_look_alike() -> None:
    names = [*METHODS, "nearest", "PFM", "DPFM + ZoomOut", "new one", "another", "a third"]
    looks = method_styles(names)
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == len(names)


def test_the_published_is_dashed_in_the_colour_of_its_method() -> None:
    looks = method_styles(["paper", "NHO" + PUBLISHED_SUFFIX])
    ours, theirs = looks["paper"], looks["NHO" + PUBLISHED_SUFFIX]
    assert ours["color"] == theirs["color"]
    assert ours["linestyle"] == "-" != theirs["linestyle"]


def test_steps_of_one_quantity_darken() -> None:
    figure = pck(ordered=True)
    light = [sum(matplotlib.colors.to_rgb(line(figure, m).get_color())) for m in METHODS]
    assert light == sorted(light, reverse=True)


def test_panels_share_one_legend_without_repeats() -> None:
    figure = success()
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == list(METHODS)
    assert [ax.get_title() for ax in figure.axes] == list(SETTINGS)


def test_ticks_are_the_budgets_that_were_measured(tmp_path: Path) -> None:
    figure = budget()
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [
        *("5", "15", "25", "50", "100")
    ]


def test_only_differences_that_are_sure_are_coloured() -> None:
    figure = forest()
    for ax, sign in zip(figure.axes, (1, -1), strict=True):
        face = {
            float(entry.get_xdata()[0]): entry.get_markerfacecolor()
            for entry in ax.lines
            if entry.get_marker() == "o"
        }
        worse, better = (face[1.0], face[-0.6])[::sign]
        assert (worse, better) == ("#D55E00", "#0072B2")
        assert face[-0.1] == face[0.2] == "white"


def test_the_style_of_others_is_left_alone(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    save(forest(), tmp_path / "figure")
    assert dict(matplotlib.rcParams) == before


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        success_figure({})


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=re.escape("nho[bench]")):
        pck()
