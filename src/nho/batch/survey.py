"""A look at every pair before anything runs: what is done, what failed, what is to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nho.batch.job import Job, one_line
from nho.batch.pairs import Pair
from nho.batch.records import Request, bytes_digest, find_failure, find_result
from nho.batch.summary import Row
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.pipeline.memory_budget import needed_memory
from nho.settings import Settings


@dataclass(frozen=True)
class Survey:
    """What is known of one pair.

    Attributes
    ----------
    row : Row
        As it stands: ``skipped`` if there is something to do.
    job : Job or None
        What is to do.
    stale : str
        Why the result in the folder does not count; empty if there is none or it does.
    old_failure : bool
        The row is an earlier failure that is not tried again.
    """

    row: Row
    job: Job | None = None
    stale: str = ""
    old_failure: bool = False


@dataclass(frozen=True)
class _MeshFacts:
    digest: str
    vertices: int


class Surveyor:
    """Surveys pairs; a mesh that many pairs share is read once.

    Parameters
    ----------
    room : int or None
        Bytes one pair may need; None = unknown.
    """

    def __init__(
        self, out: Path, settings: Settings, report: bool, retry_failed: bool, room: int | None
    ) -> None:
        self._out, self._settings, self._report = out, settings, report
        self._retry_failed, self._room = retry_failed, room
        self._meshes: dict[Path, _MeshFacts | InputError] = {}

    def look(self, pair: Pair) -> Survey:
        """Whether the pair is done, has failed for good, or is to do."""
        try:
            partial, full = self._mesh(pair.partial), self._mesh(pair.full)
            anchors = bytes_digest(pair.anchors_content())
        except InputError as problem:
            return Survey(Row(pair.name, "failed", one_line(str(problem))))
        request = Request.of(self._settings, partial.digest, full.digest, anchors)
        found = find_result(self._out, pair.name, request, self._report)
        if found.result is not None:
            return Survey(Row.of_result(pair.name, found.result))
        failure = find_failure(self._out, pair.name, request)
        if failure is not None and not self._retry_failed:
            row = Row(pair.name, "failed", failure.error, failure.seconds)
            return Survey(row, stale=found.why, old_failure=True)
        sizes = partial.vertices, full.vertices
        memory = needed_memory(*sizes, self._settings.solve_vertices)
        if self._room is not None and memory > self._room:
            error = (
                f"meshes of {partial.vertices} and {full.vertices} vertices need about "
                f"{_size(memory)} of memory but there are {_size(self._room)}; decimate them or "
                "use a larger machine"
            )
            return Survey(Row(pair.name, "failed", error), stale=found.why)
        job = Job(pair, self._out, self._settings, request, self._report, memory)
        return Survey(Row(pair.name, "skipped", "not tried yet"), job, found.why)

    def _mesh(self, path: Path) -> _MeshFacts:
        if path not in self._meshes:
            self._meshes[path] = _outcome_of(_read_facts, path)
        facts = self._meshes[path]
        if isinstance(facts, InputError):
            raise facts
        return facts


def _outcome_of(read: Callable[[Path], _MeshFacts], path: Path) -> _MeshFacts | InputError:
    try:
        return read(path)
    except InputError as problem:
        return problem


def _read_facts(path: Path) -> _MeshFacts:
    mesh = Mesh.read(path)
    return _MeshFacts(mesh.digest(), mesh.n_vertices)


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"
