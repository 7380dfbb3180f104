"""What a result does with its meshes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import nho
from nho.errors import InputError


@pytest.fixture(scope="module")
def result(piece, whole) -> nho.MatchResult:
    chosen = nho.sample_vertices(piece.mesh, 8)
    return nho.match(piece.mesh, whole, np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1))


def test_its_repr_is_one_short_line(result):
    text = repr(result)
    assert text.startswith("MatchResult(ok: ") and len(text) < 200 and "\n" not in text


def test_rows_of_the_matrix_sum_to_one_and_carry_positions(result):
    matrix = result.matrix()
    assert matrix.shape == (result.partial.n_vertices, result.full.n_vertices)
    matched = result.face >= 0
    np.testing.assert_allclose(matrix.sum(axis=1)[matched], 1)
    assert (matrix.sum(axis=1)[~matched] == 0).all()
    np.testing.assert_allclose(
        (matrix @ result.full.vertices)[matched],
        result.points.positions(result.full)[matched],
    )


def test_the_functional_map_of_the_whole_basis_carries_any_function(result):
    # With every function in the partial basis nothing is left over.
    n_partial, n_full = len(result.face), len(result.region)
    C = result.functional_map(np.eye(n_partial), np.eye(n_full))  # noqa: N806
    matched = (result.face >= 0) & (result.partial.vertex_areas > 0)
    np.testing.assert_allclose(C[matched], result.matrix().toarray()[matched], atol=1e-8)
    with pytest.raises(InputError, match="partial shape has shape"):
        result.functional_map(np.eye(n_partial)[1:], np.eye(n_full))


def test_labels_travel_both_ways(result, piece):
    upper = (result.full.vertices[:, 2] > 0).astype(int)
    carried = result.transfer(upper)
    matched = result.vertex_map >= 0
    assert (carried[matched] == upper[piece.vertex_of_parent][matched]).mean() > 0.97
    back = result.transfer(upper[piece.vertex_of_parent], source="partial")
    assert (back[result.region] == upper[result.region]).mean() > 0.95
    assert (back[~result.region] == -1).all()


def test_the_template_lies_on_the_scan_after_fitting(result):
    assert result.fit().summary()["mean_distance_percent"] < 0.5


def test_a_stored_result_finds_its_meshes_in_its_folder(result, piece, whole, tmp_path):
    nho.write_outputs(tmp_path / "out", piece.mesh, whole, result)
    again = nho.MatchResult.load(tmp_path / "out")
    np.testing.assert_array_equal(again.partial.vertices, piece.mesh.vertices)
    np.testing.assert_array_equal(again.full.faces, whole.faces)


def test_without_meshes_it_says_how_to_give_them(result, piece, whole, tmp_path):
    result.save(tmp_path)
    alone = nho.MatchResult.load(tmp_path)
    with pytest.raises(InputError, match=r"result.with_meshes\(partial, full\)"):
        alone.fit()
    assert alone._repr_html_() is None
    assert alone.with_meshes(piece.mesh, (whole.vertices, whole.faces)).full.n_faces > 0
    with pytest.raises(InputError, match="give the mesh that was matched"):
        alone.with_meshes(whole, whole)


def test_it_survives_pickling_with_its_meshes(result):
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    np.testing.assert_array_equal(again.full.vertices, result.full.vertices)


def test_point_data_have_a_row_for_each_vertex(result):
    partial, full = result.point_data(), result.point_data("full")
    assert {"nho_vertex", "nho_confidence", "nho_color"} <= partial.keys()
    assert {"nho_region", "nho_region_score", "nho_color"} <= full.keys()
    assert {len(values) for values in partial.values()} == {result.partial.n_vertices}
    assert {len(values) for values in full.values()} == {result.full.n_vertices}
    with pytest.raises(InputError, match="'partial' and 'full'"):
        result.point_data("template")


def test_the_view_for_notebooks_asks_no_other_server(result):
    html = result._repr_html_()
    assert html.startswith("<iframe") and html.count("<iframe") == 1
    assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html
    assert "<script" not in html  # all of it is inside the attribute
