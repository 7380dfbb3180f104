"""Workers of an existing Dask cluster."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from nho.batch.job import JobOutcome, Work, one_line
from nho.errors import InputError, NhoError

_CONNECT = 15  # seconds
_PAUSE = 0.5  # seconds between two checks for workers
_AHEAD = 5  # jobs that wait for each thread of the workers, at least
_LIMITING = threading.Lock()
_limits: list[Any] = []  # the BLAS limit of this worker, once set


class Cluster:
    """A connection to a Dask scheduler.

    Parameters
    ----------
    address : str
        Such as ``tcp://host:8786``.
    out : Path or None
        Folder that every worker must see under the same path; None = there is none.
    notify : callable
        Gets a sentence when there is something to wait for.
    """

    def __init__(self, address: str, out: Path | None, notify: Callable[[str], None]) -> None:
        try:
            self._dask: Any = import_module("distributed")
        except ImportError:
            raise InputError(
                "--scheduler needs Dask; install it with: pip install 'nho[cluster]'"
            ) from None
        self._address = address
        _silence_dask()
        try:
            self._client = self._dask.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as problem:
            raise InputError(
                f"no Dask scheduler answers at {address} ({one_line(str(problem))}); start one "
                "with `dask scheduler` and give the address it shows"
            ) from None
        try:
            if not self._workers():
                notify(f"waiting for a worker to join the cluster at {address}")
            while not self._check(out):
                time.sleep(_PAUSE)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave the cluster; it stays up."""
        self._client.close(timeout=_CONNECT)

    def memory_per_pair(self) -> int | None:
        """Bytes a pair may take on the worker with the most memory; None if no worker knows."""
        known = [limit for limit in self._memory_per_pair().values() if limit]
        return max(known, default=None)

    def run(self, jobs: Sequence[Work]) -> Generator[JobOutcome, None, None]:
        """Run the jobs and yield the outcomes as they come.

        A pair whose worker dies is started again by Dask (``allowed-failures`` times). Closing
        the iterator takes back what has not started; what runs ends on its worker.
        """
        waiting = iter(jobs)
        names: dict[Any, str] = {}  # by future
        try:
            finished = self._dask.as_completed(
                [], loop=self._client.loop, with_results=True, raise_errors=False
            )
            few = self._submit_some(waiting, names, finished)
            for future, answer in finished:
                name = names.pop(future)
                if len(names) < few:
                    few = self._submit_some(waiting, names, finished)
                if isinstance(answer, JobOutcome):
                    yield answer
                elif future.status in ("cancelled", "lost"):
                    raise NhoError(
                        f"the Dask scheduler at {self._address} is gone; finished pairs are kept: "
                        "start it and run the same command again"
                    )
                elif isinstance(_error(answer), self._dask.KilledWorker):
                    yield JobOutcome(name, 0.0, _DIED)
                else:
                    yield JobOutcome(name, 0.0, f"Dask reports: {one_line(str(_error(answer)))}")
                future.release()
        finally:
            if names:
                self._client.cancel(list(names))

    def _submit_some(self, jobs: Iterator[Work], names: dict[Any, str], finished: Any) -> int:
        """Hand the scheduler, which keeps in memory what it has, some jobs ahead of the workers.

        Returns
        -------
        int
            With fewer jobs left than this it is time for more; 0 = there are no more.
        """
        limits = self._memory_per_pair()
        few = _AHEAD * sum(self._client.nthreads().values()) + 1
        for job in islice(jobs, 2 * few - len(names)):
            fitting = [
                worker for worker, limit in limits.items() if not limit or limit >= job.memory
            ]
            some = 0 < len(fitting) < len(limits)
            future = self._client.submit(
                run_on_worker,
                job,
                key=f"nho-{job.name}-{os.urandom(8).hex()}",
                pure=False,
                workers=fitting if some else None,
                allow_other_workers=some,  # better too little memory than no worker
            )
            names[future] = job.name
            finished.add(future)
        return few if len(names) >= few else 0

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def _memory_per_pair(self) -> dict[str, int]:
        """Bytes for one pair on every worker (it runs as many as it has threads); 0 = no limit."""
        return {
            address: int(about.get("memory_limit") or 0) // max(1, int(about.get("nthreads") or 1))
            for address, about in self._workers().items()
        }

    def _check(self, out: Path | None) -> bool:
        """Every worker must have this version of nho and see the folder; False: none answered."""
        answered = False
        answers = self._client.run(what_a_worker_sees, out and str(out), on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, OSError):  # it left the cluster meanwhile
                continue
            if not isinstance(answer, tuple):
                raise InputError(
                    f"worker {worker} cannot run nho ({one_line(str(answer))}); install the same "
                    "nho there"
                )
            there, sees = answer
            if there != version("nho"):
                raise InputError(
                    f"worker {worker} has nho {there} but here it is {version('nho')}; install "
                    "the same version"
                )
            if not sees:
                raise InputError(
                    f"worker {worker} does not see {out}; put all files on a disk that is shared "
                    "under the same path"
                )
            answered = True
        return answered


_DIED = (
    "the worker died every time this pair was tried; most likely memory ran out: simplify the "
    "meshes or give the workers more memory"
)


def _silence_dask() -> None:
    """Dask logs a traceback for every lost connection; we say one sentence instead."""
    if not logging.getLogger().isEnabledFor(logging.INFO):
        for name in ("distributed", *logging.root.manager.loggerDict):
            if name.split(".")[0] == "distributed":  # they have levels of their own
                logging.getLogger(name).setLevel(logging.CRITICAL)


def _error(answer: Any) -> Any:
    """Dask hands an error over as (type, error, traceback)."""
    return answer[1] if isinstance(answer, tuple) and len(answer) == 3 else answer


def what_a_worker_sees(out: str | None) -> tuple[str, bool]:
    """Version of nho on a worker, and whether it sees the folder; runs on the worker."""
    return version("nho"), out is None or os.path.isdir(out)


def run_on_worker(job: Work) -> JobOutcome:
    """Run the job on a Dask worker, with BLAS at one thread from now on.

    Pairs in other threads of the same worker rely on the limit, so it is never taken back.
    """
    with _LIMITING:
        if not _limits:
            _limits.append(threadpool_limits(limits=1))
    return job.run()
