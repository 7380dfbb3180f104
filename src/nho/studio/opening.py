"""What `nho studio PLACE` opens: a project, the folder of a result, or that of a batch."""

from __future__ import annotations

from pathlib import Path

from nho.batch.summary import SUMMARY
from nho.problem.result import holds_result
from nho.studio.project import SUFFIX, project_of_result, read_project
from nho.studio.session import Session


def opens_alone(place: Path) -> bool:
    """Whether it needs no second file: a project, or a folder."""
    return place.suffix.lower() == SUFFIX or place.is_dir()


def open_place(session: Session, place: Path) -> None:
    """Open a project file, the folder that `nho match` wrote, or one that `nho batch` wrote."""
    if place.suffix.lower() == SUFFIX:
        session.open_project(read_project(place))
    elif (place / SUMMARY).is_file() and not holds_result(place):
        session.open_batch(place)
    else:
        session.open_project(project_of_result(place))
