"""Fits ``roles/generate/weights.json``: which sentence of the evidence answers.

    python -m training.fit_selection --data DIR --out src/selfright/roles/generate/weights.json [--network FILE]
        [--words FILE] [--field DIR]

Each question meets the passage that answers it and seven that BM25 brings, once whole and once cut down to strips. A
piece is right when it holds half of an answer's span, or half of it lies in one; pieces of other passages that hold the
answer's words are left out. The model is a conditional logit: among all pieces of a question, a right one comes first.
Trained on squad2, covidqa, clapnq, tydiqa and belebele (across languages), measured on korquad too. Figures are held
out: five folds, split by article or document. What counts on the network that reads pairs is fitted on questions that
it has not learnt from, the words alone on all.
"""

import argparse
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as kept
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.ports import PairJudge, Tokenizer
from selfright.models.files import FOLDER
from selfright.models.reader import PairNet, PairViews
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.extractive_units import Piece, pieces_of
from selfright.roles.generate.signals import LEXICAL, MEANT, READ, SIGNALS, read_signals, signals, surroundings
from selfright.roles.grade.features import Asked
from selfright.roles.grade.networks import answer_spans
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.likeness import Likeness
from selfright.roles.refine import OfflineRefiner
from training import field as field_sets
from training.bm25 import Index
from training.fit_strips import held_share, occurrences
from training.fitting import Array
from training.grader_rows import CachedEmbedder
from training.labelled import DEPTH, Corpus, passage, read_rows
from training.reading_rows import learnt_questions

TRAINED_ON = ("squad2", "covidqa", "clapnq", "tydiqa_ko_en", "belebele_ko_en", "belebele_en_ko")
MOST, MOST_BY_WORDS = 160, 400  # questions of a set: that the network reads, and that it has learnt from
RIDGE = 1.0
ROUNDS = 30
FOLDS = 5
LEAST_ANSWER = 3  # characters; shorter answers occur anywhere
KNOWN = {"lexical": LEXICAL, "read": (*LEXICAL, *READ), "meant": (*LEXICAL, *MEANT), "both": SIGNALS}
SIGNS = dict.fromkeys(SIGNALS, 1) | {"heading": -1, "numbers_missing": -1, "asks": -1, "long": 0, "unread": 0}


@dataclass(frozen=True)
class Item:
    """A question, the passage that answers it and where, in positions of its text."""

    question: str
    passage: Passage
    answers: tuple[tuple[int, int], ...]
    group: str
    searched: str = ""  # what finds passages like it by words, where the question itself does not


@dataclass(frozen=True)
class Choice:
    """All pieces of one question: signals, whether right, words; ``form`` is ``whole`` or ``strips``."""

    dataset: str
    form: str
    fold: int
    x: Array
    right: NDArray[np.bool_]
    words: NDArray[np.int64]
    was_read: bool


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


def tydiqa_ko_en(data: Path, corpus: Corpus) -> Iterator[Item]:
    """The questions whose answer stands in a passage."""
    for row in read_rows(data / "tydiqa_ko_en" / "dev" / "pairs.jsonl"):
        if row["label"]:
            yield _located(row["query"], corpus.passages[row["id"]], row["answers"], row["group"])


def belebele(asked: str, shown: str, data: Path, corpus: Corpus) -> Iterator[Item]:
    """Questions in one language on passages in the other: the sentence answers that has the most of the answer's words,
    and of the question's, as both read in the passage's language; left out where it has less than 60 % of the answer's.
    """
    rows: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in read_rows(data / "belebele_ko_en" / "dev" / "grounded.jsonl"):
        if row["label"] == 1 and not row["negated_question"]:
            rows.setdefault(row["qid"], {})[row["lang"]] = row

    def words(text: str) -> set[str]:
        return set(corpus.tokenizer.tokens(text))

    for both in rows.values():
        if len(both) == 2 and (shown_passage := corpus.passages.get(both[shown]["doc_id"])):
            answer, question = words(both[shown]["answer"]), words(both[shown]["question"])
            held = [(piece, words(piece.text)) for piece in pieces_of([_whole(shown_passage, 1)])]
            best, has = max(held, key=lambda one: 2 * len(answer & one[1]) + len((question - answer) & one[1]))
            if answer and len(answer & has) >= max(1, 0.6 * len(answer)):
                span, group = ((best.start, best.end),), shown_passage.document_id
                yield Item(both[asked]["question"], shown_passage, span, group, both[shown]["question"])


def _whole(passage: Passage, rank: int) -> Strip:
    return Strip(passage, passage.start, passage.end, passage.text, 1 / rank)


def _located(question: str, passage: Passage, answers: Sequence[str], group: str) -> Item:
    spans = tuple(span for answer in sorted(set(answers)) if answer for span in occurrences(passage.text, answer))
    return Item(question, passage, spans, group)


def corpus_of(name: str, data: Path, tokenizer: Tokenizer) -> Corpus:
    """The passages of a set; those of clapnq and tydiqa stand with their questions, answerable or not."""
    if name == "clapnq":
        rows = list(read_rows(data / name / "dev" / "abstain.jsonl"))
        passages = {r["id"]: passage(r["id"], r["passages"][0]["title"], r["passages"][0]["text"]) for r in rows}
    elif name.startswith("belebele"):
        return Corpus.load(data / "belebele_ko_en" / name[-2:] / "corpus.jsonl", tokenizer)
    elif name == "tydiqa_ko_en":
        rows = list(read_rows(data / name / "dev" / "pairs.jsonl"))
        passages = {r["id"]: passage(r["id"], r["title"] or "", r["passage"]) for r in rows}
    else:
        return Corpus.load(data / name / "corpus.jsonl", tokenizer)
    index = Index(tokenizer.tokens(f"{p.title}\n{p.text}") for p in passages.values())
    return Corpus(passages, index, list(passages), tokenizer)


def choices(
    name: str, items: Sequence[Item], corpus: Corpus, reader: PairJudge | None, likeness: Likeness
) -> Iterator[Choice]:
    """Two choices per item that has an answer among its pieces: whole passages, and strips."""
    analyzer = TextAnalyzer(corpus.tokenizer, corpus.index.statistics)
    grader, refiner = OfflineGrader(analyzer, reader=reader), OfflineRefiner(analyzer, reader=reader)
    for item in items:
        found = corpus.best(item.searched or item.question, DEPTH)
        ids = found if item.passage.id in found else [*found[: DEPTH - 1], item.passage.id]
        hits = [Hit(corpus.passages[d], 1 / (60 + rank)) for rank, d in enumerate(ids, 1)]
        roles = Roles(analyzer, grader, refiner, reader, likeness)
        yield from roles.choices(name, item.question, hits, partial(_label, item), item.group)


def field_choices(name: str, documents: Path, cache: Path, reader: PairJudge, likeness: Likeness) -> Iterator[Choice]:
    """The same of a field set's questions, over what a search brings."""
    tokenizer = shared_tokenizer()
    for question, hits, statistics in field_sets.asked(name, documents, cache):
        analyzer = TextAnalyzer(tokenizer, statistics)
        grader, refiner = OfflineGrader(analyzer, reader=reader), OfflineRefiner(analyzer, reader=reader)

        def label(piece: Piece, question: Mapping[str, Any] = question) -> bool | None:
            known = field_sets.label(question, piece.strip.passage.document_id, piece.text)
            return None if known is None else bool(known)

        roles = Roles(analyzer, grader, refiner, reader, likeness)
        yield from roles.choices(f"field_{name}", question["question"], hits[:DEPTH], label, question["id"])


@dataclass(frozen=True)
class Roles:
    """What makes choices of hits."""

    analyzer: TextAnalyzer
    grader: OfflineGrader
    refiner: OfflineRefiner
    reader: PairJudge | None
    likeness: Likeness

    def choices(
        self, name: str, question: str, hits: Sequence[Hit], label: Callable[[Piece], bool | None], group: str
    ) -> Iterator[Choice]:
        """Whole passages, and strips; where a piece answers."""
        whole = [_whole(hit.passage, rank) for rank, hit in enumerate(hits, 1)]
        strips = self.refiner.filter(question, hits, self.grader.judge(question, hits)).strips
        asked = Asked.of(question, self.analyzer, translated=True)
        for form, evidence in (("whole", whole), ("strips", strips)):
            pieces = pieces_of(evidence)
            choice = _choice(name, form, asked, pieces, [label(piece) for piece in pieces], self, group)
            if choice.right.any():
                yield choice


def _choice(
    name: str, form: str, asked: Asked, pieces: Sequence[Piece], labels: Sequence[bool | None], roles: Roles, group: str
) -> Choice:
    reader, analyzer = roles.reader, roles.analyzer
    passages = {piece.strip.passage.id: piece.strip.passage for piece in pieces}
    read = read_signals(pieces, answer_spans(asked, list(passages.values()), reader))
    like = roles.likeness.cosines(asked.text, [piece.text for piece in pieces]) or []
    around = roles.likeness.cosines(asked.text, surroundings(pieces)) or []
    rows = [
        {**row, **more, "meaning": near, "around": nearby}
        for row, more, near, nearby in zip(signals(asked, pieces, analyzer), read, like, around, strict=True)
    ]
    clear = [at for at, label in enumerate(labels) if label is not None]
    x = np.array([[rows[at][signal] for signal in SIGNALS] for at in clear]).reshape(len(clear), len(SIGNALS))
    right = np.array([bool(labels[at]) for at in clear], dtype=bool)
    words = np.array([len(pieces[at].text.split()) for at in clear], dtype=np.int64)
    return Choice(name, form, zlib.crc32(group.encode()) % FOLDS, x, right, words, reader is not None)


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
    """Newton's method with halved steps; every set counts the same, right pieces of one question share its weight."""
    counts = {name: sum(choice.dataset == name for choice in found) for name in {c.dataset for c in found}}
    mass = np.array([1_000 / counts[choice.dataset] for choice in found])
    x = np.vstack([choice.x[:, columns] for choice in found])
    target = np.concatenate([choice.right / choice.right.sum() for choice in found])
    starts = np.cumsum([0, *(len(choice.right) for choice in found[:-1])])
    of = np.repeat(np.arange(len(found)), [len(choice.right) for choice in found])

    def loss(score: Array, weights: Array) -> float:
        top = np.maximum.reduceat(score, starts)
        total = top + np.log(np.add.reduceat(np.exp(score - top[of]), starts))
        return float(mass @ total - (mass[of] * target) @ score + RIDGE / 2 * (weights @ weights))

    weights = np.zeros(len(columns))
    for _ in range(ROUNDS):
        score = x @ weights
        odds = np.exp(score - np.maximum.reduceat(score, starts)[of])
        chance = odds / np.add.reduceat(odds, starts)[of]
        gradient = x.T @ (mass[of] * (chance - target)) + RIDGE * weights
        mean = np.add.reduceat(x * chance[:, None], starts)
        spread = (x * (mass[of] * chance)[:, None]).T @ x - (mean * mass[:, None]).T @ mean
        step = np.linalg.solve(spread + RIDGE * np.eye(len(columns)), gradient)
        best, size = loss(score, weights), 1.0
        while size > 1e-4 and loss(x @ (weights - size * step), weights - size * step) > best:
            size /= 2  # far from the optimum a whole step may go beyond it, and further each time
        weights = weights - size * step
        if np.abs(size * step).max() < 1e-8:
            break
    return weights


def fit_read(read: Sequence[Choice], all_of_them: Sequence[Choice], names: Sequence[str]) -> Array:
    """Weights of ``names``, with what was read among them: the mean of those fitted on what was read, and of those
    without reading, fitted on all."""
    weights = fit(read, names) / 2
    others = [name for name in names if name not in READ]
    weights[[names.index(name) for name in others]] += fit(all_of_them, others) / 2
    return weights


def measured(
    found: Sequence[Choice], names: Sequence[str], fitted: Callable[[Sequence[Choice]], Array]
) -> dict[str, dict[str, float]]:
    """How often a right piece comes first, and among the first two, by set and form; ``fitted`` fits what it is given,
    which never has the fold that is measured."""
    columns = [SIGNALS.index(name) for name in names]
    by_fold = [fitted([choice for choice in found if choice.fold != fold]) for fold in range(FOLDS)]
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
    parser.add_argument("--network", type=Path, default=FOLDER)
    parser.add_argument("--words", type=Path, help="a file of weights whose scorer by words is kept")
    parser.add_argument("--field", type=Path, help="folder with the documents of the field sets for tuning")
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    arguments = parser.parse_args()
    from selfright.models.encoder import E5

    data, tokenizer = arguments.data, shared_tokenizer()
    embedder = CachedEmbedder(E5(), arguments.cache)
    likeness = Likeness(embedder)
    reader, known = PairViews(PairNet(arguments.network)).questions, learnt_questions(data)
    found: list[Choice] = []
    for name, read in READERS.items():
        corpus = corpus_of(name, data, tokenizer)
        items = [item for item in read(data, corpus) if item.answers]
        random.Random(7).shuffle(items)
        seen = [item for item in items if item.question.strip().lower() in known]
        found += choices(name, seen[:MOST_BY_WORDS], corpus, None, likeness)
        found += choices(name, [item for item in items if item not in seen][:MOST], corpus, reader, likeness)
    for name in field_sets.SETS if arguments.field else ():
        found += field_choices(name, arguments.field, arguments.cache, reader, likeness)
    embedder.save()
    was_read = [choice for choice in found if choice.was_read]

    def fitted(variant: str, some: Sequence[Choice]) -> Array:
        train, names = to_train_on(some), KNOWN[variant]
        if variant in ("lexical", "meant"):
            return fit(train, names)
        return fit_read([choice for choice in train if choice.was_read], train, names)

    words = json.loads(arguments.words.read_text(encoding="utf-8"))["lexical"] if arguments.words else None
    model = {
        "about": "which sentences of the evidence answer; see training/fit_selection.py",
        "trained_on": sorted({choice.dataset for choice in to_train_on(found)}),
        "reader": reader.name,
        "embedder": likeness.name,
        **{variant: _by_name(names, fitted(variant, found)) for variant, names in KNOWN.items()},
        "measured": {variant: measured(was_read, names, partial(fitted, variant)) for variant, names in KNOWN.items()},
    }
    if words:
        model["lexical"] = words
    arguments.out.write_text(json.dumps(model, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(model, indent=1))


READERS: dict[str, Callable[[Path, Corpus], Iterator[Item]]] = {
    "squad2": squad2,
    "covidqa": covidqa,
    "clapnq": clapnq,
    "tydiqa_ko_en": tydiqa_ko_en,
    "belebele_ko_en": partial(belebele, "ko", "en"),
    "belebele_en_ko": partial(belebele, "en", "ko"),
    "korquad": korquad,
}


@kept
def shared_tokenizer() -> Tokenizer:
    """One for all sets, for a Korean one takes a second to load."""
    from selfright.retrieval.tokenizer import BilingualTokenizer

    return BilingualTokenizer()


def to_train_on(found: Sequence[Choice]) -> list[Choice]:
    """The choices of the sets that shape weights."""
    return [choice for choice in found if choice.dataset in TRAINED_ON or choice.dataset.startswith("field_")]


def _by_name(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True) if weight}


if __name__ == "__main__":
    main()
