"""Pipes, devices, folders and files that are too large, in place of every kind of file."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.faults.running import environment
from tests.security.hostile_files import CASES, DENSE, READERS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and devices of Linux")
WORDS = {
    "pipe": "not a regular file",
    "endless device": "not a regular file|not beside",
    "folder": "this is a folder",
    "too large": r"16\.0 GB.* at most (8\.0 GB|256\.0 MB|16\.8 MB)",
    "larger than memory": r"not enough memory .*209\.7 MB|209\.7 MB( do not fit|.* at most)",
}
# These are ignored or left out, whatever is wrong with them.
WITHOUT_WORDS = ("entry.npz", "record.json", "texture.png")
# An archive is not read whole: a hole is none.
WITHOUT_MEMORY = ("truth.npz", "result.npz")


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, dict[str, str]]:
    """What every reader says to every case, in a process with little memory and time."""
    words = [sys.executable, "-m", "tests.security.hostile_files"]
    done = subprocess.run(
        [*words, str(tmp_path_factory.mktemp("hostile"))],
        env=environment(PYTHONHASHSEED="0"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", READERS)
def test_it_is_refused_in_one_sentence_that_names_the_file(answers, case, name):
    said = answers[case]
    assert said[name] and not said[name].startswith(("HANGS", "RAISES")), said[name]
    if name in WITHOUT_WORDS or (case == "larger than memory" and name in WITHOUT_MEMORY):
        return
    assert name in said[name]
    assert re.search(WORDS[case], said[name]), said[name]


@pytest.mark.parametrize("name", DENSE)
def test_a_small_file_that_takes_much_memory_is_blamed_itself(answers, name):
    sentence = answers["dense"][name]
    assert re.search(rf"{name}: there is not enough memory to read it \(\d\.\d MB\)", sentence)
