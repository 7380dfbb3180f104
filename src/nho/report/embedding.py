"""What a self-contained page is put together from: its parts, and data as JSON inside of it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from markupsafe import Markup

VIEWER = ("webgl.js", "shapeview.js", "steering.js")  # what draws and turns a shape, in order


def json_for_html(value: Any) -> Markup:
    """JSON that cannot end, or be taken for markup in, the script element around it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # No sign of markup is left in it.
    return Markup(text)  # nosec B704


def part(name: str, package: str = "nho.report") -> str:
    """The text of a style, script or template that is shipped with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
