"""No code of this project runs what a file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.scan import findings, findings_in

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = {
    # The one place that parses XML; test_containers.py tests it.
    "src/nho/runtime/untrusted_xml.py": ["calls xml.parsers.expat.ParserCreate"],
}


@pytest.mark.parametrize("folder", ["src", "tools", "examples"])
def test_nothing_runs_or_unpickles_what_a_file_says(folder: str) -> None:
    found = {f"{folder}/{path}": wrong for path, wrong in findings_in(ROOT / folder).items()}
    for path in ALLOWED.keys() & found.keys():
        assert [what.partition(": ")[2] for what in found.pop(path)] == ALLOWED[path]
    assert found == {}


def test_the_scan_reads_the_package() -> None:
    files = list((ROOT / "src").rglob("*.py"))
    assert len(files) > 100 and any(path.name == "npz.py" for path in files)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads as read",
        "import os, marshal",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path)",
        "from numpy import load as read\nread(path, allow_pickle=wanted)",
        "import numpy as np\nnp.lib.format.read_array(stream)",
        "import torch\ntorch.load(path)",
        "import torch as t\nt.load(path, weights_only=False)",
        "eval(text)",
        "import builtins\nbuiltins.exec(text)",
        "__import__(name)",
        "import os\nos.system(command)",
        "from os import system as run\nrun(command)",
        "import os as o\no.execvp(name, words)",
        "import subprocess\nsubprocess.run(command, shell=True)",
        "import subprocess as s\ns.Popen(command, shell=wanted)",
        "import yaml\nyaml.load(text, Loader=yaml.Loader)",
        "archive.extractall(folder)",
        "import shutil\nshutil.unpack_archive(path)",
        "import xml.etree.ElementTree as E\nE.fromstring(text)",
        "from xml.etree import ElementTree\nElementTree.parse(path)",
        "from xml.etree.ElementTree import fromstring",
        "import jinja2\njinja2.Environment(autoescape=False)",
        "from jinja2 import Template\nTemplate(text)",
        "import tempfile\ntempfile.mktemp()",
        "import random",
    ],
)
def test_every_dangerous_construct_is_found(source: str) -> None:
    assert list(findings(source))


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.compile(text)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "import numpy as np\nrandom = np.random.default_rng(0)\nrandom.choice(9)",
        "import subprocess\nsubprocess.run([name, word])",
        "import torch\ntorch.load(path, weights_only=True)",
        "import json\njson.loads(text)",
        "import jinja2\njinja2.Environment(autoescape=True)",
        "from xml.sax.saxutils import quoteattr",
        "from nho.pickle_like import load\nload(path)",
    ],
)
def test_harmless_code_is_left_alone(source: str) -> None:
    assert not list(findings(source))
