"""One pair as a worker gets it: match it, write its folder, and say how it went."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nho.batch.pairs import BatchPair
from nho.batch.records import (
    PairRequest,
    bytes_digest,
    find_result,
    record_result,
    was_written,
)
from nho.errors import CannotWrite, NhoError
from nho.geometry.mesh import Mesh
from nho.pipeline.matching import match
from nho.problem.anchors import read_anchors
from nho.report.result_folder import write_outputs
from nho.runtime.input_protection import InputFiles
from nho.runtime.terminal import printable
from nho.settings import Settings

log = logging.getLogger(__name__)
# The umask can only be read by setting it, which writing does: never in two threads at once.
_WRITING = threading.Lock()


class Work(Protocol):
    """Anything that workers can do, in a process or on a cluster; it has to be picklable."""

    @property
    def name(self) -> str:
        """Unique among the works of one run."""

    @property
    def memory(self) -> int:
        """Bytes it needs at most, estimated."""

    def run(self) -> JobOutcome:
        """Do it; whatever goes wrong is part of the outcome."""


@dataclass(frozen=True)
class Job:
    """Everything that is needed to match one pair, in any process that sees the files.

    Attributes
    ----------
    out : Path
        Folder of the batch; the result goes to ``out / pair.name``.
    request : PairRequest
        Settings and content hashes that the finished folder must answer.
    """

    pair: BatchPair
    out: Path
    settings: Settings
    request: PairRequest
    report: bool
    memory: int

    @property
    def name(self) -> str:
        """Name of the pair."""
        return self.pair.name

    def run(self) -> JobOutcome:
        """Match the pair and write its folder; whatever goes wrong is part of the outcome."""
        start = time.monotonic()
        error, details, hits_every_job = "", "", False
        try:
            # A cluster may start a pair twice, after the first worker was only thought to be dead.
            if find_result(self.out, self.name, self.request, self.report).result is None:
                self._match_and_write()
        except NhoError as problem:
            error, hits_every_job = str(problem), isinstance(problem, CannotWrite)
        except MemoryError:
            error = "not enough memory for these meshes; simplify the meshes or use fewer --jobs"
        except Exception as problem:
            error = f"unexpected {type(problem).__name__}: {problem}"
            details = traceback.format_exc()
            log.exception("%s", self.name)
        return JobOutcome(
            self.name, time.monotonic() - start, one_line(error), details, hits_every_job
        )

    def _match_and_write(self) -> None:
        pair = self.pair
        partial, full = Mesh.read(pair.partial), Mesh.read(pair.full)
        # Hashed here, not taken from the request: what counts is what was matched.
        request = PairRequest.of(
            self.settings, partial.digest(), full.digest(), bytes_digest(pair.anchors_content())
        )
        anchors = pair.automatic or read_anchors(pair.anchors, partial, full, pair.flip)
        result = match(partial, full, anchors, self.settings)
        folder = self.out / pair.name
        with _WRITING:
            written = write_outputs(
                folder,
                partial,
                full,
                result,
                report=self.report,
                inputs=InputFiles(pair.files),
                ours=was_written(self.out, pair.name),
            )
        record_result(self.out, pair.name, request, written)


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended: without error, or with a sentence (and a traceback if it was a bug).

    Attributes
    ----------
    hits_every_job : bool
        The error would hit every job.
    """

    name: str
    seconds: float
    error: str = ""
    details: str = ""
    hits_every_job: bool = False


def one_line(text: str) -> str:
    """The text without line breaks and control characters, for tables."""
    return printable(" ".join(text.split()))
