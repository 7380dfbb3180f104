"""All classes, in the order of the table in docs/input.md."""

from __future__ import annotations

from tests.conformance.anchoring import ANCHORS
from tests.conformance.broken import BROKEN
from tests.conformance.files import FILES
from tests.conformance.given import Case
from tests.conformance.landmarking import LANDMARKS
from tests.conformance.surfaces import SURFACES

CHAPTERS: dict[str, tuple[Case, ...]] = {
    "Surfaces": SURFACES,
    "No surface": BROKEN,
    "Files": FILES,
    "Anchors": ANCHORS,
    "Landmark files": LANDMARKS,
}
CASES = {case.name: case for chapter in CHAPTERS.values() for case in chapter}
assert len(CASES) == sum(map(len, CHAPTERS.values())), "two classes have the same name"


def table_rows() -> list[tuple[str, str, str]]:
    """(class, outcome, in words) as they stand in docs/input.md."""
    return [(case.name, case.outcome, case.told) for case in CASES.values()]
