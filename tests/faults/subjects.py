"""`nho match`, `nho batch` and `nho bench` as subjects for kills."""

from __future__ import annotations

import csv
import os
import random
import shutil
import time
from pathlib import Path

from nho.lab.bench.rowfile import read_rows
from tests.faults.given import QUICK, changes, make_pairs, match_words, names, result_in
from tests.faults.kills import until
from tests.faults.running import Process, run, start, worker_processes

_OFF = {"NHO_CACHE": "off"}


def half_written(folder: Path) -> list[Path]:
    """What a killed process leaves until the next run removes it; also while it is removed."""
    everything = os.walk(folder)  # unlike rglob, it skips what vanishes meanwhile
    found = ((place, name) for place, folders, files in everything for name in folders + files)
    return [Path(place, name) for place, name in found if name.startswith(".nho-")]


class Matching:
    """Two pairs in turn into one folder, so that there nearly always is an earlier result."""

    name = "match"

    def __init__(self, folder: Path) -> None:
        make_pairs(folder, 2)
        self._folder, self._place = folder, folder / "place"
        self._out = self._place / "out"
        self._results, self._seconds, self._writing = [], 0.0, 0.0
        for number in range(2):
            begin = time.monotonic()
            with start(*match_words(folder, number, self._out), variables=_OFF) as process:
                until(process, lambda: half_written(self._place), 0)
                written = time.monotonic()
                until(process, lambda: not half_written(self._place), 0)
                self._writing = max(self._writing, time.monotonic() - written)
                assert process.ended()[0] == 0
            self._seconds = time.monotonic() - begin
            self._results.append(result_in(self._out))
        assert None not in self._results and self._results[0] != self._results[1]
        shutil.rmtree(self._place)
        self._number, self._earlier = 0, None

    @property
    def words(self) -> list[object]:
        """Of the command."""
        return match_words(self._folder, self._number, self._out)

    def moment(self, process: Process, draw: random.Random) -> str:
        """Any moment, one while the folder is written, or one when it takes its place."""
        aim, left = draw.random(), self._begun()
        if aim < 0.3:
            until(process, lambda: True, draw.uniform(0.1, 1.1) * self._seconds)
            return "at any moment"
        if aim < 0.65:
            until(process, lambda: self._begun() - left, draw.uniform(0, 1) * self._writing)
            return "while writing"
        until(process, lambda: self._begun("report.html") - left, draw.uniform(0, 0.03))
        return "at the last file"

    def _begun(self, file: str = "") -> set[Path]:
        """Folders that are being written, or were; that hold a file already, if one is named."""
        return {path for path in self._place.glob(".nho-*") if (path / file).exists()}

    def look(self) -> str:
        """The earlier result or the new one, whole."""
        found = result_in(self._out)
        assert found in (self._earlier, self._results[self._number]), "neither old nor new"
        left = len(self._begun())
        assert left <= 1, f"{left} leftovers, though each run removes those of the one before"
        new = found is not None and found == self._results[self._number]
        self._earlier = found
        if new:  # the next run shall have something else to put in its place
            self._number = 1 - self._number
        what = "new result" if new else "earlier result" if found else "no result"
        return f"{what}, half a folder beside" if left else what

    def look_finished(self) -> None:
        """The new result, and nothing else."""
        assert result_in(self._out) == self._results[self._number], "not as undisturbed"
        assert names(self._place) == ["out"], names(self._place)

    def renew(self) -> None:
        """The other pair is next."""
        self._earlier = self._results[self._number]
        self._number = 1 - self._number


class Batch:
    """A few pairs; every start goes on where the one before was killed."""

    name = "batch"
    pairs = 5

    def __init__(self, folder: Path) -> None:
        self._table = make_pairs(folder, self.pairs)
        self._out = folder / "undisturbed"
        self._names = [f"p{i:03d}" for i in range(self.pairs)]
        begin = time.monotonic()
        code, _, err = run(*self.words, variables=_OFF)
        assert code == 0, err
        self._seconds = time.monotonic() - begin
        self._results = {name: result_in(self._out / name) for name in self._names}
        self._summary = self._read_summary()
        self._folder, self._number = folder, 0
        self.renew()

    @property
    def words(self) -> list[object]:
        """Of the command."""
        return ["batch", self._table, "--out", self._out, "--jobs", 2, *changes(*QUICK)]

    def moment(self, process: Process, draw: random.Random) -> str:
        """Any moment, between two pairs, while one is written, or after one worker was killed."""
        aim, done, left = draw.random(), len(self._done()), set(half_written(self._out))
        if aim < 0.25:
            until(process, lambda: True, draw.uniform(0.05, 0.6) * self._seconds)
            return "at any moment"
        if aim < 0.5:
            more = draw.randint(1, 2)
            until(process, lambda: len(self._done()) >= done + more, draw.uniform(0, 0.3))
            return "between two pairs"
        if aim < 0.85:
            until(process, lambda: set(half_written(self._out)) - left, draw.uniform(0, 0.2))
            return "while writing"
        until(process, lambda: len(self._done()) > done, draw.uniform(0, 0.3))
        workers = worker_processes(process)
        if workers:
            draw.choice(workers).kill()
            until(process, lambda: len(self._done()) > done + 1, draw.uniform(0, 0.3))
        return "after one worker alone"

    def look(self) -> str:
        """Every result is whole and right, and none was written again."""
        done = self._done()
        for name in self._names:
            found = result_in(self._out / name)
            assert found in (None, self._results[name]), f"{name} is not as undisturbed"
            assert found is not None or name not in done, f"{name} is noted as done"
        again = [name for name, when in self._written.items() if done.get(name) != when]
        assert not again, f"{again} were done and have been done again"
        self._written = done
        left = len(half_written(self._out))
        return f"{'some' if done else 'no'} pairs done{', half a folder beside' if left else ''}"

    def look_finished(self) -> None:
        """The table of the undisturbed run, its results, and nothing else."""
        self.look()
        assert self._read_summary() == self._summary, "summary.csv is not as undisturbed"
        assert all(row["status"] == "ok" for row in self._summary)
        assert names(self._out) == [".batch", *self._names, "summary.csv"], names(self._out)
        assert not half_written(self._out), half_written(self._out)

    def renew(self) -> None:
        """A new folder."""
        shutil.rmtree(self._out)
        self._number += 1
        self._out = self._folder / f"out{self._number}"
        self._written: dict[str, int] = {}

    def _done(self) -> dict[str, int]:
        """Pairs that are noted as done, and when their results were written."""
        found = {}
        for path in (self._out / ".batch" / "done").glob("p*.json"):
            found[path.stem] = (self._out / path.stem / "result.json").stat().st_mtime_ns
        return found

    def _read_summary(self) -> list[dict[str, str]]:
        with open(self._out / "summary.csv", newline="") as stream:
            return [{**row, "seconds": ""} for row in csv.DictReader(stream)]


class Bench:
    """Two small studies; every start goes on where the one before was killed."""

    name = "bench"

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0
        self._out = folder / "undisturbed" / "out"  # the name is part of the page
        begin = time.monotonic()
        code, _, err = run(*self.words, variables=_OFF)
        assert code == 0, err
        self._seconds = time.monotonic() - begin
        self._rows, self._files = self._read_rows(), self._read_files()
        self.renew()

    @property
    def words(self) -> list[object]:
        """Of the command."""
        choice = ["--study", "units,budget", "--methods", "nearest", "--families", "synthetic"]
        return ["bench", *choice, "--quick", "--jobs", 2, "--out", self._out]

    def moment(self, process: Process, draw: random.Random) -> str:
        """Any moment, between two rows, or while tables and figures are written."""
        aim, measured = draw.random(), len(self._read_rows())
        if aim < 0.2:
            until(process, lambda: True, draw.uniform(0.05, 1) * self._seconds)
            return "at any moment"
        if measured < len(self._rows) - 2:
            more = draw.randint(1, 3)
            until(process, lambda: len(self._read_rows()) >= measured + more, draw.uniform(0, 0.1))
            return "between two rows"
        until(process, lambda: len(self._read_rows()) == len(self._rows), draw.uniform(0, 2.5))
        return "while reporting"

    def look(self) -> str:
        """Rows are those of the undisturbed run, once each; files are as there, or not there."""
        rows = self._read_rows()
        assert all(row in self._rows.items() for row in rows.items()), "another row"
        for name, content in self._read_files().items():
            assert content == self._files.get(name), f"{name} is not as undisturbed"
        reported = (self._out / "units" / "units.md").exists()
        what = "reports begun" if reported else "some rows" if rows else "no rows"
        left = len(half_written(self._out))
        return f"{what}, half a file beside" if left else what

    def look_finished(self) -> None:
        """Everything as undisturbed, and nothing else."""
        assert self._read_rows() == self._rows, "rows are missing"
        assert self._read_files() == self._files, "files are missing"
        assert not half_written(self._out), half_written(self._out)

    def renew(self) -> None:
        """A new folder."""
        shutil.rmtree(self._out.parent)
        self._number += 1
        self._out = self._folder / str(self._number) / "out"

    def _read_rows(self) -> dict[tuple[str, ...], dict[str, str]]:
        """Rows by all that does not depend on the clock."""
        rows = read_rows(self._out / "matches.csv")
        found = {tuple(row[name] for name in list(row)[:14]): row for row in rows}
        assert len(found) == len(rows), "a run has two rows"
        return {key: {**row, "seconds": ""} for key, row in found.items()}

    def _read_files(self) -> dict[str, bytes]:
        """Everything that is written whole; rows in the order in which they came differ."""
        files = [path for path in self._out.rglob("*") if path.is_file()]
        found = {str(path.relative_to(self._out)): path for path in files}
        skipped = {"matches.csv", ".bench/lock", "units/rows.csv", "budget/rows.csv"}
        skipped |= {name for name in found if "/.nho-" in f"/{name}"}
        return {name: path.read_bytes() for name, path in found.items() if name not in skipped}


SUBJECTS = {subject.name: subject for subject in (Matching, Batch, Bench)}
