"""Settings: every field has its type and its least value, and every way in checks them."""

import dataclasses
import json
import math
from typing import get_args, get_type_hints

import pytest

from nho.errors import InputError
from nho.settings import PRESETS, RENAMED, GuidedRecipe, PaperRecipe, Settings, preset

CLASSES = (Settings, GuidedRecipe, PaperRecipe)
KINDS = {
    (of, field.name): get_type_hints(of)[field.name]
    for of in CLASSES
    for field in dataclasses.fields(of)
    if field.name != "recipe"
}


def of_kind(*kinds):
    return [field for field, kind in KINDS.items() if kind in kinds]


CHOICES = [field for field, kind in KINDS.items() if get_args(kind)]


def settings_of(of, **changes) -> Settings:
    """Settings with some fields of a class changed."""
    return Settings(**changes) if of is Settings else Settings(recipe=of(**changes))


def value_of(settings, name):
    return getattr(settings if hasattr(settings, name) else settings.recipe, name)


def test_every_field_is_a_number_a_choice_a_switch_or_a_text():
    assert set(KINDS) == {*of_kind(int, float), *CHOICES, *of_kind(bool), *of_kind(str)}
    assert all((of_kind(int), of_kind(float), CHOICES, of_kind(bool), of_kind(str)))


@pytest.mark.parametrize(("of", "name"), of_kind(str))
def test_a_text_is_kept_as_it_is_and_nothing_else_is_taken(of, name):
    assert value_of(settings_of(of).with_text([f"{name}=a,b c=d"]), name) == "a,b c=d"
    for bad in (None, 3, ["a"], b"a"):
        with pytest.raises(InputError, match=f"setting {name}=.* must be a text"):
            of(**{name: bad})


@pytest.mark.parametrize(("of", "name"), of_kind(bool))
def test_a_switch_is_true_or_false_and_nothing_else(of, name):
    with pytest.raises(InputError, match=f"setting {name}="):
        of(**{name: 1})
    for text, value in (("true", True), ("No", False), ("0", False), ("1", True)):
        assert value_of(settings_of(of).with_text([f"{name}={text}"]), name) is value
    with pytest.raises(InputError, match="not true or false"):
        settings_of(of).with_text([f"{name}=maybe"])


@pytest.mark.parametrize(("of", "name"), of_kind(int, float))
@pytest.mark.parametrize("bad", ["12", None, [1], math.nan, math.inf, -math.inf, True, -1])
def test_a_number_of_the_wrong_type_or_sign_is_refused(of, name, bad):
    with pytest.raises(InputError, match=f"setting {name}="):
        of(**{name: bad})


@pytest.mark.parametrize(("of", "name"), of_kind(int))
def test_a_whole_number_is_not_a_fraction(of, name):
    with pytest.raises(InputError, match=f"{name}=20.5 must be a whole number"):
        of(**{name: 20.5})


@pytest.mark.parametrize(
    ("of", "name"),
    [each for each in of_kind(int, float) if "modes" in each[1] or "learning_rate" in each[1]],
)
def test_zero_is_refused_where_it_makes_no_sense(of, name):
    with pytest.raises(InputError, match=name):
        of(**{name: 0})


@pytest.mark.parametrize(
    ("of", "name"),
    [
        *((Settings, name) for name in ("seed", "threads", "solve_vertices")),
        *((PaperRecipe, name) for name in ("rounds", "fit_steps", "weight_topology")),
        *((GuidedRecipe, name) for name in ("orientation_weight", "anchor_limit", "gain_needed")),
    ],
)
def test_zero_is_allowed_where_it_switches_off(of, name):
    assert getattr(of(**{name: 0}), name) == 0


@pytest.mark.parametrize(("of", "name"), CHOICES)
def test_a_choice_is_one_of_those_listed(of, name):
    choices = get_args(KINDS[of, name])
    for choice in choices:
        if (of, choice) != (PaperRecipe, "none") or name != "coordinates":
            assert getattr(of(**{name: choice}), name) == choice
    for bad in ("nonsense", None, 3, ["robust"]):
        with pytest.raises(InputError, match=f"setting {name}=.*{choices[0]}"):
            of(**{name: bad})


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="spectral_modes=101 exceeds galerkin_modes=100"):
        GuidedRecipe(spectral_modes=101, galerkin_modes=100)
    with pytest.raises(InputError, match="refine_last=10 is below refine_first=20"):
        PaperRecipe(refine_first=20, refine_last=10)
    with pytest.raises(InputError, match="coordinates=none leaves the recipe 'paper'"):
        PaperRecipe(coordinates="none")
    with pytest.raises(InputError, match="recipe='guided' must be a GuidedRecipe or a PaperRecipe"):
        Settings(recipe="guided")


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 3


def test_replace_changes_a_copy_and_checks_it():
    base = Settings()
    changed = base.replace(seed=7, barrier_factor=2)
    assert (changed.seed, changed.recipe.barrier_factor, base.seed) == (7, 2, 0)
    assert changed.recipe == GuidedRecipe(barrier_factor=2)
    assert base.replace(recipe=PaperRecipe(), rounds=1).recipe == PaperRecipe(rounds=1)
    for recipe in ("paper", None, PaperRecipe):
        with pytest.raises(InputError, match="must be a GuidedRecipe or a PaperRecipe"):
            base.replace(recipe=recipe)
    with pytest.raises(InputError, match="seed=-1"):
        base.replace(seed=-1)


def test_an_unknown_name_suggests_the_near_ones():
    for change in (
        lambda: Settings().replace(fit_step=3),
        lambda: Settings().with_text(["fit_step=3"]),
        lambda: Settings.from_dict({**Settings().as_dict(), "fit_step": 3}),
    ):
        with pytest.raises(InputError, match="'fit_step' does not exist.*fit_steps"):
            change()
    with pytest.raises(InputError, match="'zzzzz'.*seed.*barrier_factor"):
        Settings().replace(zzzzz=1)


def test_text_becomes_the_type_of_its_field():
    changed = (
        Settings()
        .with_text(
            [
                "fit_steps=7",
                " barrier_factor = 1e2 ",
                "activation=tanh",
                "weight_area=2",
                "fit_steps=9",
            ]
        )
        .recipe
    )
    assert (changed.fit_steps, changed.barrier_factor, changed.activation) == (9, 100.0, "tanh")
    assert isinstance(changed.fit_steps, int) and isinstance(changed.weight_area, float)
    assert Settings().with_text([]) == Settings()


@pytest.mark.parametrize(("of", "name"), list(KINDS))
def test_every_field_can_be_set_from_its_own_text(of, name):
    settings = settings_of(of)
    assert settings.with_text([f"{name}={value_of(settings, name)}"]) == settings


def test_a_field_of_the_other_recipe_is_refused_and_says_whose_it_is():
    for own, foreign in ((GuidedRecipe, "refine_last"), (PaperRecipe, "bend")):
        whose = "paper" if own is GuidedRecipe else "guided"
        for change in (
            lambda own=own, foreign=foreign: Settings(recipe=own()).replace(**{foreign: 50}),
            lambda own=own, foreign=foreign: Settings(recipe=own()).with_text([f"{foreign}=50"]),
        ):
            with pytest.raises(InputError, match=f"{foreign!r} belongs to the recipe {whose!r}"):
                change()
    with pytest.raises(TypeError):
        GuidedRecipe(refine_last=50)


@pytest.mark.parametrize("old", RENAMED)
def test_an_earlier_name_is_answered_with_the_new_one(old):
    with pytest.raises(InputError, match=f"{old!r} is called {RENAMED[old]!r} now"):
        Settings().with_text([f"{old}=1"])


def test_the_recipe_is_chosen_by_the_preset():
    with pytest.raises(InputError, match="choose the recipe by --preset"):
        Settings().with_text(["recipe=paper"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("fit_steps", "key=value"),
        ("fit_steps=", "''"),
        ("fit_steps=many", "'many' is not a whole number"),
        ("fit_steps=1.5", "'1.5' is not a whole number"),
        ("barrier_factor=big", "'big' is not a number"),
        ("barrier_factor=nan", "finite"),
        ("barrier_factor=-3", "at least"),
        ("activation=gelu", "tanh, relu"),
        ("=3", "does not exist"),
        ("", "key=value"),
    ],
)
def test_a_bad_assignment_is_refused_with_what_was_written(text, part):
    with pytest.raises(InputError) as caught:
        Settings().with_text([text])
    assert part in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(seed=5, checkpoints="a.npz", recipe=GuidedRecipe(barrier_factor=12.5, rounds=0)),
        Settings(threads=2, recipe=PaperRecipe(activation="relu", refinement="none")),
    ],
    ids=["guided", "paper"],
)
def test_dictionaries_and_json_bring_back_the_same_settings(settings):
    assert Settings.from_dict(settings.as_dict()) == settings
    assert Settings.from_dict(json.loads(settings.to_json())) == settings
    written = json.loads(settings.to_json())
    assert list(written) == [field.name for field in dataclasses.fields(Settings)]
    own = [field.name for field in dataclasses.fields(settings.recipe)]
    assert list(written["recipe"]) == ["name", *own]
    seed = settings.seed
    settings.as_dict()["seed"] = 99
    assert settings.seed == seed


def test_the_flat_table_of_earlier_versions_is_read():
    flat = {
        "seed": 3,
        "threads": 1,
        "solve_vertices": 0,
        "weights": "w.npz",
        "recipe": "reciprocal",
        "barrier": 40.0,
        "fit_operator": "sparse",
        "refine_last": 80,
        "hold_anchors": False,  # of the other recipe
        "turn_weight": 0.2,
    }
    paper = PaperRecipe(barrier_factor=40.0, loss_operator="sparse", refine_last=80)
    expected = Settings(3, 1, 0, "w.npz", paper)
    assert Settings.from_dict(flat) == expected
    guided = GuidedRecipe(barrier_factor=40.0, pin_anchors=False, orientation_weight=0.2)
    assert Settings.from_dict({**flat, "recipe": "guided"}) == dataclasses.replace(
        expected, recipe=guided
    )
    with pytest.raises(InputError, match="'best' is unknown"):
        Settings.from_dict({**flat, "recipe": "best"})
    with pytest.raises(InputError, match="recipe"):
        Settings.from_dict({"recipe": {"name": "best"}})


def test_a_setting_in_the_wrong_table_is_refused():
    table = Settings().as_dict()
    for wrong in ({**table, "rounds": 1}, {**table, "recipe": {**table["recipe"], "seed": 1}}):
        with pytest.raises(InputError, match="'(rounds|seed)' stands in the wrong table"):
            Settings.from_dict(wrong)


def test_all_presets_exist_and_the_default_is_the_plain_settings():
    assert set(PRESETS) == {"paper", "paper-fast", "default"}
    assert preset("default") == Settings()
    assert preset("paper") == Settings(solve_vertices=0, recipe=PaperRecipe())
    with pytest.raises(InputError, match="'best' is unknown.*paper"):
        preset("best")


def test_the_paper_preset_holds_the_numbers_of_the_paper():
    paper = preset("paper").recipe
    assert (paper.encoding_modes, paper.spectral_modes) == (20, 20)
    assert (paper.weight_anchor, paper.weight_area) == (0.1, 1.0)
    assert (paper.weight_topology, paper.weight_spectral) == (0.3, 0.01)
    assert paper.refinement == "neural-zoomout"


def test_the_default_preset_has_every_switch_on():
    recipe = preset("default").recipe
    own = [name for of, name in of_kind(bool) if isinstance(recipe, of)]
    assert own and all(getattr(recipe, name) is True for name in own)
    assert recipe.coordinates == "hamiltonian" and recipe.rounds > 0


def test_there_are_three_kinds_of_coordinates():
    assert get_args(KINDS[GuidedRecipe, "coordinates"]) == ("hamiltonian", "laplacian", "none")
    with pytest.raises(InputError, match="coordinates='both'.*hamiltonian, laplacian, none"):
        GuidedRecipe(coordinates="both")


def test_a_coarse_surface_keeps_enough_vertices_to_be_one():
    assert Settings(solve_vertices=200).solve_vertices == 200
    with pytest.raises(InputError, match="solve_vertices=199.*at least 200, or 0"):
        Settings(solve_vertices=199)
