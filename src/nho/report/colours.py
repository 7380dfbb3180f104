"""Vertex colours: the same colour for the same point, a marked region, and numbers as colours.

Colours are chosen in OKLab, where equal steps look equally large, and returned as 8-bit sRGB.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.geometry.spikes import without_spikes
from nho.problem.result import HAS_PARTNER, MatchResult

Colours = npt.NDArray[np.uint8]  # (n, 3) sRGB
ViewColours = dict[Literal["partial", "full"], dict[str, Colours]]

REGION_INSIDE = (46, 125, 140)  # sRGB
REGION_OUTSIDE = (222, 222, 222)
PLAIN = (214, 211, 205)  # a shape that the chosen view says nothing about
UNMATCHED = (150, 150, 150)  # sRGB of a point without a match or without a value
NO_PARTNER = (92, 96, 106)  # sRGB, slate: what has no partner on the other shape
FADED = (226, 226, 226)  # sRGB that everything outside the region is drawn towards
_FADING = 0.85

# OKLab (lightness, green-red, blue-yellow) of the colour scale, from 0 to 1. The lightness rises
# evenly, so that the order of two values survives a grey print.
_SCALE = np.array(
    [
        (0.28, 0.060, -0.100),
        (0.40, 0.005, -0.120),
        (0.52, -0.055, -0.065),
        (0.64, -0.110, 0.010),
        (0.76, -0.120, 0.100),
        (0.90, -0.045, 0.170),
    ]
)
# Of distances: none is light, the largest dark red. Unlike a confidence, more of it is no better.
_DISTANCES = np.array(
    [
        (0.95, 0.004, 0.018),
        (0.84, 0.040, 0.085),
        (0.70, 0.105, 0.100),
        (0.54, 0.155, 0.085),
        (0.36, 0.120, 0.055),
    ]
)


def view_colours(full: Mesh, result: MatchResult) -> ViewColours:
    """Colours of both shapes by name of the view; the partial shows the state of its partners.

    ``faded`` is the correspondence, faded outside of the region (full shape only).
    """
    by_place = position_colours(full)
    inside = np.where(result.region[:, None], REGION_INSIDE, REGION_OUTSIDE).astype(np.uint8)
    score_there = result.points.interpolate(full, result.region_score.astype(np.float64))
    matched = result.vertex_map >= 0
    region_there = inside[np.where(matched, result.vertex_map, 0)]
    scan = {
        "correspondence": transfer_colours(full, result, by_place),
        "region": np.where(matched[:, None], region_there, np.array(UNMATCHED, dtype=np.uint8)),
        "score": scalar_colours(score_there),
        "confidence": scalar_colours(result.confidence),
    }
    return {
        "partial": {name: with_no_partner(colours, result) for name, colours in scan.items()},
        "full": {
            "correspondence": by_place,
            "faded": region_colours(by_place, result.region),
            "region": inside,
            "score": scalar_colours(result.region_score),
            "confidence": np.tile(np.array(PLAIN, dtype=np.uint8), (len(full.vertices), 1)),
        },
    }


def position_colours(mesh: Mesh) -> Colours:
    """A colour for every vertex from its place in the box along the mesh's principal axes.

    The hue runs along the longest axis; the second changes the lightness, and both shorter ones
    the hue a little. Moving, rotating or scaling the mesh changes nothing but round-off, as long
    as its three principal extents differ.

    Returns
    -------
    (n, 3) uint8 array
        sRGB.
    """
    long, middle, short = _box_coordinates(mesh).T
    hue = np.deg2rad(350 + 290 * long + 70 * (middle - 0.5) + 40 * (short - 0.5))
    lightness = 0.62 + 0.22 * middle
    chroma = 0.14
    return _to_srgb(np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1))


def transfer_colours(full: Mesh, result: MatchResult, full_colours: Colours) -> Colours:
    """Colours of the partial shape: those of the matched points on the full one.

    Parameters
    ----------
    full_colours : (n_full, 3) uint8 array

    Returns
    -------
    (n_partial, 3) uint8 array
        Grey where there is no match.
    """
    colours = result.points.interpolate(full, np.asarray(full_colours, dtype=np.float64))
    return _to_bytes(colours, empty=UNMATCHED)


def with_no_partner(colours: Colours, result: MatchResult) -> Colours:
    """(n_partial, 3) uint8 colours, with one of its own for what has no partner."""
    alone = result.overlap < HAS_PARTNER
    return np.where(alone[:, None], np.array(NO_PARTNER, dtype=np.uint8), colours)


def region_colours(full_colours: Colours, region: BoolArray) -> Colours:
    """(n_full, 3) uint8 colours, greyed and lightened outside of the (n_full,) bool region."""
    colours = np.array(full_colours, dtype=np.uint8)
    outside = ~np.asarray(region, dtype=bool)
    faded = (1 - _FADING) * colours[outside] + _FADING * np.array(FADED)
    colours[outside] = _to_bytes(faded)
    return colours


def scalar_colours(values: np.ndarray, low: float = 0.0, high: float = 1.0) -> Colours:
    """Numbers as colours from dark violet (``low``) through green to yellow (``high``).

    Parameters
    ----------
    values : (n,) float array
        Values beyond the limits take the colour of the nearer limit.

    Returns
    -------
    (n, 3) uint8 array
        sRGB; grey where the value is NaN.
    """
    if not high > low:
        raise ValueError(f"the limits of the colour scale are not in order: {low}, {high}")
    values = np.asarray(values, dtype=np.float64)
    return _on_scale((values - low) / (high - low), _SCALE)


def distance_colours(distances: np.ndarray, most: float) -> Colours:
    """(n,) distances as (n, 3) uint8 sRGB: none is light, ``most`` and beyond dark red."""
    return _on_scale(np.asarray(distances, dtype=np.float64) / most, _DISTANCES)


def _on_scale(shares: FloatArray, scale: FloatArray) -> Colours:
    """(n, 3) uint8 of (n,) places on a colour scale in OKLab; grey where there is a NaN."""
    knots = np.linspace(0, 1, len(scale))
    place = np.clip(shares, 0, 1)
    lab = np.stack([np.interp(place, knots, channel) for channel in scale.T], axis=1)
    colours = _to_srgb(lab)
    colours[np.isnan(shares)] = UNMATCHED
    return colours


def _box_coordinates(mesh: Mesh) -> FloatArray:
    """(n, 3) coordinates in [0, 1] along the principal axes, longest first."""
    surface = without_spikes(mesh)
    weights = surface.vertex_areas if surface.area > 0 else np.ones(len(mesh.vertices))
    weights = weights / weights.sum()
    centred = mesh.vertices - weights @ mesh.vertices
    covariance = (centred * weights[:, None]).T @ centred
    axes = np.linalg.eigh(covariance)[1][:, ::-1]
    along = centred @ axes
    along = along * _signs(along, weights)
    inside = along[surface.used_vertices]
    low, extent = inside.min(axis=0), np.ptp(inside, axis=0)
    # An axis without any extent but round-off would be stretched to noise: flat means the middle.
    flat = extent <= 1e-9 * extent.max()
    return np.clip(np.where(flat, 0.5, (along - low) / np.where(flat, 1, extent)), 0, 1)


def _signs(along: FloatArray, weights: FloatArray) -> FloatArray:
    """+1 or -1 per axis, from the shape: the longer tail of the mass points to the positive side.

    A shape that is symmetric to round-off has no longer tail; there the order of its vertices
    decides, which a rotation does not change either.
    """
    size = np.sqrt(weights @ along**2)
    skewness = weights @ along**3
    order = (np.linspace(-1, 1, len(along)) * weights) @ along
    decided = np.abs(skewness) > 1e-9 * size**3
    return np.where(np.where(decided, skewness, order) < 0, -1.0, 1.0)


def _to_srgb(lab: FloatArray) -> Colours:
    """OKLab (n, 3) to 8-bit sRGB (n, 3), clipped to what a screen can show."""
    lightness, green_red, blue_yellow = lab.T
    l_ = (lightness + 0.3963377774 * green_red + 0.2158037573 * blue_yellow) ** 3
    m_ = (lightness - 0.1055613458 * green_red - 0.0638541728 * blue_yellow) ** 3
    s_ = (lightness - 0.0894841775 * green_red - 1.2914855480 * blue_yellow) ** 3
    linear = np.stack(
        [
            4.0767416621 * l_ - 3.3077115913 * m_ + 0.2309699292 * s_,
            -1.2684380046 * l_ + 2.6097574011 * m_ - 0.3413193965 * s_,
            -0.0041960863 * l_ - 0.7034186147 * m_ + 1.7076147010 * s_,
        ],
        axis=1,
    )
    linear = np.clip(np.nan_to_num(linear), 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return _to_bytes(255 * encoded)


def _to_bytes(colours: FloatArray, empty: tuple[int, int, int] = (0, 0, 0)) -> Colours:
    """Floats in 0..255 rounded to uint8; rows with NaN become ``empty``."""
    rows = np.isnan(colours).any(axis=1, keepdims=True)
    filled = np.where(rows, np.array(empty, dtype=np.float64), colours)
    return np.clip(np.round(filled), 0, 255).astype(np.uint8)
