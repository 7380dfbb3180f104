"""A training in files: the network it ends with, and its state while it is not finished.

The unfinished file lies beside the one asked for and is deleted when that is written.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nho.errors import InputError
from nho.learned.checkpoints import MOST_BYTES, save_checkpoint
from nho.learned.methods import new_matcher
from nho.learned.training import Plan, State, Trained, Weights, train
from nho.progress import ProgressCallback, ignore
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import read_bytes
from nho.runtime.npz import load_arrays, npz_bytes

_MOMENTS = ("first", "second")  # of Adam
_TABLES = ("weights", *_MOMENTS, "best")


def unfinished(out: Path) -> Path:
    """The file of the state while the training of a network is not done."""
    return out.with_name(f"{out.name}.unfinished")


def check_out(out: Path) -> None:
    """Raise now, rather than after minutes of training, where the network cannot be written."""
    if out.suffix != ".npz":
        raise InputError(f"{out}: the file of a network ends in .npz; give it such a name")
    if not out.parent.is_dir():
        raise InputError(f"{out}: its folder does not exist; make it first")
    if out.is_dir():
        raise InputError(f"{out}: is a folder; give the name of a file")


def train_to_file(
    plan: Plan,
    out: Path,
    progress: ProgressCallback = ignore,
    on_resume: Callable[[int], None] | None = None,
) -> Trained:
    """Train, or resume what was stopped, and write the network.

    Parameters
    ----------
    on_resume : callable, optional
        Gets the number of steps that an earlier run has done, if there is one.
    """
    check_out(out)
    beside = unfinished(out)
    state = load_state(beside, plan) if beside.exists() else None
    if state is not None and on_resume is not None:
        on_resume(state.step)
    trained = train(plan, progress, state, lambda now: save_state(beside, plan, now))
    save_checkpoint(out, trained.matcher, half=True)
    beside.unlink(missing_ok=True)
    return trained


def save_state(path: Path, plan: Plan, state: State) -> None:
    """Write an unfinished training, whole or not at all."""
    note = {
        "plan": dataclasses.asdict(plan),
        "step": state.step,
        "best_loss": state.best_loss if math.isfinite(state.best_loss) else None,
        "skipped": state.skipped,
    }
    arrays: dict[str, Any] = {"note": np.frombuffer(json.dumps(note).encode(), dtype=np.uint8)}
    for table in _TABLES:
        tensors: Weights = getattr(state, table)
        arrays |= {f"{table}/{name}": tensor.numpy() for name, tensor in tensors.items()}
    write_whole(path, npz_bytes(arrays))


def load_state(path: Path, plan: Plan) -> State:
    """Read an unfinished training of the same plan; another one, or damage, is an `InputError`."""
    remedy = "delete it to start anew, or choose another file"
    content = read_bytes(path, MOST_BYTES)
    try:
        arrays = load_arrays(io.BytesIO(content))
        note = json.loads(arrays.pop("note").tobytes().decode())
        same = note["plan"] == json.loads(json.dumps(dataclasses.asdict(plan)))
        step, skipped, best = note["step"], note["skipped"], note["best_loss"]
        tables = {table: _table(arrays, table) for table in _TABLES}
        wanted = {
            name: w.shape for name, w in new_matcher(plan.architecture()).state_dict().items()
        }
        if step == skipped:  # Adam has not begun
            tables |= {table: {} for table in _MOMENTS}
        fits = (
            (type(step), type(skipped)) == (int, int)
            and 0 <= skipped <= step <= plan.steps
            and (best is None or (isinstance(best, float) and math.isfinite(best)))
            and all(
                {name: w.shape for name, w in table.items()} == wanted
                for name, table in tables.items()
                if name not in _MOMENTS or step > skipped
            )
            and all(_numbers(w) for table in tables.values() for w in table.values())
            and all(bool((w >= 0).all()) for w in tables["second"].values())
        )
    except Exception as problem:  # whatever is wrong with it, there is one way out
        raise InputError(f"{path}: is no unfinished training ({problem!r}); {remedy}") from problem
    if not same:
        raise InputError(f"{path}: is an unfinished training with other options; {remedy}")
    if not fits:
        raise InputError(f"{path}: does not fit the network it is for; {remedy}")
    return State(step, **tables, best_loss=math.inf if best is None else best, skipped=skipped)


def _numbers(tensor: torch.Tensor) -> bool:
    return tensor.dtype == torch.float32 and bool(torch.isfinite(tensor).all())


def _table(arrays: dict[str, np.ndarray], table: str) -> Weights:
    start = f"{table}/"
    return {
        name.removeprefix(start): torch.from_numpy(array)
        for name, array in arrays.items()
        if name.startswith(start)
    }
