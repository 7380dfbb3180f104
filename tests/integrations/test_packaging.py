"""Recipes of packages say what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_recipe_renders_with_the_requirements_of_the_project():
    rattler_build = pytest.importorskip("rattler_build")
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = rattler_build.Stage0Recipe.from_yaml(text)
    [variant] = recipe.render(rattler_build.VariantConfig())
    rendered = variant.recipe.to_dict()
    assert rendered["package"]["version"] == PROJECT["version"]
    wanted = {re.sub(r"[-_]+", "-", each.replace(" ", "")) for each in PROJECT["dependencies"]}
    wanted.add("python" + PROJECT["requires-python"])
    run = {str(each).replace(" ", "") for each in rendered["requirements"]["run"]}
    assert run == wanted


def test_all_names_the_extras_that_people_use():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = set(re.fullmatch(r"nho\[([\w,]+)\]", everything).group(1).split(","))
    assert named == set(extras) - {"all", "docs", "peers", "test", "test-integrations"}


def test_the_image_copies_all_that_a_build_needs():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    needed = {"pyproject.toml", PROJECT["readme"], "LICENSE", "src"}
    assert needed <= names
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    assert all(f"!{name}\n" in kept for name in names)
