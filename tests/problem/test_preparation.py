"""From the user's meshes to the solver's and back: order, scale and anchors are kept."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import as_mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import cut_by_plane, sphere
from nho.problem.anchors import Anchors
from nho.problem.preparation import prepare

FULL = Mesh(sphere(2).vertices * [1, 1.3, 1.7] + 5.0, sphere(2).faces, "full.ply")
CUT = cut_by_plane(FULL, np.array([0.2, 0.5, 1.0]), keep_area=0.5)
PARTIAL = Mesh(CUT.mesh.vertices, CUT.mesh.faces, "scan.ply")
ANCHORS = np.stack([np.arange(0, 50, 10), CUT.vertex_of_parent[np.arange(0, 50, 10)]], axis=1)


def messy(mesh, name, seed=0):
    """The same surface as a bad exporter writes it, and where its vertices went.

    Vertices shuffled; one split in two equal ones; a loose vertex in between; a face with a
    repeated corner; a face twice. Returns the mesh and the new index of every old vertex.
    """
    random = np.random.default_rng(seed)
    n = len(mesh.vertices)
    vertices = np.vstack([mesh.vertices, mesh.vertices[[4]], [[5.0, 5.0, 5.0]]])
    faces = mesh.faces.copy()
    faces[np.flatnonzero((faces == 4).any(axis=1))[0]] = np.where(
        faces[np.flatnonzero((faces == 4).any(axis=1))[0]] == 4,
        n,
        faces[np.flatnonzero((faces == 4).any(axis=1))[0]],
    )
    faces = np.vstack([[[7, 7, 8]], faces[:20], [faces[3]], faces[20:]])
    order = random.permutation(len(vertices))
    place = np.argsort(order)
    return Mesh(vertices[order], place[faces], name), place[:n]


def with_blobs(mesh, name):
    """The mesh between two small spheres: components that hold no anchor."""
    ball = sphere(0)
    first = ball.vertices + [20.0, 0, 0]
    last = ball.vertices + [-20.0, 0, 0]
    n = len(ball.vertices)
    vertices = np.vstack([first, mesh.vertices, last])
    faces = np.vstack([ball.faces, mesh.faces + n, ball.faces + n + len(mesh.vertices)])
    return Mesh(vertices, faces, name), np.arange(len(mesh.vertices)) + n


def check_side(side, given):
    """The maps between a given mesh and the solver's fit each other and the geometry."""
    known = side.solver_of_given >= 0
    assert side.given is given and side.solver_of_given.shape == (len(given.vertices),)
    assert np.array_equal(
        side.solver_of_given[side.given_of_solver], np.arange(len(side.mesh.vertices))
    )
    # The solver's shape is the given one, moved and scaled.
    seen = given.vertices[side.given_of_solver]
    np.testing.assert_allclose(side.mesh.vertices.mean(axis=0), 0, atol=1e-12)
    ratio = np.ptp(side.mesh.vertices, axis=0) / np.ptp(seen, axis=0)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
    expected = (seen - seen.mean(axis=0)) * ratio[0]
    np.testing.assert_allclose(side.mesh.vertices, expected, atol=1e-12)
    # Values at solver vertices return to every given vertex at the same place.
    carried = side.to_given(seen, np.nan)
    assert np.array_equal(carried[known], given.vertices[known])
    assert np.isnan(carried[~known]).all()
    # Faces return with their corners in the same order.
    corners = side.solver_of_given[given.faces[side.given_face]]
    assert np.array_equal(corners, side.mesh.faces)
    return ratio[0]


@pytest.mark.parametrize("make", [lambda mesh, name: (mesh, np.arange(len(mesh.vertices))), messy])
def test_maps_scale_and_unit_area_hold_for_clean_and_messy_meshes(make):
    partial, partial_place = make(PARTIAL, "scan.ply")
    full, full_place = make(FULL, "full.ply")
    anchors = np.stack([partial_place[ANCHORS[:, 0]], full_place[ANCHORS[:, 1]]], axis=1)
    problem = prepare(partial, full, anchors)
    scales = [check_side(problem.partial, partial), check_side(problem.full, full)]
    assert scales[0] == pytest.approx(scales[1], rel=1e-12)
    assert problem.full.mesh.area == pytest.approx(1, rel=1e-12)
    assert problem.partial.mesh.area == pytest.approx(PARTIAL.area / FULL.area, rel=1e-12)
    # The anchors are the same points, in the solver's numbers and in the user's.
    assert np.array_equal(problem.given_anchors, anchors)
    for column, (side, mesh) in enumerate(((problem.partial, PARTIAL), (problem.full, FULL))):
        back = side.given_of_solver[problem.anchors[:, column]]
        wanted = ANCHORS[problem.anchor_rows, column]
        assert np.array_equal(side.given.vertices[back], mesh.vertices[wanted])


def test_repairs_are_told_and_clean_meshes_need_none():
    partial, place = messy(PARTIAL, "scan.ply")
    anchors = np.stack([place[ANCHORS[:, 0]], ANCHORS[:, 1]], axis=1)
    notes = " | ".join(prepare(partial, FULL, anchors).notes)
    for part in ("welded", "repeated vertex", "earlier face", "no face uses"):
        assert part in notes
    assert "scan.ply" in notes and "full.ply" not in notes
    clean = prepare(PARTIAL, FULL, ANCHORS)
    assert clean.notes == clean.warnings == ()


def test_a_map_of_the_solver_comes_back_in_the_given_order():
    partial, partial_place = messy(PARTIAL, "scan.ply", 1)
    full, full_place = messy(FULL, "full.ply", 2)
    anchors = np.stack([partial_place[ANCHORS[:, 0]], full_place[ANCHORS[:, 1]]], axis=1)
    problem = prepare(partial, full, anchors)
    # A point inside some face for every solver vertex, and one without a match.
    n = len(problem.partial.mesh.vertices)
    random = np.random.default_rng(3)
    face = random.integers(len(problem.full.mesh.faces), size=n)
    weights = random.dirichlet([1, 1, 1], size=n)
    face[6], weights[6] = -1, np.nan
    points = SurfacePoints(face, weights)
    given = problem.given_points(points)
    assert len(given) == len(partial.vertices)
    scale = problem.full.mesh.area**0.5 / FULL.area**0.5
    middle = full.vertices[problem.full.given_of_solver].mean(axis=0)
    expected = problem.partial.to_given(
        points.positions(problem.full.mesh) / scale + middle, np.nan
    )
    np.testing.assert_allclose(given.positions(full), expected, atol=1e-12)
    unseen = problem.partial.solver_of_given < 0
    assert unseen.sum() == 1 and (given.face[unseen] == -1).all()
    assert given.face[problem.partial.given_of_solver[6]] == -1


@pytest.mark.parametrize(("missing", "kind"), [(-1, np.int64), (False, bool), (0.0, np.float32)])
def test_spread_keeps_the_type_and_fills_what_is_missing(missing, kind):
    partial, place = with_blobs(PARTIAL, "scan.ply")
    anchors = np.stack([place[ANCHORS[:, 0]], ANCHORS[:, 1]], axis=1)
    side = prepare(partial, FULL, anchors).partial
    values = np.ones(len(side.mesh.vertices), dtype=kind)
    spread = side.to_given(values, missing)
    assert spread.dtype == kind and spread.shape == (len(partial.vertices),)
    assert (spread[place] == 1).all()
    assert (np.delete(spread, place) == missing).all()


def test_components_without_anchors_are_left_out_with_a_warning():
    partial, place = with_blobs(PARTIAL, "scan.ply")
    anchors = np.stack([place[ANCHORS[:, 0]], ANCHORS[:, 1]], axis=1)
    problem = prepare(partial, FULL, anchors)
    check_side(problem.partial, partial)
    assert len(problem.partial.mesh.vertices) == len(PARTIAL.vertices)
    assert np.array_equal(np.flatnonzero(problem.partial.solver_of_given >= 0), place)
    (warning,) = problem.warnings
    assert warning.startswith("scan.ply: 2 of 3 connected components") and "24 vertices" in warning
    assert "the first is 0" in warning


def test_the_same_scale_holds_when_a_component_of_the_full_shape_is_left_out():
    full, place = with_blobs(FULL, "full.ply")
    problem = prepare(PARTIAL, full, np.stack([ANCHORS[:, 0], place[ANCHORS[:, 1]]], axis=1))
    scales = [check_side(problem.partial, PARTIAL), check_side(problem.full, full)]
    assert scales[0] == pytest.approx(scales[1], rel=1e-12)


def test_the_full_shape_that_the_solver_sees_has_unit_area():
    full, place = with_blobs(FULL, "full.ply")
    problem = prepare(PARTIAL, full, np.stack([ANCHORS[:, 0], place[ANCHORS[:, 1]]], axis=1))
    assert problem.full.mesh.area == pytest.approx(1, rel=1e-12)


def test_two_components_with_anchors_stay_and_are_warned_about():
    partial, place = with_blobs(PARTIAL, "scan.ply")
    anchors = np.stack([place[ANCHORS[:, 0]], ANCHORS[:, 1]], axis=1)
    anchors = np.vstack([anchors, [[3, 100]]])
    problem = prepare(partial, FULL, anchors)
    assert len(problem.partial.mesh.vertices) == len(PARTIAL.vertices) + 12
    assert "1 of 3 connected components hold no anchor" in problem.warnings[0]
    assert "2 connected components with anchors" in problem.warnings[1]


def test_inputs_are_never_changed():
    arrays = [np.array(PARTIAL.vertices), np.array(PARTIAL.faces)]
    arrays += [np.array(FULL.vertices), np.array(FULL.faces), ANCHORS.copy()]
    before = [array.copy() for array in arrays]
    prepare((arrays[0], arrays[1]), (arrays[2], arrays[3]), arrays[4])
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


def test_meshes_may_be_files_arrays_or_meshes_and_anchors_too(tmp_path):
    PARTIAL.write(tmp_path / "scan.ply")
    FULL.write(tmp_path / "full.off")
    rows = "\n".join(f"{p},{q}" for p, q in ANCHORS.tolist())
    (tmp_path / "pairs.csv").write_text(rows)
    expected = prepare(PARTIAL, FULL, ANCHORS)
    for given in (
        (tmp_path / "scan.ply", str(tmp_path / "full.off"), str(tmp_path / "pairs.csv")),
        ((PARTIAL.vertices, PARTIAL.faces), FULL, Anchors.from_vertices(PARTIAL, FULL, ANCHORS)),
        (PARTIAL, FULL, ANCHORS.tolist()),
    ):
        problem = prepare(*given)
        assert np.array_equal(problem.anchors, expected.anchors)
        assert np.array_equal(problem.partial.mesh.vertices, expected.partial.mesh.vertices)
        assert np.array_equal(problem.full.mesh.faces, expected.full.mesh.faces)


@pytest.mark.parametrize("bad", [None, 3, [1, 2, 3]])
def test_something_that_is_no_mesh_is_refused_by_its_role(bad):
    with pytest.raises(InputError, match="full mesh"):
        as_mesh(bad, "full mesh")


def test_a_repeated_anchor_counts_once_with_a_note():
    anchors = np.vstack([ANCHORS, ANCHORS[[1]]])
    problem = prepare(PARTIAL, FULL, anchors)
    assert np.array_equal(problem.given_anchors, ANCHORS)
    assert problem.notes == ("anchor 6 repeats anchor 2; it is counted once",)
    assert problem.anchor_names == ("1", "2", "3", "4", "5") and problem.warnings == ()


def test_contradicting_anchors_are_refused_by_both_names():
    anchors = np.vstack([ANCHORS, [[ANCHORS[2, 0], ANCHORS[3, 1]]]])
    names = ("a", "b", "nose", "d", "e", "chin")
    with pytest.raises(InputError) as caught:
        prepare(PARTIAL, FULL, Anchors.from_vertices(PARTIAL, FULL, anchors, names))
    message = str(caught.value)
    assert "nose" in message and "chin" in message and "contradict" in message
    assert all(str(v) in message for v in (ANCHORS[2, 0], ANCHORS[2, 1], ANCHORS[3, 1]))


def test_anchors_that_meet_in_one_full_vertex_are_kept_with_a_warning():
    anchors = ANCHORS.copy()
    anchors[4, 1] = anchors[0, 1]
    problem = prepare(PARTIAL, FULL, anchors)
    assert np.array_equal(problem.given_anchors, anchors)
    assert "anchors 1 and 5 end at the same full vertex" in problem.warnings[0]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_distinct_anchors_are_refused(count):
    given = np.vstack([ANCHORS[:count], ANCHORS[:count]])  # repeats do not help
    with pytest.raises(InputError, match=f"{count} distinct anchors? given, at least 3"):
        prepare(PARTIAL, FULL, given)
    assert len(prepare(PARTIAL, FULL, ANCHORS[:3]).anchors) == 3


def test_too_few_anchors_of_a_file_are_refused_with_its_name(tmp_path):
    (tmp_path / "pairs.csv").write_text("0,0\n1,1\n")
    with pytest.raises(InputError, match=r"pairs\.csv"):
        prepare(PARTIAL, FULL, tmp_path / "pairs.csv")


def test_projected_anchors_are_told_with_their_distance():
    at = PARTIAL.vertices[ANCHORS[:, 0]]
    moved = FULL.vertices[ANCHORS[:, 1]]
    outward = (moved - 5.0) / np.linalg.norm(moved - 5.0, axis=1, keepdims=True)
    moved = moved + 0.01 * outward
    names = tuple("abcde")
    problem = prepare(PARTIAL, FULL, Anchors.from_positions(PARTIAL, FULL, at, moved, names))
    assert np.array_equal(problem.given_anchors, ANCHORS)
    told = [note for note in problem.notes if "projected to full.ply" in note]
    assert len(told) == 1 and "mean distance" in told[0] and "(anchor " in told[0]


def test_a_full_shape_without_area_is_refused():
    flat = Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], [[0, 1, 2], [1, 2, 3]], "flat.ply")
    anchors = np.array([[0, 0], [1, 1], [2, 2]])
    with pytest.raises(InputError, match="flat.ply.*area is zero"):
        prepare(PARTIAL, flat, anchors)


def test_an_anchor_on_a_vertex_that_repair_drops_is_refused():
    # Vertex n belongs to a face, but only to one with a repeated corner.
    n = len(PARTIAL.vertices)
    vertices = np.vstack([PARTIAL.vertices, PARTIAL.vertices[[0]] + 0.3])
    partial = Mesh(vertices, np.vstack([PARTIAL.faces, [[n, n, 0]]]), "scan.ply")
    anchors = np.vstack([ANCHORS, [[n, 3]]])
    with pytest.raises(InputError, match=f"scan.ply.*{n}|{n}.*scan.ply"):
        prepare(partial, FULL, anchors)


def test_contradicting_anchors_on_welded_vertices_are_refused():
    # Two vertices in one place are one point, so two partners are a contradiction.
    n = len(PARTIAL.vertices)
    vertices = np.vstack([PARTIAL.vertices, PARTIAL.vertices[[10]]])
    faces = PARTIAL.faces.copy()
    row = np.flatnonzero((faces == 10).any(axis=1))[0]
    faces[row] = np.where(faces[row] == 10, n, faces[row])
    partial = Mesh(vertices, faces, "scan.ply")
    anchors = np.vstack([ANCHORS, [[n, 3]]])  # ANCHORS[1] starts at vertex 10
    with pytest.raises(InputError, match="contradict"):
        prepare(partial, FULL, anchors)
