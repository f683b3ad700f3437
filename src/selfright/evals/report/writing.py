"""A study → one self-contained page: it runs no script, fetches nothing, and shows all text as text."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path

from selfright.domain.passages import Language
from selfright.evals.report.cases import cases, moved_queries
from selfright.evals.report.charts import (
    Drawing,
    chosen,
    cost,
    flows,
    forest,
    measure,
    passes,
    queries,
    reliability,
    risk,
    times,
)
from selfright.evals.report.findings import main_metric, pairs
from selfright.evals.report.markup import Content, Html, cut, join, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.tables import comparison_tables, count_tables, expected_table, losses, summary_table, table
from selfright.evals.report.words import SummaryText, summary
from selfright.evals.results import RunResult, Study
from selfright.retrieval.files import write_atomically

_ANSWERS = (forest, passes, risk, cost, times, reliability, flows)
_RETRIEVAL = (measure, queries)


def plots(study: Study, phrases: Phrases) -> Iterable[Html]:
    """All plots for which the study has figures."""
    metric = main_metric(study)
    shown = chosen(study, metric)
    drawing = Drawing(study, shown, phrases)
    if len(shown) < len(study.runs):
        yield tag("p", phrases("plots_cut", shown=len(shown), all=len(study.runs), metric=metric), class_="note")
    drawers: Sequence[Callable[[Drawing], Iterable[Html]]] = _RETRIEVAL if study.kind == "retrieval" else _ANSWERS
    for drawer in drawers:
        yield from drawer(drawing)


def provenance(study: Study, phrases: Phrases) -> Html:
    """All that a result depends on, the flags in which systems differ first."""
    facts = tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in _facts(study, phrases)])
    return join(facts, _flags(study.runs, phrases))


def _facts(study: Study, phrases: Phrases) -> Iterable[tuple[str, Content]]:
    data, index = study.data, study.index
    counts = {"questions": f"{data.questions:,}", "of": f"{data.of:,}"}
    yield phrases("kind"), study.kind
    yield phrases("data"), phrases("data_of", name=data.name, format=data.format, **counts)
    yield phrases("sha"), tag("code", data.sha256)
    yield phrases("index"), phrases(
        "index_is",
        documents=f"{index.documents:,}", passages=f"{index.passages:,}",
        embedder=index.embedder, tokenizer=index.tokenizer,
    )  # fmt: skip
    yield phrases("sha_index"), tag("code", index.sha256)
    yield phrases("judge"), study.judge
    if models := _models(study.runs, phrases):
        yield phrases("models"), models
    yield phrases("seed"), str(study.seed)
    yield phrases("created"), study.created
    yield phrases("versions"), ", ".join(f"{name} {version}" for name, version in study.versions.items())


def _models(runs: Sequence[RunResult], phrases: Phrases) -> str:
    """One model where all jobs have the same, else each job's; of several systems, those that differ."""
    said = {run.system: _jobs(run.models, phrases) for run in runs if run.models}
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), "")
    return "; ".join(f"{system}: {jobs}" for system, jobs in said.items())


def _jobs(models: Mapping[str, str], phrases: Phrases) -> str:
    names = set(models.values())
    if len(names) == 1:
        return phrases("all_jobs", model=names.pop())
    return ", ".join(f"{job} {model}" for job, model in models.items())


def _flags(runs: Sequence[RunResult], phrases: Phrases) -> Html:
    known = [run for run in runs if run.flags]
    if not known:
        return Html("")
    names = list(dict.fromkeys(name for run in known for name in run.flags))
    differing = [name for name in names if len({str(run.flags.get(name)) for run in known}) > 1]
    same = [name for name in names if name not in differing]
    presets = [[phrases("preset"), *(run.preset or "" for run in known)]]
    rows = [[name, *(_value(run.flags.get(name)) for run in known)] for name in differing]
    heads = ["", *(run.system for run in known)]
    shared = tag("dl", [[tag("dt", name), tag("dd", _value(known[0].flags.get(name)))] for name in same])
    return join(
        table(phrases("flags_differ"), heads, [*presets, *rows], phrases),
        tag("details", tag("summary", phrases("flags_same")), shared) if same else "",
    )


def _value(value: object) -> str:
    return cut(str(value).lower() if isinstance(value, bool) else str(value), 200)


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


BESIDE = ("study.json", "summary.csv", "rows.csv")


def write_report(study: Study, folder: Path, language: Language = "en") -> Path:
    """Writes ``report.html`` (in Korean ``report.ko.html``) into the folder, which is made; gives back its path.

    The page links to those of ``study.json``, ``summary.csv`` and ``rows.csv`` that lie beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("report.html" if language == "en" else f"report.{language}.html")
    files = [name for name in BESIDE if (folder / name).is_file()]
    write_atomically(path, page(study, language, files).encode())
    return path
