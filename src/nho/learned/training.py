"""Training of a learned method: one loop, seeded, that can be stopped and resumed.

Everything that happens in a step follows from the seed and the number of the step, so a training
that was stopped and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nho.errors import InputError, NhoError
from nho.learned.architecture import Architecture
from nho.learned.backend import quiet_torch
from nho.learned.diffusion_net import Diffusion
from nho.learned.losses import LOSSES
from nho.learned.matcher import Matcher
from nho.learned.methods import METHODS, new_matcher
from nho.learned.training_examples import TrainingExample
from nho.learned.training_pairs import TrainingPair, held_out, training_pair
from nho.progress import Progress, ProgressCallback, ignore

_LARGEST_GRADIENT = 1.0  # length it is cut to
_MOST_SKIPPED = 20  # steps in a row without a finite gradient
_LONGEST_TIME = 0.02  # of diffusion in a fresh network, in units of the full shape's area

Weights = dict[str, Tensor]
PairOf = Callable[[int, int, tuple[int, int]], TrainingPair]  # from seed, number and size


@dataclass(frozen=True)
class Plan:
    """All choices of a training.

    Attributes
    ----------
    method : str
        Name in `nho.learned.methods`.
    steps : int
        Of Adam, one pair each.
    seed : int
        Of the pairs, of the first weights and of the dropout.
    pairs : int
        Different ones; they come again and again in another order.
    size : (int, int)
        Fewest and most vertices of the uncut shapes.
    width : int
        Of the network.
    learning_rate : float
        At the start; it sinks to zero along a cosine.
    checked : int
        Held-out pairs that decide which weights are the best.
    check_every : int
        Steps between checks of them.
    """

    method: str
    steps: int = 1200
    seed: int = 0
    pairs: int = 240
    size: tuple[int, int] = (500, 800)
    width: int = 64
    learning_rate: float = 2e-3
    checked: int = 8
    check_every: int = 100

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(
                f"there is no learned method {self.method!r}; choose {', '.join(METHODS)}"
            )
        if self.steps < 1 or self.pairs < 1 or self.checked < 1 or self.check_every < 1:
            raise InputError("a training needs at least one step, one pair and one check")
        if not 0 <= self.seed < 2**31:
            raise InputError(f"seed {self.seed} is not possible; give one from 0 to 2147483647")

    def architecture(self) -> Architecture:
        """A small network whose output no rotation of the shapes changes."""
        return Architecture(
            self.method,
            inputs="local",
            outputs=self.width,
            width=self.width,
            modes=100,
            map_modes=50,
            compared=sum(self.size) / 2 if self.method == "echomatch" else 0.0,
            dropout=0.1,
        )


@dataclass
class State:
    """Where a training stands after some steps.

    Attributes
    ----------
    step : int
        Steps done.
    weights, best : tables of tensors
        Of the network now, and at the best check so far.
    first, second : tables of tensors
        Adam's running means of gradients and of their squares.
    best_loss : float
        On the held-out pairs.
    skipped : int
        Steps that were left out because their gradient was not finite.
    """

    step: int
    weights: Weights
    first: Weights
    second: Weights
    best: Weights
    best_loss: float
    skipped: int = 0


@dataclass(frozen=True)
class Trained:
    """A trained network and the mean losses on held-out pairs before and after."""

    matcher: Matcher
    loss_before: float
    loss_after: float
    skipped: int


def train(
    plan: Plan,
    progress: ProgressCallback = ignore,
    state: State | None = None,
    keep: Callable[[State], None] | None = None,
    pair_of: PairOf = training_pair,
) -> Trained:
    """Train a network on generated pairs.

    Parameters
    ----------
    state : State, optional
        To resume from, of the same plan.
    keep : callable, optional
        Gets the state at every check; its tensors are not changed afterwards.
    pair_of : callable
        Where pairs come from.
    """
    with quiet_torch(plan.seed):
        training = _Training(plan, state, pair_of)
        while training.state.step < plan.steps:
            loss = training.advance()
            done = training.state.step
            if done % plan.check_every == 0 or done == plan.steps:
                training.check()
                if keep is not None:
                    keep(training.snapshot())
            progress(Progress("train", done, plan.steps, loss))
        end = training.state
        training.matcher.load_state_dict(end.best)
        training.matcher.eval()
    return Trained(training.matcher, training.loss_before, end.best_loss, end.skipped)


class _Training:
    """A training while it runs."""

    def __init__(self, plan: Plan, state: State | None, pair_of: PairOf) -> None:
        self.plan = plan
        self.matcher = new_matcher(plan.architecture())
        with torch.no_grad():
            # From zero, where the original starts, times take thousands of steps to grow.
            for time in _diffusion_times(self.matcher):
                time.copy_(torch.linspace(0, _LONGEST_TIME, len(time)))
        self._pair_of = pair_of
        self._examples: dict[int, TrainingExample] = {}
        pairs = held_out(plan.seed, plan.checked, plan.size)
        self._checked = [self._example(pair) for pair in pairs]
        self._adam = torch.optim.Adam(self.matcher.parameters(), plan.learning_rate)
        self._skipped_in_a_row = 0
        self.loss_before = self._held_out_loss()
        if state is None:
            fresh = _copy(self.matcher.state_dict())
            best_loss = self.loss_before if math.isfinite(self.loss_before) else math.inf
            state = State(0, fresh, {}, {}, fresh, best_loss)
        self.state = state
        self._restore()

    def advance(self) -> float:
        """One step; the loss of its pair, or NaN where the step was left out."""
        step = self.state.step
        torch.manual_seed(self.plan.seed * 1_000_003 + step)
        for group in self._adam.param_groups:
            share = 0.5 * (1 + np.cos(np.pi * step / self.plan.steps))
            group["lr"] = self.plan.learning_rate * share
        example = self._example_of(step)
        self.matcher.train()
        self._adam.zero_grad()
        loss = self._loss(example)
        torch.autograd.backward(loss)
        length = nn.utils.clip_grad_norm_(self.matcher.parameters(), _LARGEST_GRADIENT)
        self.state.step += 1
        if not bool(torch.isfinite(loss)) or not bool(torch.isfinite(length)):
            self._skip()
            return float("nan")
        self._skipped_in_a_row = 0
        self._adam.step()
        with torch.no_grad():
            # A negative time would get no gradient and stay for ever.
            for time in _diffusion_times(self.matcher):
                time.clamp_(min=0)
        return float(loss.detach())

    def check(self) -> None:
        """Keep the weights if they are the best so far."""
        loss = self._held_out_loss()
        if loss < self.state.best_loss:  # never true of NaN
            self.state.best_loss = loss
            self.state.best = _copy(self.matcher.state_dict())

    def snapshot(self) -> State:
        """The state as it is now, in tensors of its own."""
        moments = {
            name: self._adam.state.get(parameter, {})
            for name, parameter in self.matcher.named_parameters()
        }
        return dataclasses.replace(
            self.state,
            weights=_copy(self.matcher.state_dict()),
            first=_copy({n: m["exp_avg"] for n, m in moments.items() if m}),
            second=_copy({n: m["exp_avg_sq"] for n, m in moments.items() if m}),
        )

    def _restore(self) -> None:
        self.matcher.load_state_dict(self.state.weights)
        updates = self.state.step - self.state.skipped
        if not updates:
            return
        for name, parameter in self.matcher.named_parameters():
            self._adam.state[parameter] = {
                "step": torch.tensor(float(updates)),
                "exp_avg": self.state.first[name].clone(),
                "exp_avg_sq": self.state.second[name].clone(),
            }

    def _loss(self, example: TrainingExample) -> Tensor:
        output = self.matcher(example.partial, example.full)
        return LOSSES[self.plan.method](self.matcher, output, example)

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        self.matcher.eval()
        return float(np.mean([float(self._loss(example)) for example in self._checked]))

    def _skip(self) -> None:
        self.state.skipped += 1
        self._skipped_in_a_row += 1
        if self._skipped_in_a_row > _MOST_SKIPPED:
            raise NhoError(
                f"the training of {self.plan.method} has no finite gradient any more at step "
                f"{self.state.step}; give another seed"
            )

    def _example_of(self, step: int) -> TrainingExample:
        """That of a step: each round goes through all pairs in an order of its own."""
        lap, place = divmod(step, self.plan.pairs)
        order = np.random.default_rng([self.plan.seed, lap]).permutation(self.plan.pairs)
        number = int(order[place])
        if number not in self._examples:
            pair = self._pair_of(self.plan.seed, number, self.plan.size)
            self._examples[number] = self._example(pair)
        return self._examples[number]

    def _example(self, pair: TrainingPair) -> TrainingExample:
        return TrainingExample.of(pair, self.matcher.architecture)


def _diffusion_times(matcher: Matcher) -> list[nn.Parameter]:
    return [module.time for module in matcher.modules() if isinstance(module, Diffusion)]


def _copy(weights: Weights) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in weights.items()}
