"""A study → one self-contained page: it runs no script, fetches nothing, and shows all text as text."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files as resources

from selfright.domain.passages import Language
from selfright.evals.report.cases import cases, moved_queries
from selfright.evals.report.charts.gallery import plots
from selfright.evals.report.findings import pairs
from selfright.evals.report.losses import losses
from selfright.evals.report.markup import Content, Html, join, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.provenance import provenance
from selfright.evals.report.tables import comparison_tables, count_tables, expected_table, summary_table
from selfright.evals.report.words import SummaryText, summary
from selfright.evals.results import Study


def page(study: Study, language: Language = "en", files: Sequence[str] = ()) -> str:
    """The page as text, to be written as UTF-8; ``files`` are names of files beside it, that it links to."""
    phrases = Phrases(language)
    title = phrases("title", name=study.data.name)
    sections = _sections(study, phrases, files)
    body = tag(
        "body",
        tag("a", phrases("skip"), href="#summary", class_="skip"),
        tag("header", tag("h1", title), tag("p", study.created, class_="subtitle"), _contents(sections, phrases)),
        tag("main", [_section(name, content, phrases) for name, content in sections.items()]),
    )
    return "<!doctype html>\n" + tag("html", _head(title), body, lang=language) + "\n"


def _head(title: str) -> Html:
    # The style is known by its digest: what a document might smuggle in stays without effect.
    style = resources("selfright.evals.report").joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Html(style)),
    )


def _sections(study: Study, phrases: Phrases, files: Sequence[str]) -> Mapping[str, Html]:
    """The sections that have something to show, in their order."""
    told = join(comparison_tables(study, phrases), count_tables(study, phrases))
    moved = ("queries", moved_queries) if study.kind == "retrieval" else ("cases", cases)
    found: Mapping[str, Html] = {
        "summary": _summary(summary(study, phrases), phrases),
        "provenance": provenance(study, phrases),
        "figures": summary_table(study, phrases) if study.runs else Html(""),
        "comparisons": told if pairs(study) else join(count_tables(study, phrases)),
        "funnel": losses(study, phrases),
        "expected": expected_table(study, phrases) or Html(""),
        "plots": _gallery(plots(study, phrases)) if study.runs else Html(""),
        moved[0]: join(moved[1](study, phrases)),
        "files": _files(study, files, phrases),
    }
    return {name: content for name, content in found.items() if content}


def _section(name: str, content: Html, phrases: Phrases) -> Html:
    return tag("section", tag("h2", phrases(name), id=name), content, aria_labelledby=name)


def _contents(sections: Iterable[str], phrases: Phrases) -> Html:
    links = [tag("li", tag("a", phrases(name), href=f"#{name}")) for name in sections]
    return tag("nav", tag("ul", links), aria_label=phrases("contents"))


def _summary(said: SummaryText, phrases: Phrases) -> Html:
    kind = said.outcome.value if said.outcome else "none"
    lead = tag("div", tag("p", said.verdict, class_="verdict"), [tag("p", one) for one in said.lead],
               class_=f"lead {kind}")  # fmt: skip
    lists = [
        ("helped", said.helped),
        ("hurt", said.hurt),
        ("open", said.open),
        ("cost", said.cost),
        ("mind", said.caveats),
    ]
    return join(lead, [_listed(phrases(name), items) for name, items in lists if items])


def _listed(title: str, items: Sequence[str]) -> Html:
    return join(tag("h3", title), tag("ul", [tag("li", item) for item in items], class_="said"))


def _gallery(drawn: Iterable[Html]) -> Html:
    found = join(drawn)
    return tag("div", found, class_="gallery") if found else found


def _files(study: Study, files: Sequence[str], phrases: Phrases) -> Html:
    links: list[Content] = [tag("a", name, href=name) for name in files]
    said = [tag("p", phrases("statistics", seed=study.seed))]
    if links:
        before, after = phrases("files_note", links="\0").split("\0")
        listed = [[", " if number else "", link] for number, link in enumerate(links)]
        said.insert(0, tag("p", before, listed, after))
    return join(said)
