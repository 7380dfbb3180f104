"""The folder of a batch as a table: what is worst comes first, and every row can be corrected."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nho.batch.summary import SUMMARY, SummaryRow, write_summary
from nho.errors import InputError
from nho.problem.result import DESCRIPTION
from nho.report.result_folder import write_outputs
from nho.report.thumbnail import thumbnail
from nho.runtime.input_file import read_text
from nho.studio.outcome import MatchOutcome

_NUMBERS = {"seconds": float, "mean_confidence": float}
_LARGEST = 64 * 2**20  # bytes of a summary


class BatchTable:
    """The rows of ``summary.csv``, and the folders beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = _rows(folder)
        self.current = ""  # name of the row that is open
        self._pictures: dict[str, bytes] = {}
        self._verdicts: dict[str, str] = {}  # what the results say of themselves

    def described(self) -> dict[str, Any]:
        """For the page, the worst first: failed, not done, in doubt, then by confidence."""
        order = sorted(self.rows, key=lambda row: _badness(row, self._verdict(row)))
        return {
            "folder": self.folder.name or str(self.folder),
            "current": self.current,
            "rows": [
                {
                    **asdict(row),
                    "verdict": self._verdict(row),
                    "version": len(self._pictures.get(row.name, b"")),
                }
                for row in order
            ],
        }

    def _verdict(self, row: SummaryRow) -> str:
        """``ok``, or why a finished result is in doubt; the table only says that it is there."""
        if row.status != "ok":
            return row.status
        if row.name not in self._verdicts:
            try:
                about = json.loads(read_text(self.place(row.name) / DESCRIPTION, _LARGEST))
                self._verdicts[row.name] = str(about["status"])
            except (InputError, ValueError, TypeError, KeyError):
                self._verdicts[row.name] = "ok"  # opening the row says what is wrong with it
        return self._verdicts[row.name]

    def place(self, name: str) -> Path:
        """The folder of a row."""
        # A table that somebody else wrote must not lead out of its folder.
        if all(row.name != name for row in self.rows) or Path(name).name != name:
            raise InputError(f"{name}: there is no such pair in {self.folder / SUMMARY}")
        return self.folder / name

    def picture(self, name: str) -> bytes:
        """A small PNG of the scan of a row, coloured by confidence."""
        if name not in self._pictures:
            self._pictures[name] = thumbnail(self.place(name))
        return self._pictures[name]

    def keep(self, outcome: MatchOutcome) -> None:
        """Write a new result of the open row into its folder, and its line of the table."""
        name, result = self.current, outcome.result
        write_outputs(self.place(name), outcome.partial.mesh, outcome.full.mesh, result, ours=True)
        self._pictures.pop(name, None)
        self._verdicts.pop(name, None)
        row = SummaryRow.of_result(name, result)
        self.rows = [row if other.name == name else other for other in self.rows]
        write_summary(self.folder, self.rows)


def _badness(row: SummaryRow, verdict: str) -> tuple[int, float, str]:
    stage = {"failed": 0, "skipped": 1, "ok": 3}.get(verdict, 2)
    return stage, row.mean_confidence if row.mean_confidence is not None else -1.0, row.name


def _rows(folder: Path) -> list[SummaryRow]:
    known = {field.name for field in fields(SummaryRow)}
    rows = []
    for entry in csv.DictReader(io.StringIO(read_text(folder / SUMMARY, _LARGEST))):
        if not {"name", "status"} <= entry.keys() or not known >= entry.keys() - {None}:
            raise InputError(f"{folder / SUMMARY}: this is no table of `nho batch`")
        cells = {key: _value(key, cell) for key, cell in entry.items() if key in known}
        rows.append(SummaryRow(**cells))
    return rows


def _value(name: str, cell: str) -> Any:
    text = cell.removeprefix("'") if cell else ""
    if name in ("name", "status", "error"):
        return text
    if not text:
        return None
    try:
        return _NUMBERS.get(name, int)(text)
    except ValueError:
        raise InputError(f"{name} {cell!r} in the table of the batch is no number") from None
