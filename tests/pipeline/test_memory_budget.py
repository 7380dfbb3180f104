"""Memory: estimated before anything starts, and a match made smaller or refused if it must be."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.sampling import sample_vertices
from nho.pipeline import memory_budget as sizing
from nho.pipeline.memory_budget import fit_to_memory, needed_memory

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
    assert any("then carried to every vertex" in warning for warning in result.warnings)
    assert (result.vertex_map >= 0).all()
