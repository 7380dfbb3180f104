"""Only `nho.runtime.input_file` opens files for reading: nobody else forgets pipes and devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.scan import full_name, imported

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "nho"
DOOR = "runtime/input_file.py"
# What else may be called, and why it reads no file of a user's.
ALLOWED = {
    DOOR: ["os.open", "os.fdopen"],
    "runtime/memory.py": [".read_text"],  # /proc and /sys; the door itself asks it
    "runtime/locks.py": ["os.open", "os.open"],  # folders, to be locked
    "runtime/scratch.py": ["os.open", "os.open"],  # likewise
    "runtime/atomic_file.py": ["os.open"],  # to write
    "batch/lock.py": ["os.open"],  # a lock; checked to be a file
    "batch/fits.py": ["numpy.lib.format.open_memmap"],  # a file of its own, to write and read back
    "report/scene.py": [".read_text"],  # files of the package
    "lab/bench/rowfile.py": ["open"],  # to write at its end; read through the door before
    # From here on: what has come through the door.
    "runtime/npz.py": ["zipfile.ZipFile", "zipfile.ZipFile"],
    "evaluation/ground_truth.py": ["numpy.loadtxt", "numpy.loadtxt"],
    "lab/bench/datasets/reading.py": ["numpy.loadtxt"],
    "learned/checkpoints.py": ["torch.load"],
}
CALLS = {"open", "io.open", "os.open", "os.fdopen", "codecs.open", "io.FileIO", "mmap.mmap"}
CALLS |= {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
CALLS |= {"torch.load", "PIL.Image.open", "zipfile.ZipFile", "tarfile.open", "shutil.copyfile"}
CALLS |= {f"{module}.open" for module in ("gzip", "bz2", "lzma", "wave", "tokenize", "shelve")}
CALLS |= {"scipy.io.loadmat", "numpy.lib.format.open_memmap", "xml.etree.ElementTree.parse"}
METHODS = {"read_bytes", "read_text"}
MODES = set("rwxab+tU")


def openings(source: str) -> Iterator[str]:
    """Calls that open a file to read it, by name."""
    tree = ast.parse(source)
    names = dict(imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = full_name(node.func, names)
            if name in CALLS and not _writes(node) and not _from_memory(node):
                yield name
            elif isinstance(node.func, ast.Attribute) and _is_method(node):
                yield f".{node.func.attr}"


def _writes(node: ast.Call) -> bool:
    """Whether the second argument is a mode for writing only."""
    given = [*node.args[1:2], *(key.value for key in node.keywords if key.arg == "mode")]
    mode = getattr(given[0], "value", None) if given else None
    return isinstance(mode, str) and mode[:1] in ("w", "x", "a") and "+" not in mode


def _from_memory(node: ast.Call) -> bool:
    return bool(node.args) and ast.unparse(node.args[0]).startswith("io.BytesIO(")


def _is_method(node: ast.Call) -> bool:
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr != "open":
        return node.func.attr in METHODS
    first = getattr(node.args[0], "value", None) if node.args else ""
    reads = isinstance(first, str) and set(first) <= MODES and not set(first) & set("wxa")
    return reads and not any(key.arg == "mode" and _writes(node) for key in node.keywords)


def test_no_other_module_opens_files_for_reading():
    found = {
        path.relative_to(PACKAGE).as_posix(): list(openings(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    assert len(found) > 200
    assert {path: calls for path, calls in found.items() if calls} == ALLOWED


@pytest.mark.parametrize(
    "source",
    [
        "open(path)",
        "open(path, 'rb')",
        "open(path, mode='r+')",
        "open(path, mode)",
        "import io\nio.open(path)",
        "from os import open as o\no(path, 0)",
        "path.read_bytes()",
        "(folder / 'a').read_text(encoding='utf-8')",
        "path.open()",
        "path.open('rb')",
        "path.open(encoding='utf-8')",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "from numpy import fromfile\nfromfile(path)",
        "import torch\ntorch.load(path, weights_only=True)",
        "from PIL import Image\nImage.open(path)",
        "from zipfile import ZipFile\nZipFile(path)",
    ],
)
def test_every_way_to_open_a_file_is_found(source):
    assert list(openings(source))


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'wb')",
        "open(path, mode='x')",
        "path.open('w')",
        "archive.open(member)",
        "session.open('partial', mesh)",
        "import webbrowser\nwebbrowser.open(address)",
        "import io\nfrom PIL import Image\nImage.open(io.BytesIO(data))",
        "import zipfile\nzipfile.ZipFile(stream, 'w')",
        "from nho.runtime.input_file import read_bytes\nread_bytes(path)",
        "path.write_bytes(data)",
    ],
)
def test_writing_and_memory_are_left_alone(source):
    assert not list(openings(source))
