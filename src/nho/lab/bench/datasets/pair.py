"""`Pair`: two shapes and the truth between them; and the folder that data sets are read from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices


@dataclass(frozen=True)
class Pair:
    """A partial and a full shape with the truth between them."""

    name: str
    partial: Mesh
    full: Mesh
    truth: GroundTruth

    def anchors(self, count: int, method: str = "geodesic", seed: int = 0) -> np.ndarray:
        """(count, 2) true pairs at well-spread annotated vertices of the partial shape."""
        annotated = np.flatnonzero(self.truth.points.face >= 0)
        chosen = sample_vertices(self.partial, min(count, len(annotated)), method, seed, annotated)
        target = self.truth.points[chosen].nearest_vertex(self.full)
        return np.stack([chosen, target], axis=1)


def data_folder(given: str | Path | None = None) -> Path:
    """The folder of evaluation data: the one given, or ``NHO_DATA``."""
    folder = given or os.environ.get("NHO_DATA")
    if not folder:
        raise InputError("no evaluation data: give --data DIR or set NHO_DATA to its folder")
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder of evaluation data")
    return Path(folder)
