"""A shape space as arrays by name: the content of ``shapes.npz``."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from nho.errors import InputError
from nho.geometry.symmetry import Plane
from nho.runtime.npz import load_arrays
from nho.shapes.components import Components
from nho.shapes.smooth_field import SmoothField
from nho.shapes.validation import Validation

MODEL = "shapes.npz"
_AGAIN = "run `nho shapes` again"
_MODEL_ARRAYS = ("mean", "modes", "variances", "noise", "rough", "areas")
_MIRROR = "mirror"  # point and normal of the plane; not in older files
_VALIDATION_ARRAYS = (
    "hidden_error",
    "unexplained",
    "distance",
    "inflation",
    "position_inflation",
    "own",
)
_PART_FITS = "part_fits"  # not in older files
_SHAPE_ARRAYS = ("faces", "names", "scores", "score_errors", "sizes", "measured")


def model_arrays(model: Components, plane: Plane | None) -> dict[str, np.ndarray]:
    """The arrays of a model; the smooth field follows from the mean and the plane of symmetry."""
    mirror = np.empty((0, 3)) if plane is None else np.stack([plane.point, plane.normal])
    return {
        "mean": model.mean,
        "modes": model.modes.astype(np.float32),
        "variances": model.variances,
        "noise": np.array(model.noise),
        "rough": np.array(model.rough),
        "areas": model.areas,
        _MIRROR: mirror,
    }


def validation_arrays(validation: Validation) -> dict[str, np.ndarray]:
    """The arrays of a validation."""
    names = (*_VALIDATION_ARRAYS, _PART_FITS)
    return {name: np.asarray(getattr(validation, name)) for name in names}


def model_of(stored: dict[str, np.ndarray]) -> tuple[Components, Plane | None]:
    """What `model_arrays` wrote; a ValueError if arrays do not belong together."""
    mean, variances = stored["mean"], stored["variances"]
    p, q = len(mean), len(variances)
    right = mean.shape == (p, 3) and stored["modes"].shape == (q, p, 3)
    if not right or stored["areas"].shape != (p,) or stored["faces"].max(initial=-1) >= p:
        raise ValueError("modes, mean and faces do not belong together")
    mirror = stored.get(_MIRROR, np.empty((0, 3)))
    plane = Plane(*mirror) if len(mirror) else None
    modes, noise = stored["modes"].astype(np.float64), float(stored["noise"])
    smooth = SmoothField.on(mean, plane)
    rough = float(stored["rough"])
    return Components(mean, modes, variances, noise, stored["areas"], smooth, rough), plane


def validation_of(stored: dict[str, np.ndarray]) -> Validation:
    """What `validation_arrays` wrote."""
    return Validation(
        stored["hidden_error"],
        stored["unexplained"],
        stored["distance"],
        float(stored["inflation"]),
        float(stored["position_inflation"]),
        float(stored["own"]),
        int(stored.get(_PART_FITS, 0)),
    )


def read_stored(path: Path) -> dict[str, np.ndarray]:
    """All arrays of the file, or of the file in a folder; an `InputError` if one is missing."""
    path = file_in(path)
    wanted = [*_SHAPE_ARRAYS, *_MODEL_ARRAYS, *_VALIDATION_ARRAYS]
    try:
        stored = load_arrays(path, [*wanted, _MIRROR, _PART_FITS])
    except (ValueError, BadZipFile) as problem:
        raise damaged(path, problem) from problem
    missing = [name for name in wanted if name not in stored]
    if missing:
        raise InputError(f"{path}: array {missing[0]!r} is missing; {_AGAIN}")
    return stored


def file_in(path: Path) -> Path:
    """The file itself, or the one in a folder."""
    return path / MODEL if path.is_dir() else path


def damaged(path: Path, problem: Exception) -> InputError:
    """What to say of a file that cannot be understood."""
    return InputError(f"{path}: is damaged ({problem}); {_AGAIN}")
