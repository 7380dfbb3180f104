"""The documentation says what the code does, holds together, and asks no other server."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from nho.settings import Settings, preset

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = tool("reference")


@pytest.mark.parametrize("page", sorted(reference.PAGES))
def test_a_generated_page_is_what_the_code_says(page):
    stored = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert stored == reference.PAGES[page](), f"docs/{page} is out of date: run `make reference`"


def sections(page: str, level: str = "## ") -> dict[str, str]:
    """The text below every heading of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    parts = re.split(rf"^{level}", text, flags=re.MULTILINE)[1:]
    return dict(part.split("\n", 1) for part in parts)


COMMANDS = {heading.removeprefix("nho "): text for heading, text in sections("cli.md").items()}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_page_of_commands_has_the_options_that_help_shows(command):
    answer = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "300"})
    assert answer.exit_code == 0
    shown = set(re.findall(r"--[a-z][a-z-]+", answer.output)) - {"--help"}
    assert set(re.findall(r"--[a-z][a-z-]+", COMMANDS[command])) == shown


def test_the_page_of_commands_has_every_command():
    def names(words: list[str]) -> Iterator[str]:
        output = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "300"}).output
        below = re.findall(r"^│ ([a-z]+) ", output.partition("Commands")[2], re.MULTILINE)
        if not below:
            yield " ".join(words)
        for name in below:
            yield from names([*words, name])

    assert set(names([])) == set(COMMANDS)


def test_commands_in_the_text_have_options_that_exist():
    checked = 0
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if not line.startswith("nho "):
                    continue
                line = line.partition(" #")[0]
                command = max((c for c in COMMANDS if f"{line} ".startswith(f"nho {c} ")), key=len)
                given = set(re.findall(r"--[a-z][a-z-]+", line))
                known = set(re.findall(r"--[a-z][a-z-]+", COMMANDS[command]))
                assert given <= known, f"{path.name}: {line}"
                checked += 1
    assert checked > 20


@pytest.mark.slow
def test_the_code_of_the_tutorial_runs_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorials" / "researcher.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    space: dict[str, object] = {}
    for block in blocks:
        if "run_batch" not in block and "..." not in block:  # needs files, or a method of yours
            exec(compile(block, "researcher.md", "exec"), space)  # noqa: S102
    assert len(blocks) >= 6
    assert space["scores"].geodesic_error < 1.5
    assert space["without"].settings.recipe.relief is False
    np.testing.assert_array_equal(space["again"].vertex_map.shape, space["sure"].shape)


def test_what_the_tutorial_says_to_press_is_on_the_page_of_the_studio():
    told = sections("tutorials/morphologist.md")["In the browser"].partition("-->")[2]
    names = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", told.replace("**", "")))
    page = ROOT / "src" / "nho" / "studio" / "page"
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(page.iterdir()))
    assert len(names) > 8
    assert [name for name in sorted(names) if name not in written] == []


def test_every_setting_is_explained():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = {
        row[1].strip(" `"): row
        for row in (line.split("|") for line in page.splitlines()[8:])
        if len(row) > 3
    }
    for name in {**Settings().flat(), **preset("paper").flat()}.keys() - {"recipe"}:
        assert len(rows[name][-2].strip()) > 5, f"{name} has no words beside it"


def test_the_python_page_has_every_public_name_and_no_other():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: nho\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(nho.__all__), "add the name to docs/api.md, or take it out"


def test_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it; broken links, or pages outside the menu, end the build."""
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    pytest.importorskip("latex2mathml")
    pytest.importorskip("properdocs")
    folder = tmp_path_factory.mktemp("site")
    pages = tool("docs_pages").collect(tmp_path_factory.mktemp("pages") / "docs")
    config = (ROOT / "properdocs.yml").read_text(encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "properdocs", "build", "--strict", "-f", "-", "-d", folder],
        input=config.replace("docs_dir: build/docs", f"docs_dir: {pages}"),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    loading = re.compile(
        r'<(?:script|link|img|iframe|source)[^>]*?(?:src|href)="((?:\w+:)?//[^"]*)'
    )
    fetching = re.compile(r'(?:@import|url\()\s*["\']?((?:https?:)?//[^"\')]*)')
    for page in pages:
        assert loading.findall(page.read_text(encoding="utf-8")) == [], page.name
    for style in site.rglob("*.css"):
        assert fetching.findall(style.read_text(encoding="utf-8")) == [], style.name


def test_formulas_are_written_as_mathml(site):
    page = (site / "method.html").read_text(encoding="utf-8")
    source = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    assert page.count("<math xmlns") == source.count("$") // 2 - source.count("$$") // 2 > 80
    assert "arithmatex" not in page
    for path in site.rglob("*.html"):
        assert "\\mathcal" not in path.read_text(encoding="utf-8"), path.name


def test_a_formula_that_cannot_be_written_is_an_error():
    pytest.importorskip("latex2mathml")
    mathml = tool("docs_mathml").mathml
    with pytest.raises(ValueError, match="nosuchcommand"):
        mathml(r"\nosuchcommand x", False)
    bold = mathml(r"\boldsymbol{\Psi} = 1 \tag{19}", True)
    assert "\N{MATHEMATICAL BOLD CAPITAL PSI}" in bold and "(19)" in bold


@pytest.mark.slow
def test_in_a_browser_the_site_asks_no_other_server_and_can_be_searched(site, browser):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page()
        asked, failed = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else 0)
        for name in ("index.html", "gallery.html", "method.html"):
            page.goto(base + name)
            page.wait_for_load_state("networkidle")
        # A formula is drawn, not left as a line of letters.
        height = "document.querySelector('.formula math mfrac').getBoundingClientRect().height"
        assert page.evaluate(height) > 20
        page.keyboard.press("/")
        page.keyboard.type("kriging")
        page.wait_for_selector(".md-search-result__item")
        page.close()
        server.shutdown()
    elsewhere = [url for url in asked if not url.startswith((base, "data:", "blob:"))]
    assert asked and elsewhere == [] and failed == []
