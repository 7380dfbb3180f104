"""Finished matches, disks that are small and folders that nobody may write to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.given import make_pairs, match_words
from tests.faults.running import run_here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Nothing here can run on Windows, and whoever reads the report should know."""
    if sys.platform != "win32":
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="signals, mounts and limits of POSIX"))


@pytest.fixture(scope="session")
def pairs(tmp_path_factory) -> Path:
    """A folder with three small pairs and their table."""
    return make_pairs(tmp_path_factory.mktemp("pairs") / "given", 3).parent


@pytest.fixture(scope="session")
def _matched(pairs, tmp_path_factory) -> Path:
    """The results of the first two, named by their numbers."""
    folder = tmp_path_factory.mktemp("matched")
    for number in range(2):
        code, _, err = run_here(*match_words(pairs, number, folder / str(number)))
        assert code == 0, err
    return folder


@pytest.fixture
def finished_match(_matched, tmp_path) -> tuple[Path, Path]:
    """Two result folders, of the first and of the second pair, to do anything with."""
    for number in range(2):
        shutil.copytree(_matched / str(number), tmp_path / f"result{number}")
    return tmp_path / "result0", tmp_path / "result1"


class SmallDisk:
    """A disk that can be filled: a real one, or a limit to the files of a process.

    Attributes
    ----------
    place : Path
    limit : int or None
        For `run_here`: what makes the disk full for a process.
    """

    def __init__(self, place: Path, real: bool) -> None:
        self.place, self._real = place, real
        self.limit: int | None = None

    def fill(self, room: int) -> None:
        """Leave so many bytes of room, in pages of 4096; as a limit, for every file."""
        if not self._real:
            self.limit = room
            return
        with open(self.place / "filler", "wb", buffering=0) as stream:
            try:
                while True:
                    stream.write(bytes(4096))
            except OSError:
                stream.truncate(stream.tell() - room // 4096 * 4096)

    def free(self) -> None:
        """Make room again."""
        (self.place / "filler").unlink(missing_ok=True)
        self.limit = None


@pytest.fixture
def small_disk(tmp_path) -> Iterator[SmallDisk]:
    """A real one, where we may mount it."""
    place = tmp_path / "disk"
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", "size=20m", "tmpfs"):
        yield SmallDisk(place, real=True)


@pytest.fixture(params=["small disk", "limit of a file's size"])
def disk(request, tmp_path) -> SmallDisk:
    """Both kinds."""
    if request.param == "small disk":
        return request.getfixturevalue("small_disk")
    (tmp_path / "disk").mkdir()
    return SmallDisk(tmp_path / "disk", real=False)


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[None]:
    """A file system at a place, or a visible skip."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a file system")
    done = subprocess.run(["mount", *words, str(place)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    """The folder may be read, but not written; to root only a read-only mount says so."""
    if os.geteuid() != 0:
        os.chmod(place, 0o555)
        try:
            yield
        finally:
            os.chmod(place, 0o755)
        return
    with mounted(place, "--bind", str(place)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        yield
