"""A small picture of a result, drawn without a graphics card."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from nho.geometry.mesh import Mesh
from nho.problem.result import MatchResult
from nho.report.colours import scalar_colours, with_no_partner
from nho.report.views import first_view, frame, framed

_WIDTH, _HEIGHT = 132, 99
_SAMPLES = 60_000  # points of the surface that are drawn


def thumbnail(folder: Path) -> bytes:
    """PNG of the scan of a result, coloured by confidence; what has no partner as on the page."""
    mesh, result = Mesh.read(folder / "partial.ply"), MatchResult.load(folder)
    return png(picture(mesh, with_no_partner(scalar_colours(result.confidence), result)))


def picture(mesh: Mesh, colours: np.ndarray) -> np.ndarray:
    """(height, width, 4) uint8 of points on the surface; the nearest in every pixel shows."""
    share = mesh.face_areas / max(mesh.area, np.finfo(float).tiny)
    chance = np.random.default_rng(0)
    face = chance.choice(len(mesh.faces), _SAMPLES, p=share / share.sum())
    weights = chance.dirichlet(np.ones(3), _SAMPLES)
    corners = mesh.faces[face]
    view = first_view(mesh)
    places = np.einsum("nc,ncx->nx", weights, mesh.vertices[corners])
    x, y, z = (framed(places, frame(mesh, view)) @ view.T).T
    light = 0.5 + 0.5 * np.abs(mesh.face_normals[face] @ view[2])
    shade = np.einsum("nc,ncx->nx", weights, colours[corners].astype(float)) * light[:, None]
    column = np.clip((_WIDTH / 2 + 0.48 * _HEIGHT * x).astype(int), 0, _WIDTH - 1)
    row = np.clip((_HEIGHT / 2 - 0.48 * _HEIGHT * y).astype(int), 0, _HEIGHT - 1)
    order = np.argsort(z, kind="stable")  # the nearest last, over the others
    image = np.zeros((_HEIGHT, _WIDTH, 4), dtype=np.uint8)
    image[row[order], column[order], :3] = shade[order].astype(np.uint8)
    image[row, column, 3] = 255
    return image


def png(image: np.ndarray) -> bytes:
    """An (height, width, 4) uint8 picture as a PNG file."""
    height, width, _ = image.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    lines = b"".join(b"\0" + line.tobytes() for line in image)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
