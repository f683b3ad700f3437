"""The page: whole, self-contained, bounded, and deaf to what documents would have it do."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html as markup

from selfright.domain.errors import MissingExtra
from selfright.evals.results import Study
from selfright.evals.writing import MOST_CASES, page, redact, write, write_report
from tests.support import reports

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "<!-- ]]> --> &lt;b&gt; <svg/onload=alert(1)>",
    "\x00\x08\x1b[31m \ud800 \u202egnp.exe",
    "{{ 7 * 7 }} {% include 'x' %} %s {0} \\ `${1}`",
)
PARTS = {"script", "iframe", "object", "embed", "form", "input", "img", "base", "button", "video", "audio", "image"}


def words(element: markup.HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.fixture(scope="module")
def study() -> Study:
    return reports.answers()


@pytest.mark.parametrize("kind", ["answers", "retrieval"])
def test_the_page_is_complete(kind: str) -> None:
    made = reports.answers() if kind == "answers" else reports.retrieval()
    root = markup.fromstring(page(made))
    sections = [section.get("id") for section in root.iter("section") if section.get("id")]
    answers = ["provenance", "figures", "comparisons", "outcomes", "cases", "files"]
    assert sections == (answers if kind == "answers" else ["provenance", "figures", "comparisons", "files"])
    plots = root.xpath("//figure/div[@role='img']")
    assert len(plots) == (4 if kind == "answers" else 1)
    assert all(len(plot.get("aria-label")) > 10 for plot in plots)
    for part in (made.data.sha256, made.index.sha256, made.index.embedder, "selfright 0.1.0"):
        assert part in words(root)
    for table in root.iter("table"):
        assert words(next(iter(table.iter("caption"))))
        assert all(head.get("scope") for head in table.iter("th"))


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_stays_text(study: Study, number: int) -> None:
    hostile = reports.with_text(study, HOSTILE[number])
    runs = (hostile.runs[0], *(replace(run, system=HOSTILE[number][:12]) for run in hostile.runs[2:]))
    drawn = page(replace(hostile, runs=runs))
    drawn.encode()
    assert not set("\x00\x08\x1b\ud800") & set(drawn)
    root = markup.fromstring(drawn)
    assert not PARTS & {one.tag for one in root.iter()}
    for one in root.iter():
        assert not [name for name in one.attrib if name.startswith("on")]
        for name in ("href", "src", "action", "data", "xlink:href"):
            assert re.fullmatch(r"#\w+|data:,|\w+\.(?:json|csv)", one.get(name) or "#a"), one.attrib
    if number < 6:
        assert HOSTILE[number] in root.text_content()


def test_the_page_asks_nobody_for_anything(study: Study) -> None:
    drawn = page(study)
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', drawn)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "@import" not in drawn
    assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", drawn))
    assert set(re.findall(r"https?://[^\"' <]+", drawn)) == {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip


def test_rescued_and_broken_questions_show_both_turns(study: Study) -> None:
    headline = next(one for one in study.comparisons if (one.base, one.other) == ("basic", "full"))
    root = markup.fromstring(page(study))
    cases = root.find_class("case")
    assert len(cases) == min(len(headline.broken), MOST_CASES) + min(len(headline.rescued), MOST_CASES)
    rows = {run.system: {row.question_id: row for row in run.rows} for run in study.runs}
    for side, system in zip(cases[0].iter("section"), ("basic", "full"), strict=True):
        turn = rows[system][headline.broken[0]].turn
        assert turn is not None
        assert turn.answer in words(side)
        assert all(one.query in words(side) and one.documents[0] in words(side) for one in turn.passes)


def test_without_texts_the_page_holds_ids_and_figures_only(study: Study) -> None:
    shown = words(markup.fromstring(page(redact(study))))
    for text in ("who built boat", "It was", "shipyard"):
        assert text not in shown
    assert "(text left out)" in shown
    assert "boats-" in shown


def test_however_large_the_study_the_page_stays_bounded() -> None:
    large = reports.answers(600, metrics=2)
    moved = next(one for one in large.comparisons if (one.base, one.other) == ("basic", "full"))
    drawn = page(reports.with_text(large, "a long text " * 2_000))
    shown = min(len(moved.rescued), MOST_CASES) + min(len(moved.broken), MOST_CASES)
    assert len(markup.fromstring(drawn).find_class("case")) == shown
    assert f"{MOST_CASES} of {len(moved.rescued)} are shown" in drawn
    assert len(drawn) < 2_000_000


def test_odd_studies_make_a_page(study: Study) -> None:
    for made in (reports.answers(1, systems=("full",)), reports.answers(1), reports.retrieval(1)):
        page(made)
    names = tuple(f"등대 _{number}$" for number in range(12))
    assert names[11] in words(markup.fromstring(page(reports.answers(24, systems=names, gain=0.02, metrics=2))))
    rows = tuple(replace(row, turn=None, error="<no> answer", metrics={}) for row in study.runs[2].rows)
    failed = replace(study.runs[2], rows=rows, summary={}, verdicts={}, quantiles={}, abstention=None)
    page(replace(study, runs=(*study.runs[:2], failed)))


def test_expected_numbers_stand_beside_the_measured_ones() -> None:
    root = markup.fromstring(page(reports.answers(systems=("baseline", "self_refine_full_safety"))))
    rows = [[words(cell) for cell in row] for row in root.get_element_by_id("expected").iter("tr")]
    quality = next(row for row in rows if row[:2] == ["baseline", "quality"])
    assert quality[2] == "0.520"
    assert re.fullmatch(r"0\.\d{3}", quality[3])


def test_it_links_to_what_lies_beside_it_and_is_the_same_each_time(study: Study, tmp_path: Path) -> None:
    write(study, tmp_path)
    first = write_report(study, tmp_path).read_bytes()
    links = [link.get("href") for link in markup.fromstring(first).iter("a")]
    assert links == ["study.json", "summary.csv", "rows.csv"]
    assert write_report(study, tmp_path).read_bytes() == first


@pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
def test_without_a_library_its_extra_is_named(study: Study, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda asked: None if asked == name else sys.modules.get(asked) or 1
    )
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[eval\]"'):
        page(study)
