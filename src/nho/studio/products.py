"""What is made from a match for download: transferred data and landmarks, shapes, fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.symmetry import find_symmetry, mirrored
from nho.io.attributes import Attributes, write_with_attributes
from nho.io.landmarks import write_landmarks
from nho.studio.marks import Side, points_of
from nho.studio.outcome import MatchOutcome
from nho.studio.session import Session
from nho.transfer import Transfer
from nho.transfer.landmarks import carry_landmarks


def _outcome(session: Session) -> MatchOutcome:
    if session.outcome is None:
        raise InputError("there is no result yet; press Match first")
    return session.outcome


def _transfer(source: Side) -> Callable[[Session, Path], None]:
    """The other shape with everything that the file of the source holds, as PLY."""

    def write(session: Session, path: Path) -> None:
        outcome = _outcome(session)
        shapes = {"partial": outcome.partial, "full": outcome.full}
        given = shapes[source].attributes.merged(session.data[source])
        if not given.names():
            raise InputError(
                f"{shapes[source].mesh.name}: there is nothing on it to transfer; open a file that "
                "holds colours, labels, numbers or a texture, or drop a table of them on the shape"
            )
        carry = Transfer(outcome.result, outcome.partial.mesh, outcome.full.mesh, source)
        bake = given.uv is not None and bool(given.textures)
        carried = carry.attributes(given, bake=bake)
        own = shapes["full" if source == "partial" else "partial"].attributes
        kept = own.merged(carried).replace(uv=None, textures=(), texture_of_face=None)
        write_with_attributes(path, carry.target, kept)

    return write


def _landmarks(source: Side) -> Callable[[Session, Path], None]:
    """All marks of one shape on the other, with what is known of their errors."""

    def write(session: Session, path: Path) -> None:
        outcome = _outcome(session)
        pairs = [pair for pair in session.marks.pairs if pair.mark(source) is not None]
        if not pairs:
            raise InputError("there are no landmarks on that shape; load them first")
        predict = source == "full"
        carried = carry_landmarks(
            outcome.result,
            outcome.partial.mesh,
            outcome.full.mesh,
            points_of(pair.mark(source) for pair in pairs),
            [pair.name for pair in pairs],
            source=source,
            predict=predict,
            fit=outcome.fit if predict else None,
        )
        target = outcome.partial if source == "full" else outcome.full
        write_landmarks(path, carried.landmarks(), target.mesh)

    return write


def _fitted(session: Session, path: Path) -> None:
    """The template fitted to the scan, with its distance from it."""
    fit = _outcome(session).fit
    distance = fit.distance.astype(np.float32)
    marks = Attributes(vertex={"on_scan": fit.on_scan, "distance": distance})
    write_with_attributes(path, fit.mesh, marks)


def _completed(session: Session, path: Path) -> None:
    """The scan where it was measured, the fitted template elsewhere."""
    done = _outcome(session).completion
    write_with_attributes(path, done.mesh, done.attributes())


def _mirror(side: Side) -> Callable[[Session, Path], None]:
    """A shape mirrored at its own plane of symmetry."""

    def write(session: Session, path: Path) -> None:
        shape = session.shape(side)
        image = mirrored(shape.mesh, find_symmetry(shape.mesh).plane)
        kept = shape.attributes.replace(uv=None, textures=(), texture_of_face=None)
        write_with_attributes(path, image, kept)

    return write


# By the name of the file.
PRODUCTS: dict[str, Callable[[Session, Path], None]] = {
    "scan-with-data.ply": _transfer("full"),
    "template-with-data.ply": _transfer("partial"),
    "scan-landmarks.csv": _landmarks("full"),
    "template-landmarks.csv": _landmarks("partial"),
    "fitted-template.ply": _fitted,
    "complete.ply": _completed,
    "mirrored-scan.ply": _mirror("partial"),
    "mirrored-template.ply": _mirror("full"),
}
