"""The benchmark runner on a tiny pair, and the torch reference against the library's own loss."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial import cKDTree
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from nho.errors import InputError
from nho.geometry.geodesics import edge_graph, neighbourhoods
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.surface import SurfacePoints
from nho.lab.speed import child, start_up
from nho.lab.speed.figure import draw_many_anchors, time_against_size
from nho.lab.speed.many_anchors import many_anchors
from nho.lab.speed.plain_geometry import nearest_along_edges
from nho.lab.speed.run_speed import Runner, SpeedRequest
from nho.lab.speed.same_result import same_result
from nho.lab.speed.sized_pairs import ANCHORS, sized_pair, source_pair
from nho.lab.speed.summary import exponent, report_text, summarised
from nho.operator.correspondence import local_distortion, reliable_matches
from nho.operator.field import NeuralField
from nho.operator.hamiltonian import ReducedHamiltonian
from nho.operator.losses import Objective
from nho.operator.network import Perceptron, uniform_by_fan_in
from nho.operator.persistence import Superlevels
from nho.operator.refinement import NeuralAdjointMap
from nho.settings import PaperRecipe

PARTS = ("seconds", "cpu_seconds", "peak_mb")


def bench(*words):
    """Run `nho bench --study speed` in a process of its own."""
    command = [sys.executable, "-c", "from nho.cli import main; main()", "bench"]
    command += ["--study", "speed", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_measures_and_judges_a_tiny_pair(tmp_path):
    done = bench(
        *("--sizes", "300", "--threads", "1", "--repeats", "1", "--out", tmp_path),
        *("--cases", "floor,default", "--name", "tiny"),
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "speed"
    report = json.loads((folder / "tiny.json").read_text())
    assert report["machine"]["cpu"] and report["machine"]["cores"] >= 1
    assert report["versions"]["scipy"][0].isdigit()
    rows = report["table"]["300"]
    assert [rows[case]["status"] for case in ("floor", "default")] == ["ok", "ok"]
    assert all(rows[case][part] > 0 for case in rows for part in PARTS)
    ratio = rows["default"]["cpu_seconds"] / rows["floor"]["cpu_seconds"]
    assert rows["default"]["time_by_floor"] == pytest.approx(ratio)
    assert {"prepare", "bending"} <= rows["default"]["stages"].keys()
    stages = sum(rows["default"]["stages"].values())
    assert 0 < stages <= rows["default"]["seconds"]
    assert 0 < rows["default"]["error"] < 10 and rows["default"]["iou"] > 60
    assert "error" not in rows["floor"]
    solver_alone = sum(rows["floor"]["stages"].values())
    assert rows["floor"]["seconds"] == pytest.approx(solver_alone)
    text = (folder / "tiny.md").read_text()
    assert f"| default | {rows['default']['seconds']:.2f} |" in text
    assert (folder / "speed.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--sizes", "5q"), "'5q' is not a size"),
        (("--cases", "floor,fast"), "case 'fast' is unknown; choose from floor, default"),
        (("--families", "tosca,pfarm"), "one pair, so one family"),
    ],
)
def test_what_cannot_be_measured_is_said_at_once(tmp_path, words, complaint):
    words = ["bench", "--study", "speed", *words, "--out", str(tmp_path)]
    with pytest.raises(InputError, match=re.escape(complaint)):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_start_up_leaves_out_the_match_and_nothing_else(tmp_path):
    pair = sized_pair(source_pair(), 300)
    pair.save(tmp_path / "pair.npz")
    found = start_up.start_up(str(tmp_path / "pair.npz"), 1)
    least = found[start_up.YARDSTICK]["cpu_seconds"]
    assert least > 0 and found[start_up.YARDSTICK]["by_import"] == 1
    around = found[start_up.AROUND_MATCH]
    assert 0 < around["by_import"] == pytest.approx(around["cpu_seconds"] / least)
    assert found[start_up.HELP]["cpu_seconds"] > 0


def test_the_time_of_the_match_is_taken_off_the_command(tmp_path, monkeypatch):
    pair = sized_pair(source_pair(), 300)
    pair.save(tmp_path / "pair.npz")

    def cpu_seconds(program, *words):
        if "match" not in words:
            return 0.5
        Path(words[0]).write_text("7.0")  # what the match is said to have taken
        return 9.0

    monkeypatch.setattr(start_up, "_cpu_seconds", cpu_seconds)
    found = start_up.start_up(str(tmp_path / "pair.npz"), 3)
    assert found[start_up.AROUND_MATCH] == {"cpu_seconds": 2.0, "by_import": 4.0}


@pytest.mark.parametrize("size", [700, 7000])
def test_anchors_and_truth_stay_in_place_when_the_size_changes(size):
    pair = source_pair()
    task = sized_pair(pair, size)
    assert len(task.full.vertices) == pytest.approx(size, rel=0.25)
    assert task.full.area == pytest.approx(1)
    anchors = pair.anchors(ANCHORS)
    # The new surface in the units of the old one, by the anchors' own distances.
    scale = np.ptp(pair.full.vertices[anchors[:, 1]]) / np.ptp(
        task.full.vertices[task.anchors[:, 1]]
    )
    for old, new, column in ((pair.partial, task.partial, 0), (pair.full, task.full, 1)):
        at = new.vertices[task.anchors[:, column]] * scale
        np.testing.assert_allclose(at, old.vertices[anchors[:, column]], atol=1e-9)
    truth = task.truth[task.anchors[:, 0]].positions(task.full) * scale
    wanted = pair.truth.points[anchors[:, 0]].positions(pair.full)
    gap = np.linalg.norm(truth - wanted, axis=1) / (task.full.mean_edge_length * scale)
    assert gap.max() < 0.5
    inside = task.full.vertex_areas[task.region].sum()
    assert inside == pytest.approx(task.partial.area, rel=0.1)


def test_the_truth_is_judged_without_error_and_equal_maps_agree(tmp_path):
    task = sized_pair(source_pair(), 700)
    task.save(tmp_path / "pair.npz")
    truth = {"face": task.truth.face, "barycentric": task.truth.barycentric}
    for case in ("paper", "torch-reference"):
        np.savez(tmp_path / f"{case}.npz", region=task.region, **truth)
    rounded = SurfacePoints.at_vertices(task.full, task.truth.nearest_vertex(task.full))
    np.savez(tmp_path / "pyfm.npz", face=rounded.face, barycentric=rounded.barycentric)
    judged = child.judge(str(tmp_path / "pair.npz"))
    assert judged["scores"]["paper"] == pytest.approx({"error": 0, "error_median": 0, "iou": 100})
    edge = 100 * task.full.mean_edge_length
    assert 0.1 * edge < judged["scores"]["pyfm"]["error"] < 0.6 * edge
    assert "iou" not in judged["scores"]["pyfm"]
    same = {"same_target": 100, "apart": 0, "region_iou": 100}
    assert judged["agreement"] == pytest.approx(same)


def test_a_case_over_the_limit_is_said_and_not_tried_again(tmp_path, monkeypatch):
    asked = []

    def child(self, job, folder, cache="off", limit=None, **what):
        asked.append((job, what.get("case")))
        if job == "build":
            vertices = {"partial_vertices": 5, "full_vertices": what["size"]}
            return {"name": "x", "anchors": 3, **vertices}
        if what.get("case") == "slow":
            return {"status": "stopped after 1 s"}
        parts = dict.fromkeys((*PARTS, "peak_mb_before"), 2.0)
        return {**parts, "stages": {}, "notes": {}} if job == "run" else {}

    monkeypatch.setattr(Runner, "child", child)
    request = SpeedRequest(cases=("floor", "slow"), repeats=2, limit=1, name="v1.2")
    runner = Runner(request, tmp_path, lambda line: None)
    for size in ("100", "400"):
        runner.measure(size)
    runner.write(tmp_path)
    assert asked.count(("run", "slow")) == 1 and asked.count(("run", "floor")) == 4
    table = json.loads((tmp_path / "v1.2.json").read_text())["table"]
    assert table["100"]["slow"]["status"] == "stopped after 1 s"
    assert table["400"]["slow"]["status"] == "not run: stopped after 1 s at 100"
    assert "seconds" not in table["400"]["slow"]
    assert "slow: not run: stopped after 1 s at 100." in (tmp_path / "v1.2.md").read_text()


def test_the_memory_limit_stays_below_the_hard_one(monkeypatch):
    limits = []
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(child, "available_memory", lambda: 1000)
    monkeypatch.setattr(child.resource, "setrlimit", lambda kind, pair: limits.append(pair))
    for hard in (child.resource.RLIM_INFINITY, 400, 4000):
        monkeypatch.setattr(child.resource, "getrlimit", lambda kind, hard=hard: (hard, hard))
        child._limit_memory()
    assert limits == [(1000, 1000), (400, 400), (1000, 1000)]


def test_the_exponent_of_a_power_law_is_found():
    sizes = [1e3, 5e3, 2e4, 1e6]
    assert exponent(sizes, [3e-4 * n**1.37 for n in sizes]) == pytest.approx(1.37)
    assert exponent([1000, 1010], [1.0, 2.0]) is None


def test_ratios_are_of_medians():
    runs = [
        {"size": "1k", "case": case, "status": "ok", "stages": {"a": 2 * value}, "notes": {}}
        | dict.fromkeys((*PARTS, "peak_mb_before"), value)
        for case, values in {"floor": (1.0, 2.0, 90.0), "default": (7.0, 5.0, 6.0)}.items()
        for value in values
    ]
    rows = summarised(runs, {"1k": {"scores": {"default": {"error": 4.0}}}})["1k"]
    assert rows["default"]["seconds"] == 6 and rows["default"]["stages"] == {"a": 12}
    assert rows["default"]["time_by_floor"] == 3 and rows["floor"]["time_by_default"] == 1 / 3
    assert rows["default"]["error"] == 4 and rows["default"]["seconds_range"] == [5, 7]


def test_the_figure_takes_the_report_with_the_most_repeats():
    def report(repeats, seconds):
        row = {"repeats": repeats, "cpu_seconds": seconds}
        return {"pairs": {"5k": {"full_vertices": 5000}}, "table": {"5k": {"default": row}}}

    reports = [report(1, 9.0), report(3, 2.0), report(2, 8.0)]
    assert time_against_size(reports, "default") == [(5000, 2.0)]
    assert time_against_size(reports, "pyfm") == []


def test_the_table_of_seeds_has_their_mean_and_standard_deviation():
    seeds = [
        {"seed": seed, "paper": {"error": error, "iou": 60.0}, "loss_gap": 3e-6}
        | {"torch-reference": {"error": 18.0, "iou": 61.0}}
        for seed, error in enumerate((19.0, 21.0, 23.0))
    ]
    pair = {"name": "x", "partial_vertices": 5, "full_vertices": 9, "anchors": 3}
    machine = {"cpu": "c", "usable_cores": 1, "cores": 1, "memory_gb": 1, "system": "s"}
    report = {"name": "r", "machine": machine | {"load_average": None}, "versions": {}}
    report |= {"pairs": {"1k": {**pair, "same_result": {"seeds": seeds}}}}
    text = report_text(report | {"options": {}, "table": {"1k": {}}, "exponents": {}})
    assert "| seed 1 | 21.0 | 60.0 | 18.0 | 61.0 | 3.00 |" in text
    assert "| mean | 21.0 | 60.0 | 18.0 | 61.0 | - |" in text
    assert "| standard deviation | 2.0 | 0.0 | 0.0 | 0.0 | - |" in text


@pytest.mark.slow
def test_preset_and_reference_start_alike_from_the_same_weights(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("gudhi")
    sized_pair(source_pair(), 500).save(tmp_path / "pair.npz")
    (found,) = same_result(str(tmp_path / "pair.npz"), [0])["seeds"]
    assert found["loss_gap"] < 1e-4


def test_loss_of_the_torch_reference_equals_the_library_at_a_random_field(whole):
    torch = pytest.importorskip("torch")
    pytest.importorskip("gudhi")
    from nho.lab.speed import torch_reference as reference

    recipe = PaperRecipe(galerkin_modes=40)
    operator = laplacian(whole)
    basis = neumann_basis(operator, recipe.galerkin_modes)
    targets = basis.eigenvalues[1:21] * 1.6
    area = 0.55 * operator.mass.sum()
    barrier = recipe.barrier_factor * targets[-1]
    random = np.random.default_rng(4)
    hidden = recipe.hidden
    encoding = basis.functions[:, : recipe.encoding_modes]
    ours = NeuralField(encoding, hidden, recipe.activation, random)
    ours.parameters *= 3  # far from the flat field of the first step: many components
    anchored = random.choice(len(encoding), 25, replace=False)
    objective = Objective(
        operator.mass,
        area,
        targets,
        barrier,
        ReducedHamiltonian(basis, operator.mass),
        Superlevels(whole.edges, len(encoding)),
        recipe,
    )
    loss, by_s, terms = objective(ours.indicator(), anchored)

    field = reference.Field([encoding.shape[1], *hidden, 1])
    reference.set_weights(field, ours.parameters)
    s = field(torch.from_numpy(encoding).float())
    np.testing.assert_allclose(s.detach().numpy(), ours.indicator(), rtol=1e-5)
    theirs = reference.Operator(
        torch.from_numpy(operator.mass),
        torch.from_numpy(basis.eigenvalues),
        torch.from_numpy(basis.functions),
        reference.Topology(whole.edges),
        area,
        torch.from_numpy(targets),
        recipe,
    )
    # From the very same s, so that only the losses are compared.
    s = torch.from_numpy(ours.indicator()).requires_grad_()
    their_terms = theirs.terms(s, torch.from_numpy(anchored))
    assert terms["topology"] > 1e-3
    for name, value in terms.items():
        assert their_terms[name].item() == pytest.approx(value, rel=1e-9), name
    their_loss = theirs.loss(s, torch.from_numpy(anchored))
    assert their_loss.item() == pytest.approx(loss, rel=1e-9)
    their_loss.backward()
    np.testing.assert_allclose(s.grad.numpy(), by_s, atol=1e-9 * np.abs(by_s).max())


def test_the_neural_adjoint_map_of_the_reference_is_the_librarys():
    torch = pytest.importorskip("torch")
    pytest.importorskip("gudhi")
    from nho.lab.speed import torch_reference as reference

    random = np.random.default_rng(0)
    ours = NeuralAdjointMap(30, random)
    theirs = reference.TorchAdjointMap(30)
    reference.set_weights(theirs, ours.parameters)
    rows = random.standard_normal((50, 30)).astype(np.float32)
    with torch.no_grad():
        images = theirs(torch.from_numpy(rows)).numpy()
    np.testing.assert_allclose(images, ours(rows), atol=1e-5)
    sizes = (20, 128, 1)
    flat = uniform_by_fan_in(Perceptron(sizes, "tanh"), random)
    field = reference.Field(list(sizes))
    reference.set_weights(field, flat)
    np.testing.assert_array_equal(field.linears[1].bias.detach().numpy(), flat[-1:])


# The second is more than the first reach holds.
@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_plain_neighbours_equal_the_librarys(whole, count):
    _, distance = nearest_along_edges(whole.vertices, whole.faces, count)
    wanted = neighbourhoods(edge_graph(whole), count).distance
    np.testing.assert_allclose(np.sort(distance, axis=1), wanted, rtol=1e-12)


def test_local_distortion_and_reliable_matches_equal_the_librarys(whole, piece):
    torch = pytest.importorskip("torch")
    pytest.importorskip("gudhi")
    from nho.lab.speed import torch_reference as reference

    random = np.random.default_rng(1)
    target = piece.vertex_of_parent.copy()
    wrong = random.choice(len(target), 80, replace=False)
    target[wrong] = random.choice(len(whole.vertices), 80)
    mass = laplacian(piece.mesh).mass
    sides = (piece.mesh, 30), (whole, 120)
    near = [neighbourhoods(edge_graph(mesh), count) for mesh, count in sides]
    ours = local_distortion(target, near[0], mass, near[1])
    plain = [
        [torch.from_numpy(a) for a in nearest_along_edges(m.vertices, m.faces, count)]
        for m, count in sides
    ]
    theirs = reference.distortion(torch.from_numpy(target), *plain, torch.from_numpy(mass)).numpy()
    np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    chosen = random.choice(len(target), 12, replace=False)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    np.testing.assert_array_equal(
        reference.reliable(target, ours, 0.42, anchors),
        reliable_matches(target, ours, 0.42, anchors),
    )


@pytest.mark.slow
def test_many_anchors_are_measured_written_and_drawn(tmp_path, monkeypatch):
    given: list[tuple[str, int]] = []

    def nearest_partner(partial, full, anchors, settings):
        given.append((type(settings.recipe).__name__, len(anchors)))
        near = cKDTree(partial.vertices[anchors[:, 0]]).query(partial.vertices)[1]
        return SimpleNamespace(points=SurfacePoints.at_vertices(full, anchors[near, 1]))

    monkeypatch.setattr(nho, "match", nearest_partner)
    pair = sized_pair(source_pair(), 300)
    pair.save(tmp_path / "pair.npz")
    known = int((pair.truth.face >= 0).sum())
    assert 100 < known < 300  # so all that are known stand for the larger counts
    found = many_anchors(str(tmp_path / "pair.npz"), 1, 1)
    counts = [25, 100, known]
    assert given == [(recipe, n) for recipe in ("GuidedRecipe", "PaperRecipe") for n in counts]
    for rows in found.values():
        assert [row["anchors"] for row in rows] == counts and rows[0]["by_first"] == 1
        assert rows[2]["by_first"] == rows[2]["cpu_seconds"] / rows[0]["cpu_seconds"]
        assert rows[2]["error"] < rows[0]["error"]
    runner = Runner(SpeedRequest(sizes=("300",), cases=()), tmp_path, lambda line: None)
    about = {"name": "sample", "partial_vertices": 1, "full_vertices": 300, "anchors": 25}
    runner.pairs["300"] = {**about, "many_anchors": found}
    page = runner.write(tmp_path / "speed").read_text()
    assert f"| 25 anchors | {found['default'][0]['cpu_seconds']:.2f} | 1.00 |" in page
    assert draw_many_anchors(tmp_path / "speed")[0].read_bytes().startswith(b"\x89PNG")
    assert draw_many_anchors(tmp_path / "nothing") == []
