"""Collect the pages of the site in build/docs: those of docs/, and those that come from elsewhere.

``python tools/docs_pages.py [FOLDER]``; `make docs` runs it before the site is built.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BESIDE = {f"{name}.md": f"{name.lower()}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")}


def collect(target: Path) -> Path:
    """All pages of the site, with links that lead to each other."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target, ignore=shutil.ignore_patterns("speed"))
    for name, page in _BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, there in _BESIDE.items():
            text = text.replace(f"]({other})", f"]({there})")
        (target / page).write_text(text, encoding="utf-8")
    (target / "timings.md").write_text(_timings(), encoding="utf-8")
    for path in target.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if "](speed)" in text:  # the tables of `make bench` have a page of their own
            path.write_text(text.replace("](speed)", "](timings.md)"), encoding="utf-8")
    return target


def _timings() -> str:
    """All tables of docs/speed on one page."""
    parts = ["# Timings\n\nWritten by `make bench`, one section a run."]
    for path in sorted((ROOT / "docs" / "speed").glob("*.md")):
        text = path.read_text(encoding="utf-8").strip()
        if not text.startswith("# "):
            text = f"# {path.stem}\n\n{text}"
        parts.append(re.sub(r"^#", "##", text, flags=re.MULTILINE))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    collect(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs")
