"""Training of a learned method: one loop, seeded, that can be stopped and taken up again.

Everything that happens in a step follows from the seed and the number of the step, so a training
that was stopped and taken up ends with the same bits as one that was not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nho.errors import InputError, NhoError
from nho.learned.architecture import Architecture
from nho.learned.backend import quiet_torch
from nho.learned.diffusion_net import DiffusionNet
from nho.learned.lessons import Lesson
from nho.learned.losses import LOSSES
from nho.learned.matcher import Matcher
from nho.learned.methods import METHODS, new_matcher
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
        Held-out pairs that tell which weights are the best.
    check_every : int
        Steps between looks at them.
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
            raise InputError("a training needs at least one step, one pair and one look")
        if not 0 <= self.seed < 2**31:
            raise InputError(f"seed {self.seed} is not possible; give one from 0 to 2147483647")

    def architecture(self) -> Architecture:
        """Small networks that no rotation of their input changes."""
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
        Of the network now, and of the best look so far.
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
        To go on from, of the same plan.
    keep : callable, optional
        Gets the state at every look; what it holds is not changed afterwards.
    pair_of : callable
        Where pairs come from.
    """
    with quiet_torch(plan.seed):
        course = _Course(plan, state, pair_of)
        before = course.held_out_loss(course.fresh)
        if state is None:
            course.state.best_loss = before
        while course.state.step < plan.steps:
            loss = course.advance()
            done = course.state.step
            if done % plan.check_every == 0 or done == plan.steps:
                course.look()
                if keep is not None:
                    keep(course.snapshot())
            progress(Progress("train", done, plan.steps, loss))
        course.matcher.load_state_dict(course.state.best)
        course.matcher.eval()
    return Trained(course.matcher, before, course.state.best_loss, course.state.skipped)


class _Course:
    """A training while it runs."""

    def __init__(self, plan: Plan, state: State | None, pair_of: PairOf) -> None:
        self.plan = plan
        self.matcher = new_matcher(plan.architecture())
        _spread_times(self.matcher)
        self.fresh = _copy(self.matcher.state_dict())
        self.loss = LOSSES[plan.method]
        self._pair_of = pair_of
        self._lessons: dict[int, Lesson] = {}
        self._checks = [
            Lesson.of(pair, self.matcher) for pair in held_out(plan.seed, plan.checked, plan.size)
        ]
        self._adam = torch.optim.Adam(self.matcher.parameters(), plan.learning_rate)
        self._in_a_row = 0
        if state is None:
            nothing = {name: torch.zeros_like(w) for name, w in self.matcher.named_parameters()}
            fresh = _copy(self.fresh)
            state = State(0, fresh, nothing, _copy(nothing), _copy(fresh), np.inf)
        self.state = state
        self._restore()

    def advance(self) -> float:
        """One step; the loss of its pair, or NaN where the step was left out."""
        step = self.state.step
        torch.manual_seed(self.plan.seed * 1_000_003 + step)
        for group in self._adam.param_groups:
            share = 0.5 * (1 + np.cos(np.pi * step / self.plan.steps))
            group["lr"] = self.plan.learning_rate * share
        lesson = self._lesson(step)
        self.matcher.train()
        self._adam.zero_grad()
        loss = self.loss(self.matcher, self.matcher(lesson.partial, lesson.full), lesson)
        loss.backward()
        length = nn.utils.clip_grad_norm_(self.matcher.parameters(), _LARGEST_GRADIENT)
        self.state.step += 1
        if not bool(torch.isfinite(loss)) or not bool(torch.isfinite(length)):
            self._skip()
            return float("nan")
        self._in_a_row = 0
        self._adam.step()
        for module in self.matcher.modules():
            if isinstance(module, DiffusionNet):
                module.keep_times_positive()
        return float(loss.detach())

    def look(self) -> None:
        """Keep the weights if they are the best so far."""
        loss = self.held_out_loss(None)
        if loss < self.state.best_loss:  # never true of NaN
            self.state.best_loss = loss
            self.state.best = _copy(self.matcher.state_dict())

    def held_out_loss(self, weights: Weights | None) -> float:
        """Mean over the held-out pairs, of the network as it is or with other weights."""
        now = _copy(self.matcher.state_dict())
        if weights is not None:
            self.matcher.load_state_dict(weights)
        self.matcher.eval()
        with torch.no_grad():
            losses = [
                float(self.loss(self.matcher, self.matcher(lesson.partial, lesson.full), lesson))
                for lesson in self._checks
            ]
        self.matcher.load_state_dict(now)
        return float(np.mean(losses))

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

    def _skip(self) -> None:
        self.state.skipped += 1
        self._in_a_row += 1
        if self._in_a_row > _MOST_SKIPPED:
            raise NhoError(
                f"the training of {self.plan.method} has no finite gradient any more at step "
                f"{self.state.step}; give another seed"
            )

    def _lesson(self, step: int) -> Lesson:
        """That of a step: each round goes through all pairs in an order of its own."""
        lap, place = divmod(step, self.plan.pairs)
        order = np.random.default_rng([self.plan.seed, lap]).permutation(self.plan.pairs)
        number = int(order[place])
        if number not in self._lessons:
            pair = self._pair_of(self.plan.seed, number, self.plan.size)
            self._lessons[number] = Lesson.of(pair, self.matcher)
        return self._lessons[number]


def _spread_times(matcher: Matcher) -> None:
    """Diffusion times of a fresh network: from nothing to a good part of the shape."""
    # From zero, where the original starts, they take thousands of steps to grow.
    with torch.no_grad():
        for name, parameter in matcher.named_parameters():
            if name.endswith("diffusion.time"):
                parameter.copy_(torch.linspace(0, _LONGEST_TIME, len(parameter)))


def _copy(weights: Weights) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in weights.items()}
