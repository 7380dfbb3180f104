"""What is kept with a mesh is made once, and goes with it."""

from __future__ import annotations

import gc
import weakref

from nho.geometry.kept import kept_with
from nho.geometry.synthetic import sphere


def test_it_is_made_once_for_each_key_and_mesh():
    one, other, made = sphere(1), sphere(1), []

    def make() -> int:
        made.append(None)
        return len(made)

    assert [kept_with(one, "a", make) for _ in range(3)] == [1, 1, 1]
    assert kept_with(one, "b", make) == 2
    assert kept_with(other, "a", make) == 3


def test_it_does_not_outlive_its_mesh():
    class Made:
        def __init__(self, of: object) -> None:
            self.of = of

    meshes = [sphere(1)]
    alive = weakref.ref(kept_with(meshes[0], "a", lambda: Made(meshes[0])))
    meshes.clear()
    gc.collect()
    assert alive() is None
