"""Fits ``roles/generate/weights.json``: which sentence of the evidence answers.

    python -m training.fit_selection --data DIR --out src/selfright/roles/generate/weights.json [--cache DIR]

Each question meets the passage that answers it and seven that BM25 brings, once whole and once cut down to strips. A
piece is right when it holds half of an answer's span, or half of it lies in one; pieces of other passages that hold the
answer's words are left out. The model is a conditional logit: among all pieces of a question, a right one comes first.
Trained on squad2, covidqa and clapnq, measured on korquad too. Figures are held out: five folds, split by article or
document.
"""

import argparse
import json
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.ports import Tokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.generate.pieces import Piece, pieces_of
from selfright.roles.generate.signals import LEXICAL, SIGNALS, signals
from selfright.roles.grade.features import Asked
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.strips import OfflineRefiner
from training.bm25 import Index
from training.fit_strips import held_share, occurrences
from training.fitting import Array
from training.grader_rows import CachedEmbedder
from training.labelled import DEPTH, Corpus, passage, read_rows

TRAINED_ON = ("squad2", "covidqa", "clapnq")
LIMITS = {"squad2": 700, "covidqa": 500, "clapnq": 300, "korquad": 300}
RIDGE = 1.0
ROUNDS = 30
FOLDS = 5
LEAST_ANSWER = 3  # characters; shorter answers occur anywhere
SIGNS = dict.fromkeys(SIGNALS, 1) | {"heading": -1, "numbers_missing": -1, "asks": -1, "long": 0}


class NamedEmbedder(CachedEmbedder):
    """As ``CachedEmbedder``, as a role's embedder."""

    name = "minilm-l6-v2"
    dimension = 384


@dataclass(frozen=True)
class Item:
    """A question, the passage that answers it and where, in positions of its text."""

    question: str
    passage: Passage
    answers: tuple[tuple[int, int], ...]
    group: str


@dataclass(frozen=True)
class Choice:
    """All pieces of one question: signals, whether right, words; ``form`` is ``whole`` or ``strips``."""

    dataset: str
    form: str
    fold: int
    x: Array
    right: NDArray[np.bool_]
    words: NDArray[np.int64]


def squad2(data: Path, corpus: Corpus) -> Iterator[Item]:
    """The answerable questions."""
    for row in read_rows(data / "squad2" / "dev" / "abstain.jsonl"):
        if row["answerable"]:
            yield _located(row["question"], corpus.passages[row["doc_id"]], row["answers"], row["article"])


def covidqa(data: Path, corpus: Corpus) -> Iterator[Item]:
    """All questions; an answer that runs over the end of its chunk is left out."""
    for row in read_rows(data / "covidqa" / "dev" / "qa.jsonl"):
        yield _located(row["question"], corpus.passages[row["chunk_ids"][0]], [row["answer"]], row["doc_id"])


def korquad(data: Path, corpus: Corpus) -> Iterator[Item]:
    """All questions; to measure only."""
    for row in read_rows(data / "korquad" / "dev" / "qa.jsonl"):
        yield _located(row["question"], corpus.passages[row["doc_id"]], row["answers"], row["article"])


def clapnq(data: Path, corpus: Corpus) -> Iterator[Item]:
    """The answerable questions; the answer is the sentences that people selected."""
    for row in read_rows(data / "clapnq" / "dev" / "abstain.jsonl"):
        if row["answerable"]:
            (only,) = row["passages"]
            chosen = row.get("selected_sentences") or only["selected_sentences"]
            sentences = [s for each in chosen for s in (each if isinstance(each, list) else [each])]
            yield _located(row["question"], corpus.passages[row["id"]], sentences, only["title"])


def _located(question: str, passage: Passage, answers: Sequence[str], group: str) -> Item:
    spans = tuple(span for answer in sorted(set(answers)) if answer for span in occurrences(passage.text, answer))
    return Item(question, passage, spans, group)


def corpus_of(name: str, data: Path, tokenizer: Tokenizer) -> Corpus:
    """The passages of a set; those of clapnq stand with its questions, answerable or not."""
    if name != "clapnq":
        return Corpus.load(data / name / "corpus.jsonl", tokenizer)
    rows = list(read_rows(data / name / "dev" / "abstain.jsonl"))
    passages = {r["id"]: passage(r["id"], r["passages"][0]["title"], r["passages"][0]["text"]) for r in rows}
    index = Index(tokenizer.tokens(f"{p.title}\n{p.text}") for p in passages.values())
    return Corpus(passages, index, list(passages), tokenizer)


def choices(name: str, items: Sequence[Item], corpus: Corpus, embedder: NamedEmbedder) -> Iterator[Choice]:
    """Two choices per item that has an answer among its pieces: whole passages, and strips."""
    analyzer = TextAnalyzer(corpus.tokenizer, corpus.index.statistics)
    used = None if name == "korquad" else embedder
    grader, refiner = OfflineGrader(analyzer, used), OfflineRefiner(analyzer, used)
    for item in items:
        found = corpus.best(item.question, DEPTH)
        ids = found if item.passage.id in found else [*found[: DEPTH - 1], item.passage.id]
        hits = [Hit(corpus.passages[d], 1 / (60 + rank)) for rank, d in enumerate(ids, 1)]
        whole = [Strip(h.passage, 0, h.passage.end, h.passage.text, 1 / rank) for rank, h in enumerate(hits, 1)]
        strips = refiner.filter(item.question, hits, grader.judge(item.question, hits)).strips
        asked = Asked.of(item.question, analyzer)
        for form, evidence in (("whole", whole), ("strips", strips)):
            choice = _choice(name, form, item, asked, pieces_of(evidence), analyzer, used)
            if choice.right.any():
                yield choice


def _choice(
    name: str,
    form: str,
    item: Item,
    asked: Asked,
    pieces: Sequence[Piece],
    analyzer: TextAnalyzer,
    embedder: NamedEmbedder | None,
) -> Choice:
    labels = [_label(item, piece) for piece in pieces]
    rows: list[dict[str, float]] = signals(asked, pieces, analyzer)
    if embedder and pieces:
        vectors = embedder.embed([item.question, *(piece.text[:600] for piece in pieces)])
        rows = [{**row, "cosine": float(c)} for row, c in zip(rows, vectors[1:] @ vectors[0], strict=True)]
    clear = [at for at, label in enumerate(labels) if label is not None]
    x = np.array([[rows[at][signal] for signal in SIGNALS] for at in clear]).reshape(len(clear), len(SIGNALS))
    right = np.array([bool(labels[at]) for at in clear], dtype=bool)
    words = np.array([len(pieces[at].text.split()) for at in clear], dtype=np.int64)
    return Choice(name, form, zlib.crc32(item.group.encode()) % FOLDS, x, right, words)


def _label(item: Item, piece: Piece) -> bool | None:
    """Whether the piece answers; None when nobody knows."""
    if piece.strip.passage.id != item.passage.id:
        texts = [item.passage.text[start:end].casefold() for start, end in item.answers]
        return None if any(len(t) >= LEAST_ANSWER and t in piece.text.casefold() for t in texts) else False
    span = (piece.start, piece.end)
    return any(max(held_share(span, answer), held_share(answer, span)) >= 0.5 for answer in item.answers)


def fit(found: Sequence[Choice], names: Sequence[str]) -> Array:
    """Weights by ``names``; those whose sign is not the wanted one become 0 and the rest are fitted again."""
    columns = np.array([SIGNALS.index(name) for name in names])
    wanted = np.array([SIGNS[name] for name in names])
    kept = np.arange(len(names))
    while True:
        weights = conditional_logit(found, columns[kept])
        right = weights * wanted[kept] >= 0
        if right.all():
            full = np.zeros(len(names))
            full[kept] = weights
            return full
        kept = kept[right]


def conditional_logit(found: Sequence[Choice], columns: NDArray[np.int64]) -> Array:
    """Newton's method; every set counts the same, right pieces of one question share its weight."""
    counts = {name: sum(choice.dataset == name for choice in found) for name in {c.dataset for c in found}}
    mass = np.array([1_000 / counts[choice.dataset] for choice in found])
    x = np.vstack([choice.x[:, columns] for choice in found])
    target = np.concatenate([choice.right / choice.right.sum() for choice in found])
    starts = np.cumsum([0, *(len(choice.right) for choice in found[:-1])])
    of = np.repeat(np.arange(len(found)), [len(choice.right) for choice in found])
    weights = np.zeros(len(columns))
    for _ in range(ROUNDS):
        score = x @ weights
        odds = np.exp(score - np.maximum.reduceat(score, starts)[of])
        chance = odds / np.add.reduceat(odds, starts)[of]
        gradient = x.T @ (mass[of] * (chance - target)) + RIDGE * weights
        mean = np.add.reduceat(x * chance[:, None], starts)
        spread = (x * (mass[of] * chance)[:, None]).T @ x - (mean * mass[:, None]).T @ mean
        step = np.linalg.solve(spread + RIDGE * np.eye(len(columns)), gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def measured(found: Sequence[Choice], names: Sequence[str]) -> dict[str, dict[str, float]]:
    """How often a right piece comes first, and among the first two, by set and form; held out."""
    columns = [SIGNALS.index(name) for name in names]
    train = [choice for choice in found if choice.dataset in TRAINED_ON]
    by_fold = [fit([choice for choice in train if choice.fold != fold], names) for fold in range(FOLDS)]
    ranks: dict[str, list[int]] = {}
    for choice in found:
        order = np.argsort(-(choice.x[:, columns] @ by_fold[choice.fold]), kind="stable")
        ranks.setdefault(f"{choice.dataset}/{choice.form}", []).append(int(np.argmax(choice.right[order])))
    return {
        name: {
            "questions": len(of_set),
            "first": round(float(np.mean(np.array(of_set) == 0)), 3),
            "first_two": round(float(np.mean(np.array(of_set) < 2)), 3),
        }
        for name, of_set in sorted(ranks.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    arguments = parser.parse_args()
    from selfright.llm.minilm import MiniLM
    from selfright.retrieval.tokenizer import BilingualTokenizer

    data, tokenizer = arguments.data, BilingualTokenizer()
    embedder = NamedEmbedder(MiniLM(), arguments.cache / "selection")
    found: list[Choice] = []
    for read in (squad2, covidqa, clapnq, korquad):
        name = read.__name__
        corpus = corpus_of(name, data, tokenizer)
        items = [item for item in read(data, corpus) if item.answers]
        random.Random(7).shuffle(items)
        found += choices(name, items[: LIMITS[name]], corpus, embedder)
    embedder.save()
    train = [choice for choice in found if choice.dataset in TRAINED_ON]
    model = {
        "about": "which sentences of the evidence answer; see training/fit_selection.py",
        "trained_on": list(TRAINED_ON),
        "embedder": embedder.name,
        "lexical": _by_name(LEXICAL, fit(train, LEXICAL)),
        "semantic": _by_name(SIGNALS, fit(train, SIGNALS)),
        "measured": {"lexical": measured(found, LEXICAL), "semantic": measured(train, SIGNALS)},
    }
    arguments.out.write_text(json.dumps(model, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(model, indent=1))


def _by_name(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True) if weight}


if __name__ == "__main__":
    main()
