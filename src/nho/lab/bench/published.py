"""What the paper prints: every number of its result tables and of its section on cost.

`published.csv` holds one printed number a line; docs/bench.md ("Published figures") explains its
columns and what the numbers are averages of. Nothing here was measured by this project.
"""

from __future__ import annotations

import csv
import dataclasses
from dataclasses import dataclass
from functools import cache

from nho.errors import InputError
from nho.report.scene import packaged_text

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
        remedy = f"say which {', '.join(open_fields)}" if found else "see docs/bench.md for keys"
        raise InputError(f"the paper prints {len(found)} numbers with {asked}; {remedy}")
    return found[0]


@cache
def _all() -> tuple[Published, ...]:
    text = packaged_text("published.csv", __package__)
    return tuple(Published(**row) for row in csv.DictReader(text.splitlines()))
