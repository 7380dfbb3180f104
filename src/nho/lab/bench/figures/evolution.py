"""How the paper's loop gets to its answer: support, map and eigenfunctions, round by round.

The loop is driven as `nho.recipes.paper.solve` does, with a look after every fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.figures.cases import SUPPORT, TRUTH, Case
from nho.lab.bench.figures.pictures import (
    panel,
    picture_size,
    support_panel,
    transfer_panel,
    without_heads,
)
from nho.lab.bench.figures.plotstyle import styled
from nho.lab.bench.figures.sheet import Panel, PanelRow, column_inches, save_sheet
from nho.operator.correspondence import align
from nho.operator.hamiltonian import energy
from nho.operator.spectra import analyse
from nho.pipeline.matching import to_result
from nho.problem.preparation import prepare
from nho.problem.result import MatchResult
from nho.problem.solution import Solution, status_of
from nho.recipes.paper import ReciprocalLoop
from nho.report.colours import UNMATCHED
from nho.runtime.run import started
from nho.settings import Settings, preset

FIRST = "initial fit"  # what the first stage is called under a picture
_SHOWN = 4  # eigenfunctions of a kind
_REACH = 99.0  # percentile of the absolute values that gets the full colour
_VIVID = 0.84  # of a colour map: in its darkest colours the light would not show the shape

_EVOLUTION_NOTE = (
    "Support (green correct, orange false positive, purple missed; IoU in percent) and map before "
    "dense refinement (mean geodesic error times 100), after every round of the paper's loop."
)
_EIGEN_NOTE = (
    "Top: first eigenfunctions of the full shape (Laplace-Beltrami) and of the partial shape "
    "(Dirichlet). Bottom: Hamiltonian eigenfunctions on the full shape, aligned by the anchors. "
    "Blue is negative, red positive; Hamiltonian ones on the scale of the Dirichlet one they align "
    "with."
)


@dataclass(frozen=True)
class Stage:
    """The operator after a fit, on the full mesh as given and in the unit of its area.

    Attributes
    ----------
    potential : (n_full,) float array
        Over its height tau: 0 is free, 1 is the barrier.
    energy : (n_full,) float array
        Eq. 17.
    eigenvalues : (k,) float array
        Of the eigenfunctions behind the energy.
    aligned : (n_full, c) float array
        Hamiltonian eigenfunctions, mixed by the alignment so that column i is the image of the
        partial shape's i-th Dirichlet eigenfunction.
    """

    potential: np.ndarray
    energy: np.ndarray
    eigenvalues: np.ndarray
    aligned: np.ndarray


@dataclass(frozen=True)
class Evolution:
    """What the loop looked like on the way, on the meshes as given.

    Attributes
    ----------
    case : Case
        With the answers of the stages (before dense refinement) for methods.
    stages : dict
        By name: `FIRST`, "round 1", ...
    full_modes : (n_full, c) float array
        Laplace-Beltrami eigenfunctions of the full shape.
    partial_modes : (n_partial, c) float array
        Dirichlet eigenfunctions of the partial shape.
    partial_eigenvalues : (k,) float array
        Of the partial shape, Dirichlet; what those of the operator should be.
    """

    case: Case
    stages: dict[str, Stage]
    full_modes: np.ndarray
    partial_modes: np.ndarray
    partial_eigenvalues: np.ndarray


def evolve(case: Case, settings: Settings | None = None) -> Evolution:
    """Run the paper's loop on a case and keep what every fit gave; the default is ``paper``."""
    settings = settings or preset("paper")
    problem = prepare(case.pair.partial, case.pair.full, case.anchors)
    partial, full = problem.partial, problem.full
    stages: dict[str, Stage] = {}
    answers: dict[str, MatchResult] = {}
    with started(settings, None) as run:
        spectra = analyse(problem, run)
        loop = ReciprocalLoop(spectra, problem.anchors, run)
        dimension = min(spectra.recipe.spectral_modes, len(problem.anchors))
        count = min(_SHOWN, dimension)

        def look(stage: str) -> None:
            points = SurfacePoints.at_vertices(spectra.full, loop.map())
            trust, status = np.ones(len(points)), status_of(loop.troubles)
            solution = Solution(points, trust, loop.region_score(), settings, status=status)
            low = loop.modes.first(spectra.recipe.spectral_modes)
            psi = low.functions[:, :dimension]
            phi = spectra.partial_basis.functions[:, :dimension]
            p, q = loop.anchors_h.T
            images = psi @ align(psi[q], phi[p])
            name = FIRST if stage == "fit" else stage
            answers[name] = to_result(problem, solution, {})
            stages[name] = Stage(
                full.to_given(1 - loop.indicator, np.nan),
                full.to_given(energy(low), np.nan),
                low.eigenvalues,
                full.to_given(images[:, :count], np.nan),
            )

        loop.run(look)
    return Evolution(
        replace(case, results=answers),
        stages,
        full.to_given(spectra.full_basis.functions[:, :count], np.nan),
        partial.to_given(spectra.partial_basis.functions[:, :count], np.nan),
        spectra.partial_basis.eigenvalues[: spectra.recipe.spectral_modes],
    )


def draw_evolution(found: Evolution, folder: Path, name: str = "evolution") -> list[Path]:
    """Two figures of the paper's loop on one case: ``name`` and ``name-eigenfunctions``."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *_draw_stages(found.case, folder / name),
        *draw_eigenfunctions(found, folder / f"{name}-eigenfunctions"),
    ]


def _draw_stages(case: Case, path: Path) -> list[Path]:
    """Support above, transferred colours beneath; a column a stage, the truth at the end."""
    stages = (*case.results, TRUTH)
    inches = column_inches(len(stages))
    full_size = picture_size([(case.pair.full, case.full_view)], inches)
    partial_size = picture_size([(case.pair.partial, case.partial_view)], inches)
    support = tuple(support_panel(case, stage, full_size) for stage in stages)
    maps = tuple(transfer_panel(case, stage, partial_size) for stage in stages)
    return save_sheet(
        [PanelRow(support, "support"), without_heads(PanelRow(maps, "map"))],
        path,
        f"{case.title}. {_EVOLUTION_NOTE}",
        SUPPORT,
    )


@styled
def draw_eigenfunctions(found: Evolution, path: Path) -> list[Path]:
    """Eigenfunctions of both shapes above, those of the first and the last operator beneath."""
    case = found.case
    full, partial = case.pair.full, case.pair.partial
    first, *_, last = found.stages
    count = found.full_modes.shape[1]
    inches = column_inches(2 * count, labelled=False)
    full_size = picture_size([(full, case.full_view)], inches)
    partial_size = picture_size([(partial, case.partial_view)], inches)

    def panels(
        mesh: Mesh, view: np.ndarray, values: np.ndarray, reach: np.ndarray, size: tuple[int, int]
    ) -> list[Panel]:
        colours = (diverging(own, most) for own, most in zip(values.T, reach, strict=True))
        return [panel(mesh, rows, view, size) for rows in colours]

    def on_full(values: np.ndarray, reach: np.ndarray) -> list[Panel]:
        return panels(full, case.full_view, values, reach, full_size)

    there = case.pair.truth.points.interpolate(full, found.full_modes)
    modes = found.full_modes * _agreeing_signs(there, found.partial_modes, partial.vertex_areas)
    of_modes, own = _reach(modes), _reach(found.partial_modes)
    of_partial = panels(partial, case.partial_view, found.partial_modes, own, partial_size)
    above = PanelRow(
        (*on_full(modes, of_modes), *of_partial),
        groups=(("Laplace-Beltrami, full shape", count), ("Dirichlet, partial shape", count)),
    )
    beneath = PanelRow(
        (*on_full(found.stages[first].aligned, own), *on_full(found.stages[last].aligned, own)),
        groups=((f"Hamiltonian, {first}", count), (f"Hamiltonian, {last}", count)),
    )
    return save_sheet([above, beneath], path, f"{case.title}. {_EIGEN_NOTE}")


def diverging(values: np.ndarray, most: float) -> np.ndarray:
    """(n, 3) uint8 sRGB of (n,) numbers: blue from ``-most``, pale at zero, red up to ``most``.

    Grey for NaN.
    """
    return _coloured(0.5 + _VIVID / 2 * np.clip(values / (most or 1.0), -1, 1), "RdBu_r")


def sequential(values: np.ndarray, most: float, scale: str) -> np.ndarray:
    """(n, 3) uint8 sRGB of (n,) numbers from 0 to ``most``, on a scale that begins pale.

    Grey for NaN.
    """
    return _coloured(_VIVID * np.clip(values / (most or 1.0), 0, 1), scale)


def _coloured(place: np.ndarray, scale: str) -> np.ndarray:
    """Colours at places from 0 to 1 of a colour map of matplotlib."""
    import matplotlib

    known = np.isfinite(place)
    colours = matplotlib.colormaps[scale](np.where(known, place, 0))[:, :3]
    return np.where(known[:, None], np.round(255 * colours), UNMATCHED).astype(np.uint8)


def _reach(functions: np.ndarray) -> np.ndarray:
    """(k,) absolute value of each function that gets the full colour; a few may lie above."""
    known = np.abs(functions[np.isfinite(functions).all(axis=1)])
    common = np.percentile(known, _REACH, axis=0)
    reach: np.ndarray = np.where(common > 0, common, known.max(axis=0))
    return reach


def _agreeing_signs(there: np.ndarray, here: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """(k,) +1 or -1 for functions of the full shape, taken to the partial one by the truth."""
    product = np.nan_to_num(there * here)
    return np.where(areas @ product < 0, -1.0, 1.0)
