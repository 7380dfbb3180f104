"""`match`: from two surfaces and a few anchors to region, dense map and confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.pipeline.automatic_anchors import found_rivals, is_automatic
from nho.pipeline.loose_pieces import with_loose_pieces
from nho.pipeline.memory_budget import fit_to_memory
from nho.pipeline.multiresolution import solve_at_size
from nho.pipeline.rigid import as_rigid
from nho.pipeline.rivals import Placed, solved_by_found
from nho.pipeline.second_opinion import second_opinion
from nho.problem.alternative import Alternative
from nho.problem.anchor_diagnosis import diagnose
from nho.problem.preparation import AnchorsLike, Problem, prepare
from nho.problem.result import HAS_PARTNER, MatchResult
from nho.problem.solution import Solution, Solver, status_of
from nho.progress import ProgressCallback
from nho.recipes import paper
from nho.recipes.guided import recipe as guided_recipe
from nho.recipes.guided.comparable import ComparablePair
from nho.runtime.run import Run, started
from nho.settings import GuidedRecipe, PaperRecipe, Settings, preset

if TYPE_CHECKING:  # imported when it is asked for: most matches need none of it
    from nho.shapes.space import ShapeSpace

DOUBTFUL_SURFACE = "doubtful: points may be joined across gaps"  # status of such a result
SOLVERS: dict[type, Solver] = {PaperRecipe: paper.solve, GuidedRecipe: guided_recipe.solve}


def match(
    partial: MeshLike,
    full: MeshLike,
    anchors: AnchorsLike,
    settings: Settings | str | None = None,
    progress: ProgressCallback | None = None,
    model: ShapeSpace | None = None,
) -> MatchResult:
    """Match a partial surface to a full one.

    Parameters
    ----------
    partial, full : Mesh, path, pair (vertices (n, 3), faces (f, 3)), or a mesh of another library
        Of trimesh, PyVista, VTK, vedo, Open3D, meshio or PyMeshLab.
    anchors : Anchors, path, pair of paths, (m, 2) int array, pair of (m, 3) arrays, or "auto"
        Matching points, at least three: a file of pairs, two files of landmarks (partial, full;
        see docs/files.md), vertex indices (partial, full), or coordinates on either shape.
        With ``"auto"`` they are found (`nho.find_anchors`), with ``"auto:dpfm"`` and the
        like by a network.
    settings : Settings or preset name, optional
        ``"default"`` if not given; ``"paper"`` is the method of the paper, ``"paper-fast"`` the
        same with a shorter refinement.
    progress : callable, optional
        Called with a `Progress` after every step.
    model : ShapeSpace, optional
        Of shapes with the vertices of ``full``: the template is bent to the shape that it expects
        of the scan and matched again, and that map is taken if it stretches the scan less.

    Returns
    -------
    MatchResult
        Map (partial -> full), confidence and region, in the vertex order given.
    """
    if settings is None or isinstance(settings, str):
        settings = preset(settings or "default")
    if model is not None:
        model.check_template(full := as_mesh(full, "full mesh"))
    with started(settings, progress) as run:
        with run.clock.time("prepare"):
            partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
            settings, warnings = fit_to_memory(settings, partial, full)
        meshes, recipe = (partial, full), settings.recipe
        solver, solving = SOLVERS[type(recipe)], run.with_settings(settings)
        if is_automatic(anchors):
            with run.clock.time("anchors"):
                rivals = found_rivals(anchors, *meshes, solving)
            placed = solved_by_found(rivals, meshes, warnings, solving, solver)
        else:
            with run.clock.time("prepare"):
                guided = isinstance(recipe, GuidedRecipe)
                problem = prepare(*meshes, anchors, keep_loose=guided).with_warnings(warnings)
            seeking = with_more_anchors if guided else solver
            solution = solve_at_size(problem, solving, diagnosing(seeking))
            placed = second_opinion(Placed(problem, solution), meshes, solving, solver)
        with run.clock.time("carrying"):
            if isinstance(recipe, GuidedRecipe) and recipe.rigid:
                placed = [replace(of, solution=as_rigid(of.problem, of.solution)) for of in placed]
            done = [with_loose_pieces(each.problem, each.solution, run.pool) for each in placed]
            best, *others = (to_result(*each, run.clock.seconds) for each in done)
    alternatives = [
        Alternative(each.vertex_map, each.face, each.barycentric, each.region, each.chance)
        for each in others
    ]
    best = _with_doubts(best, [f"{each.name}: {doubt}" for each in meshes for doubt in each.doubts])
    result = replace(best, alternatives=tuple(alternatives), meshes=meshes)
    if model is None:
        return result
    again = settings.replace(pin_anchors=False) if is_automatic(anchors) else settings

    def rematch(template: Mesh) -> MatchResult:
        return match(meshes[0], template, result.anchors, again, progress)

    from nho.pipeline.shape_prior import with_prior

    return with_prior(result, meshes, model, rematch)


def _with_doubts(result: MatchResult, doubts: list[str]) -> MatchResult:
    """The same, in doubt if one of the surfaces is."""
    if not doubts:
        return result
    others = [result.status] if result.status != "ok" else []
    return replace(
        result,
        status=status_of([DOUBTFUL_SURFACE, *others]),
        warnings=(*doubts, *result.warnings),
    )


def with_more_anchors(problem: Problem, run: Run) -> Solution:
    """The guided recipe, which seeks further anchors where those given are few."""

    def propose(pair: ComparablePair, run: Run) -> np.ndarray:
        from nho.anchor_search.search import more_anchors

        return more_anchors(pair, run)

    return guided_recipe.solve(problem, run, propose)


def diagnosing(solver: Solver) -> Solver:
    """The same solver, which says first what is probably wrong with all anchors at once."""

    def solve(problem: Problem, run: Run) -> Solution:
        with run.clock.time("prepare"):
            found = diagnose(problem)
        return replace(solver(problem, run), diagnosis=tuple(found))

    return solve


def to_result(problem: Problem, solution: Solution, timings: dict[str, float]) -> MatchResult:
    """The solution on the meshes as given."""
    partial, full = problem.partial, problem.full
    overlap, found = solution.overlap, solution.points
    if overlap is None:
        overlap = np.ones(len(found))
    found = found.where(overlap >= HAS_PARTNER)
    points, nearest = problem.given_points(found), found.nearest_vertex(full.mesh)
    score = full.to_given(solution.region_score, 0.0)
    suspects = tuple(sorted(problem.anchor_rows[solution.suspects].tolist()))
    last = solution.next_anchor
    return MatchResult(
        vertex_map=partial.to_given(np.where(nearest >= 0, full.given_of_solver[nearest], -1), -1),
        face=points.face,
        barycentric=points.barycentric,
        confidence=partial.to_given(solution.confidence, 0.0),
        region=score > 0.5,
        region_score=score,
        anchors=problem.given_anchors,
        settings=solution.settings,
        status=solution.status,
        warnings=(*solution.diagnosis, *solution.warnings, *problem.warnings),
        notes=(*problem.notes, *solution.notes),
        timings=timings,
        curves=solution.curves,
        suspect_anchors=suspects,
        scale=solution.scale,
        next_anchor=int(partial.given_of_solver[last]) if last >= 0 else -1,
        chance=solution.chance,
        anchor_names=problem.anchor_names,
        overlap=partial.to_given(overlap, 0.0),
    )
