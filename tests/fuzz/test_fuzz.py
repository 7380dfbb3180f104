"""Whatever a file holds, every reader gives a valid object or one readable error.

Hypothesis varies valid files; `tools/fuzz.py` does the same for as long as one likes, guided by
coverage. What either has found is kept below.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nho.errors import InputError, NhoError
from tests.fuzz.found import FOUND
from tests.fuzz.guard import fuzz_guarded
from tests.fuzz.guided import Coverage, fuzz, minimised
from tests.fuzz.judge import judge, limited_memory
from tests.fuzz.mutations import OPERATIONS, apply
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and signals of POSIX")

HERE = str(Path(__file__).parent)


def target_of(name: str) -> Target:
    if TARGETS[name].missing:
        pytest.skip(f"{name}: {TARGETS[name].missing}")
    return TARGETS[name]


@st.composite
def damaged(draw, target: Target) -> bytes:
    data = draw(st.sampled_from(target.seeds))
    parts = target.unpack(data) if target.unpack and draw(st.booleans()) else []
    at = draw(st.integers(0, len(parts) - 1)) if parts else 0
    inside = parts[at] if parts else data
    chance = draw(st.randoms(use_true_random=False))
    for name in draw(st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=1, max_size=4)):
        inside = apply(name, inside, chance, target.seeds)
    return target.pack([*parts[:at], inside, *parts[at + 1 :]]) if parts else inside


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_valid(name):
    target = target_of(name)
    for data in target.seeds:
        target.read(data)
        if target.unpack and target.pack:
            target.read(target.pack(target.unpack(data)))


@pytest.mark.parametrize("examples", [20, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_give_a_valid_object_or_one_readable_error(name, examples):
    target = target_of(name)

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(target))
    def check(data: bytes) -> None:
        verdict = judge(target.read, data)
        assert verdict.kind != "finding", verdict.key

    with limited_memory():
        check()


@pytest.mark.parametrize(("name", "data"), FOUND.values(), ids=FOUND)
def test_found_before(name, data):
    with limited_memory():
        verdict = judge(TARGETS[name].read, data)
    assert verdict.kind in ("refused", "valid", "net"), verdict.key


def three_checks(data: bytes) -> None:
    """A planted bug behind three checks of one byte each."""
    if len(data) < 6:
        raise InputError("too short")
    if data[1] != 0x7F:
        raise InputError("not of this kind")
    if data[3] != 0x03:
        raise InputError("not of this version")
    if data[5] != 0xFE:
        raise InputError("not in this order")
    raise IndexError("planted")


PLANTED = Target(".bin", three_checks, (bytes(6),))


@pytest.mark.slow
def test_guided_fuzzing_finds_a_bug_behind_three_checks_and_random_mutation_does_not():
    def found(report):
        return bool(report.findings)

    # Seeds 0, 1 and 2 take 55,244, 35,694 and 4,735 inputs; blind, none finds it in 60,000.
    guided = fuzz(PLANTED, 5_000, seed=2, root=HERE, enough=found)
    blind = fuzz(PLANTED, 5_000, seed=2, root=HERE, enough=found, guided=False)
    assert [key.split(" at ")[0] for key in guided.findings] == ["IndexError"]
    assert guided.inputs < 5_000
    assert blind.inputs == 5_000 and not blind.findings


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run():
    runs = [fuzz(TARGETS["off"], 300, seed=5) for _ in range(2)]
    assert runs[0].corpus == runs[1].corpus and runs[0].kinds == runs[1].kinds
    assert fuzz(TARGETS["off"], 300, seed=6).corpus != runs[0].corpus


def test_coverage_sees_steps_of_the_chosen_files_only():
    coverage = Coverage(HERE)
    refused = coverage.of(lambda: judge(three_checks, bytes(3)))[1]
    further = coverage.of(lambda: judge(three_checks, bytes(6)))[1]
    assert further - refused and refused - further
    assert not Coverage("/nowhere").of(lambda: judge(three_checks, bytes(6)))[1]


def test_findings_are_made_small():
    def read(data: bytes) -> None:
        if b"X" in data and b"Y" in data:
            raise KeyError("both")

    data = b"aaaaaaaaXbbbbbbbbbbbbYccccccccccccccccccc"
    assert minimised(read, data, judge(read, data).key) == b"XY"


def memory_hog(data: bytes) -> None:
    try:
        bytearray(2**40)
    except MemoryError as error:
        raise InputError("refused, but only because the system did") from error


def warner(data: bytes) -> None:
    warnings.warn("odd", UserWarning, stacklevel=1)


def babbler(data: bytes) -> None:
    raise NhoError("bad cell " + "9" * 5000)


def liar(data: bytes) -> None:
    assert data == b"right"


@pytest.mark.parametrize(
    ("read", "key"),
    [(memory_hog, "memory"), (warner, "warning"), (babbler, "message"), (liar, "AssertionError")],
)
def test_the_judge_calls_every_breach_of_the_contract(read, key):
    with limited_memory():
        verdict = judge(read, b"wrong")
    assert verdict.kind == "finding" and verdict.key.startswith(key)


def dies(data: bytes) -> None:
    if data.startswith(b"\x01a"):
        os.kill(os.getpid(), signal.SIGKILL)
    raise InputError("no")


def test_an_input_that_kills_the_process_is_found_and_the_run_goes_on():
    report = fuzz_guarded(Target(".bin", dies, (b"\0abcdefgh",)), inputs=3000, seed=0)
    (finding,) = report.findings.values()
    assert finding.data.startswith(b"\x01a") and finding.key == "died with exit code -9"
    assert report.inputs == 3000 and report.kinds["refused"] > 0
