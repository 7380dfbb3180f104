"""Preset `default` with anchors that it finds itself: what this project does without a person."""

from __future__ import annotations

from dataclasses import dataclass

from nho.pipeline.automatic_anchors import AUTO
from nho.pipeline.matching import match
from nho.problem.preparation import AnchorsLike, MeshLike
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback
from nho.settings import Settings, preset


@dataclass(frozen=True)
class Automatic:
    """`nho.match` with ``anchors="auto"``; it ignores anchors that it is given."""

    anchored: bool = False
    learned: bool = False

    def __call__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None,
        settings: Settings | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatchResult:
        default = preset("default")
        if settings is not None:
            default = default.replace(threads=settings.threads, laplacian=settings.recipe.laplacian)
        return match(partial, full, AUTO, default, progress)
