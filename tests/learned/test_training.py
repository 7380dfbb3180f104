"""Training: it helps, it repeats itself, and it can be stopped at any moment."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.cli.train import train_command  # noqa: E402
from nho.errors import InputError, NhoError  # noqa: E402
from nho.evaluation.metrics import geodesic_errors  # noqa: E402
from nho.geometry.surface import SurfacePoints  # noqa: E402
from nho.learned import training, training_files, training_pairs  # noqa: E402
from nho.learned.checkpoints import load_checkpoint  # noqa: E402
from nho.learned.methods import METHODS  # noqa: E402
from nho.learned.training import Plan, train  # noqa: E402
from nho.learned.training_files import load_state, save_state, train_to_file, unfinished  # noqa: E402
from nho.learned.training_pairs import held_out  # noqa: E402
from tests.faults.running import run_here  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def _pairs_made_once():
    """Many trainings below use the same few pairs, which take longer to make than to learn."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(training_pairs.training_pair)
        patch.setattr(training_pairs, "training_pair", once)
        patch.setattr(train, "__defaults__", (*train.__defaults__[:-1], once))
        yield


SMALL = Plan("ulrssm", steps=4, pairs=2, size=(200, 260), width=16, checked=1, check_every=2)


def error_of(matcher, pairs) -> float:
    """Mean geodesic error of the matches."""
    errors = []
    for pair in pairs:
        target = matcher.features(pair.partial, pair.full).target
        found = SurfacePoints.at_vertices(pair.full, target)
        errors.append(geodesic_errors(pair.full, found, pair.truth).mean())
    return float(np.mean(errors))


def same(first, second) -> bool:
    first, second = first.state_dict(), second.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[n], second[n]) for n in first)


@pytest.mark.slow
def test_a_few_seconds_lower_the_loss_and_the_error_on_pairs_never_seen():
    plan = Plan("dpfm", steps=60, pairs=12, size=(200, 260), width=24, checked=2, check_every=20)
    trained = train(plan)
    fresh = train(replace(plan, steps=1, learning_rate=1e-9)).matcher
    assert trained.loss_after < 0.9 * trained.loss_before
    unseen = held_out(plan.seed + 1, 4, plan.size)
    assert error_of(trained.matcher, unseen) < 0.9 * error_of(fresh, unseen)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_same_plan_gives_the_same_bits(method):
    plan = replace(SMALL, method=method, steps=2, check_every=1)
    assert same(train(plan).matcher, train(plan).matcher)


def test_another_seed_gives_another_network():
    plan = replace(SMALL, steps=1, pairs=1)
    assert not same(train(plan).matcher, train(replace(plan, seed=1)).matcher)


def test_a_training_taken_up_ends_as_one_that_was_never_stopped(tmp_path):
    states = []
    whole = train(SMALL, keep=states.append)
    assert [state.step for state in states] == [2, 4]
    save_state(tmp_path / "state", SMALL, states[0])
    resumed = train(SMALL, state=load_state(tmp_path / "state", SMALL))
    assert same(whole.matcher, resumed.matcher)
    assert (whole.loss_before, whole.loss_after) == (resumed.loss_before, resumed.loss_after)


def test_the_callers_own_threads_and_seed_are_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(replace(SMALL, steps=1, pairs=1))
    assert torch.equal(torch.rand(3), expected)


def test_steps_without_a_finite_gradient_change_nothing(monkeypatch):
    right = training.LOSSES["ulrssm"]
    calls = []

    def sometimes(matcher, output, example):
        calls.append(output.partial.requires_grad)
        broken = output.partial.requires_grad and sum(calls) in (2, 3)
        return right(matcher, output, example) * (float("nan") if broken else 1.0)

    monkeypatch.setitem(training.LOSSES, "ulrssm", sometimes)
    trained = train(SMALL)
    assert trained.skipped == 2
    assert all(bool(torch.isfinite(w).all()) for w in trained.matcher.state_dict().values())
    assert trained.loss_after <= trained.loss_before


def test_a_training_that_broke_down_says_so(monkeypatch):
    right = training.LOSSES["ulrssm"]
    monkeypatch.setitem(training.LOSSES, "ulrssm", lambda *a: right(*a) * float("inf"))
    with pytest.raises(NhoError, match="no finite gradient .* give another seed"):
        train(replace(SMALL, steps=40))


def test_the_best_look_is_kept_even_if_later_steps_spoil_it():
    # A step this long ruins any network; the one before it is what comes out.
    spoiled = train(replace(SMALL, learning_rate=1e3))
    assert spoiled.loss_after <= spoiled.loss_before


def test_weights_are_kept_even_if_the_first_check_has_no_finite_loss(monkeypatch):
    right, calls = training.LOSSES["ulrssm"], []

    def first_is_nan(*given):
        calls.append(None)
        return right(*given) * (float("nan") if len(calls) == 1 else 1.0)

    monkeypatch.setitem(training.LOSSES, "ulrssm", first_is_nan)
    trained = train(SMALL)
    assert np.isnan(trained.loss_before) and np.isfinite(trained.loss_after)


def test_diffusion_times_stay_positive_after_steps_that_are_far_too_long():
    states = []
    train(replace(SMALL, learning_rate=1.0), keep=states.append)
    times = [w for name, w in states[-1].weights.items() if name.endswith("diffusion.time")]
    assert times and all(float(time.min()) >= 0 for time in times)


def test_the_file_is_the_network_and_nothing_else_is_left(tmp_path):
    out = tmp_path / "net.npz"
    trained = train_to_file(SMALL, out)
    assert os.listdir(tmp_path) == ["net.npz"]
    again = load_checkpoint(out)
    assert again.architecture == trained.matcher.architecture
    for name, weight in trained.matcher.state_dict().items():
        assert torch.allclose(again.state_dict()[name], weight, rtol=2e-3, atol=1e-6), name


def test_an_unfinished_training_of_another_plan_is_refused_and_kept(tmp_path):
    out = tmp_path / "net.npz"
    states = []
    train(replace(SMALL, steps=2), keep=states.append)
    save_state(unfinished(out), replace(SMALL, seed=9), states[0])
    content = unfinished(out).read_bytes()
    with pytest.raises(InputError, match="other options; delete it"):
        train_to_file(SMALL, out)
    assert unfinished(out).read_bytes() == content and not out.exists()


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_a_damaged_unfinished_file_is_one_sentence(tmp_path, damage):
    path = tmp_path / "net.npz.unfinished"
    states = []
    train(replace(SMALL, steps=1, pairs=1, check_every=1), keep=states.append)
    save_state(path, SMALL, states[0])
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 2], "text": b"hello", "empty": b""}[damage])
    with pytest.raises(InputError, match="is no unfinished training"):
        load_state(path, SMALL)


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"method": "nothing"}, "choose dpfm"), ({"steps": 0}, "one step"), ({"seed": -1}, "seed -1")],
)
def test_impossible_plans_are_refused(changes, word):
    with pytest.raises(InputError, match=word):
        replace(SMALL, **changes)


@pytest.mark.parametrize(("name", "word"), [("net.pth", ".npz"), ("no/net.npz", "folder")])
def test_a_place_that_cannot_be_written_is_told_before_training(tmp_path, name, word):
    with pytest.raises(InputError, match=word):
        train_to_file(SMALL, tmp_path / name)


def test_the_command_stopped_and_given_again_goes_on_and_ends(tmp_path, monkeypatch):
    out = tmp_path / "net.npz"
    # The command's own sizes would take a minute.
    small = partial(Plan, pairs=2, size=(200, 260), width=16, checked=1, check_every=5)
    monkeypatch.setattr(training, "Plan", small)

    def save_and_interrupt(*arguments):
        save_state(*arguments)
        signal.raise_signal(signal.SIGINT)

    command = ["train", "ulrssm", "--out", out, "--steps", 12]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job has none
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(training_files, "save_state", save_and_interrupt)
            code, _, told = run_here(*command)
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    assert "run the same command again to continue" in told and "Traceback" not in told
    assert os.listdir(tmp_path) == ["net.npz.unfinished"]

    code, shown, told = run_here(*command)
    assert code == 0, told
    assert "going on after step" in told and "wrote" in shown
    assert os.listdir(tmp_path) == ["net.npz"]
    load_checkpoint(out)


def test_the_command_refuses_an_unknown_method_before_anything_else(tmp_path):
    with pytest.raises(InputError, match="no learned method 'magic'"):
        train_command("magic", tmp_path / "net.npz")
    assert not os.listdir(tmp_path)
