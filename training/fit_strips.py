"""Fits ``roles/strips.json``: which strips of a passage are kept.

    python -m training.fit_strips --data DIR --out src/selfright/roles/strips.json [--network FILE]

A strip counts as helpful when it holds at least half of an answer span. Trained on squad2, covidqa and tydiqa, measured
on korquad too. Figures are held out: five folds, split by article or document. What counts on the network that reads
pairs (by default the one that ships) is fitted on questions that it has not learnt from.
"""

import argparse
import json
import zlib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Passage
from selfright.domain.ports import PairJudge, TermStatistics, Tokenizer
from selfright.models.files import FOLDER
from selfright.models.reader import PairNet, PairViews
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked
from selfright.roles.grade.networks import answer_spans
from selfright.roles.strips import LEXICAL, SIGNALS, strip_signals, strip_spans
from training.bm25 import Index
from training.fitting import Array, auc, isotonic, logistic
from training.labelled import Corpus, passage, read_rows
from training.reading_rows import learnt_questions

RIDGE = 1.0
KEPT_SHARE, KEPT_BY_WORST = 0.97, 0.98
FLOOR_SHARE = 0.01
LONG_ENOUGH = 300  # characters of a passage of tydiqa: many are one sentence
# Looser than fitted: of the passages of these sets all is said in the question's words, and passages in other words, or
# in the other language, fell under the fitted floor. On two field sets two of 79 right answers more, and none less.
FLOOR, LEAST_MARGIN = -3.0, 5.0
# The grader's probability under which a passage is not looked at, and the share of the best strip's under which a strip
# of a retrieved set goes.
IRRELEVANT, SHARE_OF_BEST = 0.002, 0.005
TRAINED_ON = ("squad2", "covidqa", "tydiqa_ko_en")
# What the margin promises is promised of these, and words alone learn from these only: the passages of tydiqa are two
# or three strips.
KEPT_IN = ("squad2", "covidqa")
KOREAN = 800  # questions of korquad


@dataclass(frozen=True)
class Item:
    """A question, a passage that answers it, and where in the passage's text."""

    dataset: str
    question: str
    passage: Passage
    answers: tuple[tuple[int, int], ...]
    group: str
    statistics: TermStatistics


def items(data: Path, tokenizer: Tokenizer) -> Iterator[Item]:
    """Answerable questions of the four sets."""
    corpus = Corpus.load(data / "squad2" / "corpus.jsonl", tokenizer)
    for row in read_rows(data / "squad2" / "dev" / "abstain.jsonl"):
        if row["answerable"]:
            at = corpus.passages[row["doc_id"]]
            spans = tuple(span for answer in sorted(set(row["answers"])) for span in occurrences(at.text, answer))
            yield Item("squad2", row["question"], at, spans, row["article"], corpus.index.statistics)
    corpus = Corpus.load(data / "covidqa" / "corpus.jsonl", tokenizer)
    starts = {row["_id"]: row["metadata"]["start"] for row in read_rows(data / "covidqa" / "corpus.jsonl")}
    for row in read_rows(data / "covidqa" / "dev" / "qa.jsonl"):
        at = corpus.passages[row["chunk_ids"][0]]
        start = row["answer_start"] - starts[at.id]
        span = (max(0, start), min(len(at.text), start + len(row["answer"])))
        yield Item("covidqa", row["question"], at, (span,), row["doc_id"], corpus.index.statistics)
    corpus = Corpus.load(data / "korquad" / "corpus.jsonl", tokenizer)
    for row in list(read_rows(data / "korquad" / "dev" / "qa.jsonl"))[:KOREAN]:
        at = corpus.passages[row["doc_id"]]
        spans = tuple(occurrences(at.text, row["answers"][0]))
        yield Item("korquad", row["question"], at, spans, row["article"], corpus.index.statistics)

    yield from _tydiqa(data, tokenizer)


def _tydiqa(data: Path, tokenizer: Tokenizer) -> Iterator[Item]:
    rows = list(read_rows(data / "tydiqa_ko_en" / "dev" / "pairs.jsonl"))
    statistics = Index(tokenizer.tokens(f"{row['title']}\n{row['passage']}") for row in rows).statistics
    for row in rows:
        if row["label"] and len(row["passage"]) > LONG_ENOUGH:
            spans = tuple(
                span for answer in sorted(set(row["answers"])) for span in occurrences(row["passage"], answer)
            )
            at = passage(row["id"], row["title"] or "", row["passage"])
            yield Item("tydiqa_ko_en", row["query"], at, spans, row["group"], statistics)


def occurrences(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Every place of ``part`` in ``text``."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)


@dataclass(frozen=True)
class StripRows:
    """One row per strip; ``held`` is the largest share of an answer span it holds, ``item`` its passage's number.

    ``read`` says whether a reader that was not trained on the question has read the passage.
    """

    x: Array
    held: Array
    length: NDArray[np.int64]
    item: NDArray[np.int64]
    dataset: NDArray[np.str_]
    fold: NDArray[np.int64]
    read: NDArray[np.bool_]

    def only(self, mask: NDArray[np.bool_]) -> "StripRows":
        """The rows where ``mask`` is true."""
        return StripRows(*(getattr(self, column.name)[mask] for column in fields(self)))


def extract(found: Iterator[Item], tokenizer: Tokenizer, reader: PairJudge, known: Container[str]) -> StripRows:
    """Signals of all strips; passages whose answer is spread too thin are passed over."""
    analyzers: dict[int, TextAnalyzer] = {}
    x: list[list[float]] = []
    origin: list[tuple[float, int, int, str, int, bool]] = []
    for number, item in enumerate(found):
        analyzer = analyzers.setdefault(id(item.statistics), TextAnalyzer(tokenizer, item.statistics))
        asked, spans = Asked.of(item.question, analyzer), strip_spans(item.passage.text)
        held = [max((held_share(span, answer) for answer in item.answers), default=0.0) for span in spans]
        if max(held, default=0.0) < 0.3:
            continue
        used = None if item.question.strip().lower() in known else reader
        read = answer_spans(asked, [item.passage], used).get(item.passage.id)
        x += [[row[name] for name in SIGNALS] for row in strip_signals(asked, item.passage, spans, read)]
        fold = zlib.crc32(item.group.encode()) % 5
        own = number, item.dataset, fold, read is not None
        origin += [(h, b - a, *own) for h, (a, b) in zip(held, spans, strict=True)]
    return StripRows(np.array(x), *(np.array(column) for column in zip(*origin, strict=True)))


def held_share(span: tuple[int, int], answer: tuple[int, int]) -> float:
    """The share of ``answer`` that lies in ``span``."""
    overlap = min(span[1], answer[1]) - max(span[0], answer[0])
    return max(0, overlap) / (answer[1] - answer[0]) if answer[1] > answer[0] else 0.0


def per_item(rows: StripRows, values: Array) -> Array:
    """The largest value among the strips of each row's passage."""
    best = np.full(int(rows.item.max()) + 1, -np.inf)
    np.maximum.at(best, rows.item, values)
    return best[rows.item]


def outcome(rows: StripRows, behind: Array, margin: float, mask: NDArray[np.bool_]) -> tuple[float, float]:
    """(share of passages whose answer is kept, share of characters removed)."""
    kept = behind <= margin
    held = np.where(kept, rows.held, 0.0)
    whole = per_item(rows, held) >= per_item(rows, rows.held) - 1e-9
    together = np.bincount(rows.item, held)[rows.item] >= 0.8
    _, first = np.unique(rows.item[mask], return_index=True)
    removed = 1 - rows.length[mask & kept].sum() / rows.length[mask].sum()
    return float((whole | together)[mask][first].mean()), float(removed)


def fit(
    rows: StripRows, names: tuple[str, ...], trained_on: Sequence[str], *, by_worst: bool = False
) -> dict[str, Any]:
    """A scorer in JSON form, its margin and floor, and what they achieve.

    The margin is the least with which the sets keep 97 % of the answers in the mean, or ``by_worst`` 98 % in each of
    them: without a reader that would leave three fifths of the text.
    """
    x, y = rows.x[:, [SIGNALS.index(name) for name in names]], (rows.held >= 0.5).astype(float)
    train = np.isin(rows.dataset, trained_on)
    weight = np.array([1 / (rows.dataset == name).sum() for name in rows.dataset]) * 5_000
    scores = np.zeros(len(y))
    for k in range(5):
        seen = train & (rows.fold != k)
        w = logistic(x[seen], y[seen], weight[seen], RIDGE)
        scores[rows.fold == k] = x[rows.fold == k] @ w[:-1] + w[-1]
    w = logistic(x[train], y[train], weight[train], RIDGE)
    behind = per_item(rows, scores) - scores
    margins = [float(m) for m in np.arange(1.0, 8.0, 0.1)]
    masks = {name: rows.dataset == name for name in KEPT_IN}
    kept = {m: [outcome(rows, behind, m, mask)[0] for mask in masks.values()] for m in margins}
    enough = {m: min(k) >= KEPT_BY_WORST if by_worst else np.mean(k) >= KEPT_SHARE for m, k in kept.items()}
    margin = next((m for m in margins if enough[m]), margins[-1])
    _, first = np.unique(rows.item[train], return_index=True)
    floor = float(np.quantile(per_item(rows, scores)[train][first], FLOOR_SHARE))
    scores_at, probabilities = isotonic(scores[train], y[train], weight[train])
    measured = {}
    for name in np.unique(rows.dataset):
        mask = rows.dataset == name
        share, removed = outcome(rows, behind, margin, mask)
        measured[str(name)] = {
            "auc": round(auc(scores[mask], y[mask]), 3),
            "answer_kept": round(share, 4),
            "removed": round(removed, 3),
        }
    return {
        "scorer": {
            "weights": {name: round(float(v), 4) for name, v in zip(names, w[:-1], strict=True)},
            "intercept": round(float(w[-1]), 4),
            "calibration": {
                "scores": [round(v, 4) for v in scores_at],
                "probabilities": [round(v, 4) for v in probabilities],
            },
        },
        "margin": round(margin, 2),
        "floor": round(floor, 2),
        "measured": measured,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--network", type=Path, default=FOLDER)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, reader = BilingualTokenizer(), PairViews(PairNet(arguments.network)).questions
    rows = extract(items(arguments.data, tokenizer), tokenizer, reader, learnt_questions(arguments.data))
    lexical, read = fit(rows, LEXICAL, KEPT_IN), fit(rows.only(rows.read), SIGNALS, TRAINED_ON, by_worst=True)
    same = fit(rows.only(rows.read), LEXICAL, KEPT_IN)
    model = {
        "about": "which strips of a passage are kept; see training/fit_strips.py",
        "trained_on": list(TRAINED_ON),
        "reader": reader.name,
        "lexical": lexical["scorer"],
        "read": read["scorer"],
        "lexical_margin": lexical["margin"],
        "read_margin": max(read["margin"], LEAST_MARGIN),
        "floor": min(lexical["floor"], read["floor"], FLOOR),
        "irrelevant": IRRELEVANT,
        "share_of_best": SHARE_OF_BEST,
        "measured": {
            "lexical": lexical["measured"],
            "lexical, the questions of read": same["measured"],
            "read": read["measured"],
        },
    }
    arguments.out.write_text(json.dumps(model, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({name: model[name] for name in model if "margin" in name or name == "measured"}, indent=1))


if __name__ == "__main__":
    main()
