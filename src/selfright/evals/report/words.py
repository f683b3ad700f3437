"""The summary in words: what helped, what did not, what cannot be told, what it cost, and the caveats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selfright.evals.report import figures
from selfright.evals.report.findings import (
    Outcome,
    Pair,
    against_first,
    caveats_of,
    headline,
    main_metric,
    outcome,
    steps,
    with_last,
)
from selfright.evals.report.phrases import Phrases
from selfright.evals.results import Difference, Study


@dataclass(slots=True)
class SummaryText:
    """The summary: ``verdict`` in three or four words, what it rests on, and lists of sentences."""

    outcome: Outcome | None
    verdict: str
    lead: list[str]
    helped: list[str] = field(default_factory=list)
    hurt: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    cost: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


def summary(study: Study, phrases: Phrases) -> SummaryText:
    """What the study says, and no more than that."""
    said = _of_retrieval(study, phrases) if study.kind == "retrieval" else _of_answers(study, phrases)
    said.caveats += caveats_of(study, phrases)
    return said


def told(metric: str, found: Difference, phrases: Phrases) -> str:
    """A difference with its interval, and what may be concluded from it."""
    kind = outcome(metric, found)
    half = max(found.mean - found.low, found.high - found.mean)
    return phrases(
        kind.value,
        subject=subject(metric, phrases),
        d=with_unit(metric, figures.signed(metric, found.mean), phrases),
        low=figures.signed(metric, found.low),
        high=figures.signed(metric, found.high),
        half=with_unit(metric, figures.signed(metric, half).lstrip("+"), phrases),
        n=found.n,
        p=figures.chance(found.p_holm),
    )


def subject(metric: str, phrases: Phrases) -> str:
    """A metric as a sentence begins with it."""
    return phrases(f"subject_{metric}") if metric in ("right", "quality") else metric


def moves(pair: Pair, phrases: Phrases) -> str:
    """What became of the questions, rescued and broken; nothing where nobody knows right from wrong."""
    found = pair.comparison.moves
    if found is None:
        return ""
    rescued, broken = pair.comparison.rescued, pair.comparison.broken
    names = {
        "n": pair.comparison.questions - found.unknown,
        "base": pair.comparison.base,
        "other": pair.comparison.other,
    }
    if not rescued and not broken:
        return phrases("moves_none", **names)
    sentences = [phrases("moves", **names, rescued=len(rescued), broken=len(broken)), _refusals(pair, phrases)]
    return " ".join(sentence for sentence in sentences if sentence)


def _refusals(pair: Pair, phrases: Phrases) -> str:
    """A question is rescued by an answer or by a refusal: who counts both alike should know."""
    rescued, broken = pair.by_refusing(pair.comparison.rescued), pair.by_refusing(pair.comparison.broken)
    if rescued and broken:
        return phrases("by_refusing", rescued=rescued, broken=broken)
    if rescued:
        return phrases("refused_right", rescued=rescued)
    return phrases("refused_wrong", broken=broken) if broken else ""


def _of_answers(study: Study, phrases: Phrases) -> SummaryText:
    pair, metric = headline(study), main_metric(study)
    facts = {"questions": f"{study.data.questions:,}", "name": study.data.name}
    if pair is None:
        lead = phrases("asked_one", **facts, system=study.runs[0].system if study.runs else figures.NONE)
        return SummaryText(None, phrases("verdict_none"), [lead])
    found = pair.comparison.differences.get(metric)
    kind = outcome(metric, found) if found else None
    said = SummaryText(
        kind,
        phrases(f"verdict_{kind.value if kind else 'none'}"),
        [
            phrases("asked", **facts, systems=len(study.runs)),
            *filter(None, (moves(pair, phrases), told(metric, found, phrases) if found else "")),
            *_doubts(pair, phrases),
        ],
    )
    for one in against_first(study):
        _sort(said, one, metric, phrases)
        said.cost += _cost(one, phrases)
    for one in steps(study)[1:]:
        _sort(said, one, metric, phrases, certain=True)
    return said


def _sort(said: SummaryText, pair: Pair, metric: str, phrases: Phrases, certain: bool = False) -> None:
    """Puts what is known of a pair into its list; beside the main metric, and with ``certain``, results alone."""
    lists: dict[str, list[str]] = {}
    for name in dict.fromkeys((metric, "quality")):
        found = pair.comparison.differences.get(name)
        if found is None:
            continue
        kind = _list_of(outcome(name, found))
        if kind != "open" or (name == metric and not certain):
            lists.setdefault(kind, []).append(told(name, found, phrases))
    for kind, sentences in lists.items():
        getattr(said, kind).append(f"{_names(pair, phrases)}: {' '.join(sentences)}")


def _list_of(kind: Outcome) -> str:
    return {Outcome.BETTER: "helped", Outcome.WORSE: "hurt"}.get(kind, "open")


def _names(pair: Pair, phrases: Phrases) -> str:
    return phrases("against", base=pair.comparison.base, other=pair.comparison.other)


def _doubts(pair: Pair, phrases: Phrases) -> Iterator[str]:
    """What the main figure alone would hide."""
    quality, right = (pair.comparison.differences.get(name) for name in ("quality", "right"))
    no_gain = right is not None and outcome("right", right) in (Outcome.CHANCE, Outcome.SAME, Outcome.WORSE)
    if no_gain and quality and outcome("quality", quality) is Outcome.BETTER:
        yield phrases("judge_disagrees")
    before, after = pair.base.abstention, pair.other.abstention
    if before and after and before.coverage != after.coverage:
        yield phrases(
            "fewer_answers",
            other=pair.comparison.other, base=pair.comparison.base,
            before=figures.share(before.coverage), after=figures.share(after.coverage),
            risk_before=figures.share(before.risk), risk_after=figures.share(after.risk),
        )  # fmt: skip


def _cost(pair: Pair, phrases: Phrases) -> Iterator[str]:
    calls = [run.mean("llm_calls") for run in (pair.base, pair.other)]
    times = [run.mean("seconds") for run in (pair.base, pair.other)]
    if None in times or None in calls:
        return
    yield " ".join([
        phrases(
            "calls" if any(calls) else "no_calls",
            base=pair.comparison.base, other=pair.comparison.other,
            before=figures.value("llm_calls", calls[0]), after=figures.value("llm_calls", calls[1]),
            time_before=figures.value("seconds", times[0]), time=figures.value("seconds", times[1]),
        ),
        *_price(pair, phrases),
    ])  # fmt: skip


def _price(pair: Pair, phrases: Phrases) -> Iterator[str]:
    """What a question gained has cost; said only where a gain is certain."""
    found = pair.comparison.differences.get("right")
    if found is None or outcome("right", found) is not Outcome.BETTER:
        return
    calls, seconds = (pair.comparison.differences.get(name) for name in ("llm_calls", "seconds"))
    if calls and calls.mean > 0:
        yield phrases("price", price=f"{calls.mean / found.mean:.1f}")
    elif seconds and seconds.mean > 0:
        yield phrases("price_seconds", price=figures.seconds(seconds.mean / found.mean))


def _of_retrieval(study: Study, phrases: Phrases) -> SummaryText:
    metric = main_metric(study)
    ranked = sorted(study.runs, key=lambda run: -(run.mean(metric) or 0.0))
    if not ranked:
        return SummaryText(None, phrases("verdict_none"), [])
    best = ranked[0]
    estimate = best.summary.get(metric)
    lead = phrases(
        "retrieval_lead",
        questions=f"{study.data.questions:,}", name=study.data.name, metric=metric, best=best.system,
        mean=figures.value(metric, best.mean(metric)),
        interval=figures.interval(metric, estimate) if estimate else "",
    )  # fmt: skip
    said = SummaryText(None, "", [lead])
    kinds = []
    for pair in with_last(study):
        found = pair.comparison.differences.get(metric)
        if found is None:
            continue
        kinds.append(outcome(metric, found))
        getattr(said, _list_of(kinds[-1])).append(
            f"{_names(pair, phrases)}: {told(metric, found, phrases)} {_wins(pair, metric, phrases)}"
        )
    said.outcome = kinds[0] if len(set(kinds)) == 1 else None
    said.verdict = phrases(_together(kinds), last=study.runs[-1].system)
    return said


def _together(kinds: Sequence[Outcome]) -> str:
    """What the last system is against all others: better only when it is better than every one."""
    if not kinds:
        return "verdict_none"
    if len(set(kinds)) > 1:
        return "verdict_mixed"
    return f"retrieval_{kinds[0].value}" if _list_of(kinds[0]) != "open" else f"verdict_{kinds[0].value}"


def _wins(pair: Pair, metric: str, phrases: Phrases) -> str:
    gains = [gain for _, gain in per_question(pair, metric)]
    wins, losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return phrases(
        "wins",
        n=len(gains), wins=wins, losses=losses, ties=len(gains) - wins - losses,
        base=pair.comparison.base, other=pair.comparison.other,
    )  # fmt: skip


def per_question(pair: Pair, metric: str) -> list[tuple[str, float]]:
    """``other − base`` of each question that has both, from the greatest gain to the greatest loss."""
    gains = []
    for name, rows in pair.rows.items():
        before, after = (row.metrics[metric].value if metric in row.metrics else None for row in rows)
        if before is not None and after is not None:
            gains.append((name, after - before))
    return sorted(gains, key=lambda item: (-item[1], item[0]))


def with_unit(metric: str, shown: str, phrases: Phrases) -> str:
    """A difference with its unit: points of a hundred for shares."""
    return phrases("points", d=shown) if figures.is_share(metric) else shown
