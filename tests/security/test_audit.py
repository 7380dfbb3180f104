"""The audit fails on what the service names, and never takes silence for "no vulnerabilities"."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import audit

FLAW = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["3.1.6"], "description": "bad"}
CANARY = {"name": audit.CANARY[0], "version": audit.CANARY[1], "vulns": [FLAW]}
FINE = {"name": "numpy", "version": "2.4.6", "vulns": []}
FLAWED = {"name": "Jinja2", "version": "3.1.2", "vulns": [FLAW]}


def run(monkeypatch: pytest.MonkeyPatch, output: str) -> int:
    def answered(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        listing = Path(command[command.index("--requirement") + 1]).read_text()
        assert "django==1.11.0\n" in listing and "numpy==" in listing and "nho==" not in listing
        assert "+" not in listing
        return subprocess.CompletedProcess(command, 1, output, "")

    monkeypatch.setattr(audit.subprocess, "run", answered)
    return audit.main()


def answer(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_a_vulnerability_fails_and_is_named(monkeypatch, capsys) -> None:
    assert run(monkeypatch, answer(FINE, FLAWED, CANARY)) == 1
    assert "jinja2 3.1.2: PYSEC-1; fixed in 3.1.6" in capsys.readouterr().out


def test_none_is_fine(monkeypatch, capsys) -> None:
    assert run(monkeypatch, answer(FINE, CANARY)) == 0
    assert capsys.readouterr().out == "audit: 1 packages checked, 0 vulnerabilities\n"


def skipped(package: dict[str, Any]) -> dict[str, Any]:
    return {"name": package["name"], "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    "output",
    [
        "",
        "requests.exceptions.ConnectionError: no route\n",
        "[]",
        answer(skipped(FINE), skipped(CANARY)),
        answer(FINE, {**CANARY, "vulns": []}),
    ],
    ids=["nothing", "a traceback", "no answer", "all skipped", "a mirror that knows of none"],
)
def test_without_a_service_it_says_so_in_a_line_and_does_not_fail(
    monkeypatch, capsys, output: str
) -> None:
    assert run(monkeypatch, output) == 0
    assert "cannot be reached; nothing was checked\n" in capsys.readouterr().out


def test_a_package_that_the_service_does_not_know_is_named(monkeypatch, capsys) -> None:
    assert run(monkeypatch, answer(FINE, skipped({"name": "geomfum"}), CANARY)) == 0
    assert "not known to the service: geomfum" in capsys.readouterr().out


def test_an_ignored_vulnerability_needs_its_identifier(monkeypatch) -> None:
    monkeypatch.setattr(audit, "IGNORED", {"CVE-1": "not called here"})
    assert run(monkeypatch, answer(FLAWED, CANARY)) == 0
    monkeypatch.setattr(audit, "IGNORED", {"CVE-2": "not called here"})
    assert run(monkeypatch, answer(FLAWED, CANARY)) == 1
