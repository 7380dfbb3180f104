"""`Family`: a data set by name; and all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nho.errors import InputError
from nho.lab.bench.datasets import pfarm, pfaust, shrec16, synthetic, tosca
from nho.lab.bench.datasets.pair import Pair


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
        Name in the tables of the paper; "" = it is in none of them.
    names : callable
        From the folder of data sets (None = ``NHO_DATA``) to the names of the pairs, in a fixed
        order. Reads no mesh. An `InputError` tells which files go where, if they are not there.
    load : callable
        From the folder and a name to the pair.
    """

    name: str
    title: str
    published: str
    names: Callable[[Path | None], list[str]]
    load: Callable[[Path | None, str], Pair]

    def pairs(self, folder: Path | None) -> Iterator[Pair]:
        """All pairs, one after the other."""
        for name in self.names(folder):
            yield self.load(folder, name)

    def present(self, folder: Path | None) -> bool:
        """Whether the files are there."""
        try:
            return bool(self.names(folder))
        except InputError:
            return False


def _pfaust(kind: str, same: bool) -> Family:
    title = f"PFAUST-{kind.upper()}"
    return Family(
        f"pfaust_{kind}" + "_same" * same,
        title + " (same subject)" * same,
        "" if same else title,
        partial(pfaust.names, kind=kind, same_subject=same),
        partial(pfaust.load, kind=kind, same_subject=same),
    )


def _shrec16(kind: str) -> Family:
    return Family(
        f"shrec16_{kind}",
        f"SHREC'16 {kind.upper()}",
        "",
        partial(shrec16.names, kind=kind),
        partial(shrec16.load, kind=kind),
    )


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        _pfaust("m", False),
        _pfaust("h", False),
        _pfaust("m", True),
        _pfaust("h", True),
        Family("pfarm", "PFARM", "PFARM", pfarm.names, pfarm.load),
        Family("tosca", "cut TOSCA", "", tosca.names, tosca.load),
        Family(
            "tosca_pieces",
            "pieces of TOSCA",
            "",
            partial(tosca.names, kind="piece"),
            partial(tosca.load, kind="piece"),
        ),
        Family("shrec16_cat", "SHREC'16 cat", "", shrec16.cat_names, shrec16.cat_load),
        _shrec16("cuts"),
        _shrec16("holes"),
        Family("cuts24", "CUTS'24", "CUTS'24", shrec16.cuts24_names, shrec16.cuts24_load),
        Family("synthetic", "generated", "", synthetic.names, synthetic.load),
    )
}

# What tools measure on unless told otherwise.
DEVELOPMENT = ("pfaust_m", "pfaust_h", "pfaust_m_same", "pfaust_h_same", "pfarm", "tosca")
