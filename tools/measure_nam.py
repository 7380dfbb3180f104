"""CPU seconds of the whole Neural ZoomOut of preset `paper`: 17 stages of 200 steps.

    python tools/measure_nam.py --rows 5000

All rows have images of their own, which is the most work there is: rows that share one count as
one. Shapes do not matter for that, so coordinates are those of one torus for both sides.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from nho.operator.refinement import refine, rms_normalised
from nho.runtime.run import Run
from nho.settings import PaperRecipe, preset


def waves(rows: int, dimension: int) -> np.ndarray:
    """(rows, dimension) products of waves at random places: distinct rows, like eigenfunctions."""
    random = np.random.default_rng(0)
    u, v = random.uniform(0, 2 * np.pi, (2, rows, 1))
    first, second = random.integers(0, 12, (2, dimension))
    one, other = first * u + random.uniform(0, 6, dimension), second * v + 1
    return np.asarray(np.cos(one) * np.cos(other))


def main() -> None:
    """Time it and say so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    rows = parser.parse_args().rows
    settings = preset("paper")
    recipe = settings.recipe
    assert isinstance(recipe, PaperRecipe)
    coordinates = rms_normalised(waves(rows, recipe.refine_last))
    same = np.arange(rows)
    start, cpu = time.perf_counter(), time.process_time()
    target, curve, _ = refine(
        same, coordinates, coordinates, recipe, np.random.default_rng(0), Run(settings)
    )
    cpu, seconds = time.process_time() - cpu, time.perf_counter() - start
    print(f"{rows} rows, {len(curve)} stages: {cpu:.1f} CPU s, {seconds:.1f} s by the clock")
    print(f"{np.mean(target == same):.1%} of the images are still their own")


if __name__ == "__main__":
    main()
