"""Every number of a match in one frozen object: a few general ones, and those of its recipe."""

from __future__ import annotations

import dataclasses
import difflib
import json
from dataclasses import dataclass, field
from typing import Any

from nho.errors import InputError
from nho.settings.checks import Checked, check, kinds_of, parsed
from nho.settings.recipes import RECIPES, Recipe
from nho.settings.recipes import GuidedRecipe as GuidedRecipe
from nho.settings.recipes import PaperRecipe as PaperRecipe

FEWEST_SOLVED = 200  # vertices of a coarse surface

# Earlier names of settings. They are refused with the new name, and read in old results.
RENAMED = {
    "barrier": "barrier_factor",
    "fit_operator": "loss_operator",
    "hold_anchors": "pin_anchors",
    "turn_weight": "orientation_weight",
    "weights": "checkpoints",
}


@dataclass(frozen=True)
class Settings(Checked):
    """All choices of one match. ``Settings()`` is preset ``default``, what `nho.match` uses.

    >>> Settings(seed=1).replace(rounds=2).recipe.rounds
    2
    >>> Settings(recipe=PaperRecipe(fit_steps=50)).recipe.name
    'paper'
    """

    seed: int = 0  # initial weights of the networks
    threads: int = 0  # worker threads; 0 = every core. The answer does not depend on it.
    solve_vertices: int = 10_000  # larger meshes are solved on about so many; 0 = on all of them
    checkpoints: str = ""  # learned methods: files or folders, by commas; empty = the shipped ones
    recipe: GuidedRecipe | PaperRecipe = field(default_factory=GuidedRecipe)  # how it is solved

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.solve_vertices < FEWEST_SOLVED:
            raise InputError(
                f"setting solve_vertices={self.solve_vertices} leaves too little of a surface; "
                f"give at least {FEWEST_SOLVED}, or 0 to solve on all vertices"
            )

    def replace(self, /, **changes: Any) -> Settings:
        """A copy with some settings changed, general ones or fields of its recipe."""
        recipe = changes.pop("recipe", self.recipe)
        check("recipe", kinds_of(Settings)["recipe"], recipe)
        general, own = kinds_of(Settings), {}
        for name in [*changes]:
            _check_name(name, recipe)
            if name not in general:
                own[name] = changes.pop(name)
        return dataclasses.replace(self, recipe=recipe.replace(**own), **changes)

    def with_text(self, assignments: list[str]) -> Settings:
        """A copy changed by ``key=value`` strings, as given to ``--set``."""
        changes: dict[str, Any] = {}
        kinds = kinds_of(Settings) | kinds_of(type(self.recipe))
        for assignment in assignments:
            name, separator, text = (part.strip() for part in assignment.partition("="))
            if not separator:
                raise InputError(f"--set {assignment!r} is not of the form key=value")
            if name == "recipe":
                names = "|".join(PRESETS)
                raise InputError(f"--set {assignment}: choose the recipe by --preset {names}")
            _check_name(name, self.recipe)
            kind = kinds[name]
            try:
                changes[name] = parsed(kind, text)
            except (ValueError, KeyError):
                wanted = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
                raise InputError(f"--set {assignment}: {text!r} is not {wanted}") from None
        return self.replace(**changes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; those of the recipe behind its name."""
        values = dataclasses.asdict(self)
        return {**values, "recipe": {"name": self.recipe.name, **values["recipe"]}}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The inverse of `as_dict`; a flat table, as earlier versions wrote it, is read as well."""
        own = values.get("recipe", {})
        if isinstance(own, str):
            return _from_flat(values)
        if not isinstance(own, dict) or own.get("name") not in RECIPES:
            raise InputError(f"recipe {own!r} is unknown; its name is {' or '.join(RECIPES)}")
        base = cls(recipe=RECIPES[own["name"]]())
        general = {name: value for name, value in values.items() if name != "recipe"}
        fields = {name: value for name, value in own.items() if name != "name"}
        misplaced = {*general} - {*kinds_of(cls)} | {*fields} - {*kinds_of(type(base.recipe))}
        for name in sorted(misplaced):
            _check_name(name, base.recipe)
            raise InputError(f"setting {name!r} stands in the wrong table")
        return base.replace(**fields, **general)

    def flat(self) -> dict[str, Any]:
        """Every setting by name: the general ones, the recipe's name, then its own."""
        values = self.as_dict()
        own = values["recipe"]
        return {**values, "recipe": own.pop("name"), **own}

    def to_json(self) -> str:
        """Settings as a JSON text, keys in the order of this file."""
        return json.dumps(self.as_dict(), indent=2)


def preset(name: str) -> Settings:
    """Settings by preset name: ``"default"``, ``"paper"`` or ``"paper-fast"``."""
    try:
        return PRESETS[name]
    except KeyError:
        raise InputError(f"preset {name!r} is unknown; choose {', '.join(PRESETS)}") from None


def _from_flat(values: dict[str, Any]) -> Settings:
    """Settings from a table of all fields of both recipes, those of the other one left out."""
    names = {"reciprocal": "paper", "guided": "guided"}
    if values["recipe"] not in names:
        raise InputError(f"recipe {values['recipe']!r} is unknown; it is one of {', '.join(names)}")
    base = Settings(recipe=RECIPES[names[values["recipe"]]]())
    other = _of_other_recipes(base.recipe)
    changes = {RENAMED.get(name, name): value for name, value in values.items() if name != "recipe"}
    return base.replace(**{name: value for name, value in changes.items() if name not in other})


def _of_other_recipes(recipe: Recipe) -> dict[str, str]:
    """Fields that only another recipe has, with its name."""
    own = kinds_of(type(recipe))
    others = (other for other in RECIPES.values() if other is not type(recipe))
    return {name: other.name for other in others for name in kinds_of(other) if name not in own}


def _check_name(name: str, recipe: Recipe) -> None:
    """Refuse a name that is no setting of a match by this recipe, and say what it may be."""
    names = [*kinds_of(Settings), *kinds_of(type(recipe))]
    if name in names:
        return
    if name in RENAMED:
        raise InputError(f"setting {name!r} is called {RENAMED[name]!r} now")
    elsewhere = _of_other_recipes(recipe)
    if name in elsewhere:
        presets = [key for key, each in PRESETS.items() if each.recipe.name == elsewhere[name]]
        raise InputError(
            f"setting {name!r} belongs to the recipe {elsewhere[name]!r} (preset {presets[0]}); "
            f"the recipe here is {recipe.name!r}"
        )
    near = difflib.get_close_matches(name, names, n=3) or names
    raise InputError(f"setting {name!r} does not exist; did you mean {', '.join(near)}?")


PRESETS: dict[str, Settings] = {
    "paper": Settings(solve_vertices=0, recipe=PaperRecipe()),
    "paper-fast": Settings(
        solve_vertices=0,
        recipe=PaperRecipe(refine_steps=100, refine_later_steps=50, refine_rows=1000),
    ),
    "default": Settings(),
}
