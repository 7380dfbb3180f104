"""Write the generated pages of the documentation: commands, settings and the gallery.

python tools/reference.py            # write docs/cli.md, docs/settings.md, docs/gallery.md
python tools/reference.py --check    # exit 1 if one of them is not what the code says
python tools/reference.py --run      # run the examples first: pictures and printed lines
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo, OptionInfo

from nho import settings as settings_module
from nho.cli.app import COMMANDS, load
from nho.settings import PRESETS, Settings
from nho.settings import recipes as recipes_module
from nho.settings.recipes import GuidedRecipe, PaperRecipe, Recipe

ROOT = Path(__file__).resolve().parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
SHOWN = DOCS / "images" / "gallery"  # what the examples drew and printed when they last ran

_COMMANDS = """# Commands

`nho --help` and `nho COMMAND --help` show the same in a terminal. Before any command, `--version`
shows the version and `--verbose` logs what happens to stderr.

Every command ends with 0 if all went well. What goes wrong is one sentence on stderr and another
exit code, and nothing half-written is left behind.
"""
_SETTINGS = """# Settings

Every number of the method. On the command line, `--preset paper` chooses the preset and
`--set name=value` (repeatable) changes a setting; in Python,
`nho.preset("default").replace(bend=False)` does both. A setting of the other preset's recipe is
refused. A result keeps the settings it was made with. Bold: the presets differ; empty: not a
setting of that preset. Symbols are the paper's; [formulas and code](method.md) shows where each
number enters.

```sh
nho match scan.ply template.ply --anchors pairs.csv --out result --preset paper --set seed=1
```
"""
_ONLY = {PaperRecipe: ", preset `paper` only"}
_SECTIONS = {
    Settings: "General",
    Recipe: "Both recipes",
    GuidedRecipe: "Preset `default` only",
    PaperRecipe: "Preset `paper` only",
}
_GALLERY = """# Gallery

Short scripts that run on the shipped sample in seconds, for example
`python examples/01_match_two_meshes.py`. They write into the present folder. Pictures need
`pip install 'nho[bench]'` (matplotlib).
"""
_MADE = "<!-- Made by `make reference`; edit {source} instead. -->\n\n"
_SYMBOL = re.compile(r"^(alpha_\d|beta|eta|[rkK])(?::\s*|$)")  # as the paper names it


def commands_page() -> str:
    """docs/cli.md: every command with its arguments and options, as `--help` shows them."""
    parts = [_MADE.format(source="the functions in src/nho/cli/"), _COMMANDS]
    for name, function in _commands():
        usage, table = _parameters(name, function)
        parts += [f"\n## nho {name}\n\n```text\n{usage}\n```\n\n", _help_text(function), table]
    return "".join(parts)


def _commands() -> Iterator[tuple[str, Any]]:
    for name in COMMANDS:
        found = load(name)
        if isinstance(found, Typer):
            yield from (
                (f"{name} {below.name}", below.callback) for below in found.registered_commands
            )
        else:
            yield name, found


def _help_text(function: Any) -> str:
    text = inspect.getdoc(function) or ""
    # An example in a paragraph of its own becomes something to copy.
    text = re.sub(r"^Example: `([^`]*)`$", _to_copy, text, flags=re.MULTILINE)
    return _linked(text) + "\n"


def _to_copy(example: re.Match[str]) -> str:
    command = example[1].replace("\n", " \\\n  ")
    return f"```sh\n{command}\n```"


def _parameters(name: str, function: Any) -> tuple[str, str]:
    """How the command is called, and a table of its arguments and options."""
    hints = get_type_hints(function, include_extras=True)
    usage, rows = [f"nho {name}"], []
    for parameter in inspect.signature(function).parameters.values():
        kind, *notes = get_args(hints[parameter.name])
        info = next(note for note in notes if isinstance(note, OptionInfo | ArgumentInfo))
        required = parameter.default is inspect.Parameter.empty
        shown = _default(parameter.default, required)
        if isinstance(info, ArgumentInfo):
            word = info.metavar or parameter.name.upper()
            usage.append(word if required else f"[{word}]")
        else:
            word = ", ".join(_names(info, parameter.name))
            value = "" if kind is bool else f" {info.metavar or _value_word(kind)}"
            word += value
            if required:
                usage.append(word)
        rows.append(f"| `{word}` | {_cell(info.help or '')} | {shown} |\n")
    usage.append("[OPTIONS]" if any(row.startswith("| `-") for row in rows) else "")
    head = "\n| argument, option | meaning | default |\n|---|---|---|\n" if rows else ""
    return " ".join(usage).strip(), head + "".join(rows)


def _names(info: OptionInfo, parameter: str) -> list[str]:
    # In `Annotated`, the first name is given where a default would stand.
    first = [info.default] if isinstance(info.default, str) else []
    return [*first, *(info.param_decls or ())] or [f"--{parameter.replace('_', '-')}"]


def _default(value: Any, required: bool) -> str:
    if required:
        return "required"
    if value is None or value is False or value in ([], ""):
        return ""
    return "on" if value is True else f"`{value}`"


def _value_word(kind: Any) -> str:
    kinds = [part for part in (get_args(kind) or (kind,)) if part is not type(None)]
    return {int: "NUMBER", float: "NUMBER", Path: "PATH"}.get(kinds[0], "TEXT")


def settings_page() -> str:
    """docs/settings.md: every setting with its type, meaning and value in each preset."""
    names = list(PRESETS)
    parts = [_MADE.format(source="src/nho/settings"), _SETTINGS]
    columns = ["setting", *(f"`{name}`" for name in names), "symbol", "values", "meaning"]
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
    flat = {name: settings.flat() for name, settings in PRESETS.items()}
    for heading, fields in _settings_by_section():
        parts.append(f"\n## {heading}\n\n{head}")
        for field, (kind, comment) in fields.items():
            values = [_value(flat[name][field]) if field in flat[name] else "" for name in names]
            if len(set(values)) > 1 and all(values):
                values = [f"**{value}**" for value in values]
            symbol = _SYMBOL.match(comment)
            meaning = comment[symbol.end() :] if symbol else comment
            written = f"${_as_tex(symbol[1])}$" if symbol else ""
            cells = [f"`{field}`", *values, written, _kind(kind), _cell(meaning)]
            parts.append(f"| {' | '.join(cells)} |\n")
    return "".join(parts)


def _settings_by_section() -> list[tuple[str, dict[str, tuple[Any, str]]]]:
    """Headings, and below each the settings with their kinds and comments, from the source."""
    source = "".join(inspect.getsource(module) for module in (settings_module, recipes_module))
    lines = source.splitlines()
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    sections: list[tuple[str, dict[str, tuple[Any, str]]]] = []
    known: set[str] = {"name", "recipe"}
    for of, first in _SECTIONS.items():
        sections.append((first, {}))
        kinds = get_type_hints(of)
        for node in classes[of.__name__].body:
            if not isinstance(node, ast.AnnAssign):
                continue
            above = _comment_above(lines, node.lineno - 1)
            if above:
                sections.append((f"{above}{_ONLY.get(of, '')}", {}))
            if node.target.id in known:  # one that both recipes have, with another value
                continue
            known.add(node.target.id)
            beside = lines[node.end_lineno - 1][node.end_col_offset :].strip()
            comment = beside.removeprefix("#").strip()
            sections[-1][1][node.target.id] = (kinds[node.target.id], comment)
    return [section for section in sections if section[1]]


def _comment_above(lines: list[str], row: int) -> str:
    found: list[str] = []
    while lines[row - 1].strip().startswith("#"):
        row -= 1
        found.insert(0, lines[row].strip().removeprefix("#").strip())
    return " ".join(found)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _kind(kind: Any) -> str:
    named = {int: "whole number", float: "number", bool: "`true`, `false`", str: "text"}
    return named.get(kind) or ", ".join(f"`{choice}`" for choice in get_args(kind))


def _as_tex(symbol: str) -> str:
    return symbol if len(symbol) == 1 else f"\\{symbol}"


def _cell(text: str) -> str:
    return _linked(text.replace("|", "\\|").replace("\n", " "))


def _linked(text: str) -> str:
    """Names of pages as links to them."""
    return re.sub(r"docs/(\w+)\.md", r"[\1](\1.md)", text)


def gallery_page() -> str:
    """docs/gallery.md: every example with its words, what it drew and printed, and its code."""
    parts = [_MADE.format(source="the scripts in examples/"), _GALLERY]
    for path in examples():
        source = path.read_text(encoding="utf-8")
        words = ast.get_docstring(ast.parse(source)) or ""
        title, _, text = words.partition("\n\n")
        code = source[source.index('"""', 3) + 3 :].strip()
        parts.append(f"\n## {title}\n\n{text}\n")
        if (SHOWN / f"{path.stem}.png").exists():
            parts.append(f"\n![{title}](images/gallery/{path.stem}.png)\n")
        parts.append(f'\n```python title="examples/{path.name}"\n{code}\n```\n')
        printed = SHOWN / f"{path.stem}.txt"
        if printed.exists():
            text = printed.read_text(encoding="utf-8").rstrip()
            parts.append(f"\nIt prints\n\n```text\n{text}\n```\n")
    return "".join(parts)


def examples() -> list[Path]:
    """The numbered scripts."""
    return sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))


def run_examples() -> None:
    """Run every example in an empty folder; keep its picture and what it prints."""
    SHOWN.mkdir(parents=True, exist_ok=True)
    for old in SHOWN.iterdir():
        old.unlink()
    for path in examples():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(path)]
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            printed = ran.stdout.replace(os.path.realpath(folder) + os.sep, "")
            (SHOWN / f"{path.stem}.txt").write_text(printed, encoding="utf-8")
            picture = Path(folder, f"{path.stem}.png")
            if picture.exists():
                shutil.copyfile(picture, SHOWN / picture.name)
        print(f"ran {path.name}")


PAGES = {"cli.md": commands_page, "settings.md": settings_page, "gallery.md": gallery_page}


def main() -> None:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, tell what is old")
    parser.add_argument("--run", action="store_true", help="run the examples first")
    asked = parser.parse_args()
    if asked.run:
        run_examples()
    old = [
        name
        for name, page in PAGES.items()
        if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != page()
    ]
    if asked.check:
        sys.exit(f"out of date, run `make reference`: {', '.join(old)}" if old else 0)
    for name in old:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
