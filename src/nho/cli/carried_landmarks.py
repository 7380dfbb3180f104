"""Landmarks from file to file through a match, for `nho transfer`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.landmarks import read_landmarks, suffix_of, write_landmarks
from nho.io.landmarks.parsing import listed
from nho.problem.result import MatchResult
from nho.transfer import Side, Transfer, carry_landmarks
from nho.transfer.landmarks import ABSENT, MEASURED, PREDICTED

_WITH_ERRORS = (".csv", ".json", ".mrk.json", ".fcsv")  # they have room for more than places


def transfer_landmarks(
    result: MatchResult,
    carry: Transfer,
    files: tuple[Path, Path],
    predict: bool,
    min_confidence: float,
    notes: list[str],
) -> dict[str, object]:
    """Read, transfer and write landmarks, all of them; those without a place are named."""
    given = read_landmarks(files[0])
    points, _ = given.on(carry.source)
    source: Side = "full" if carry.source is carry.map.full else "partial"
    found = carry_landmarks(
        result,
        carry.map.partial,
        carry.map.full,
        points,
        given.names,
        source=source,
        predict=predict,
        min_confidence=min_confidence,
    )
    count = {status: int((found.status == status).sum()) for status in (MEASURED, PREDICTED)}
    if not any(count.values()):
        raise InputError(
            f"{files[0]}: none of its {len(given)} landmarks lies where the shapes are matched; "
            "check that --from names the shape they belong to, or lower --min-confidence"
        )
    lost = np.array(given.names, dtype=object)[found.status == ABSENT].tolist()
    if lost:
        more = "" if source == "partial" or predict else "; --predict places them"
        notes.append(f"{len(lost)} landmarks are where nothing is matched: {listed(lost)}{more}")
    if suffix_of(files[1]) not in _WITH_ERRORS:
        notes.append(
            f"{files[1]}: has no room for status, confidence and errors of the landmarks; "
            f"{', '.join(_WITH_ERRORS)} have"
        )
    carried = found.landmarks(str(files[0]))
    notes += [*given.notes, *write_landmarks(files[1], carried, carry.target)]
    return {
        "landmarks": len(given),
        "landmarks_carried": count[MEASURED],
        "landmarks_predicted": count[PREDICTED],
        "landmarks_out": str(files[1]),
    }
