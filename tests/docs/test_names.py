"""The documentation names only modules, functions and files that there are."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [
    name
    for name in (".github", "docs", "examples", "src", "tests", "tools")
    if (ROOT / name).is_dir()
]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# What only this repository, and no user, has files of.
OURS = (".py", ".js", ".mjs", ".jinja", ".cff", ".toml", ".yml", ".yaml")


def repository_files() -> set[str]:
    """Paths below the root, of files and folders."""
    found = {path.name for path in ROOT.iterdir()}
    for folder in FOLDERS:
        found |= {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*")}
    return found | set(FOLDERS)


FILES = repository_files()


def is_there(name: str) -> bool:
    """Whether a path, or the end of a path (``losses.py``, ``operator/losses.py``), exists."""
    name = name.rstrip("/")
    return any(path == name or path.endswith(f"/{name}") for path in FILES)


def resolves(name: str) -> bool:
    """Whether ``nho.a.b.c`` is a module, or an attribute in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.util.find_spec(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        if found is None:
            continue
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError as missing:  # a package of an extra
            return not str(missing.name).startswith("nho")
        for attribute in parts[length:]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


def named_files(text: str) -> set[str]:
    """Words in backticks that look like paths of this repository."""
    words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()}
    words = {word.strip("(),;:") for word in words}
    paths = {word for word in words if re.fullmatch(r"[\w./-]+", word)}
    inside = {word for word in paths if "/" in word and word.split("/")[0] in FOLDERS}
    ours = {word for word in paths if word.endswith(OURS) and is_there(word.split("/")[0])}
    ours |= {word for word in paths if word.endswith(OURS) and "/" not in word}
    return inside | ours


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"(?<![\w./@-])nho(?:\.[A-Za-z_]\w*)+", text))
    assert sorted(name for name in names if not resolves(name)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    names = named_files(page.read_text(encoding="utf-8"))
    assert sorted(name for name in names if not is_there(name)) == []


def test_links_of_the_pages_beside_the_readme_lead_somewhere():
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
        assert links and [link for link in links if not (ROOT / link).exists()] == []


def test_a_name_that_is_gone_is_found():
    assert resolves("nho.operator.losses.topology_loss") and resolves("nho.match")
    assert not resolves("nho.operator.losses.gone") and not resolves("nho.gone")
    assert is_there("operator/losses.py") and not is_there("operator/gone.py")
    named = named_files(
        "see `tests/gone.py`, `python tools/gone.py --out x`, `scan.ply`, `gone.js`"
    )
    assert named == {"tests/gone.py", "tools/gone.py", "gone.js"}
