"""What produced the figures: questions, index, judge, models, flags, versions."""

from collections.abc import Iterable, Mapping, Sequence

from selfright.evals.report.markup import Content, Html, cut, join, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.tables import table
from selfright.evals.results import RunResult, Study


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
