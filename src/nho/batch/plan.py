"""What is to do for every pair, found out before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nho.batch.job import Job, one_line
from nho.batch.pairs import BatchPair
from nho.batch.records import (
    PairRequest,
    bytes_digest,
    find_failure,
    find_result,
    was_written,
)
from nho.batch.summary import SummaryRow
from nho.errors import CannotWrite, InputError
from nho.geometry.mesh import Mesh
from nho.pipeline.memory_budget import affordable
from nho.report.result_folder import check_folder
from nho.runtime.input_protection import NO_INPUTS, InputFiles
from nho.runtime.memory import readable_size
from nho.settings import Settings

NOT_TRIED = "not tried yet"


@dataclass(frozen=True)
class PairPlan:
    """What is known of one pair, and what is to do.

    Attributes
    ----------
    row : SummaryRow
        As it stands: ``skipped`` if there is something to do.
    job : Job or None
        What is to do.
    stale : str
        Why the result in the folder does not count; empty if there is none or it does.
    old_failure : bool
        The row is an earlier failure that is not tried again.
    """

    row: SummaryRow
    job: Job | None = None
    stale: str = ""
    old_failure: bool = False


@dataclass(frozen=True)
class _MeshFacts:
    digest: str
    vertices: int


class Planner:
    """Plans pairs; a mesh that many pairs share is read once.

    Parameters
    ----------
    budget : int or None
        Bytes one pair may need; None = unknown.
    inputs : InputFiles
        What all pairs read: a folder that holds any of it is not replaced.
    """

    def __init__(
        self,
        out: Path,
        settings: Settings,
        report: bool,
        retry_failed: bool,
        budget: int | None,
        inputs: InputFiles = NO_INPUTS,
    ) -> None:
        self._out, self._settings, self._report = out, settings, report
        self._retry_failed, self._budget, self._inputs = retry_failed, budget, inputs
        self._meshes: dict[Path, _MeshFacts | InputError] = {}

    def plan(self, pair: BatchPair) -> PairPlan:
        """Whether the pair is done, has failed for good, or is to do."""
        try:
            partial, full = self._facts(pair.partial), self._facts(pair.full)
            anchors = bytes_digest(pair.anchors_content())
        except InputError as problem:
            return PairPlan(SummaryRow(pair.name, "failed", one_line(str(problem))))
        request = PairRequest.of(self._settings, partial.digest, full.digest, anchors)
        found = find_result(self._out, pair.name, request, self._report)
        if found.result is not None:
            return PairPlan(SummaryRow.of_result(pair.name, found.result))
        failure = find_failure(self._out, pair.name, request)
        if failure is not None and not self._retry_failed:
            row = SummaryRow(pair.name, "failed", failure.error, failure.seconds)
            return PairPlan(row, stale=found.why, old_failure=True)
        sizes = partial.vertices, full.vertices
        _, memory = affordable(sizes, self._settings.solve_vertices, self._budget)
        if self._budget is not None and memory > self._budget:
            error = (
                f"meshes of {sizes[0]} and {sizes[1]} vertices need about {readable_size(memory)} "
                f"of memory but there are {readable_size(self._budget)}; simplify the meshes or "
                "use a larger machine"
            )
            return PairPlan(SummaryRow(pair.name, "failed", error), stale=found.why)
        try:
            ours = was_written(self._out, pair.name)
            check_folder(self._out / pair.name, self._inputs, ours)
        except CannotWrite:
            raise
        except InputError as problem:
            return PairPlan(SummaryRow(pair.name, "failed", one_line(str(problem))))
        job = Job(pair, self._out, self._settings, request, self._report, memory)
        return PairPlan(SummaryRow(pair.name, "skipped", NOT_TRIED), job, found.why)

    def _facts(self, path: Path) -> _MeshFacts:
        if path not in self._meshes:
            try:
                mesh = Mesh.read(path)
                self._meshes[path] = _MeshFacts(mesh.digest(), mesh.n_vertices)
            except InputError as problem:
                self._meshes[path] = problem
        facts = self._meshes[path]
        if isinstance(facts, InputError):
            raise facts
        return facts
