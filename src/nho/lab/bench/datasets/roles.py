"""Which families chose constants of preset `default`, and which only judge it.

*choose*: a constant, a threshold or a fitted model of `default` was chosen on some of its pairs, or
on other cuts of the same shapes. *judge*: nothing was. What chooses once never judges again.
docs/decisions.md tells what was chosen where.
"""

from __future__ import annotations

from collections.abc import Iterable

CHOOSE, JUDGE = "choose", "judge"

# What was chosen on each; families of other cuts of the same shapes stand with them.
CHOSEN: dict[str, tuple[str, ...]] = {
    "bending, there and back, distances, relief, confidence, overlap": (
        *("pfaust_m", "pfaust_m_same", "pfaust_m_lacking", "pfaust_m_foreign"),
        *("pfaust_h", "pfaust_h_same", "pfaust_h_lacking", "pfaust_h_foreign"),
        *("pfarm", "pfarm_lacking", "pfarm_foreign"),
        *("tosca", "tosca_pieces", "tosca_lacking", "tosca_foreign"),
    ),
    "second start, settling, bending back, chance of the right place": (
        *("shrec16_cat", "shrec16_cuts", "shrec16_holes"),
        *("faces", "faces_same", "faces_foreign"),
        *("skulls", "skulls_cut"),
        *("tibias", "tibias_cut"),
    ),
    "when a scan is rigid": ("scans",),
    "overlap, bending back": ("species",),
    "mistakes of all anchors": ("synthetic", "synthetic_lacking", "synthetic_foreign"),
}

JUDGES: tuple[str, ...] = ("cuts24",)

ROLES: dict[str, str] = {
    **{name: CHOOSE for names in CHOSEN.values() for name in names},
    **dict.fromkeys(JUDGES, JUDGE),
}


def roles_note(titles: Iterable[tuple[str, str]]) -> str:
    """Which of the families choose and which judge, in a sentence each; "" if there are none.

    Parameters
    ----------
    titles : iterable of (name, title)
        Families, as on the command line and as in a table.
    """
    by_role: dict[str, list[str]] = {CHOOSE: [], JUDGE: []}
    for name, title in titles:
        by_role[ROLES[name]].append(title)
    meaning = {
        CHOOSE: "constants of preset default were chosen on",
        JUDGE: "no constant of preset default was chosen on",
    }
    return " ".join(
        f"{role.capitalize()} ({meaning[role]}): {', '.join(found)}."
        for role, found in by_role.items()
        if found
    )
