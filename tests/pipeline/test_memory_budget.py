"""Memory: estimated before anything starts, and a match made smaller or refused if it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nho
from nho.geometry.sampling import sample_vertices
from nho.pipeline import memory_budget as sizing
from nho.pipeline.memory_budget import fit_to_memory, needed_memory
from nho.runtime import memory

SETTINGS = nho.preset("default").replace(solve_vertices=600)


@pytest.fixture
def free(monkeypatch):
    """Set how much memory is free."""

    def set_free(size: int | None) -> None:
        monkeypatch.setattr(sizing, "available_memory", lambda: size)

    return set_free


def test_small_meshes_need_what_a_direct_solve_needs(monkeypatch):
    monkeypatch.setattr(sizing, "estimated_memory", lambda p, f: 7 * p + 11 * f)
    assert needed_memory(100, 200, 0) == needed_memory(100, 200, 200) == 700 + 2200
    carried = needed_memory(1000, 2000, 500) - (3500 + 5500)
    assert carried > 0 and carried % 3000 == 0


def test_a_million_vertices_need_far_less_than_a_direct_solve_of_them():
    assert needed_memory(10**6, 10**6, 10_000) < 8e9 < needed_memory(10**6, 10**6, 0)
    assert needed_memory(250_000, 250_000, 10_000) < 4e9


@pytest.mark.parametrize("size", [None, 10**12])
def test_nothing_changes_where_there_is_room_or_nothing_is_known(whole, piece, free, size):
    free(size)
    assert fit_to_memory(SETTINGS, piece.mesh, whole) == (SETTINGS, [])


@pytest.mark.parametrize("solve_vertices", [0, 600, 5000])
def test_a_smaller_size_is_chosen_where_the_one_asked_for_does_not_fit(
    whole, piece, free, solve_vertices
):
    settings = SETTINGS.replace(solve_vertices=solve_vertices)
    sizes = len(piece.mesh.vertices), len(whole.vertices)
    room = needed_memory(*sizes, 330)
    assert room < needed_memory(*sizes, solve_vertices)
    free(room)
    chosen, warnings = fit_to_memory(settings, piece.mesh, whole)
    assert 200 <= chosen.solve_vertices <= 330
    assert needed_memory(*sizes, chosen.solve_vertices) <= room
    assert len(warnings) == 1 and f"about {chosen.solve_vertices} vertices" in warnings[0]


def test_a_match_that_cannot_fit_is_refused_with_sizes_and_a_remedy(whole, piece, free):
    free(1_000_000)
    with pytest.raises(nho.InputError) as refusal:
        nho.match(piece.mesh, whole, np.zeros((3, 2), dtype=int))
    assert str(refusal.value).startswith(f"{piece.mesh.name} and {whole.name}: to match ")
    assert "1.0 MB are free" in str(refusal.value) and "simplify" in str(refusal.value)


def test_a_match_in_little_memory_is_solved_coarsely_and_says_so(whole, piece, free):
    free(needed_memory(len(piece.mesh.vertices), len(whole.vertices), 330))
    chosen = sample_vertices(piece.mesh, 12)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    result = nho.match(piece.mesh, whole, pairs, nho.preset("default").replace(rounds=0))
    assert 200 <= result.settings.solve_vertices <= 330
    assert any("of memory are free" in warning for warning in result.warnings)
    assert any("then carried to every vertex" in note for note in result.notes)
    assert (result.vertex_map >= 0).all()


LIMITED = """
import os, resource
import numpy as np
import nho
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
whole = bumpy_sphere(5, seed=3)
piece = cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.6)
chosen = sample_vertices(piece.mesh, 12)
pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (320 << 20),) * 2)
result = nho.match(piece.mesh, whole, pairs, nho.preset("default").replace(rounds=0))
assert (result.vertex_map >= 0).all()
print(result.settings.solve_vertices, *result.warnings)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_limit_on_the_address_space_is_kept_by_solving_on_fewer_vertices():
    # Twice as much would be needed for 10,000 vertices: allocations failed, or BLAS ended it all.
    run = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    solved, warnings = run.stdout.split(maxsplit=1)
    assert 300 <= int(solved) <= 2500
    assert "of memory are free where" in warnings and f"about {solved} vertices" in warnings


def test_the_limit_counts_what_is_used_already_and_a_reserve(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemAvailable: {8 << 20} kB\n")
    (tmp_path / "proc/self/statm").write_text(
        f"{(1 << 30) // resource.getpagesize()} 2 3 4 5 6 7\n"
    )
    monkeypatch.setattr(memory, "_ROOT", tmp_path)
    monkeypatch.setattr(memory, "thread_count", lambda threads: 4)
    for limit, left in (
        (resource.RLIM_INFINITY, 8 << 30),
        (100 << 30, 8 << 30),
        (3 << 30, (2 << 30) - (96 << 20)),
        (1 << 30, 0),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limit=limit: (limit, limit))
        assert memory.available_memory() == left
