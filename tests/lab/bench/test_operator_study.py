"""The study of the operator: which pairs it shows, and that its numbers are the operator's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nho.evaluation.metrics import evaluate
from nho.geometry.spectrum import Basis
from nho.lab.bench.datasets.family import Family
from nho.lab.bench.figures import pictures, sheet
from nho.lab.bench.figures.evolution import FIRST, evolve
from nho.lab.bench.studies import STUDIES, StudyRequest, operator
from nho.operator.spectra import analyse
from nho.pipeline.matching import match
from nho.problem.preparation import prepare
from nho.recipes.paper import ReciprocalLoop
from nho.runtime.run import started
from nho.settings import Settings, preset

pytest.importorskip("matplotlib")
REQUEST = StudyRequest(None, ("synthetic",), quick=True)


def tiny(**changes: object) -> Settings:
    """Preset ``paper`` with little of everything, to be quick."""
    modes = dict.fromkeys(("spectral_modes", "encoding_modes", "refine_first", "refine_last"), 10)
    near = {"distortion_neighbours": 10, "distortion_front": 20}
    few = {"rounds": 1, "fit_steps": 4, "galerkin_modes": 30, "threads": 1, "refinement": "none"}
    return preset("paper").replace(**modes, **near, **few, **changes)


@pytest.fixture(scope="module")
def case():
    return operator.case_of(REQUEST, *operator.chosen(REQUEST)[0])


@pytest.fixture(scope="module")
def learned(case):
    return evolve(case, tiny())


@pytest.fixture(scope="module")
def section(case, learned):
    return operator.section(learned, evolve(case, tiny(coordinates="laplacian")))


def last_modes(case, settings: Settings) -> Basis:
    """Eigenpairs of the last operator, by the loop itself."""
    problem = prepare(case.pair.partial, case.pair.full, case.anchors)
    with started(settings, None) as run:
        spectra = analyse(problem, run)
        loop = ReciprocalLoop(spectra, problem.anchors, run)
        loop.run()
    functions = problem.full.to_given(loop.modes.functions, np.nan)
    return Basis(loop.modes.eigenvalues, functions).first(settings.recipe.spectral_modes)


@pytest.mark.parametrize(
    ("label", "settings"),
    [("round 1", tiny()), ("no operator", tiny(coordinates="laplacian"))],
    ids=["operator", "plain"],
)
def test_numbers_are_those_of_the_last_operator(label, settings, case, section):
    pair = case.pair
    iou, error, *eigenvalues, share = (cell.value for cell in dict(section.rows)[label])
    modes = last_modes(case, settings)
    np.testing.assert_allclose(eigenvalues, modes.eigenvalues[:4], atol=1e-9)
    squared = modes.functions**2 * pair.full.vertex_areas[:, None]
    of_each = squared[pair.truth.region].sum(axis=0) / squared.sum(axis=0)
    assert share == pytest.approx(100 * of_each.mean(), rel=1e-4)
    answer = match(pair.partial, pair.full, case.anchors, settings)
    wanted = evaluate(answer, pair.full, pair.truth)
    assert iou == pytest.approx(wanted.iou)
    assert error == pytest.approx(wanted.geodesic_error)


def test_the_eigenvalues_wanted_are_those_of_the_partial_shape(learned, section):
    (label, wanted), *others = section.rows
    assert label == "partial shape" and [name for name, _ in others] == [
        "no operator",
        FIRST,
        "round 1",
    ]
    assert [cell.value for cell in wanted[2:6]] == pytest.approx(learned.partial_eigenvalues[:4])
    assert all(np.isnan(wanted[column].value) for column in (0, 1, 6))


def test_up_to_three_families_are_shown_those_of_the_paper_first(monkeypatch):
    monkeypatch.setattr(Family, "names", lambda self, folder: [f"{self.name} 1", f"{self.name} 2"])
    families = ("synthetic", "tosca", "pfaust_m", "pfarm", "cuts24")
    shown = operator.chosen(StudyRequest(None, families))
    assert shown == [(one, f"{one} 1") for one in ("pfaust_m", "pfarm", "synthetic")]
    assert operator.chosen(StudyRequest(None, ("synthetic", "pfarm"))) == [
        *(("pfarm", "pfarm 1"), ("synthetic", "synthetic 1"), ("synthetic", "synthetic 2"))
    ]
    assert operator.chosen(StudyRequest(None, families, quick=True)) == [
        ("synthetic", "synthetic 1")
    ]


def test_the_study_has_a_sheet_of_all_two_of_each_and_a_table(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(operator, "preset", lambda name: tiny())
    monkeypatch.setattr(pictures, "DPI", 60)
    monkeypatch.setattr(pictures, "_OVERSAMPLE", 1)
    # Sheets are made, but not saved, which takes long; test_pictures.py saves them.
    monkeypatch.setattr(sheet, "save", lambda figure, path, *more: [path])
    study, told = STUDIES["operator"], []
    request = StudyRequest(None, ("synthetic",), quick=True, tell=told.append)
    assert not study.plan(request)
    found = study.report(request, [], tmp_path)
    pair = "evolution-synthetic-body-plane"
    names = ("operator", pair, f"{pair}-eigenfunctions")
    assert [path.name for path in found.figures] == list(names)
    (table,) = found.tables
    assert [len(part.rows) for part in table.sections] == [4] and "first 10" in table.note
    assert len(told) == 1
