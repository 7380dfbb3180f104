"""Settings: every field has its type and its least value, and every way in checks them."""

import dataclasses
import json
import math
from typing import get_args, get_type_hints

import pytest

from nho.errors import InputError
from nho.settings import PRESETS, Settings, preset

KINDS = get_type_hints(Settings)
NUMBERS = [name for name, kind in KINDS.items() if kind in (int, float)]
CHOICES = [name for name, kind in KINDS.items() if get_args(kind)]
SWITCHES = [name for name, kind in KINDS.items() if kind is bool]
TEXTS = [name for name, kind in KINDS.items() if kind is str]


def test_every_field_is_a_number_a_choice_a_switch_or_a_text():
    known = set(NUMBERS) | set(CHOICES) | set(SWITCHES) | set(TEXTS)
    assert known == {field.name for field in dataclasses.fields(Settings)}
    assert NUMBERS and CHOICES and SWITCHES and TEXTS


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_kept_as_it_is_and_nothing_else_is_taken(name):
    assert getattr(Settings().with_text([f"{name}=a,b c=d"]), name) == "a,b c=d"
    for bad in (None, 3, ["a"], b"a"):
        with pytest.raises(InputError, match=f"setting {name}=.* must be a text"):
            Settings(**{name: bad})


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_true_or_false_and_nothing_else(name):
    with pytest.raises(InputError, match=f"setting {name}="):
        Settings(**{name: 1})
    for text, value in (("true", True), ("No", False), ("0", False), ("1", True)):
        assert getattr(Settings().with_text([f"{name}={text}"]), name) is value
    with pytest.raises(InputError, match="not true or false"):
        Settings().with_text([f"{name}=maybe"])


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", ["12", None, [1], math.nan, math.inf, -math.inf, True, -1])
def test_a_number_of_the_wrong_type_or_sign_is_refused(name, bad):
    with pytest.raises(InputError, match=f"setting {name}="):
        Settings(**{name: bad})


@pytest.mark.parametrize("name", [name for name in NUMBERS if KINDS[name] is int])
def test_a_whole_number_is_not_a_fraction(name):
    with pytest.raises(InputError, match=f"{name}=20.5 must be a whole number"):
        Settings(**{name: 20.5})


@pytest.mark.parametrize(
    "name", [name for name in NUMBERS if "modes" in name or "learning_rate" in name]
)
def test_zero_is_refused_where_it_makes_no_sense(name):
    with pytest.raises(InputError, match=name):
        Settings(**{name: 0})


@pytest.mark.parametrize(
    "name",
    ["seed", "threads", "rounds", "fit_steps", "weight_topology", "weight_spectral"]
    + ["turn_weight", "anchor_limit", "gain_needed", "solve_vertices"],
)
def test_zero_is_allowed_where_it_switches_off(name):
    assert getattr(Settings(**{name: 0}), name) == 0


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_one_of_those_listed(name):
    for choice in get_args(KINDS[name]):
        others = {} if name == "recipe" else {"recipe": "guided"}  # which knows all of them
        assert getattr(Settings(**others, **{name: choice}), name) == choice
    for bad in ("nonsense", None, 3, ["robust"]):
        with pytest.raises(InputError, match=f"setting {name}=.*{get_args(KINDS[name])[0]}"):
            Settings(**{name: bad})


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="spectral_modes=101 exceeds galerkin_modes=100"):
        Settings(spectral_modes=101, galerkin_modes=100)
    with pytest.raises(InputError, match="refine_last=10 is below refine_first=20"):
        Settings(refine_first=20, refine_last=10)
    with pytest.raises(InputError, match="coordinates=none leaves the recipe 'reciprocal'"):
        Settings(recipe="reciprocal", coordinates="none")


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 3


def test_replace_changes_a_copy_and_checks_it():
    base = Settings()
    changed = base.replace(seed=7, barrier=2)
    assert (changed.seed, changed.barrier, base.seed) == (7, 2, 0)
    with pytest.raises(InputError, match="seed=-1"):
        base.replace(seed=-1)


def test_an_unknown_name_suggests_the_near_ones():
    for change in (
        lambda: Settings().replace(fit_step=3),
        lambda: Settings().with_text(["fit_step=3"]),
        lambda: Settings.from_dict({"fit_step": 3}),
    ):
        with pytest.raises(InputError, match="'fit_step' does not exist.*fit_steps"):
            change()
    with pytest.raises(InputError, match="'zzzzz'.*seed.*barrier"):
        Settings().replace(zzzzz=1)


def test_text_becomes_the_type_of_its_field():
    changed = Settings().with_text(
        ["fit_steps=7", " barrier = 1e2 ", "activation=tanh", "weight_area=2", "fit_steps=9"]
    )
    assert (changed.fit_steps, changed.barrier, changed.activation) == (9, 100.0, "tanh")
    assert isinstance(changed.fit_steps, int) and isinstance(changed.weight_area, float)
    assert Settings().with_text([]) == Settings()


@pytest.mark.parametrize("name", list(KINDS))
def test_every_field_can_be_set_from_its_own_text(name):
    value = getattr(Settings(), name)
    assert Settings().with_text([f"{name}={value}"]) == Settings()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("fit_steps", "key=value"),
        ("fit_steps=", "''"),
        ("fit_steps=many", "'many' is not a whole number"),
        ("fit_steps=1.5", "'1.5' is not a whole number"),
        ("barrier=big", "'big' is not a number"),
        ("barrier=nan", "finite"),
        ("barrier=-3", "at least"),
        ("activation=gelu", "tanh, relu"),
        ("=3", "does not exist"),
        ("", "key=value"),
    ],
)
def test_a_bad_assignment_is_refused_with_what_was_written(text, part):
    with pytest.raises(InputError) as caught:
        Settings().with_text([text])
    assert part in str(caught.value)


def test_dictionaries_and_json_bring_back_the_same_settings():
    settings = Settings(seed=5, barrier=12.5, activation="tanh", refinement="none", rounds=0)
    assert Settings.from_dict(settings.as_dict()) == settings
    assert Settings.from_dict(json.loads(settings.to_json())) == settings
    assert list(json.loads(settings.to_json())) == list(KINDS)
    settings.as_dict()["seed"] = 99
    assert settings.seed == 5


def test_both_presets_exist_and_the_paper_is_the_plain_settings():
    assert set(PRESETS) == {"paper", "default"}
    assert preset("paper") == Settings()
    assert isinstance(preset("default"), Settings)
    with pytest.raises(InputError, match="'best' is unknown.*paper"):
        preset("best")


def test_the_paper_preset_holds_the_numbers_of_the_paper():
    paper = preset("paper")
    assert (paper.encoding_modes, paper.spectral_modes) == (20, 20)
    assert (paper.weight_anchor, paper.weight_area) == (0.1, 1.0)
    assert (paper.weight_topology, paper.weight_spectral) == (0.3, 0.01)
    assert paper.refinement == "neural-zoomout"


def test_the_default_preset_takes_the_guided_recipe_and_every_switch():
    default = preset("default")
    assert default.recipe == "guided" and preset("paper").recipe == "reciprocal"
    assert all(getattr(default, name) is True for name in SWITCHES)
    assert default.coordinates == "hamiltonian" and default.rounds > 0


def test_the_second_look_has_three_kinds_of_coordinates():
    assert get_args(KINDS["coordinates"]) == ("hamiltonian", "laplacian", "none")
    with pytest.raises(InputError, match="coordinates='both'.*hamiltonian, laplacian, none"):
        Settings(coordinates="both")


def test_a_coarse_surface_keeps_enough_vertices_to_be_one():
    assert Settings(solve_vertices=200).solve_vertices == 200
    with pytest.raises(InputError, match="solve_vertices=199.*at least 200, or 0"):
        Settings(solve_vertices=199)
