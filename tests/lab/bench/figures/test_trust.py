"""Figures of what a match says of itself."""

import numpy as np
import pytest

from nho.lab.bench.figures.trust import placement_figure, reliability_figure

pytest.importorskip("matplotlib")


def test_every_world_has_a_panel_with_its_filled_bins():
    table = np.array([[0, 0, 0], [10, 0.5, 0.4], [40, 0.9, 1.0]])
    figure = reliability_figure({"bones": table, "bodies": table[:2]}, 0.03)
    bones, bodies = figure.axes
    assert (bones.get_title(), bodies.get_title()) == ("bones", "bodies")
    np.testing.assert_allclose(bones.collections[0].get_offsets(), table[1:, 1:])
    assert len(bodies.collections[0].get_offsets()) == 1


def test_the_curves_are_the_shares_that_a_threshold_doubts_and_believes():
    runs = [("right", 0.9, True), ("right", 0.3, True), ("shuffled", 0.6, False)]
    left, right = placement_figure(runs, 0.5).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["shuffled", "right"]
    doubted, believed = (line.get_xydata() for line in right.lines[:2])
    at_half = np.abs(doubted[:, 0] - 0.5).argmin()
    assert doubted[at_half, 1] == 0.5 and believed[at_half, 1] == 1.0
    assert believed[-1, 1] == 0.0 and doubted[0, 1] == 0.0


@pytest.mark.filterwarnings("error")
def test_where_no_run_lies_wrong_there_is_no_curve_of_them():
    right = placement_figure([("right", 0.9, True)], 0.5).axes[1]
    doubted, believed = (line.get_ydata() for line in right.lines[:2])
    assert doubted[-1] == 1.0 and np.isnan(believed).all()
