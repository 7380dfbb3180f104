"""The published numbers: the same as in the paper's source, complete, and consistent in themselves.

The comparison with the source reads the tables anew, by their headings. It needs `paper.tex`:
the environment variable NHO_PAPER says where it is.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from nho.errors import InputError
from nho.lab.bench.published import METHODS, Published, lookup, published, select

SCORES = ("iou", "precision", "recall", "f1")
SETTINGS = [(s, r) for s in ("default", "normalised") for r in ("unrotated", "rotated")]
COUNTS = {
    "cuts24-localization": 8 * 4 * 4,  # methods x input settings x scores
    "multidataset-geodesic": 9 * 4 * 5,  # methods x data sets x (input settings and average)
    "ablation": 4 * 6,
    "additional-localization": 3 * 8 * 4 * 4,
    "anchor-sampling": 3 * 5,
    "anchor-number": 5 * 5,
    "discretization": 4 * 5,
    "cost": 9,
}

# What the paper's words, in headings and first columns, say of a number.
DATASETS = {"CUTS'24": "cuts24", "PFAUST-M": "pfaust_m", "PFAUST-H": "pfaust_h", "PFARM": "pfarm"}
WORDS: dict[str, dict[str, str]] = {
    **{word: {"dataset": key} for word, key in DATASETS.items()},
    "Default": {"scale": "default"},
    "Normalized": {"scale": "normalised"},
    "Unrotated": {"rotation": "unrotated"},
    "Rotated": {"rotation": "rotated"},
    "Avg.": {"scale": "average", "rotation": "average"},
    "IoU": {"metric": "iou"},
    "Precision": {"metric": "precision"},
    "Recall": {"metric": "recall"},
    "F1-score": {"metric": "f1"},
    "Geo.": {"metric": "geodesic_error"},
    "Geo. after NAM": {"metric": "geodesic_error"},
    "Geo. before NAM": {"metric": "geodesic_error_before_nam"},
    **{word: {} for word in ("", "Region localization", "Dense correspondence")},
}
VARIANTS = {
    **{name: key for key, name in METHODS.items()},
    "Ours": "nho",
    "Ours (DPFM)": "nho-dpfm",
    "w/o topology loss": "without-topology",
    "w/o reciprocal refinement": "without-reciprocal",
    "w/o Hamiltonian operator": "without-operator",
    "Full method": "full",
    "Geodesic FPS": "geodesic",
    "Euclidean FPS": "euclidean",
    "Uniform random": "random",
    **{"50%": "0.5", "20%": "0.2", "10%": "0.1", "5%": "0.05"},
}
COST = re.compile(
    r"field and the final \$(?P<nam_dimension>.+?)\$-dimensional NAM stage contain "
    r"(?P<field_parameters>\S+) and (?P<nam_parameters>\S+) parameters, respectively, with forward "
    r"costs of (?P<field_forward_flops>\S+) and (?P<nam_forward_flops>\S+) FLOPs for "
    r"(?P<pipeline_forward_vertices>\S+) vertices\. Operator estimation requires "
    r"(?P<field_adam_steps>\S+) Adam steps, .+? refinement requires (?P<nam_adam_steps>\S+) steps\."
    r".+? takes (?P<pipeline_seconds>\S+) seconds"
)


@pytest.fixture(scope="module")
def source() -> str:
    """The paper's LaTeX, or a visible skip."""
    given = os.environ.get("NHO_PAPER")
    if not given:
        pytest.skip("needs the paper's source; set NHO_PAPER to paper.tex")
    return Path(given).read_text(encoding="utf-8")


def outside_braces(text: str, separator: str) -> list[str]:
    """Split where no brace is open: a line break inside a heading ends no row."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i])
            i = start = i + len(separator)
            continue
        if text[i] == "\\":  # an escaped character is none of the marks
            i += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        i += 1
    return [*parts, text[start:]]


def plain(cell: str) -> str:
    """A cell without its markup."""
    cell = re.sub(r"\$\\(up|down)arrow\$", "", cell).replace(r"\\", " ").replace(r"\%", "%")
    cell = re.sub(r"\\multirow\{\d+\}\{\*\}", "", cell)
    cell = re.sub(r"\\(textbf|underline|shortstack)\b|\$|[{}]", "", cell)
    assert "\\" not in cell, f"unknown markup in {cell!r}"
    return " ".join(cell.split())


def cells(row: str) -> list[str]:
    """The plain cells of a row; one that spans several columns is repeated."""
    found = []
    for cell in outside_braces(row, "&"):
        span = re.fullmatch(r"\s*\\multicolumn\{(\d+)\}\{\w+\}\{(.*)\}\s*", cell, re.DOTALL)
        found += [plain(span[2])] * int(span[1]) if span else [plain(cell)]
    return found


def rows(block: str) -> list[list[str]]:
    """The rows of a part of a table, rules left out."""
    block = re.sub(r"\\c?(top|mid|bottom)?rule(\[.*?\])?(\(.*?\))?(\{[\d-]+\})?", "", block)
    return [cells(row) for row in outside_braces(block, r"\\") if row.strip()]


def meaning(*words: str) -> dict[str, str]:
    """What headings say together; a heading nobody knows is a `KeyError`."""
    return {name: key for word in words for name, key in WORDS[word].items()}


def printed_table(source: str, name: str) -> list[Published]:
    """Every number of one table, by its caption, headings and first column."""
    before, _, after = source.partition(rf"\label{{tab:{name}}}")
    caption = before[before.rindex(r"\caption") :]
    body = after[: after.index(r"\end{tabular}")].partition(r"\begin{tabular}")[2]
    head, _, data = body.partition(r"\midrule")
    head = head[head.index(r"\toprule") :]
    columns = [meaning(*words) for words in list(zip(*rows(head), strict=True))[1:]]
    common = {}
    if re.search(r"on\s+normalized,\s+unrotated\s+CUTS'24", caption):
        common = meaning("CUTS'24", "Normalized", "Unrotated")
    elif "on CUTS'24." in caption:
        common = meaning("CUTS'24")
    found = []
    for first, *values in rows(r"\midrule" + data):
        if set(values) == {first}:  # the title of a section, across all columns
            common = common | meaning(first)
            continue
        variant = {"method": VARIANTS.get(first, first), "table": name}
        for column, value in zip(columns, values, strict=True):
            fields = {"metric": "geodesic_error", **common, **variant, **column}
            found.append(Published(**fields, value=value))
    return found


def printed_cost(source: str) -> list[Published]:
    """The numbers of the section on cost, by the sentences they stand in."""
    section = " ".join(source.partition(r"\section{Computational Cost}")[2].split())
    match = COST.search(section)
    assert match, "the section on cost reads otherwise than expected"
    found = []
    for key, text in match.groupdict().items():
        method, _, metric = key.partition("_")
        value = re.sub(r"[${}]", "", text)
        found.append(Published("cost", "", "", "", method, metric, value))
    assert len(found) == len(re.findall(r"\$[^$]+\$", section)), "a number was passed over"
    return found


def printed(source: str) -> list[Published]:
    """Every number this file knows how to find in the source."""
    tables = [name for name in COUNTS if name != "cost"]
    return sum((printed_table(source, name) for name in tables), printed_cost(source))


def test_every_number_is_the_one_the_paper_prints_and_none_is_missing_or_added(source):
    ours, theirs = Counter(published()), Counter(printed(source))
    assert not ours - theirs, "not in the paper"
    assert not theirs - ours, "missing here"


def test_no_result_table_of_the_paper_is_left_out(source):
    labels = set(re.findall(r"\\label\{tab:(.+?)\}", source))
    assert labels - {"method_comparison"} == set(COUNTS) - {"cost"}  # that one holds ticks only


@pytest.mark.parametrize("row", [0, 127, 128, 400, 784])
def test_a_changed_digit_in_the_source_is_noticed(source, row):
    entry = published()[row]
    other = entry.value[:-1] + str((int(entry.value[-1]) + 1) % 10)
    changed = printed(source.replace(entry.value, other))
    assert entry not in changed
    assert replace(entry, value=other) in changed


def test_every_table_has_as_many_numbers_as_rows_times_columns():
    assert Counter(entry.table for entry in published()) == COUNTS


def test_no_two_numbers_share_their_keys():
    keys = [astuple(entry)[:-1] for entry in published()]
    assert len(set(keys)) == len(keys)


def test_fields_hold_known_words_only():
    for entry in published():
        if entry.table == "cost":
            assert (entry.dataset, entry.scale, entry.rotation) == ("", "", "")
            continue
        assert entry.dataset in DATASETS.values()
        assert (entry.scale, entry.rotation) in [*SETTINGS, ("average", "average")]
        assert (entry.method in METHODS) == (entry.table in list(COUNTS)[:2] + list(COUNTS)[3:4])
        assert re.fullmatch(r"\d{1,2}\.\d\d", entry.value)


def test_scores_are_percentages_and_errors_positive():
    for entry in published():
        if entry.metric in SCORES:
            assert 0 <= entry.number <= 100
        elif entry.metric.startswith("geodesic_error"):
            assert 1 < entry.number < 100


def scores() -> list[dict[str, float]]:
    """The four region scores that stand beside each other, for every row and setting."""
    groups: dict[tuple[str, ...], dict[str, float]] = {}
    for entry in published():
        if entry.metric in SCORES:
            groups.setdefault(astuple(entry)[:5], {})[entry.metric] = entry.number
    return list(groups.values())


def test_region_scores_keep_the_order_that_means_over_pairs_must_have():
    rounding = 0.02
    assert len(scores()) == 128 // 4 + 384 // 4 + 4 + 3 + 5 + 4
    for of in scores():
        iou, precision, recall, f1 = (of[name] for name in SCORES)
        assert iou <= min(precision, recall, f1) + rounding
        if iou:  # both bounds are concave, so they hold for means as they do pair by pair
            assert f1 <= 2 * precision * recall / (precision + recall) + rounding
            assert f1 <= 200 * iou / (100 + iou) + rounding


def test_average_columns_are_the_mean_of_the_four_settings():
    averages = select(rotation="average")
    assert len(averages) == 9 * 4
    for entry in averages:
        same = {name: getattr(entry, name) for name in ("table", "dataset", "method")}
        four = [lookup(**same, scale=s, rotation=r) for s, r in SETTINGS]
        assert np.mean([one.number for one in four]) == pytest.approx(entry.number, abs=0.005001)


def test_what_the_paper_says_of_its_ranges_in_words_follows_from_the_tables():
    def spread(metric: str, dataset: str) -> float:
        found = select(method="nho", metric=metric, dataset=dataset)
        values = [entry.number for entry in found if entry.rotation != "average"]
        assert len(values) == 4
        return max(values) - min(values)

    of_error = [spread("geodesic_error", name) for name in DATASETS.values()]
    assert of_error == pytest.approx([0.64, 0.73, 0.97, 1.75])
    of_overlap = [spread("iou", name) for name in DATASETS.values()]
    assert of_overlap == pytest.approx([0.18, 0.68, 1.10, 0.89])


@pytest.mark.parametrize("metric", [*SCORES, "geodesic_error"])
def test_the_full_method_scores_the_same_wherever_it_is_printed(metric):
    usual = dict(dataset="cuts24", scale="normalised", rotation="unrotated", metric=metric)
    names = ("nho", "full", "geodesic", "25")
    found = [entry for name in names for entry in select(**usual, method=name)]
    assert len(found) == 4 and len({entry.value for entry in found}) == 1


def test_numbers_are_read_with_their_factors_and_keep_their_digits():
    parameters = lookup(table="cost", method="field", metric="parameters")
    assert (parameters.number, parameters.decimals) == (pytest.approx(35_840), 2)
    assert lookup(table="cost", method="nam", metric="adam_steps").number == 3400
    assert lookup(method="nam", metric="forward_flops").number == pytest.approx(1.04e9)


def test_a_lookup_that_is_not_unique_says_what_is_open():
    with pytest.raises(InputError, match=r"24 numbers with table='ablation'.*which method, metric"):
        lookup(table="ablation")
    with pytest.raises(InputError, match="0 numbers with method='magic'"):
        lookup(method="magic")
    with pytest.raises(InputError, match=r"no field 'colour'; choose from table, dataset"):
        select(colour="red")


def test_the_list_belongs_to_the_caller():
    published().clear()
    assert len(published()) == sum(COUNTS.values())
