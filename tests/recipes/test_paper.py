"""The paper's recipe: what each reading of it changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nho.operator.spectra import analyse
from nho.problem.preparation import prepare
from nho.recipes.paper import ReciprocalLoop
from nho.runtime.run import started
from nho.settings import preset

QUICK = preset("paper").replace(
    fit_steps=8, rounds=1, galerkin_modes=40, refine_last=30, refine_increment=10, refine_steps=10
)


def looped(piece, whole, anchors=25, **changes):
    """The loop after its last round, and what it reports."""
    chosen = np.linspace(0, piece.mesh.n_vertices - 1, anchors).astype(int)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    settings = QUICK.replace(threads=1, **changes)
    problem = prepare(piece.mesh, whole, pairs)
    with started(settings, None) as run:
        loop = ReciprocalLoop(analyse(problem, run), problem.anchors, run)
        loop.run()
        return loop, loop.refined_map()


def test_with_fewer_anchors_than_modes_it_is_said_where_refinement_starts(piece, whole):
    loop, _ = looped(piece, whole, anchors=7)
    (said,) = loop.notes
    assert "7 dimensions" in said and "starts at 20" in said
    assert not looped(piece, whole)[0].notes


def test_with_fewer_anchors_than_modes_maps_have_as_many_dimensions(piece, whole, monkeypatch):
    import nho.recipes.paper as module

    seen = []
    real = module.align
    monkeypatch.setattr(module, "align", lambda *both: seen.append(both[0].shape[1]) or real(*both))
    looped(piece, whole, anchors=7, refinement="none")
    looped(piece, whole, anchors=25, refinement="none")
    assert seen == [7, 7, 20, 20]


def test_refinement_within_the_support_stays_there(piece, whole):
    loop, target = looped(piece, whole, refine_within="support")
    support = loop.region_score() > 0.5
    assert not support.all() and support[target].all()
    loop, target = looped(piece, whole, refine_within="everywhere")
    assert not support[target].all()


@pytest.mark.parametrize("region", ["indicator", "image", "energy"])
def test_without_the_operator_the_region_is_what_the_setting_says(region, piece, whole):
    loop, target = looped(piece, whole, coordinates="laplacian", plain_region=region)
    found = loop.final_region_score(target) > 0.5
    if region == "image":
        assert np.array_equal(np.flatnonzero(found), np.unique(target))
    elif region == "indicator":
        assert np.array_equal(found, loop.indicator > 0.5)
    else:
        low = loop.modes.functions[:, :20]
        assert np.array_equal(found, (low**2).mean(axis=1) > 0.01 * loop.modes.eigenvalues[0])


@pytest.mark.parametrize(
    "change",
    [
        {"activation": "sine"},
        {"activation": "softplus"},
        {"fresh_moments": False},
        {"precision": "double"},
        {"distortion_misses": "local", "distortion_front": 30},
        {"readout_operator": "reduced"},
        {"refine_scaling": "area"},
        {"refine_scaling": "support"},
    ],
    ids=str,
)
def test_every_reading_changes_something(change, piece, whole):
    loop, target = looped(piece, whole)
    other, other_target = looped(piece, whole, **change)
    same = np.array_equal(loop.indicator, other.indicator) and np.array_equal(target, other_target)
    assert not same and np.isfinite(other.indicator).all()


def test_the_unit_of_the_files_counts_only_where_it_is_asked_for(piece, whole):
    gaps = {}
    for unit in ("area", "given"):
        usual, larger = (
            looped(
                replace(piece, mesh=piece.mesh.scaled(factor)),
                whole.scaled(factor),
                refinement="none",
                encoding_unit=unit,
            )[0]
            for factor in (1.0, 10.0)
        )
        gaps[unit] = np.abs(usual.indicator - larger.indicator).max()
    assert gaps["area"] < 1e-3 < gaps["given"]
