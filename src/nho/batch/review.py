"""A batch in one page: every scan with a picture, worst first, and why it is suspicious."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup

from nho.batch.cycles import Cycle
from nho.report.scene import packaged_text
from nho.report.thumbnail import thumbnail
from nho.shapes.collection import Judgement, ScanFit

_FAR = 0.03  # sqrt(area): median distance between two ways that nobody should accept
_FEWEST, _MOST = 2, 0.5  # ways that must go wrong, and share of all that may
_TIMES = 3.0  # of what is usual for cycles of its kind


def suspicions(cycles: Sequence[Cycle]) -> dict[str, list[str]]:
    """What cycles say against scans, by name.

    A way between two scans that goes wrong is a fault of one of them, or of the direct match. So a
    scan is named if all of its ways go wrong, two at least, and most ways of the others are fine.
    """
    found: dict[str, list[str]] = defaultdict(list)
    back, across = ([each for each in cycles if bool(each.second) is two] for two in (False, True))
    for each in _bad(back):
        found[each.first].append(
            f"there and back it misses itself by {100 * each.error:.1f} % of the root of its area"
        )
    bad = _bad(across)
    known = [each for each in across if np.isfinite(each.error)]
    if len(bad) > _MOST * len(known):
        return dict(found)  # shapes that direct matches cannot tell
    for name in {name for each in bad for name in (each.first, each.second)}:
        ways = [each for each in known if name in (each.first, each.second)]
        if len(ways) < _FEWEST or any(each not in bad for each in ways):
            continue
        for each in ways:
            other = each.second if each.first == name else each.first
            how = f"is {each.flip}" if each.flip else "lies elsewhere"
            found[name].append(f"a direct match with {other} says that it {how}")
    return dict(found)


def _bad(cycles: Sequence[Cycle]) -> list[Cycle]:
    """Those whose error is large by itself and against the others."""
    known = [each for each in cycles if np.isfinite(each.error)]
    if not known:
        return []
    usual = float(np.quantile([each.error for each in known], 0.25))  # many may be bad
    return [each for each in known if each.error > max(_FAR, _TIMES * usual) or each.flip]


def render_review(
    results: Path,
    fits: dict[str, ScanFit],
    judgements: Sequence[Judgement],
    cycles: Sequence[Cycle],
    notes: Sequence[str] = (),
) -> str:
    """The text of one self-contained HTML file."""
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(packaged_text("review.html.jinja", "nho.batch"))
    back = {each.first: each.error for each in cycles if not each.second}
    text = template.render(
        style=Markup(packaged_text("style.css")),
        name=results.resolve().name,
        rows=[
            (each, fits[each.name], _picture(results / each.name), back.get(each.name, np.nan))
            for each in judgements
        ],
        cycles=sorted((each for each in cycles if each.second), key=_worst_first),
        suspicious=sum(bool(each.reasons) for each in judgements),
        cycled=bool(back),
        notes=notes,
        percent=lambda value: "" if np.isnan(value) else f"{100 * value:.2g} %",
    )
    return str(text.encode("utf-8", "replace").decode("utf-8"))


def _worst_first(cycle: Cycle) -> float:
    return -cycle.error if np.isfinite(cycle.error) else 1.0


def _picture(folder: Path) -> str:
    """A small picture of the scan, coloured by confidence, as an address."""
    return f"data:image/png;base64,{base64.b64encode(thumbnail(folder)).decode()}"
