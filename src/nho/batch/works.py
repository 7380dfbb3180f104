"""Run works of one kind, in processes of this machine or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from nho.batch.cluster import Cluster
from nho.batch.job import JobOutcome, Work
from nho.batch.local import run_local
from nho.runtime.parallel import thread_count


def run_works(
    works: Sequence[Work], store: Path, jobs: int | None, scheduler: str | None
) -> Generator[JobOutcome, None, None]:
    """Outcomes as they come.

    Parameters
    ----------
    store : Path
        Folder for what the works write, which the workers of a cluster must see, too.
    jobs : int, optional
        Processes at a time; as many as there are cores if not given.
    scheduler : str, optional
        Address of a Dask scheduler.
    """
    with ExitStack() as stack:
        if scheduler is not None:
            cluster = stack.enter_context(closing(Cluster(scheduler, store, lambda note: None)))
            outcomes = cluster.run(works)
        else:
            outcomes = run_local(works, jobs or thread_count(0), None)
        yield from stack.enter_context(closing(outcomes))
