"""The page of results: everything is inside, nothing is loaded, no text can break out."""

import base64
import re
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from nho.lab.bench.report_page import StudyReport, write_report_page
from nho.lab.bench.studies.study import Findings, Study
from nho.lab.bench.tabular import Cell, Section, Table
from tests.lab.bench.test_tabular import TABLE

HOSTILE = "<script>window.hit = 1</script><img src=x onerror='hit=1'> \" ' & {{ 7 * 7 }}"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><rect width="90" height="40" fill="#0072B2"/></svg>'  # noqa: E501
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Page(HTMLParser):
    """Elements with their attributes, texts, and whether all are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.elements if name == tag]


def written(folder: Path, **changes: Any) -> StudyReport:
    """A study whose files exist."""
    own = folder / "main"
    own.mkdir(exist_ok=True)
    (own / "success.svg").write_text(SVG)
    (own / "success.pdf").write_bytes(b"%PDF-1.4")
    (own / "success.png").write_bytes(PNG)
    (own / "map_of-a pair.png").write_bytes(PNG)
    (own / "matches.csv").write_text(
        "family,pair,method,iou\nf,a,default,1\nf,a,default,2\ng,a,default,3\nf,b,paper,\n"
    )
    values: dict[str, Any] = {
        "name": "main",
        "title": "Main comparison",
        "question": "Which method is best?",
        "plan": lambda request: [],
        "report": lambda request, rows, folder: Findings(),
        "command": "nho bench --study main --out results",
        "tables": [TABLE],
        "figures": [own / f"success.{kind}" for kind in ("svg", "pdf", "png")]
        + [own / "map_of-a pair.png"],
        "files": [own / "matches.csv"],
        "failures": [],
        "notes": ["A note."],
    }
    values |= changes

    def some(kind: type) -> dict[str, Any]:
        return {field.name: values[field.name] for field in fields(kind) if field.name in values}

    findings = Findings(**some(Findings))
    return StudyReport(Study(**some(Study)), findings, values["command"], values["failures"])


def page_of(folder: Path, *studies: StudyReport) -> Page:
    path = write_report_page(folder, studies)
    assert path == folder / "report.html"
    page = Page(path.read_text(encoding="utf-8"))
    assert page.open == []
    return page


def test_everything_of_a_study_is_shown(tmp_path: Path) -> None:
    page = page_of(tmp_path, written(tmp_path, failures=["pair c: no anchors"]))
    for words in (
        *("Main comparison", "Which method is best?", "A note.", "Main results", "12 pairs."),
        *("nho bench --study main --out results", "pair c: no anchors", "1 failed"),
        *("3 pairs", "2 methods", "4 runs", "numpy", "cpu"),
    ):
        assert words in " ".join(page.words.split()), words


def test_the_contents_lead_to_every_study(tmp_path: Path) -> None:
    other = written(tmp_path, name="other", title="Another")
    page = page_of(tmp_path, written(tmp_path), other)
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    inside = {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")}
    assert {"main", "other", "machine-and-versions"} <= inside <= set(ids)


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    page = page_of(tmp_path, written(tmp_path))
    assert not page.all("script") and not page.all("iframe") and not page.all("object")
    for tag, attrs in page.elements:
        for name in ("src", "srcset", "poster", "data", "background"):
            assert attrs.get(name, "data:").startswith("data:"), (tag, attrs)
        if tag == "link":
            assert attrs["href"].startswith("data:")
        if tag == "a":
            assert attrs["href"].startswith(("#", "./"))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|url\(|@import", re.sub(r"base64,[\w+/=]+", "", text))


def test_a_figure_is_inlined_once_with_links_to_its_files(tmp_path: Path) -> None:
    page = page_of(tmp_path, written(tmp_path))
    drawing, photo = (image["src"] for image in page.all("img"))
    assert drawing.startswith("data:image/svg+xml;base64,")
    assert base64.b64decode(drawing.partition(",")[2]).decode() == SVG
    assert base64.b64decode(photo.partition(",")[2]) == PNG
    links = [unquoted["href"] for unquoted in page.all("a") if "./" in unquoted["href"]]
    assert links == [
        *("./main/success.svg", "./main/success.pdf", "./main/success.png"),
        *("./main/map_of-a%20pair.png", "./main/matches.csv"),
    ]
    assert all((tmp_path / link.replace("%20", " ")).is_file() for link in links)


def test_a_drawing_too_large_is_shown_as_pixels(tmp_path: Path) -> None:
    study = written(tmp_path)
    (tmp_path / "main" / "success.svg").write_text(SVG + " " * 2_000_000)
    page = page_of(tmp_path, study)
    assert page.all("img")[0]["src"].startswith("data:image/png")


def hostile(folder: Path) -> StudyReport:
    section = Section(HOSTILE, ((HOSTILE, (Cell(1.0),)),))
    table = Table("t", HOSTILE, HOSTILE, (((HOSTILE, 1),),), (section,))
    fields = {name: HOSTILE for name in ("title", "question", "command")}
    lists = {"failures": [HOSTILE, "bad \udcff name"], "notes": [HOSTILE], "tables": [table]}
    odd = folder / "javascript:alert(1) #?.csv"
    odd.write_text(f'pair,method\n"{HOSTILE.replace(chr(34), "")}",m\n')
    return written(folder, name="hostile", **fields, **lists, files=[odd])


def test_no_text_becomes_markup(tmp_path: Path) -> None:
    page = page_of(tmp_path, hostile(tmp_path))
    assert not page.all("script")
    assert [image for image in page.all("img") if "onerror" in image] == []
    assert page.words.count(HOSTILE) >= 10
    assert "{{ 7 * 7 }}" in page.words
    assert "./javascript%3Aalert%281%29%20%23%3F.csv" in [a["href"] for a in page.all("a")]


def test_a_name_that_is_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="study name"):
        write_report_page(tmp_path, [written(tmp_path, name='x" onload="')])


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    first = write_report_page(tmp_path, [written(tmp_path)]).read_bytes()
    assert write_report_page(tmp_path, [written(tmp_path)]).read_bytes() == first


def test_an_empty_run_is_still_a_page(tmp_path: Path) -> None:
    assert "Machine and versions" in page_of(tmp_path).words


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
def test_a_browser_shows_it_without_asking_the_network(
    browser: Any,
    tmp_path: Path,
    width: int,
) -> None:
    path = write_report_page(
        tmp_path, [written(tmp_path), hostile(tmp_path)][: 2 if width > 999 else 1]
    )
    shown = browser.new_page(viewport={"width": width, "height": 800})
    requests: list[str] = []
    problems: list[str] = []
    shown.on("request", lambda request: requests.append(request.url))
    shown.on("console", lambda message: problems.append(message.text))
    shown.on("pageerror", lambda error: problems.append(str(error)))
    shown.goto(path.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    sizes = shown.evaluate("[...document.images].map((i) => i.complete && i.naturalWidth)")
    assert sizes and all(sizes)
    assert shown.evaluate("window.hit") is None
    shown.close()
    assert problems == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
