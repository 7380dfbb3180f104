"""What the paper's operator learns: potential, energy and region before and after the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nho.lab.bench.figures.cases import SUPPORT, TRUTH
from nho.lab.bench.figures.evolution import Evolution, sequential
from nho.lab.bench.figures.pictures import panel, picture_size, support_panel, without_heads
from nho.lab.bench.figures.plotstyle import styled
from nho.lab.bench.figures.sheet import Panel, PanelRow, column_inches, save_sheet

_GROUPS = (("region", 1), ("potential", 2), ("energy", 2), ("region found", 2))
_POTENTIAL, _ENERGY = "PuBu", "OrRd"  # scales of matplotlib; pale is low
_REACH = 95.0  # percentile of the energies that gets the full colour
_NOTE = (
    "Potential v = tau (1 - s), energy e (Eq. 17; the full shape has area 1) and the region found "
    "by it (IoU in percent), after the fit to the anchors alone and after the last reciprocal "
    "round. Colours mean the same in all rows."
)


@styled
def draw_operator(found: Mapping[str, Evolution], path: Path) -> list[Path]:
    """A row a case, by its label: the true region, then potential, energy and region found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    energies = [stage.energy for one in found.values() for stage in one.stages.values()]
    most = float(np.nanpercentile(np.concatenate(energies), _REACH))
    leading, *others = (_row(label, one, most) for label, one in found.items())
    rows = [leading, *map(without_heads, others), _scales(most)]
    return save_sheet(rows, path, _NOTE, SUPPORT)


def _row(label: str, evolution: Evolution, most: float) -> PanelRow:
    """The pictures of one case; ``most`` is the energy that gets the full colour."""
    case = evolution.case
    full, view = case.pair.full, case.full_view
    size = picture_size([(full, view)], column_inches(sum(count for _, count in _GROUPS)))
    first, *_, last = evolution.stages
    ends = {name: evolution.stages[name] for name in (first, last)}

    def of(colours: np.ndarray, name: str) -> Panel:
        return panel(full, colours, view, size, name)

    return PanelRow(
        (
            support_panel(case, TRUTH, size),
            *(of(sequential(one.potential, 1, _POTENTIAL), name) for name, one in ends.items()),
            *(of(sequential(one.energy, most, _ENERGY), name) for name, one in ends.items()),
            *(support_panel(case, name, size) for name in ends),
        ),
        label,
        _GROUPS,
    )


def _scales(most: float) -> PanelRow:
    """Strips that say which colour is which number."""
    steps = np.linspace(0, 1, 256)

    def strip(scale: str, words: str) -> Panel:
        colours = np.tile(sequential(steps, 1, scale), (16, 1, 1))
        opaque = np.full((*colours.shape[:2], 1), 255, np.uint8)
        return Panel(np.concatenate([colours, opaque], axis=2), below=words)

    potential = strip(_POTENTIAL, "0 to \u03c4")
    energy = strip(_ENERGY, f"0 to {most:.1f} or more")
    return PanelRow((None, potential, potential, energy, energy, None, None))
