"""Are there known vulnerabilities in what is installed here? `python tools/audit.py`

Asks the vulnerability service of PyPI through pip-audit, and fails (exit code 1) if it names any.
Where the service cannot be reached, it says so in one line and does not fail: a test without a
network is a test all the same.

An index that mirrors PyPI may answer without knowing of vulnerabilities, which pip-audit takes for
"none found". So a version with famous ones is asked for along with the others: only where those are
told was anything checked at all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

CANARY = ("django", "1.11.0")  # dozens of known vulnerabilities; never a dependency of ours
# Vulnerabilities that do not concern us, by their identifier, with the reason.
IGNORED: dict[str, str] = {}
_PATIENCE = 180  # seconds


def main() -> int:
    """Audit the environment of this interpreter."""
    answer = ask([*installed(), CANARY])
    findings, remark = verdict(answer)
    for line in [*findings, f"audit: {remark}"]:
        print(line)
    return int(bool(findings))


def installed() -> list[tuple[str, str]]:
    """Name and version of every package here, this one aside; without marks of a local build."""
    found = {
        dist.metadata["Name"].lower(): dist.version.partition("+")[0] for dist in distributions()
    }
    return sorted((name, version) for name, version in found.items() if name != "nho")


def ask(packages: list[tuple[str, str]]) -> dict[str, Any] | None:
    """The answer of pip-audit; None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "requirements.txt"
        listing.write_text("".join(f"{name}=={version}\n" for name, version in packages))
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(listing), "--no-deps"]
        command += ["--disable-pip", "--format", "json", "--progress-spinner", "off"]
        try:
            done = subprocess.run(
                [*command, "--timeout", "10"], capture_output=True, text=True, timeout=_PATIENCE
            )
            answer = json.loads(done.stdout)
        except (ValueError, subprocess.TimeoutExpired):
            return None
    return answer if isinstance(answer, dict) else None


def verdict(answer: dict[str, Any] | None) -> tuple[list[str], str]:
    """One line for every vulnerability, and a remark about the whole."""
    packages = (answer or {}).get("dependencies", [])
    known = {package["name"].lower(): package for package in packages if "vulns" in package}
    if not known.pop(CANARY[0], {}).get("vulns"):
        return [], "the vulnerability service cannot be reached; nothing was checked"
    findings = []
    for name, package in known.items():
        for found in package["vulns"]:
            if not IGNORED.keys() & {found["id"], *found.get("aliases", [])}:
                fixed = ", ".join(found.get("fix_versions", [])) or "no version yet"
                findings.append(f"{name} {package['version']}: {found['id']}; fixed in {fixed}")
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    also = f"; not known to the service: {', '.join(skipped)}" if skipped else ""
    return findings, f"{len(known)} packages checked, {len(findings)} vulnerabilities{also}"


if __name__ == "__main__":
    sys.exit(main())
