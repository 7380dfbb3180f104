"""Data sets: every layout gives the same truth, and wrong or absent files are refused.

The folders are written here, tiny, in the layouts that the data sets have where they are published.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.ground_truth import region_around
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls, cut_by_plane
from nho.lab.bench.datasets import DEVELOPMENT, FAMILIES, AnnotatedPair
from nho.lab.bench.datasets.pair import median_stretch, region_by_rows, truth_by_images
from nho.lab.bench.published import published

TEST_SET = "shrec2016_PartialDeformableShapes_TestSet"
TRAINING_SET = "shrec2016_PartialDeformableShapes"


def write(path: Path, content: Mesh | np.ndarray, form: str = "%d") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Mesh):
        content.write(path)
    else:
        np.savetxt(path, content, fmt=form)


def unit(mesh: Mesh) -> Mesh:
    return Mesh((mesh.vertices - mesh.vertices.mean(axis=0)) / np.sqrt(mesh.area), mesh.faces)


def shuffled(mesh: Mesh, seed: int) -> tuple[Mesh, np.ndarray]:
    """The mesh in another vertex order, and where every vertex went."""
    order = np.random.default_rng(seed).permutation(len(mesh.vertices))
    place = np.argsort(order)
    return Mesh(mesh.vertices[order], place[mesh.faces]), place


def equal(a: AnnotatedPair, b: AnnotatedPair) -> None:
    assert a.name == b.name
    assert a.partial.digest() == b.partial.digest() and a.full.digest() == b.full.digest()
    np.testing.assert_array_equal(a.truth.points.face, b.truth.points.face)
    np.testing.assert_array_equal(a.truth.points.barycentric, b.truth.points.barycentric)
    np.testing.assert_array_equal(a.truth.region, b.truth.region)


def refused(family: str, folder: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FAMILIES[family].load(folder, name)


# PFAUST


@pytest.fixture(scope="module")
def bodies():
    """Twenty bodies of one shape in different vertex order, 120 rows on each, and parts."""
    shape = bumpy_sphere(2, seed=3).scaled(3.0)
    made = {}
    for number in range(80, 100):
        body, place = shuffled(shape, number)
        cut = cut_by_balls(body, 2, 0.3, number)
        made[number] = body, place[:120], cut
    return made


@pytest.fixture
def pfaust(tmp_path, bodies) -> Path:
    """As published, in floats, with the remeshed FAUST shapes beside it."""
    for number, (body, image, cut) in bodies.items():
        name = f"tr_reg_{number:03d}"
        write(tmp_path / f"FAUST_r/off/{name}.off", body)
        write(tmp_path / f"FAUST_r/corres/{name}.vts", image + 1)
        part = Mesh(unit(body).vertices[cut.vertex_of_parent], cut.mesh.faces)
        write(tmp_path / f"PFAUST-M/off/{name}.off", part)
        kept = image[cut.kept_vertices[image]]
        vertex = np.searchsorted(cut.vertex_of_parent, kept)
        write(tmp_path / f"PFAUST-M/corres/{name}.vts", vertex + 1, "%.18e")
    return tmp_path


def test_pfaust_test_part_is_twenty_parts_against_two_shapes(pfaust):
    names = FAMILIES["pfaust_m"].names(pfaust)
    assert len(names) == len(set(names)) == 40
    assert names[0] == "tr_reg_080-tr_reg_080" and names[-1] == "tr_reg_099-tr_reg_090"
    same = FAMILIES["pfaust_m_same"].names(pfaust)
    assert len(same) == 20 and set(same) < set(names)
    assert "tr_reg_085-tr_reg_090" in names and "tr_reg_085-tr_reg_090" not in same
    assert not FAMILIES["pfaust_h"].present(pfaust)


def test_pfaust_truth_follows_the_template_rows(pfaust, bodies):
    pair = FAMILIES["pfaust_m"].load(pfaust, "tr_reg_085-tr_reg_090")
    _, image, cut = bodies[85]
    full, target, _ = bodies[90]
    assert pair.full.area == pytest.approx(1)
    found = pair.truth.points.nearest_vertex(pair.full)
    row_of = {vertex: row for row, vertex in enumerate(image)}
    wanted = [row_of.get(vertex, -1) for vertex in cut.vertex_of_parent]
    np.testing.assert_array_equal(found, [target[row] if row >= 0 else -1 for row in wanted])
    assert 0 < (found < 0).sum() < len(found) / 2
    # The region anew: of every full vertex the nearest row, and whether the part has it.
    nearest = distances_from(edge_graph(full), target).argmin(axis=0)
    np.testing.assert_array_equal(pair.truth.region, np.isin(nearest, wanted))
    assert 0 < pair.truth.region.mean() < 1


def test_the_layout_with_masks_gives_the_same(pfaust, bodies, tmp_path):
    wanted = FAMILIES["pfaust_m"].load(pfaust, "tr_reg_091-tr_reg_080")
    other = tmp_path / "masked"
    root = other / "PFAUST" / "PFAUST_M"
    shutil.copytree(pfaust / "PFAUST-M/off", root / "partial_off")
    shutil.copytree(pfaust / "PFAUST-M/corres", root / "partial_corr")
    for number in (80, 90):
        for kind in ("off/tr_reg_%03d.off", "corres/tr_reg_%03d.vts"):
            (root / kind).parent.mkdir(exist_ok=True)
            shutil.copy(pfaust / "FAUST_r" / (kind % number), root / (kind % number))
    for number, (_, image, cut) in bodies.items():
        write(root / f"masks/tr_reg_{number:03d}.vts", cut.kept_vertices[image])
    equal(FAMILIES["pfaust_m"].load(other, wanted.name), wanted)
    write(root / "masks/tr_reg_091.vts", np.ones(120))
    refused("pfaust_m", other, wanted.name, r"tr_reg_091\.vts: has \d+ rows, but")


def test_a_list_of_pairs_goes_first_and_gives_the_same(pfaust, bodies):
    wanted = FAMILIES["pfaust_m"].load(pfaust, "tr_reg_085-tr_reg_090")
    same = FAMILIES["pfaust_m"].load(pfaust, "tr_reg_085-tr_reg_080")
    root = pfaust / "pfaust_m"
    shutil.copytree(pfaust / "PFAUST-M/off", root / "off")
    (root / "pairs.txt").write_text("tr_reg_085.off tr_reg_090.off\n\n")
    _, image, cut = bodies[85]
    row = np.flatnonzero(cut.kept_vertices[image])
    vertex = np.searchsorted(cut.vertex_of_parent, image[row])
    write(root / "rows/tr_reg_085.txt", np.stack([vertex, row], axis=1))
    assert FAMILIES["pfaust_m"].names(pfaust) == ["tr_reg_085-tr_reg_090"]
    [found] = FAMILIES["pfaust_m"].pairs(pfaust)
    equal(found, wanted)
    [found] = FAMILIES["pfaust_m_same"].pairs(pfaust)
    equal(found, same)
    write(root / "rows/tr_reg_085.txt", np.stack([vertex, row + 30], axis=1))
    refused("pfaust_m", pfaust, wanted.name, r"tr_reg_085\.txt: row \d+ names number 1[2-4]\d of")


def test_parts_of_another_body_or_with_another_list_are_refused(pfaust):
    name = "tr_reg_085-tr_reg_090"
    corres = pfaust / "PFAUST-M/corres/tr_reg_085.vts"
    kept = corres.read_text()
    corres.write_text("".join(kept.splitlines(keepends=True)[:-1]))
    refused("pfaust_m", pfaust, name, r"tr_reg_085\.vts: lists other vertices")
    corres.write_text(kept)
    body = pfaust / "FAUST_r/off/tr_reg_085.off"
    bent = Mesh.read(body).vertices * [1.0, 1.1, 1.0]
    write(body, Mesh(bent, Mesh.read(body).faces))
    refused("pfaust_m", pfaust, name, "is no vertex of the whole shape")
    body.unlink()
    refused("pfaust_m", pfaust, name, r"FAUST_r.*tr_reg_085\.off: not found")
    (pfaust / "PFAUST-M/off/tr_reg_086.off").unlink()
    with pytest.raises(InputError, match=r"tr_reg_086\.off: not found, the test part is incomple"):
        FAMILIES["pfaust_m"].names(pfaust)


# PFARM and TOSCA


@pytest.fixture
def pfarm(tmp_path, whole, piece) -> Path:
    full, place = shuffled(whole, 1)
    write(tmp_path / "pfarm/shapes/smpl-base-neutro.off", full)
    write(tmp_path / "pfarm/shapes/cut-1--a_b.off", piece.mesh)
    path = tmp_path / "pfarm/maps/cut-1--a_b_smpl-base-neutro.map"
    write(path, place[piece.vertex_of_parent])
    return tmp_path


def test_pfarm_truth_is_the_map_and_the_region_surrounds_its_images(pfarm, whole, piece):
    assert FAMILIES["pfarm"].names(pfarm) == ["cut-1--a_b"]
    [pair] = FAMILIES["pfarm"].pairs(pfarm)
    at = pair.truth.points.positions(pair.full)
    np.testing.assert_allclose(at, piece.mesh.vertices, atol=1e-9)
    np.testing.assert_array_equal(pair.truth.region, region_around(pair.full, pair.truth.points))
    # Rows beyond the partial vertices, as some maps have them, change nothing.
    path = pfarm / "pfarm/maps/cut-1--a_b_smpl-base-neutro.map"
    path.write_text(path.read_text() + "1\n0\n1\n")
    equal(FAMILIES["pfarm"].load(pfarm, pair.name), pair)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], r"\.map: has \d+ rows, but cut-1--a_b\.off asks for"),
        (lambda rows: rows + 1000, r"\.map: row 0 names number 1\d+ of smpl-base-neutro\.off"),
        (lambda rows: rows[::-1], r"\.map: maps .* with lengths changed by a factor of \d"),
        (lambda rows: rows + 0.5, r"\.map: row 0 is not a whole number"),
        (lambda rows: np.stack([rows, rows], axis=1), r"\.map: expected 1 numbers in every row"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(pfarm, change, message):
    path = pfarm / "pfarm/maps/cut-1--a_b_smpl-base-neutro.map"
    write(path, change(np.loadtxt(path)), "%.2f")
    refused("pfarm", pfarm, "cut-1--a_b", message)


def test_an_unknown_pair_or_text_for_numbers_is_refused(pfarm):
    refused("pfarm", pfarm, "cut-9", "family pfarm has no pair 'cut-9'; choose one of cut-1--a_b")
    (pfarm / "pfarm/maps/cut-1--a_b_smpl-base-neutro.map").write_text("<html>\n")
    refused("pfarm", pfarm, "cut-1--a_b", "is no table of numbers")
    (pfarm / "pfarm/shapes/cut-1--a_b.off").unlink()
    refused("pfarm", pfarm, "cut-1--a_b", r"cut-1--a_b\.off: not found")


@pytest.mark.parametrize("root", ["tosca", "TOSCA_Isometric/vtx_5k"])
def test_tosca_pairs_are_seeded_cuts_against_pose_0(tmp_path, whole, root):
    rows = np.arange(0, 600)
    places = {}
    for seed, name in enumerate(["cat0", "cat1", "cat10", "cat2", "dog3"]):
        mesh, places[name] = shuffled(whole, seed)
        write(tmp_path / root / f"{name}.off", mesh)
        write(tmp_path / root / f"corres/{name}.vts", places[name][rows] + 1)
    # dog3 has no pose 0, so nothing to be matched to.
    assert FAMILIES["tosca"].names(tmp_path) == ["cat1-cut1", "cat10-cut2", "cat2-cut3"]
    first, second, _ = FAMILIES["tosca"].pairs(tmp_path)
    for pair in (first, second):
        known = pair.truth.points.face >= 0
        at = pair.truth.points.positions(pair.full)
        np.testing.assert_allclose(at[known], pair.partial.vertices[known], atol=1e-9)
        annotated = places["cat0"][rows]
        shown = np.isin(annotated, pair.truth.points.nearest_vertex(pair.full))
        np.testing.assert_array_equal(pair.truth.region[annotated], shown)
    assert 0.3 < first.partial.area / first.full.area < 0.9
    write(tmp_path / root / "corres/cat1.vts", places["cat1"][rows[:-1]] + 1)
    refused("tosca", tmp_path, "cat1-cut1", r"cat1\.vts: has 599 rows, but cat0\.vts asks for 600")


# SHREC'16


@pytest.fixture(scope="module")
def exact(whole, piece) -> SurfacePoints:
    """A point of the full shape for every vertex of the piece, a little off it, inside a face."""
    corner = SurfacePoints.at_vertices(whole, piece.vertex_of_parent)
    return SurfacePoints(corner.face, 0.9 * corner.barycentric + 0.1 / 3)


@pytest.fixture
def shrec(tmp_path, whole, piece, exact) -> Path:
    """The track's own layout: two test shapes, one training shape, full shapes in the latter."""
    table = np.column_stack([exact.face + 1, exact.barycentric])
    for name in (f"{TEST_SET}/cuts/cuts_cat_shape_10", f"{TEST_SET}/cuts/cuts_cat_shape_2"):
        write(tmp_path / f"{name}.off", piece.mesh)
        write(tmp_path / f"{name}.baryc_gt", table, "%.6g")
    write(tmp_path / TRAINING_SET / "holes/holes_cat_shape_1.off", piece.mesh)
    write(tmp_path / TRAINING_SET / "holes/holes_cat_shape_1.baryc_gt", table, "%.6g")
    write(tmp_path / TRAINING_SET / "null/cat.off", whole)
    return tmp_path


GROUND_TRUTH = f"{TEST_SET}/cuts/cuts_cat_shape_2.baryc_gt"


def test_shrec16_truth_lies_inside_triangles(shrec, exact, whole):
    assert FAMILIES["shrec16_cuts"].names(shrec) == ["cuts_cat_shape_2", "cuts_cat_shape_10"]
    pair = FAMILIES["shrec16_cuts"].load(shrec, "cuts_cat_shape_2")
    np.testing.assert_array_equal(pair.truth.points.face, exact.face)
    np.testing.assert_allclose(pair.truth.points.barycentric, exact.barycentric, atol=1e-5)
    np.testing.assert_allclose(pair.truth.points.barycentric.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(pair.truth.region, region_around(whole, exact))


def test_the_training_part_stands_in_under_another_name(shrec):
    assert FAMILIES["shrec16_holes"].names(shrec) == ["train-holes_cat_shape_1"]
    [pair] = FAMILIES["shrec16_holes"].pairs(shrec)
    assert pair.name == "train-holes_cat_shape_1"


def test_cuts24_is_the_listed_part_of_the_test_shapes(shrec):
    assert not FAMILIES["cuts24"].present(shrec)
    listed = shrec / "cuts24_test.txt"
    listed.write_text("cuts_cat_shape_10.off\n")
    [pair] = FAMILIES["cuts24"].pairs(shrec)
    assert pair.name == "cuts_cat_shape_10"
    listed.write_text("cuts_cat_shape_10.off\ncuts_dog_shape_1.off\n")
    with pytest.raises(InputError, match="lists cuts_dog_shape_1 and 0 more that are not in"):
        FAMILIES["cuts24"].names(shrec)


def test_the_variants_of_other_codes_give_the_nearest_vertices(tmp_path, whole, piece):
    target = piece.vertex_of_parent
    rows = tmp_path / "a" / "SHREC16_test"
    write(rows / "null/off/cat.off", whole)
    write(rows / "cuts/off/cuts_cat_shape_3.off", piece.mesh)
    write(rows / "cuts/corres/cuts_cat_shape_3.vts", target + 1)
    maps = tmp_path / "b"
    for root in (maps / "shrec_partial_test", maps / "shrec16_cat"):
        flat = root.name == "shrec16_cat"
        write(root / ("" if flat else "shapes") / "cuts-cat.off", whole)
        write(root / ("" if flat else "shapes") / "cuts-cat1.off", piece.mesh)
        unknown = np.where(np.arange(len(target)) == 5, -1, target)
        write(root / ("" if flat else "maps") / "cuts-cat1_cuts-cat.map", unknown)
    [first] = FAMILIES["shrec16_cuts"].pairs(tmp_path / "a")
    [second] = FAMILIES["shrec16_cuts"].pairs(maps)
    [third] = FAMILIES["shrec16_cat"].pairs(maps)
    assert first.name == "cuts_cat_shape_3" and second.name == third.name == "cuts-cat1"
    np.testing.assert_array_equal(first.truth.points.nearest_vertex(first.full), target)
    for pair in (second, third):
        found = pair.truth.points.nearest_vertex(pair.full)
        assert found[5] == -1
        np.testing.assert_array_equal(np.delete(found, 5), np.delete(target, 5))
    write(rows / "cuts/corres/cuts_cat_shape_3.vts", target)  # counted from 0
    refused("shrec16_cuts", tmp_path / "a", first.name, r"\.vts: row \d+ names number -1 of cat")


def test_a_few_lost_triangles_are_unknown_and_many_are_refused(shrec, whole, caplog):
    path = shrec / GROUND_TRUTH
    table = np.loadtxt(path)
    table[7, 0] = len(whole.faces) + 3
    write(path, table, "%.6g")
    pair = FAMILIES["shrec16_cuts"].load(shrec, "cuts_cat_shape_2")
    np.testing.assert_array_equal(np.flatnonzero(pair.truth.points.face < 0), [7])
    assert np.isnan(pair.truth.points.barycentric[7]).all()
    assert "1 rows name triangles that cat.off lacks" in caplog.text
    table[:20, 0] = len(whole.faces) + 3
    write(path, table, "%.6g")
    message = rf"baryc_gt: row 0 names triangle {len(whole.faces) + 3} \(from 1\), but cat\.off has"
    refused("shrec16_cuts", shrec, "cuts_cat_shape_2", message)


def off_weights(table: np.ndarray) -> np.ndarray:
    table[4, 1:] = [0.5, 0.9, 0.1]
    return table


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table[:-1], r"baryc_gt: has \d+ rows, but cuts_cat_shape_2\.off asks for"),
        (off_weights, "the weights of row 4 do not sum to one"),
        (lambda table: table[:, :3], "expected 4 numbers in every row"),
        (lambda table: table * [0, 1, 1, 1], r"no vertex of cuts_cat_shape_2\.off has a known"),
        (lambda table: table[::-1], r"with lengths changed by a factor of \d"),
    ],
)
def test_a_barycentric_truth_that_does_not_fit_is_refused(shrec, change, message):
    path = shrec / GROUND_TRUTH
    write(path, change(np.loadtxt(path)), "%.6g")
    refused("shrec16_cuts", shrec, "cuts_cat_shape_2", message)


def test_shapes_in_different_units_are_refused(shrec, whole, piece):
    null = shrec / TRAINING_SET / "null/cat.off"
    write(null, whole.scaled(0.5))
    refused("shrec16_cuts", shrec, "cuts_cat_shape_2", "times the area of cat.off; bring both")
    write(null, whole.scaled(3.0))
    refused("shrec16_cuts", shrec, "cuts_cat_shape_2", r"changed by a factor of 2\.\d")
    null.unlink()
    refused("shrec16_cuts", shrec, "cuts_cat_shape_2", r"null.cat\.off: not found")


# All families


@pytest.mark.parametrize(
    ("family", "files"),
    [
        ("pfaust_m", "PFAUST-M/off and PFAUST-M/corres of https://github.com/ABracha/PFAUST"),
        ("pfaust_h_same", "PFAUST-H/off and PFAUST-H/corres"),
        ("pfarm", "pfarm.zip of https://github.com/pvnieo/cp2p-pfarm-benchmark"),
        ("tosca", "tosca/corres/*.vts"),
        ("shrec16_cat", "cuts-cat1_cuts-cat.map of https://github.com/pvnieo/DPFM"),
        ("shrec16_cuts", f"{TEST_SET}.zip and {TRAINING_SET}.zip of http://www.dais.unive.it"),
        ("shrec16_holes", "holes/*.baryc_gt"),
        ("cuts24", "cuts24_test.txt there, the 153 names"),
    ],
)
def test_absent_data_is_asked_for_with_its_source(tmp_path, family, files):
    assert not FAMILIES[family].present(tmp_path)
    with pytest.raises(InputError) as fault:
        FAMILIES[family].names(tmp_path)
    assert files in str(fault.value) and str(tmp_path) in str(fault.value)
    with pytest.raises(InputError, match="holds no"):
        FAMILIES[family].load(tmp_path, "x")


def test_the_folder_may_come_from_the_environment(pfarm, monkeypatch):
    monkeypatch.setenv("NHO_DATA", str(pfarm))
    assert FAMILIES["pfarm"].names(None) == ["cut-1--a_b"]
    monkeypatch.delenv("NHO_DATA")
    with pytest.raises(InputError, match="set NHO_DATA"):
        FAMILIES["pfarm"].names(None)
    with pytest.raises(InputError, match="no such folder"):
        FAMILIES["pfarm"].names(pfarm / "nowhere")
    assert not FAMILIES["pfarm"].present(None)


def test_families_are_keyed_by_name_and_know_their_figures_in_the_paper():
    assert all(key == family.name for key, family in FAMILIES.items())
    named = {key: family.published for key, family in FAMILIES.items() if family.published}
    own = {"pfaust_m", "pfaust_h", "pfarm", "cuts24"}
    assert named == {**{key: key for key in own}, "shrec16_cuts": "cuts24"}
    assert set(named.values()) == {entry.dataset for entry in published()} - {""}
    assert len({family.title for family in FAMILIES.values()}) == len(FAMILIES)
    assert set(DEVELOPMENT) < set(FAMILIES)


def test_the_region_by_rows_does_not_grow_but_that_by_images_does(whole):
    cut = cut_by_plane(whole, np.array([0.0, 0.0, 1.0]), keep_area=0.5)
    points = SurfacePoints.at_vertices(whole, cut.vertex_of_parent)
    every = np.arange(len(whole.vertices))
    by_rows = region_by_rows(whole, every, cut.kept_vertices)
    np.testing.assert_array_equal(by_rows, cut.kept_vertices)
    by_images = truth_by_images(whole, points).region
    assert by_images[cut.kept_vertices].all() and by_images.sum() > by_rows.sum()


# Evaluation data


@pytest.mark.data
@pytest.mark.parametrize("family", [*DEVELOPMENT, "shrec16_cat"])
def test_real_pairs_pass_the_checks_and_bear_their_names(data, family):
    names = FAMILIES[family].names(data)
    assert len(names) == len(set(names)) > 0
    for name in names[:2]:
        pair = FAMILIES[family].load(data, name)
        assert pair.name == name
        assert len(pair.truth.points) == pair.partial.n_vertices
        assert pair.truth.region.shape == (pair.full.n_vertices,)
        assert 0.75 < median_stretch(pair) < 1.2
