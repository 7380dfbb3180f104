"""Surfaces as scanners and exporters leave them, made from the clean pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane, sphere, take_faces
from tests.conformance.given import (
    PAIRS,
    PIECE,
    WHOLE,
    Given,
    Shape,
    anchors_of,
    same_order,
)

N = len(PIECE.mesh.vertices)
V, F = PIECE.mesh.vertices, PIECE.mesh.faces
INNER = int(np.flatnonzero(~PIECE.mesh.boundary_vertices)[40])  # a vertex away from the rim
EDGE_OF_INNER = int(next(v for v in F[(F == INNER).any(axis=1)][0] if v != INNER))
FIN = sorted((INNER, EDGE_OF_INNER))


def partial_of(vertices, faces, **more) -> Given:
    return Given(partial=same_order(vertices, faces, N, **more))


def with_cut(cut: Cut) -> Given:
    partial = same_order(cut.mesh.vertices, cut.mesh.faces, len(cut.mesh.vertices))
    return Given(partial=partial, cut=cut)


def closed() -> Given:
    every = np.arange(len(WHOLE.vertices))
    return with_cut(Cut(WHOLE, every, np.arange(len(WHOLE.faces)), np.ones(len(every), bool)))


def many_loops() -> Given:
    """The whole with holes of one triangle, as many as leave room between them."""
    faces = WHOLE.faces
    kept, taken = np.ones(len(faces), dtype=bool), np.zeros(len(WHOLE.vertices), dtype=bool)
    for face, corners in enumerate(faces):
        if not taken[corners].any():
            kept[face] = False
            taken[faces[np.isin(faces, corners).any(axis=1)]] = True
    return with_cut(take_faces(WHOLE, kept))


def apart(vertices, faces, shift):
    """The piece between two small balls that hold no anchor."""
    ball = sphere(0)
    n = len(ball.vertices)
    stacked = np.vstack([0.1 * ball.vertices + shift, vertices, 0.1 * ball.vertices - shift])
    together = np.vstack([ball.faces, faces + n, ball.faces + n + len(vertices)])
    left_out = np.concatenate([np.arange(n), np.arange(n) + n + len(vertices)])
    return stacked, together, np.arange(len(vertices)) + n, left_out


def specks() -> Given:
    vertices, faces, place, left_out = apart(V, F, [5.0, 0, 0])
    return Given(partial=Shape(vertices, faces, place, left_out=left_out))


def specks_of_full() -> Given:
    vertices, faces, place, left_out = apart(WHOLE.vertices, WHOLE.faces, [5.0, 0, 0])
    return Given(full=Shape(vertices, faces, place, left_out=left_out))


def two_pieces() -> Given:
    """Cut in two along a plane; both halves hold anchors."""
    side = V[F].mean(axis=1)[:, 0] > 0
    faces = F.copy()
    shared = np.intersect1d(F[side], F[~side])
    copy_of = np.arange(N)
    copy_of[shared] = N + np.arange(len(shared))
    # The second half moves aside, so that its rim is not welded back.
    faces[~side] = copy_of[F[~side]]
    vertices = np.vstack([V, V[shared]])
    moved = np.unique(faces[~side])
    vertices[moved] += [-3.0, 0, 0]
    return partial_of(vertices, faces)


def fin() -> Given:
    """A third face on an inner edge."""
    vertices = np.vstack([V, V[INNER] * 1.15])
    return partial_of(vertices, np.vstack([F, [[INNER, EDGE_OF_INNER, N]]]))


def bow_tie() -> Given:
    """A small cone that hangs on the surface by its tip alone."""
    ring = V[INNER] * 1.2 + 0.05 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    cone = [[INNER, N + i, N + (i + 1) % 4] for i in range(4)]
    return partial_of(np.vstack([V, ring]), np.vstack([F, cone]))


def seam() -> Given:
    """Faces of one half have corners of their own, as texture seams make them."""
    _, first = np.unique(F.ravel(), return_index=True)
    split = np.repeat(V[F].mean(axis=1)[:, 0] > 0, 3)
    split[first] = False  # the clean vertex stays with its first face
    corners = F.ravel().copy()
    twins = np.column_stack([corners[split], N + np.arange(split.sum())])
    corners[split] = twins[:, 1]
    return partial_of(np.vstack([V, V[twins[:, 0]]]), corners.reshape(-1, 3), twins=twins)


def spiked(vertices: np.ndarray, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every twentieth vertex without an anchor 200 times too far out, and which these are."""
    moved = np.setdiff1d(np.arange(len(vertices)), anchors)[5::20][:5]
    thrown = vertices.copy()
    thrown[moved] *= 200
    return thrown, moved


def spikes() -> Given:
    vertices, moved = spiked(V, PAIRS[:, 0])
    place = np.arange(N)
    return Given(partial=Shape(vertices, F, place, left_out=moved))


def spikes_of_full() -> Given:
    vertices, moved = spiked(WHOLE.vertices, PAIRS[:, 1])
    place = np.arange(len(vertices))
    place[moved] = -1
    return Given(full=Shape(vertices, WHOLE.faces, place, left_out=moved))


def open_seams() -> Given:
    """Loose triangles whose corners miss each other by a rounding error."""
    corners = F.ravel()
    _, first = np.unique(corners, return_index=True)
    shake = 1e-7 * np.random.default_rng(0).uniform(-1, 1, (len(corners), 3))
    twins = np.column_stack([first[corners], np.arange(len(corners))])
    faces = np.arange(len(corners)).reshape(-1, 3)
    return Given(partial=Shape(V[corners] + shake, faces, first, twins=twins))


def loose() -> Given:
    """Loose vertices at the front, in between and at the end."""
    place = np.arange(N) + 1 + (np.arange(N) >= 50)
    vertices = np.full((N + 3, 3), 0.123)
    vertices[place] = V
    vertices[[0, 51, N + 2]] += np.arange(3)[:, None]
    return Given(partial=Shape(vertices, place[F], place, left_out=np.array([0, 51, N + 2])))


def loose_of_full() -> Given:
    n = len(WHOLE.vertices)
    place = np.arange(n) + 1
    vertices = np.vstack([[7.0, 7, 7], WHOLE.vertices])
    return Given(full=Shape(vertices, place[WHOLE.faces], place, left_out=np.array([0])))


def flat_face() -> Given:
    """A face split on one side only: the gap is closed by a triangle without area."""
    first = int(np.flatnonzero((F == INNER).any(axis=1))[0])
    a, b, c = F[first]
    faces = np.vstack([np.delete(F, first, axis=0), [[a, N, c], [N, b, c], [a, b, N]]])
    return partial_of(np.vstack([V, (V[a] + V[b]) / 2]), faces)


def repeated_corner() -> Given:
    return partial_of(V, np.vstack([F[:7], [[3, 3, 9]], F[7:]]))


def duplicate_faces() -> Given:
    return partial_of(V, np.vstack([F, F[5], F[9][::-1]]))


def mixed() -> Given:
    faces = F.copy()
    faces[::3] = faces[::3, ::-1]
    return partial_of(V, faces)


def mixed_full() -> Given:
    faces = WHOLE.faces.copy()
    faces[1::4] = faces[1::4, ::-1]
    return Given(full=same_order(WHOLE.vertices, faces, len(WHOLE.vertices)))


def inside_out() -> Given:
    return partial_of(V, F[:, ::-1])


def slivers() -> Given:
    """Vertices moved until triangles are a million times longer than wide."""
    vertices = V.copy()
    moved = PIECE.mesh.boundary_vertices.copy()
    moved[PAIRS[:, 0]] = True
    count = 0
    for a, b, _ in F:
        if not moved[[a, b]].any() and count < 6:
            vertices[a] = V[b] + 1e-6 * (V[a] - V[b])
            moved[F[(F == a).any(axis=1)]] = moved[F[(F == b).any(axis=1)]] = True
            count += 1
    assert count == 6
    return partial_of(vertices, F)


def double_sided() -> Given:
    """Every face again from behind, with vertices of its own."""
    vertices, faces = np.vstack([V, V]), np.vstack([F, F[:, ::-1] + N])
    twins = np.column_stack([np.arange(N), N + np.arange(N)])
    return partial_of(vertices, faces, twins=twins)


def second_layer() -> Given:
    """The same surface scanned twice, a hair's breadth apart."""
    vertices = np.vstack([V, V * 1.0005])
    return partial_of(vertices, np.vstack([F, F + N]))


def tiny() -> Given:
    whole = bumpy_sphere(1, seed=3)
    cut = cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.55)
    assert len(cut.mesh.vertices) < 30
    pairs = anchors_of(cut, 6)
    return replace(
        with_cut(cut),
        full=same_order(whole.vertices, whole.faces, len(whole.vertices)),
        anchors=pairs,
    )


def strip() -> Given:
    strip = same_order(
        np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), [[0, 1, 2], [1, 3, 2]], 4
    )
    return Given(partial=strip, anchors=np.array([[0, 0], [1, 1], [2, 2]]))


def moved(scale: float, shift: float) -> Given:
    n = len(WHOLE.vertices)
    return Given(
        partial=same_order(V * scale + shift, F, N),
        full=same_order(WHOLE.vertices * scale + shift, WHOLE.faces, n),
    )


def swapped() -> Given:
    """The roles confused: the piece is given as the full shape."""
    n = len(WHOLE.vertices)
    place = np.full(n, -1)
    place[PIECE.vertex_of_parent] = np.arange(N)
    return Given(
        partial=Shape(WHOLE.vertices, WHOLE.faces, PIECE.vertex_of_parent),
        full=Shape(V, F, place),
        anchors=PAIRS[:, ::-1],
    )


def flat_sheet() -> Given:
    """A flat cloth and a part of it."""
    x, y = (c.ravel().astype(float) for c in np.meshgrid(np.arange(16), np.arange(13)))
    at = np.arange(16 * 13).reshape(13, 16)
    a, b, c, d = at[:-1, :-1].ravel(), at[:-1, 1:].ravel(), at[1:, 1:].ravel(), at[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    sheet = Mesh(np.stack([x, y, 0 * x], axis=1), faces, "sheet")
    cut = cut_by_plane(sheet, np.array([1.0, 0.2, 0]), keep_area=0.8)
    return replace(with_cut(cut), full=same_order(sheet.vertices, sheet.faces, len(x)))
