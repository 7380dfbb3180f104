"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nho.evaluation.ground_truth import REGION_RULES
from nho.geometry.mesh import Mesh
from nho.settings import Settings, preset
from nho.shapes.space import ShapeSpace
from nho.shapes.stored import file_in

PartialFile = Annotated[Path, typer.Argument(metavar="PARTIAL", help="The partial surface (scan).")]
FullFile = Annotated[Path, typer.Argument(metavar="FULL", help="The full surface (template).")]
ResultFolder = Annotated[
    Path, typer.Argument(metavar="RESULT", help="Folder that `nho match` wrote.")
]
Preset = Annotated[
    str, typer.Option("--preset", help="`default`, `paper` or `paper-fast` (shorter refinement).")
]
Changes = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; repeatable.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the initial weights.")]
Threads = Annotated[int | None, typer.Option("--threads", help="Worker threads; 0 = every core.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="Summary as JSON on stdout.")]
AsciiPly = Annotated[
    bool, typer.Option("--ascii", help="Write PLY as text, as R's geomorph reads it.")
]
RegionTruth = Annotated[
    str,
    typer.Option(
        "--region-truth",
        metavar="RULE",
        help="What the true region is. "
        + " ".join(f"`{name}`: {rule.words}." for name, rule in REGION_RULES.items()),
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler whose workers do the work (needs `nho[cluster]`).",
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="DIR",
        help="Shape space of the same template, as `nho shapes` wrote it, for what to expect.",
    ),
]


def model_files(model: Path | None) -> list[Path]:
    """The file of a shape space, if one is given."""
    return [] if model is None else [file_in(model)]


def read_model(model: Path | None, template: Mesh) -> ShapeSpace | None:
    """The shape space in a folder; an `InputError` if it is of another template."""
    if model is None:
        return None
    space = ShapeSpace.load(model)
    space.check_template(template)
    return space


def comma_separated(text: str) -> list[str]:
    """The words of a list, each once."""
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def chosen_settings(
    preset_name: str, changes: list[str], seed: int | None, threads: int | None
) -> Settings:
    """Preset, then ``--set``, then ``--seed`` and ``--threads``."""
    settings = preset(preset_name).with_text(changes)
    if seed is not None:
        settings = settings.replace(seed=seed)
    if threads is not None:
        settings = settings.replace(threads=threads)
    return settings
