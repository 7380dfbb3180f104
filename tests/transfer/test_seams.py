"""Texture coordinates are carried per corner and never mixed across a seam."""

from __future__ import annotations

import io

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.io.attributes import Attributes, Texture
from nho.transfer import Transfer
from tests.transfer.made import match_of, match_of_cut, tube


def cylinder(around: int, along: int, turn: float = 0.0) -> tuple[Mesh, np.ndarray]:
    """A tube and its unwrapping: u goes once around, with a seam where it jumps to 0."""
    i, j = (
        grid.ravel() for grid in np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    )
    corner_i = np.concatenate([np.stack([i, i + 1, i + 1], 1), np.stack([i, i + 1, i], 1)])
    corner_j = np.concatenate([np.stack([j, j, j + 1], 1), np.stack([j, j + 1, j + 1], 1)])
    return tube(around, along, turn), np.stack([corner_i / around, corner_j / along], axis=2)


@pytest.fixture(scope="module")
def remeshed():
    """A coarse cylinder on a fine one; its vertices do not lie on the seam of the fine one."""
    fine, uv = cylinder(48, 24)
    coarse, _ = cylinder(17, 9, turn=0.013)
    points, _ = project(fine, coarse.vertices)
    result = match_of(points, fine, np.ones(fine.n_vertices, dtype=bool))
    return Transfer(result, coarse, fine, "full"), uv


def test_a_cut_gets_exactly_the_coordinates_of_its_faces_whatever_they_are(piece, whole):
    """Random coordinates in every corner: there is a seam at every edge."""
    uv = np.random.default_rng(0).random((whole.n_faces, 3, 2))
    carry = Transfer(match_of_cut(piece, whole), piece.mesh, whole, "full")
    np.testing.assert_allclose(carry.uv(uv), uv[piece.face_of_parent], atol=1e-12)
    back = Transfer(match_of_cut(piece, whole), piece.mesh, whole, "partial")
    returned = back.uv(uv[piece.face_of_parent])
    np.testing.assert_allclose(returned[piece.face_of_parent], uv[piece.face_of_parent], atol=1e-12)


def test_no_face_stretches_over_the_image_at_a_seam(remeshed):
    carry, uv = remeshed
    carried = carry.uv(uv)
    assert np.isfinite(carried).all()
    widest = np.ptp(carried[:, :, 0], axis=1).max()
    assert widest < 2 / 17  # a face of the coarse cylinder is 1/17 wide; over the seam it is 1


def test_coordinates_are_those_of_the_place_on_either_side_of_a_seam(remeshed):
    carry, uv = remeshed
    coarse = carry.target
    angle = np.arctan2(coarse.vertices[:, 1], coarse.vertices[:, 0]) / (2 * np.pi) % 1
    off = (carry.uv(uv)[:, :, 0] - angle[coarse.faces] + 0.5) % 1 - 0.5  # up to whole turns
    assert np.abs(off).max() < 0.01
    np.testing.assert_allclose(
        carry.uv(uv)[:, :, 1], coarse.vertices[coarse.faces][:, :, 2] / 2, atol=1e-9
    )


def test_away_from_seams_every_corner_has_the_coordinates_of_its_own_place(remeshed):
    """Coordinates that bend over a face: those of its middle, continued, would be off."""
    carry, uv = remeshed
    bent = np.stack([uv[:, :, 0], uv[:, :, 1] ** 2], axis=2)
    corners = carry.target.vertices[carry.target.faces]
    angle = np.arctan2(corners[:, :, 1], corners[:, :, 0]) / (2 * np.pi) % 1
    inner = np.ptp(angle, axis=1) < 0.5
    assert 0 < (~inner).sum() < 0.1 * len(inner)
    found = carry.uv(bent)[inner]
    np.testing.assert_allclose(found[:, :, 1], (corners[inner][:, :, 2] / 2) ** 2, atol=1e-3)


def test_faces_without_a_match_have_no_coordinates(piece, whole):
    confidence = (piece.mesh.vertices[:, 0] > 0).astype(float)
    result = match_of_cut(piece, whole, confidence)
    carry = Transfer(result, piece.mesh, whole, "full", min_confidence=0.5)
    uv = np.zeros((whole.n_faces, 3, 2))
    matched = (confidence[piece.mesh.faces] > 0).all(axis=1)
    np.testing.assert_array_equal(np.isfinite(carry.uv(uv)).all(axis=(1, 2)), matched)


def test_faces_of_another_image_are_not_continued_into_this_one(piece, whole):
    """Two images with the same coordinates: corners at their border take the middle's image."""
    random = np.random.default_rng(1)
    uv = random.random((whole.n_faces, 3, 2))
    uv[::2, :, 0] = np.nan  # every other face has no coordinates at all
    shown = np.where(np.isnan(uv[:, 0, 0]), -1, np.arange(whole.n_faces) % 3)
    given = Attributes(
        uv=uv,
        textures=tuple(Texture(f"{i}.png", b"\x89PNG") for i in range(3)),
        texture_of_face=shown,
    )
    carry = Transfer(match_of_cut(piece, whole), piece.mesh, whole, "full")
    carried = carry.attributes(given)
    np.testing.assert_array_equal(carried.texture_of_face, shown[piece.face_of_parent])
    np.testing.assert_allclose(carried.uv, uv[piece.face_of_parent], atol=1e-12)
    assert carried.textures == given.textures


def png(pixels: np.ndarray) -> Texture:
    image = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
    return Texture("image.png", stream.getvalue())


def test_baked_colours_are_those_of_the_image_at_the_matched_point():
    """An image that is linear in its pixels, on a cylinder: the colour tells u and v."""
    fine, uv = cylinder(48, 24)
    width, height = 96, 64
    pixels = np.zeros((height, width, 3))
    pixels[:, :, 0] = (np.arange(width) + 0.5) / width * 255
    pixels[:, :, 1] = (1 - (np.arange(height)[:, None] + 0.5) / height) * 255  # v points up
    given = Attributes(uv=uv, textures=(png(pixels),))
    coarse, _ = cylinder(17, 9, turn=0.2 / 17)
    points, _ = project(fine, coarse.vertices)
    result = match_of(points, fine, np.ones(fine.n_vertices, dtype=bool))
    carry = Transfer(result, coarse, fine, "full")
    colours = carry.texture_colours(given)
    assert colours.known.all()
    angle = np.arctan2(coarse.vertices[:, 1], coarse.vertices[:, 0]) / (2 * np.pi) % 1
    assert np.abs(colours.values[:, 0] - 255 * angle).max() <= 4
    assert np.abs(colours.values[:, 1] - 127.5 * coarse.vertices[:, 2]).max() <= 4
    baked = carry.attributes(given, bake=True)
    assert baked.uv is None and not baked.textures
    np.testing.assert_array_equal(baked.vertex["color"], colours.values)


def test_baking_leaves_vertices_without_a_match_grey():
    square = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], "square")
    points = SurfacePoints(
        np.array([0, 0, -1, 1]), np.array([[1, 0, 0], [0, 1, 0], [np.nan] * 3, [0, 1, 0]])
    )
    result = match_of(points, square, np.ones(4, dtype=bool))
    red = Attributes(
        uv=square.vertices[square.faces][:, :, :2],
        textures=(png(np.full((2, 2, 3), (255, 0, 0))),),
    )
    carried = Transfer(result, square, square, "full").texture_colours(red)
    assert carried.known.tolist() == [True, True, False, True]
    assert carried.values.tolist() == [[255, 0, 0], [255, 0, 0], [150, 150, 150], [255, 0, 0]]


def test_an_image_that_cannot_be_read_is_one_sentence(piece, whole):
    pytest.importorskip("PIL.Image")
    carry = Transfer(match_of_cut(piece, whole), piece.mesh, whole, "full")
    uv = np.zeros((whole.n_faces, 3, 2))
    with pytest.raises(InputError, match=r"bad.png: the texture cannot be read"):
        carry.texture_colours(Attributes(uv=uv, textures=(Texture("bad.png", b"\x89PNG..."),)))
    with pytest.raises(InputError, match="there is no texture to take colours from"):
        carry.texture_colours(Attributes(uv=uv))
