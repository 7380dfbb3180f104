"""What is made of a mesh and needed again and again: made once, and kept with the mesh."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from nho.geometry.mesh import Mesh

Made = TypeVar("Made")


def kept_with(mesh: Mesh, key: Hashable, make: Callable[[], Made]) -> Made:
    """What was made under this key, as long as the mesh lives; meshes never change.

    Two threads may both make it, so ``make`` must give the same every time.
    """
    store = cast(dict[Hashable, Made], vars(mesh).setdefault("_kept", {}))
    if key not in store:
        store[key] = make()
    return store[key]
