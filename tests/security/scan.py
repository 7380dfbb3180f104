"""Constructs that run what a file says, found in the syntax tree: text search misses aliases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Deserialisers that call what the data names; `random`, whose numbers can be predicted.
MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
MODULES |= {"random", "xml.dom", "xml.sax.expatreader", "lxml", "imp"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "tempfile.mktemp"}
CALLS |= {"subprocess.getoutput", "subprocess.getstatusoutput", "shutil.unpack_archive"}
CALLS |= {"yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "jinja2.Template"}
CALLS |= {f"xml.etree.ElementTree.{name}" for name in ("parse", "iterparse", "fromstring", "XML")}
CALLS |= {"xml.etree.ElementTree.XMLParser", "xml.parsers.expat.ParserCreate", "xml.sax.parse"}
FAMILIES = ("os.exec", "os.spawn", "os.posix_spawn")
METHODS = {"extractall", "extract", "read_pickle", "to_pickle"}  # of archives and tables
KEYWORDS = {"allow_pickle": False, "shell": False}  # the only value that may be given
REQUIRED = {
    "numpy.load": ("allow_pickle", False),
    "numpy.lib.format.read_array": ("allow_pickle", False),
    "torch.load": ("weights_only", True),
    "jinja2.Environment": ("autoescape", True),
}


def findings(source: str) -> Iterator[str]:
    """What is wrong with a Python file, as ``line: what``."""
    tree = ast.parse(source)
    names = dict(imported(tree))
    for node in ast.walk(tree):
        for what in _problems(node, names):
            yield f"{getattr(node, 'lineno', 0)}: {what}"


def findings_in(folder: Path) -> dict[str, list[str]]:
    """Findings of every Python file below a folder, by its path; files without any are left out."""
    found = {
        path.relative_to(folder).as_posix(): list(findings(path.read_text(encoding="utf-8")))
        for path in sorted(folder.rglob("*.py"))
    }
    return {path: wrong for path, wrong in found.items() if wrong}


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What a name in the file stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                yield (name.asname, name.name) if name.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                yield name.asname or name.name, f"{node.module}.{name.name}"


def _problems(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"imports {name.name}" for name in node.names if _forbidden(name.name))
    elif isinstance(node, ast.ImportFrom) and not node.level:
        whole = [f"{node.module}.{name.name}" for name in node.names]
        if _forbidden(node.module or ""):
            yield f"imports {node.module}"
        else:
            yield from (f"imports {name}" for name in whole if _forbidden(name))
            yield from (f"imports {name}" for name in whole if name in CALLS)
    elif isinstance(node, ast.Call):
        yield from _problems_of_call(node, full_name(node.func, names))


def _problems_of_call(node: ast.Call, name: str) -> Iterator[str]:
    given = {key.arg: getattr(key.value, "value", ...) for key in node.keywords}
    if name.removeprefix("builtins.") in CALLS or name.startswith(FAMILIES):
        yield f"calls {name}"
    if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        yield f"calls .{node.func.attr}"
    for keyword, allowed in KEYWORDS.items():
        if given.get(keyword, allowed) is not allowed:
            yield f"gives {keyword} to {name}"
    if name in REQUIRED:
        keyword, wanted = REQUIRED[name]
        if given.get(keyword) is not wanted:
            yield f"calls {name} without {keyword}={wanted}"


def _forbidden(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in MODULES)


def full_name(function: ast.expr, names: dict[str, str]) -> str:
    """Such as ``numpy.load`` for ``np.load``; "" for what has no name."""
    if isinstance(function, ast.Attribute):
        owner = full_name(function.value, names)
        return f"{owner}.{function.attr}" if owner else ""
    return names.get(function.id, function.id) if isinstance(function, ast.Name) else ""
