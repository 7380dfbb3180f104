"""Batches on a Dask cluster: a real scheduler and real workers on this machine."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import nho
from nho.batch import read_pairs, run_batch
from nho.batch.cluster import Cluster
from nho.batch.job import JobOutcome
from nho.errors import InputError
from tests.batch.test_batch import (
    SETTINGS,
    Notes,
    command,
    make_pairs,
    no_process_is_left,  # noqa: F401  (used by every test)
    read_summary,
    start,
    statuses,
    times,
)
from tests.faults.running import PATIENCE, wait_until

SLOW = ["fit_steps=1500", "look_again_below=2"]  # about a second a pair: time to be killed

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


def dask_process(*arguments):
    source = str(Path(nho.__file__).parents[1])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, arguments)], env=environment, **quiet
    )


def scheduler_address(file):
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return None


@contextmanager
def cluster(folder, workers=2, restarted="--no-nanny"):
    """A scheduler and its workers, as processes; yields its address and the processes.

    With ``restarted="--nanny"`` a worker that dies is started again.
    """
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", 0, "--scheduler-file", file, "--no-dashboard"]
    processes = [dask_process("scheduler", *options)]
    try:
        address = wait_until(lambda: scheduler_address(file))
        options = ["--nthreads", 1, restarted, "--no-dashboard", "--local-directory", folder]
        processes += [dask_process("worker", address, *options) for _ in range(workers)]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=PATIENCE)
        yield address, processes
    finally:
        for process in processes:
            process.kill() if restarted == "--no-nanny" else process.terminate()
            process.wait()


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_no_pair_and_repeats_none(tmp_path):
    path, out = make_pairs(tmp_path, 6), tmp_path / "out"
    with cluster(tmp_path) as (address, processes):
        run = start(*command(path, out, "--scheduler", address, "--no-report", changes=SLOW))
        with distributed.Client(address, set_as_default=False) as client:
            pids = client.run(os.getpid)

            def busy():
                return [worker for worker, tasks in client.processing().items() if tasks]

            victim = wait_until(busy)[0]
            os.kill(pids[victim], signal.SIGKILL)
        _, _, err = run.ended()
        assert run.returncode == 0, err
        assert [process.poll() is None for process in processes].count(False) == 1
        rows = read_summary(out)
        assert [(row["name"], row["status"]) for row in rows] == [(f"p{i}", "ok") for i in range(6)]
        assert not list(out.glob(".nho-*"))
        before = times(out)
        run = start(*command(path, out, "--scheduler", address, "--no-report", changes=SLOW))
        _, _, err = run.ended()
        assert run.returncode == 0 and "6 of 6 pairs are done already" in err
        assert times(out) == before

        # The scheduler itself goes: one sentence, and what is done stays.
        run = start(*command(path, out, "--scheduler", address, "--seed", 1, changes=SLOW))
        wait_until(lambda: "ok" in statuses(out) and "skipped" in statuses(out))
        processes[0].kill()
        _, _, err = run.ended()
        assert run.returncode == 1 and "is gone; finished pairs are kept" in err
        assert "Traceback" not in err
        assert "ok" in statuses(out)


def one_worker():
    options = {"dashboard_address": ":0", "memory_limit": "2GiB"}
    return distributed.LocalCluster(n_workers=1, threads_per_worker=2, **options)


@pytest.fixture(scope="module")
def local():
    with one_worker() as running:
        yield running.scheduler_address


def test_failing_pairs_and_threads_of_one_worker(local, tmp_path):
    path, out = make_pairs(tmp_path, 4), tmp_path / "out"
    (tmp_path / "anchors1.csv").write_text("partial,full\n0,0\n1,99999\n2,2\n")
    notes = Notes()
    rows = run_batch(read_pairs(path), out, SETTINGS, scheduler=local, progress=notes)
    assert [row.status for row in rows] == ["ok", "failed", "ok", "ok"] == statuses(out)
    assert "99999" in rows[1].error and sorted(notes.ran) == ["p0", "p1", "p2", "p3"]
    apart = tmp_path / "apart"
    (tmp_path / "anchors1.csv").write_text((tmp_path / "anchors0.csv").read_text())
    run_batch(read_pairs(path)[:1], apart, SETTINGS, jobs=1)
    name = Path("p0", "partial.ply")  # colours of the map: the same bytes wherever it was made
    assert (out / name).read_bytes() == (apart / name).read_bytes()


class Nothing(NamedTuple):
    """A job that takes no time."""

    name: str
    memory: int = 0

    def run(self):
        return JobOutcome(self.name, 0.0)


def test_the_scheduler_gets_jobs_little_by_little_and_all_come_back_once(local, monkeypatch):
    names = [f"job-{number}" for number in range(60)]
    with closing(Cluster(local, None, print)) as running:
        submit, submitted = running._client.submit, []

        def counted(function, job, **options):
            submitted.append(job.name)
            return submit(function, job, **options)

        monkeypatch.setattr(running._client, "submit", counted)
        back, ahead = [], []
        for outcome in running.run([Nothing(name) for name in names]):
            back.append(outcome.name)
            ahead.append(len(submitted) - len(back))
    assert sorted(back) == sorted(names) and submitted == names
    assert max(ahead) <= 2 * (5 * 2 + 1)  # twice five a thread, and one more


def test_a_pair_too_large_for_every_worker_is_not_started(local, tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"
    monkeypatch.setattr("nho.batch.plan.affordable", lambda *_: (200, (1 << 30) + 1))
    rows = run_batch(read_pairs(path), out, SETTINGS, scheduler=local)  # two threads share 2 GiB
    assert rows[0].status == "failed" and "1.1 GB" in rows[0].error
    assert not (out / "p0").exists()


def test_a_pair_that_kills_its_worker_is_reported(tmp_path, monkeypatch):
    path, out = make_pairs(tmp_path, 1), tmp_path / "out"

    def die(job):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("nho.batch.cluster.run_on_worker", die)
    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with once, one_worker() as own:  # of its own: it is not of much use afterwards
        rows = run_batch(read_pairs(path), out, SETTINGS, scheduler=own.scheduler_address)
    assert rows[0].status == "failed" and "the worker died" in rows[0].error


def test_no_scheduler_is_one_sentence(tmp_path, monkeypatch):
    path = make_pairs(tmp_path, 1)
    monkeypatch.setattr("nho.batch.cluster._CONNECT", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(InputError, match="no Dask scheduler answers at"):
            run_batch(read_pairs(path), tmp_path / "out", SETTINGS, scheduler=address)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "part"), [(("0.0", True), "nho 0.0"), (None, "does not see")])
def test_workers_that_cannot_do_the_work_are_named_before_it_starts(
    local, tmp_path, monkeypatch, answer, part
):
    path = make_pairs(tmp_path, 1)
    from nho.batch import cluster as module

    sees = answer or (module.version("nho"), False)
    monkeypatch.setattr(module, "what_a_worker_sees", lambda out: sees)
    with pytest.raises(InputError, match=part) as raised:
        run_batch(read_pairs(path), tmp_path / "out", SETTINGS, scheduler=local)
    assert "tcp://" in str(raised.value)


@pytest.mark.slow
def test_a_benchmark_runs_on_the_workers_and_one_killed_loses_nothing(tmp_path):
    from nho.lab.bench.engine import execute, rows_of
    from nho.lab.bench.studies import STUDIES, StudyRequest

    tasks = STUDIES["units"].plan(StudyRequest(None, ("synthetic",), ("nearest",), quick=True))
    tasks += STUDIES["sampling"].plan(StudyRequest(None, ("synthetic",), ("nearest",), quick=True))
    with cluster(tmp_path) as (address, processes):

        def kill_one(event):
            if event.done == 1:
                processes[-1].kill()

        failures = execute(tasks, tmp_path / "out", None, scheduler=address, progress=kill_one)
    assert failures == {}
    assert len(rows_of(tasks, tmp_path / "out")) == len(tasks)
    here = execute(tasks, tmp_path / "here", None, jobs=1)
    assert here == {}
    for there, local in zip(
        rows_of(tasks, tmp_path / "out"), rows_of(tasks, tmp_path / "here"), strict=True
    ):
        assert {**there, "seconds": ""} == {**local, "seconds": ""}
