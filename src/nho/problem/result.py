"""What a match returns, and its form on disk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from nho.errors import InputError, MissingFile
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.alternative import STACKED, Alternative, stacked, unstacked
from nho.problem.result_checks import check_arrays, check_description
from nho.problem.result_methods import ResultMethods
from nho.problem.solution import Curve
from nho.runtime.input_file import SMALL, blaming, read_bytes
from nho.runtime.npz import array_names, load_arrays
from nho.settings import Settings

DESCRIPTION = "result.json"  # everything but the arrays
FORMER_DESCRIPTION = "settings.json"  # the same file in older results
ARRAYS = ("vertex_map", "face", "barycentric", "confidence", "overlap", "region", "region_score")
HAS_PARTNER = 0.5  # overlap from which a vertex is given a match


class ResultSummary(TypedDict):
    """The few numbers that a user wants to see first."""

    matched_vertices: int
    partial_vertices: int
    region_vertices: int
    full_vertices: int
    mean_confidence: float


@dataclass(frozen=True, repr=False)
class MatchResult(ResultMethods):
    """The answer, in the vertex order of the meshes as they were given.

    Attributes
    ----------
    vertex_map : (n_partial,) int array
        Partial -> full: nearest vertex of the full mesh; -1 = no match.
    face : (n_partial,) int array
        Partial -> full: face of the full mesh that holds the matched point; -1 = no match.
    barycentric : (n_partial, 3) float array
        Its weights in that face; NaN = no match.
    confidence : (n_partial,) float array
        0 (do not trust) to 1.
    overlap : (n_partial,) float array
        Probability, 0 to 1, that the vertex has a partner on the full shape at all; below one half
        it has no match.
    region : (n_full,) bool array
        Vertices of the full mesh that the partial shape covers.
    region_score : (n_full,) float array
        0 to 1; above one half inside the region.
    anchors : (m, 2) int array
        The distinct anchors given, as (partial, full) vertices.
    anchor_names : tuple of str
        What the user calls them: a name, else a number from 1.
    status : str
        ``"ok"``, or what fell short.
    warnings : tuple of str
        What a person should act on, the gravest first.
    notes : tuple of str
        What was read, repaired and simplified on the way; no action is needed.
    suspect_anchors : tuple of int
        Rows of ``anchors`` that contradict the others; they were not used.
    scale : float
        The partial shape's coordinates times this are in the full shape's unit, as estimated from
        the anchors; 1 where the units agree.
    next_anchor : int
        Partial vertex where one more anchor would help most; -1 = no suggestion.
    chance : float
        Probability that the partial shape lies in the right place as a whole, as far as that was
        judged; confidence is multiplied by it.
    alternatives : tuple of Alternative
        Other places, where anchors were found and do not decide it; the likeliest first.
    meshes : (Mesh, Mesh), or folder that holds them, optional
        What was matched, for the methods that need it; `save` does not store it.
    """

    vertex_map: np.ndarray
    face: np.ndarray
    barycentric: np.ndarray
    confidence: np.ndarray
    region: np.ndarray
    region_score: np.ndarray
    anchors: np.ndarray
    settings: Settings
    status: str = "ok"
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)  # seconds by stage
    curves: dict[str, Curve] = field(default_factory=dict)  # losses by stage
    suspect_anchors: tuple[int, ...] = ()
    scale: float = 1.0
    next_anchor: int = -1
    chance: float = 1.0
    alternatives: tuple[Alternative, ...] = ()
    meshes: tuple[Mesh, Mesh] | Path | None = field(default=None, compare=False)
    anchor_names: tuple[str, ...] = ()
    overlap: np.ndarray = None  # type: ignore[assignment]  # default: 1 where there is a match

    def __post_init__(self) -> None:
        if self.overlap is None:
            object.__setattr__(self, "overlap", (self.vertex_map >= 0).astype(np.float64))

    @property
    def points(self) -> SurfacePoints:
        """The dense map as points on the full mesh."""
        return SurfacePoints(self.face, self.barycentric)

    def anchor_name(self, row: int) -> str:
        """What the user calls an anchor: its name, else its number from 1."""
        return self.anchor_names[row] if self.anchor_names else str(row + 1)

    def check_meshes(self, partial: Mesh, full: Mesh) -> None:
        """Raise an `InputError` unless the result can belong to these meshes."""
        for mesh, array, role in (
            (partial, self.vertex_map, "partial"),
            (full, self.region, "full"),
        ):
            if len(mesh.vertices) != len(array):
                raise InputError(
                    f"{mesh.name}: the {role} mesh has {len(mesh.vertices)} vertices but the "
                    f"result was made with {len(array)}; give the mesh that was matched"
                )

    def summary(self) -> ResultSummary:
        """How much is matched, and the mean confidence of the matched vertices (0 if none is)."""
        matched = self.vertex_map >= 0
        confidence = self.confidence[matched & np.isfinite(self.confidence)]
        return {
            "matched_vertices": int(matched.sum()),
            "partial_vertices": len(matched),
            "region_vertices": int(self.region.sum()),
            "full_vertices": len(self.region),
            "mean_confidence": float(confidence.mean()) if len(confidence) else 0.0,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of ``result.npz`` by name."""
        return {name: getattr(self, name) for name in ARRAYS}

    def description(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        return {
            "status": self.status,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "settings": self.settings.as_dict(),
            "timings": self.timings,
            "anchors": self.anchors.tolist(),
            "anchor_names": [self.anchor_name(row) for row in range(len(self.anchors))],
            "curves": self.curves,
            "suspect_anchors": list(self.suspect_anchors),
            "scale": self.scale,
            "next_anchor": self.next_anchor,
            "chance": self.chance,
            "alternatives": [{"chance": each.chance} for each in self.alternatives],
        }

    def save(self, folder: str | Path, **extra: Any) -> None:
        """Write ``result.npz`` and ``result.json`` into an existing folder."""
        folder = Path(folder)
        with open(folder / "result.npz", "wb") as stream:
            np.savez_compressed(stream, **self.arrays(), **stacked(self.alternatives))  # type: ignore[arg-type]
        about = finite_or_none({**self.description(), **extra})
        text = json.dumps(about, indent=2, allow_nan=False)
        (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> MatchResult:
        """Read what `save` wrote; anything missing or inconsistent is an `InputError`."""
        folder = Path(folder)
        try:
            with blaming(folder / "result.npz"):
                arrays, about = _both_files(folder)
            if "overlap" not in arrays and "vertex_map" in arrays:  # of an older version
                arrays["overlap"] = (arrays["vertex_map"] >= 0).astype(np.float64)
            check_arrays({name: arrays[name] for name in ARRAYS if name in arrays}, ARRAYS)
            result = cls(
                **{name: arrays[name] for name in ARRAYS},
                anchors=np.array(about["anchors"], dtype=np.int64).reshape(-1, 2),
                settings=Settings.from_dict(about["settings"]),
                status=str(about["status"]),
                warnings=tuple(map(str, about["warnings"])),
                notes=tuple(map(str, about.get("notes", []))),
                timings=dict(about["timings"]),
                curves=dict(about["curves"]),
                suspect_anchors=tuple(map(int, about["suspect_anchors"])),
                scale=float(about["scale"]),
                next_anchor=int(about["next_anchor"]),
                chance=float(about.get("chance", 1.0)),
                alternatives=unstacked(arrays, about.get("alternatives", [])),
                meshes=folder,
                anchor_names=tuple(map(str, about.get("anchor_names", []))),
            )
            check_description(result)
            return result
        except MissingFile as error:
            raise InputError(
                f"{folder}: no result here ({error.path.name} is missing); "
                "give the folder that `nho match --out` wrote"
            ) from None
        except InputError as error:
            named = str(error).startswith(str(folder))
            raise InputError(str(error) if named else f"{folder}: {error}") from None
        except Exception as error:
            raise InputError(
                f"{folder}: the stored result is damaged ({error}); run the match again"
            ) from error


def _both_files(folder: Path) -> tuple[dict[str, np.ndarray], Any]:
    """Arrays and description of one and the same result, even if it is replaced meanwhile."""
    text = stored_description(folder)
    while True:
        arrays = load_arrays(folder / "result.npz", [*ARRAYS, *STACKED])
        again = stored_description(folder)
        if again == text:
            return arrays, json.loads(text.decode("utf-8"))
        text = again


def stored_description(folder: Path) -> bytes:
    """The content of ``result.json``, or of ``settings.json``, as it was called in older results.

    Raises
    ------
    MissingFile
        If neither is there.
    """
    path, former = folder / DESCRIPTION, folder / FORMER_DESCRIPTION
    if former.exists() and not path.exists():
        path = former
    return read_bytes(path, SMALL)


def holds_result(folder: Path) -> bool:
    """Whether there is a result that this program wrote, in this version or another one."""
    try:
        about = json.loads(stored_description(folder))
        arrays = array_names(folder / "result.npz")
    except Exception:  # damaged in whatever way, or of another program
        return False
    known = isinstance(about, dict) and {"status", "settings", "anchors"} <= about.keys()
    return known and {"vertex_map", "region"} <= arrays


def finite_or_none(value: Any) -> Any:
    """The same nested value with numbers that JSON cannot hold replaced by None."""
    if isinstance(value, dict):
        return {key: finite_or_none(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_none(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
