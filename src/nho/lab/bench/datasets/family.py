"""`Family`: a data set by name; and all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from nho.errors import InputError
from nho.lab.bench.datasets import (
    faces,
    foreign,
    lacking,
    pfarm,
    pfaust,
    scans,
    shrec16,
    skulls,
    species,
    synthetic,
    tibias,
    tosca,
)
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing


@dataclass(frozen=True)
class Family:
    """A data set.

    Attributes
    ----------
    name : str
        Key, as on the command line.
    title : str
        As in a table.
    published : str
        The data set whose figures in the paper stand beside ours: as a rule the same one, by its
        key in `published.csv`; "" = none.
    listing : callable
        From the folder of data sets (None = ``NHO_DATA``) to loaders by the names of the pairs, in
        a fixed order. Reads no mesh. An `InputError` says which files go where, if they are not
        there.
    """

    name: str
    title: str
    published: str
    listing: Callable[[Path | None], Listing]

    def names(self, folder: Path | None) -> list[str]:
        """Names of the pairs."""
        return list(self.listing(folder))

    def load(self, folder: Path | None, name: str) -> AnnotatedPair:
        """One pair by its name."""
        known = self.listing(folder)
        if name not in known:
            some = ", ".join(islice(known, 20))
            raise InputError(f"family {self.name} has no pair {name!r}; choose one of {some}")
        return known[name]()

    def pairs(self, folder: Path | None) -> Iterator[AnnotatedPair]:
        """All pairs, one after the other."""
        for load in self.listing(folder).values():
            yield load()

    def present(self, folder: Path | None) -> bool:
        """Whether the files are there."""
        try:
            return bool(self.names(folder))
        except InputError:
            return False


def _pfaust(kind: str, same: bool) -> Family:
    name = f"pfaust_{kind}"
    return Family(
        name + "_same" * same,
        f"PFAUST-{kind.upper()}" + " (same subject)" * same,
        "" if same else name,
        partial(pfaust.listing, kind=kind, same_subject=same),
    )


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        _pfaust("m", False),
        _pfaust("h", False),
        _pfaust("m", True),
        _pfaust("h", True),
        Family("pfarm", "PFARM", "pfarm", pfarm.listing),
        Family("tosca", "cut TOSCA", "", tosca.listing),
        Family("tosca_pieces", "pieces of TOSCA", "", partial(tosca.listing, kind="piece")),
        Family("shrec16_cat", "SHREC'16 cat", "", shrec16.cat),
        Family("shrec16_cuts", "SHREC'16 CUTS", "cuts24", partial(shrec16.listing, kind="cuts")),
        Family("shrec16_holes", "SHREC'16 HOLES", "", partial(shrec16.listing, kind="holes")),
        Family("cuts24", "CUTS'24", "cuts24", shrec16.cuts24),
        Family("faces", "faces", "", faces.listing),
        Family("faces_same", "faces (same person)", "", partial(faces.listing, same=True)),
        Family("skulls", "mouse skulls", "", skulls.listing),
        Family("skulls_cut", "cut mouse skulls", "", partial(skulls.listing, cut=True)),
        Family("tibias", "tibias", "", tibias.listing),
        Family("tibias_cut", "cut tibias", "", partial(tibias.listing, cut=True)),
        Family("scans", "range scans", "", scans.listing),
        Family("species", "PARTIALSMAL", "", species.listing),
        Family("synthetic", "generated", "", synthetic.listing),
    )
}

PLAIN = tuple(FAMILIES)
_WORLDS = ("shrec16_cuts", "shrec16_holes", "faces", "skulls", "tibias", "scans", "species")
# Of a quick run: those of the paper, and one of each world.
QUICK = tuple(name for name in PLAIN if FAMILIES[name].published == name or name in _WORLDS)

# The same for study `overlap`: with a part of every full shape cut away, and with foreign matter
# on every partial one.
_WITHOUT_PARTNERS = ("pfaust_m", "pfaust_h", "pfarm", "tosca", "synthetic")
LACKING: dict[str, str] = {name: f"{name}_lacking" for name in _WITHOUT_PARTNERS}
FOREIGN: dict[str, str] = {name: f"{name}_foreign" for name in (*_WITHOUT_PARTNERS, "faces")}
FAMILIES |= {
    lacks: Family(
        lacks,
        f"{FAMILIES[name].title}, full shape cut",
        "",
        partial(lacking.listing, whole=FAMILIES[name].listing),
    )
    for name, lacks in LACKING.items()
}
FAMILIES |= {
    shows: Family(
        shows,
        f"{FAMILIES[name].title}, foreign matter",
        "",
        partial(foreign.listing, plain=FAMILIES[name].listing),
    )
    for name, shows in FOREIGN.items()
}

# What tools measure on by default.
DEVELOPMENT = ("pfaust_m", "pfaust_h", "pfaust_m_same", "pfaust_h_same", "pfarm", "tosca")
