"""Numbers that are not finite in training: the best iterate so far, a status and a warning."""

from __future__ import annotations

import numpy as np
import pytest

import nho
import nho.operator.losses
from nho.errors import SolverError
from nho.operator.field import NeuralField
from nho.operator.fitting import fit_operator
from nho.operator.network import Adam
from nho.operator.refinement import NeuralAdjointMap, refine
from nho.runtime.parallel import SERIAL
from nho.runtime.run import Run, Stage
from nho.settings import PaperRecipe, preset
from tests.faults.given import match_words
from tests.faults.running import run_here

STEPS = 12


class Bowl:
    """An objective with its lowest loss in the middle of the fit, that breaks at a given step."""

    recipe = PaperRecipe(fit_steps=STEPS, fit_learning_rate=1e-2)

    def __init__(self, at=None, how="loss"):
        self._at, self._how = at, how
        self.losses = []

    def __call__(self, s, positives, negatives):
        step = len(self.losses)
        loss = float(abs(step - 4)) + float(s.mean())
        gradient = np.full_like(s, 1 / len(s))
        self.losses.append(loss)
        if step == self._at:
            if self._how == "solver":
                raise SolverError("the operator could not be solved")
            if self._how == "gradient":
                gradient[0] = np.inf
            else:
                loss = {"loss": np.nan, "infinite": np.inf}[self._how]
        return loss, gradient, {"mean": float(s.mean())}


def field():
    return NeuralField(
        np.random.default_rng(0).standard_normal((50, 4)), (8,), "tanh", np.random.default_rng(1)
    )


def fitted(objective):
    of = field()
    return of, *fit_operator(of, objective, np.arange(3), Stage("fit"))


@pytest.mark.parametrize("how", ["loss", "infinite", "gradient", "solver"])
@pytest.mark.parametrize("at", [0, 1, 7, STEPS - 1])
def test_a_fit_that_breaks_down_ends_with_its_best_iterate(at, how):
    of, indicator, curve, trouble = fitted(Bowl(at, how))
    assert f"at step {at}" in trouble and "best iterate was kept" in trouble
    assert trouble.startswith("fit: ")
    counted = at + (how == "gradient")  # its loss was finite
    assert len(curve) == counted
    best = int(np.argmin([entry["loss"] for entry in curve])) if counted else 0
    same = field()
    undisturbed = Bowl()
    undisturbed.recipe = Bowl.recipe.replace(fit_steps=best)
    expected, *_ = fit_operator(same, undisturbed, np.arange(3), Stage("fit"))
    assert np.array_equal(indicator, expected) and np.array_equal(of.parameters, same.parameters)


def test_a_fit_that_goes_well_ends_with_its_last_iterate():
    of, indicator, curve, trouble = fitted(Bowl())
    assert trouble == "" and len(curve) == STEPS
    assert np.array_equal(indicator, of.indicator()) and np.isfinite(indicator).all()
    best, *_ = fitted(Bowl(STEPS - 1))
    assert not np.array_equal(of.parameters, best.parameters)


@pytest.mark.parametrize("at", [3, STEPS - 1])
def test_parameters_that_are_not_finite_are_noticed_even_after_the_last_step(at, monkeypatch):
    real = Adam.step

    def poisoned(self, flat, gradient):
        real(self, flat, gradient)
        if self.steps == at + 1:
            flat[0] = np.nan

    monkeypatch.setattr(Adam, "step", poisoned)
    _, indicator, curve, trouble = fitted(Bowl())
    assert f"the field was not finite at step {at + 1}" in trouble and len(curve) == at + 1
    assert np.isfinite(indicator).all()


# Refinement


class Poisoned:
    """Losses of a `NeuralAdjointMap` that are not finite at one call, counted over all of them."""

    def __init__(self, monkeypatch, at, what="loss"):
        self.calls, real = 0, NeuralAdjointMap.loss_and_gradient

        def loss_and_gradient(of, *rows):
            loss, gradient = real(of, *rows)
            self.calls += 1
            if self.calls == at + 1:
                return (np.nan, gradient) if what == "loss" else (loss, gradient * np.inf)
            return loss, gradient

        monkeypatch.setattr(NeuralAdjointMap, "loss_and_gradient", loss_and_gradient)


def data():
    x = np.random.default_rng(3).standard_normal((100, 6))
    return np.arange(len(x)), x, np.abs(x)


@pytest.mark.parametrize("what", ["loss", "gradient"])
@pytest.mark.parametrize("at", [0, 5, 9])
def test_a_neural_map_that_breaks_down_keeps_its_best_iterate(at, what, monkeypatch):
    recipe = PaperRecipe(refine_learning_rate=1e-2)
    Poisoned(monkeypatch, at, what)
    broken = NeuralAdjointMap(6, np.random.default_rng(0))
    with np.errstate(invalid="ignore"):  # inf * 0 in the poison
        loss, trouble = broken.fit(*data(), recipe, 10, SERIAL)
    assert f"at step {at}" in trouble and "best iterate was kept" in trouble
    monkeypatch.undo()
    whole = NeuralAdjointMap(6, np.random.default_rng(0))
    best = at - (what == "loss")  # losses fall, so the last good one is the best
    if best < 0:
        assert np.isnan(loss) and np.array_equal(broken.parameters, whole.parameters)
        return
    whole.fit(*data(), recipe, best, SERIAL)
    assert np.array_equal(broken.parameters, whole.parameters) and np.isfinite(loss)
    assert whole.fit(*data(), recipe, 10, SERIAL)[1] == ""


REFINING = PaperRecipe(
    refinement="neural-zoomout",
    refine_first=4,
    refine_last=8,
    refine_increment=2,
    refine_steps=10,
    refine_later_steps=10,
)


def refined(random):
    functions = np.random.default_rng(5).standard_normal((60, 8))
    start = np.arange(60)
    start[::7] = 0
    return start, refine(start, functions, functions, REFINING, random, Run())


def test_refinement_goes_on_after_a_stage_that_broke_down(monkeypatch):
    Poisoned(monkeypatch, 14)
    _, (target, curve, troubles) = refined(np.random.default_rng(0))
    assert [row["dimension"] for row in curve] == [4, 6, 8]
    assert len(troubles) == 1 and "6 dimensions" in troubles[0] and "step 4" in troubles[0]
    assert all(np.isfinite(row["loss"]) for row in curve) and len(target) == 60


@pytest.mark.parametrize(("at", "stages"), [(0, 0), (10, 1)])
def test_refinement_ends_with_the_map_before_a_stage_that_never_worked(at, stages, monkeypatch):
    Poisoned(monkeypatch, at)
    start, (target, curve, troubles) = refined(np.random.default_rng(0))
    assert len(curve) == stages and len(troubles) == 1 and "step 0" in troubles[0]
    if stages == 0:
        assert np.array_equal(target, start)


# Whole matches


@pytest.fixture(scope="module")
def pair(whole, piece):
    chosen = nho.sample_vertices(piece.mesh, 8)
    return piece.mesh, whole, np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def break_losses(monkeypatch, at):
    """The loss of the operator is NaN at one call."""
    calls, real = [], nho.operator.losses.area_loss

    def area_loss(*arguments):
        calls.append(1)
        value, gradient = real(*arguments)
        return (np.nan if len(calls) == at + 1 else value), gradient

    monkeypatch.setattr(nho.operator.losses, "area_loss", area_loss)


def assert_told(result, part):
    assert part in result.status and "best iterate was kept" in result.status
    assert sum("see status" in warning for warning in result.warnings) == 1
    assert (result.vertex_map >= 0).all() and np.isfinite(result.confidence).all()
    assert np.isfinite(result.region_score).all()


def test_the_default_recipe_tells_of_a_loss_that_broke_down(pair, monkeypatch):
    settings = preset("default").replace(fit_steps=10, look_again_below=2.0)
    assert nho.match(*pair, settings).status == "ok"
    break_losses(monkeypatch, 4)
    result = nho.match(*pair, settings)
    assert_told(result, "operator 1: the loss was not finite at step 4")
    assert len(result.curves["operator 1"]) == 4


@pytest.mark.parametrize(("at", "stage"), [(4, "fit"), (13, "round 1")])
def test_the_papers_recipe_tells_of_a_loss_that_broke_down(at, stage, pair, monkeypatch):
    settings = preset("paper").replace(fit_steps=10, rounds=1, refinement="none")
    break_losses(monkeypatch, at)
    assert_told(nho.match(*pair, settings), f"{stage}: the loss was not finite at step {at % 10}")


def test_the_papers_recipe_tells_of_a_refinement_that_broke_down(pair, monkeypatch):
    settings = preset("paper").replace(
        fit_steps=3, rounds=0, refine_steps=10, refine_later_steps=4, refine_last=30
    )
    Poisoned(monkeypatch, 7)
    assert_told(nho.match(*pair, settings), "dimensions: the loss was not finite at step")


def test_the_command_tells_status_and_warning_and_stores_both(pairs, tmp_path, monkeypatch):
    break_losses(monkeypatch, 1)
    code, _, err = run_here(*match_words(pairs, 0, tmp_path / "out"))
    assert code == 0
    assert "status: operator 1: the loss was not finite at step 1" in err
    assert "warning: not everything went well (see status)" in err
    loaded = nho.MatchResult.load(tmp_path / "out")
    assert "not finite" in loaded.status and any("see status" in w for w in loaded.warnings)
