"""The page: well-formed, self-contained, bounded, and deaf to what documents would have it do."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from selfright.domain.passages import Language
from selfright.evals.report.cases import MOST_CASES
from selfright.evals.report.markup import data, join, named, tag, text
from selfright.evals.report.writing import page, write_report
from selfright.evals.results import Study
from selfright.evals.writing import redacted, write
from tests.support import reports

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "<!-- ]]> --> &lt;b&gt; <svg/onload=alert(1)>",
    "\x00\x08\x1b[31m \ud800 \u202egnp.exe",
    "{questions} %s {0} \\ `${1}`",
)
PARTS = {"script", "iframe", "object", "embed", "form", "input", "img", "base", "button", "video", "audio"}


def parsed(html: str) -> Element:
    assert html.startswith("<!doctype html>\n")
    return fromstring(html.removeprefix("<!doctype html>\n"))


def words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.fixture(scope="module")
def study() -> Study:
    return reports.answers()


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("kind", ["answers", "retrieval"])
def test_the_page_is_well_formed_and_complete(kind: str, language: Language) -> None:
    made = reports.answers() if kind == "answers" else reports.retrieval()
    root = parsed(page(made, language))
    assert root.get("lang") == language
    sections = [section.get("aria-labelledby") for section in root.iter("section") if section.get("aria-labelledby")]
    common = ["summary", "provenance", "figures", "comparisons", "plots"]
    assert sections == [*common, "cases" if kind == "answers" else "queries", "files"]
    assert len(list(root.iter("figure"))) == (7 if kind == "answers" else 4)


def test_headings_step_down_one_at_a_time_and_links_lead_somewhere(study: Study) -> None:
    root = parsed(page(study))
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    for link in root.iter("a"):
        assert (link.get("href") or "").removeprefix("#") in ids


def test_tables_have_captions_and_scopes_and_plots_say_what_they_show(study: Study) -> None:
    root = parsed(page(study))
    for table in root.iter("table"):
        assert words(next(iter(table.iter("caption"))))
        assert all(head.get("scope") for head in table.iter("th"))
    plots = [one for one in root.iter("svg") if one.get("role") == "img"]
    assert plots
    assert all(len(one.get("aria-label") or "") > 10 for one in plots)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_stays_text(study: Study, number: int) -> None:
    html = page(reports.with_text(study, HOSTILE[number]))
    root = parsed(html)
    assert not PARTS & {one.tag for one in root.iter()}
    assert len(list(root.iter("style"))) == 1
    html.encode()
    for one in root.iter():
        assert not [name for name in one.attrib if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action", "data"):
            assert re.fullmatch(r"#\w+|data:,|\w+\.(?:json|csv)", one.get(name) or "#a"), one.attrib
    if number < 6:
        assert HOSTILE[number] in "".join(root.itertext())


def test_hostile_names_of_systems_stay_names(study: Study) -> None:
    name = "<b>full</b> {x}"
    runs = (study.runs[0], *(replace(run, system=name) if run.system == "full" else run for run in study.runs[1:]))
    comparisons = tuple(replace(one, other=name) if one.other == "full" else one for one in study.comparisons)
    root = parsed(page(replace(study, runs=runs, comparisons=comparisons)))
    assert name in words(root)


def test_the_policy_forbids_everything_but_the_style_of_the_page(study: Study) -> None:
    root = parsed(page(study))
    (policy,) = [one.get("content") or "" for one in root.iter("meta") if one.get("http-equiv")]
    style = next(iter(root.iter("style"))).text or ""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "url(" not in style
    assert "@import" not in style


def test_a_link_to_elsewhere_is_refused() -> None:
    for address in ("https://example.org", "//example.org", "javascript:alert(1)", "../up.html", "data:text/html,x"):
        with pytest.raises(ValueError, match="links to itself"):
            tag("a", "x", href=address)


def test_markup_escapes_what_is_no_markup() -> None:
    assert tag("p", "<i>", tag("b", "&"), class_='a"b') == '<p class="a&quot;b">&lt;i&gt;<b>&amp;</b></p>'
    assert join("a", ["<", [text("x")]]) == "a&lt;x"
    assert "�" in text("\x00")
    assert data("x" * 600, 10) == "<bdi>xxxxxxxxx…</bdi>"
    assert named("a_b<c") == "a_<wbr/>b&lt;c"


def test_rescued_and_broken_questions_show_both_turns(study: Study) -> None:
    root = parsed(page(study))
    cases = [one for one in root.iter("details") if one.get("class") == "case"]
    headline = next(one for one in study.comparisons if (one.base, one.other) == ("basic", "full"))
    assert len(cases) == len(headline.rescued) + len(headline.broken)
    first = cases[0]
    rows = {run.system: {row.question_id: row for row in run.rows} for run in study.runs}
    asked = headline.broken[0]
    for side, system in zip(first.iter("section"), ("basic", "full"), strict=True):
        turn = rows[system][asked].turn
        assert turn is not None
        assert turn.answer in words(side)
        assert [words(one) for one in side.iter("h4")] == [system]
        assert sum("passes" in (one.get("class") or "") for one in side.iter("ol")) == 1
        for one in turn.passes:
            assert one.query in words(side)
            assert one.documents[0] in words(side)


def test_without_texts_the_page_holds_ids_and_figures_only(study: Study) -> None:
    root = parsed(page(redacted(study)))
    shown = words(root)
    assert "who built boat" not in shown
    assert "It was" not in shown
    assert "shipyard" not in shown
    assert "(text left out)" in shown
    assert "boats-" in shown
    assert "The texts of questions and answers were left out." in shown


def test_however_large_the_study_the_page_stays_bounded() -> None:
    small, large = reports.answers(60), reports.answers(600, metrics=2)
    moved = next(one for one in large.comparisons if one.other == "full")
    assert len(moved.rescued) + len(moved.broken) > 2 * MOST_CASES
    long = reports.with_text(large, "a long text " * 2_000)
    html = page(long)
    cases = [one for one in parsed(html).iter("details") if one.get("class") == "case"]
    assert len(cases) == MOST_CASES
    assert f"of {len(moved.rescued)} are shown" in html
    assert len(html) < 2_000_000
    assert len(page(large)) < 3 * len(page(small))


def test_many_systems_are_all_in_the_tables_and_eight_in_the_plots() -> None:
    names = tuple(f"full top_k={number}" for number in range(12))
    html = page(reports.answers(24, systems=names, gain=0.02, metrics=2))
    root = parsed(html)
    assert "Plots show 8 of 12 systems" in html
    heads = [words(one) for table in root.iter("table") if table.get("class") == "wide" for one in table.iter("th")]
    assert set(names) <= set(heads)


def test_one_system_and_one_question_make_a_page() -> None:
    for made in (reports.answers(1, systems=("full",)), reports.answers(1), reports.retrieval(1)):
        parsed(page(made))


def test_rows_that_failed_make_a_page(study: Study) -> None:
    rows = tuple(replace(row, turn=None, error="<no> answer", metrics={}) for row in study.runs[2].rows)
    runs = (*study.runs[:2], replace(study.runs[2], rows=rows, summary={}, verdicts={}, abstention=None))
    assert "questions that failed: 60" in words(parsed(page(replace(study, runs=runs))))


def test_expected_numbers_stand_beside_the_measured_ones() -> None:
    root = parsed(page(reports.answers(systems=("baseline", "self_refine_full_safety"))))
    (section,) = [one for one in root.iter("section") if one.get("aria-labelledby") == "expected"]
    rows = [[words(cell) for cell in row] for row in section.iter("tr")]
    quality = next(row for row in rows if row[:2] == ["baseline", "quality"])
    assert quality[2] == "0.520"
    assert re.match(r"0\.\d{3} ?\[0\.\d+ … 0\.\d+\]", quality[3])


def test_the_file_lies_beside_the_others_and_links_to_them(study: Study, tmp_path: Path) -> None:
    write(study, tmp_path)
    path, korean = write_report(study, tmp_path), write_report(study, tmp_path, "ko")
    assert [path.name, korean.name] == ["report.html", "report.ko.html"]
    links = [one.get("href") for one in parsed(path.read_text(encoding="utf-8")).iter("a")]
    assert [link for link in links if link and not link.startswith("#")] == ["study.json", "summary.csv", "rows.csv"]
    assert write_report(study, tmp_path).read_bytes() == path.read_bytes()


def test_without_files_beside_it_the_page_links_to_none(study: Study, tmp_path: Path) -> None:
    links = _links(write_report(study, tmp_path / "new").read_text(encoding="utf-8"))
    assert all(link.startswith("#") for link in links)


def _links(html: str) -> Iterator[str]:
    return (one.get("href") or "" for one in parsed(html).iter("a"))
