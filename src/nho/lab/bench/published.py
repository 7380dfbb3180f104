"""What the paper prints: every number of its result tables and of its section on cost.

`published.csv` holds one printed number a line, in the words below. The numbers are the authors':
nothing here was measured by this project, and their test pairs, meshes and machine are not ours.

Keys
----
table : the paper's label without ``tab:``; ``cost`` is the section "Computational Cost".
dataset : ``cuts24``, ``pfaust_m``, ``pfaust_h``, ``pfarm``; empty for ``cost``.
scale, rotation : the input setting (``default`` or ``normalised``; ``unrotated`` or ``rotated``);
    both are ``average`` in the column "Avg." and empty for ``cost``.
method : one of `METHODS` in the tables that compare methods, else what was varied, in the words
    that rows of measurements use as well:

    - ``ablation``: ``without-topology``, ``without-reciprocal``, ``without-operator``, ``full``;
    - ``anchor-sampling``: ``geodesic``, ``euclidean``, ``random``;
    - ``anchor-number``: the number of anchors, ``5`` to ``100``;
    - ``discretization``: the share of the full shape's faces that was kept, ``0.5`` to ``0.05``;
    - ``cost``: ``field``, ``nam`` (the last stage of Neural ZoomOut; its steps are those of all
      stages) or ``pipeline``.
metric : ``iou``, ``precision``, ``recall``, ``f1`` (percent, area-weighted), ``geodesic_error`` and
    ``geodesic_error_before_nam`` (x100); for ``cost`` ``parameters``, ``forward_flops`` (for
    ``forward_vertices`` rows), ``dimension``, ``adam_steps``, ``seconds``.

Averages, all without a spread in the paper
-------------------------------------------
- Scores are means over the test pairs of a data set. The paper says so of the curves only, but F1
  lies below the harmonic mean of the precision and recall beside it, as a mean of F1 scores must.
  Whether the geodesic error is a mean over pairs or over all vertices of all pairs is not said.
- ``rotated`` scores are in addition means of three trials.
- ``average`` is the unweighted mean of the four input settings, as printed.
- Seconds are a mean over pairs on an NVIDIA RTX 4090, without cached spectral preprocessing.

Parameters, FLOPs and steps are counts, rounded as printed.
"""

from __future__ import annotations

import csv
import dataclasses
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nho.errors import InputError

METHODS = {
    "pfm": "PFM",
    "fspm": "FSPM",
    "hamiltonian": "Hamiltonian",
    "dpfm": "DPFM",
    "dpfm-zoomout": "DPFM + ZoomOut",
    "piecewise-smooth": "Piecewise Smooth",
    "ulrssm": "ULRSSM",
    "echomatch": "EchoMatch",
    "wormhole": "Wormhole",
    "nho": "NHO",  # "Ours" in the paper
    "nho-dpfm": "NHO (DPFM)",  # "Ours (DPFM)": anchors from DPFM's features
}

_FACTORS = {"K": 1e3, "G": 1e9}


@dataclass(frozen=True)
class Published:
    """One printed number; the fields are explained at the top of this file."""

    table: str
    dataset: str
    scale: str
    rotation: str
    method: str
    metric: str
    value: str  # as printed

    @property
    def number(self) -> float:
        """The value as a number: ``"35.84K"`` is 35840."""
        digits = self.value.rstrip("".join(_FACTORS))
        return float(digits.replace(",", "")) * _FACTORS.get(self.value[len(digits) :], 1.0)

    @property
    def decimals(self) -> int:
        """Printed digits behind the point."""
        return len(self.value.rstrip("".join(_FACTORS)).partition(".")[2])


FIELDS = tuple(field.name for field in dataclasses.fields(Published))


def published() -> list[Published]:
    """Every printed number, in the order of the paper."""
    return list(_all())


def select(**fields: str) -> list[Published]:
    """The printed numbers whose fields have these values, e.g. ``table="ablation"``."""
    for name in fields:
        if name not in FIELDS:
            raise InputError(
                f"published numbers have no field {name!r}; choose from {', '.join(FIELDS)}"
            )
    return [
        entry
        for entry in _all()
        if all(getattr(entry, name) == value for name, value in fields.items())
    ]


def lookup(**fields: str) -> Published:
    """The one printed number with these fields; none or several is an `InputError`."""
    found = select(**fields)
    if len(found) != 1:
        asked = ", ".join(f"{name}={value!r}" for name, value in fields.items()) or "nothing"
        open_fields = [
            name for name in FIELDS if len({getattr(entry, name) for entry in found}) > 1
        ]
        remedy = (
            f"say which {', '.join(open_fields)}"
            if found
            else "see nho.lab.bench.published for keys"
        )
        raise InputError(f"the paper prints {len(found)} numbers with {asked}; {remedy}")
    return found[0]


@cache
def _all() -> tuple[Published, ...]:
    text = (files("nho.lab.bench") / "published.csv").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in csv.DictReader(text.splitlines()))
