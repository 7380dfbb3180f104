"""The conditions a pair is put before a method under: anchors, wrong anchors, units, poses.

Moving or scaling the shapes leaves the truth as it is: it names points of the full mesh by face.
Only decimation makes another mesh, see `nho.lab.bench.decimation`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import METHODS as SAMPLINGS
from nho.lab.bench.datasets import AnnotatedPair
from nho.lab.bench.decimation import Decimation

BAD_KINDS = ("random", "swap", "absent")
INPUT_SCALES = ("default", "normalised")


@dataclass(frozen=True)
class Conditions:
    """How a pair is presented.

    Attributes
    ----------
    anchors : int
        True pairs that are drawn.
    sampling : {"geodesic", "euclidean", "random"}
        How the partial vertices of the anchors are chosen (seed 0).
    bad : float, 0 to 1
        Share of the anchors that are then made wrong.
    bad_kind : {"random", "swap", "absent"}
        Wrong partners are random vertices of the full shape, or those of another anchor. "absent":
        those of "random" are left out, which shows what a method can hope for at best.
    bad_seed : int
        Draws the wrong ones, for every pair anew.
    partial_scale : float
        Coordinates of the partial shape are multiplied by it.
    rotate : int or None
        Seed of two independent rotations, one a shape; None = as they come.
    input_scale : {"default", "normalised"}
        As they come, or both shapes divided by the square root of the full one's area.
    full_faces : float, 0 to 1
        Share of the full shape's faces that is left after decimation; 1 = the mesh as it is.
    """

    anchors: int = 25
    sampling: str = "geodesic"
    bad: float = 0.0
    bad_kind: str = "random"
    bad_seed: int = 0
    partial_scale: float = 1.0
    rotate: int | None = None
    input_scale: str = "default"
    full_faces: float = 1.0

    def __post_init__(self) -> None:
        for option, value, choices in (
            ("--sampling", self.sampling, SAMPLINGS),
            ("--bad-kind", self.bad_kind, BAD_KINDS),
            ("--input-scale", self.input_scale, INPUT_SCALES),
        ):
            if value not in choices:
                raise InputError(f"{option} {value!r} is unknown; choose {', '.join(choices)}")
        if not 0 <= self.bad <= 1:
            raise InputError(f"--bad {self.bad} is not a share; give a number from 0 to 1")
        if not (np.isfinite(self.partial_scale) and self.partial_scale > 0):
            raise InputError(f"--partial-scale {self.partial_scale} must be a number above 0")
        if not 0 < self.full_faces <= 1:
            raise InputError(f"--full-faces {self.full_faces} is not a share above 0")
        if self.bad_seed < 0 or (self.rotate or 0) < 0:
            raise InputError("seeds of --bad-seed and --rotate must be 0 or more")

    def as_text(self) -> dict[str, str]:
        """The conditions as columns of a table; "-" for what plays no part."""
        unused = [] if self.bad else ["bad_kind", "bad_seed"]
        unused += ["rotate"] if self.rotate is None else []
        found = {}
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            text = f"{value:.12g}" if kind is float else str(value)
            found[name] = "-" if name in unused else text
        return found

    @classmethod
    def from_text(cls, row: Mapping[str, str]) -> Conditions:
        """The inverse of `as_text`; other columns do not matter."""
        left_out = [name for name in ("bad_kind", "bad_seed", "rotate") if row[name] == "-"]
        given = {name: kind(row[name]) for name, kind in _KINDS.items() if name not in left_out}
        return cls(**given)


_KINDS: dict[str, type] = {  # of every condition, in the order of the columns
    "anchors": int,
    "sampling": str,
    "bad": float,
    "bad_kind": str,
    "bad_seed": int,
    "partial_scale": float,
    "rotate": int,
    "input_scale": str,
    "full_faces": float,
}


def conditions_text(row: Mapping[str, str]) -> str:
    """The conditions of a row in words; what is as usual goes without saying."""
    usual = Conditions().as_text()
    parts = [f"{row['anchors']} anchors"]
    if row["sampling"] != usual["sampling"]:
        parts.append(f"{row['sampling']} sampling")
    if row["bad"] != usual["bad"]:
        seed = "" if row["bad_seed"] == "0" else f" (seed {row['bad_seed']})"
        how = "left out" if row["bad_kind"] == "absent" else f"wrong by {row['bad_kind']}"
        parts.append(f"{100 * float(row['bad']):g} % {how}{seed}")
    if row["partial_scale"] != usual["partial_scale"]:
        parts.append(f"partial x {row['partial_scale']}")
    if row["rotate"] != usual["rotate"]:
        parts.append(f"rotated (seed {row['rotate']})")
    if row["input_scale"] != usual["input_scale"]:
        parts.append(f"{row['input_scale']} input")
    if row["full_faces"] != usual["full_faces"]:
        parts.append(f"{100 * float(row['full_faces']):g} % of the full faces")
    return ", ".join(parts)


@dataclass(frozen=True)
class PresentedPair:
    """What a method is given, and which of its anchors are wrong.

    Attributes
    ----------
    pair : AnnotatedPair
        Shapes as presented, with the truth.
    anchors : (m, 2) int array
    bad : (m,) bool array
        Anchors that were made wrong.
    judged : (n_partial,) bool array
        Where answers are compared with the truth, see `AnnotatedPair.judged`.
    finer : Decimation or None
        The full shape before its faces were reduced: errors are measured there.
    """

    pair: AnnotatedPair
    anchors: np.ndarray
    bad: np.ndarray
    judged: np.ndarray
    finer: Decimation | None = None

    def truth_under(self, rule: str) -> GroundTruth:
        """The truth with the region by another rule, on the full mesh as it is presented."""
        return self.pair.truth.under(rule, self.pair.full)


def present(pair: AnnotatedPair, conditions: Conditions) -> PresentedPair:
    """A pair under the given conditions."""
    # Before anything moves, so that the same anchors are drawn under all conditions.
    anchors = pair.anchors(conditions.anchors, conditions.sampling)
    judged = pair.judged(anchors)
    random = np.random.default_rng([conditions.bad_seed, zlib.crc32(pair.name.encode())])
    spoil = _swapped if conditions.bad_kind == "swap" else _moved
    spoilt = spoil(anchors, conditions.bad, pair.full, random)
    bad = (spoilt != anchors).any(axis=1)
    if conditions.bad_kind == "absent":
        spoilt, bad = spoilt[~bad], bad[~bad]
    finer = None
    if conditions.full_faces < 1:
        finer = Decimation.of(pair.full, pair.truth, conditions.full_faces)
        pair = replace(pair, full=finer.coarse, truth=finer.coarse_truth)
        # Where two anchors fell together the first stays.
        spoilt[:, 1] = finer.nearest[spoilt[:, 1]]
        kept = np.sort(np.unique(spoilt[:, 1], return_index=True)[1])
        spoilt, bad = spoilt[kept], bad[kept]
    partial, full = pair.partial, pair.full
    if conditions.rotate is not None:
        turns = np.random.default_rng(conditions.rotate)
        partial, full = rotated(partial, turns), rotated(full, turns)
    unit = np.sqrt(full.area) if conditions.input_scale == "normalised" else 1.0
    partial, full = partial.scaled(conditions.partial_scale / unit), full.scaled(1 / unit)
    shown = replace(pair, partial=partial, full=full)
    return PresentedPair(shown, spoilt, bad, judged, finer)


def rotated(mesh: Mesh, random: np.random.Generator) -> Mesh:
    """The mesh turned about the origin by a uniformly random rotation."""
    return mesh.moved(mesh.vertices @ random_rotation(random).T)


def _moved(
    anchors: np.ndarray, share: float, full: Mesh, random: np.random.Generator
) -> np.ndarray:
    """A share of the partners (half rounds up) replaced by random vertices that are none's."""
    count = int(share * len(anchors) + 0.5)
    rows = random.choice(len(anchors), count, replace=False)
    free = np.setdiff1d(full.faces, anchors[:, 1])
    spoilt = anchors.copy()
    spoilt[rows, 1] = random.choice(free, count, replace=False)
    return spoilt


def _swapped(
    anchors: np.ndarray, share: float, full: Mesh, random: np.random.Generator
) -> np.ndarray:
    """The partners of random pairs of anchors exchanged; a share above 0 is at least one pair."""
    couples = min(int(share * len(anchors) / 2 + 0.5), len(anchors) // 2)
    couples = max(couples, 1) if share else 0
    rows = random.permutation(len(anchors))[: 2 * couples]
    spoilt = anchors.copy()
    spoilt[rows, 1] = anchors[rows.reshape(-1, 2)[:, ::-1].ravel(), 1]
    return spoilt
