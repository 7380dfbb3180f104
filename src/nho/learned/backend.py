"""torch, where it is installed: this room alone uses it, and never while `nho` is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nho.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import torch

REMEDY = 'pip install "nho[learned]"'


def require_torch() -> None:
    """One sentence instead of a traceback where torch is missing."""
    if find_spec("torch") is None:
        raise InputError(f"learned features need torch, which is not installed; {REMEDY}")


@contextmanager
def quiet_torch(seed: int | None = None) -> Iterator[None]:
    """One thread, deterministic kernels and, if given, a seed; everything is put back after.

    Sums over threads depend on their number, and a thread pool of torch beside the one of
    `nho.runtime.parallel` makes both slower.
    """
    require_torch()
    import torch

    threads = torch.get_num_threads()
    strict = torch.get_deterministic_debug_mode()
    state = torch.get_rng_state()
    try:
        torch.set_num_threads(1)
        # As use_deterministic_algorithms, which would import a compiler first: two seconds.
        torch.set_deterministic_debug_mode("error")
        if seed is not None:
            torch.manual_seed(seed)
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(strict)
        torch.set_rng_state(state)


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """A tensor as a float64 array of its own."""
    return tensor.detach().to("cpu").double().numpy().copy()
