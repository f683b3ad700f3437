"""The labelled sets as one form: a question, and passages of which each helps to answer it or does not.

``--data`` names a folder with one sub-folder per set, in BEIR layout where there is a corpus. Candidates are what BM25
brings for the question, so that negatives are of the kind a grader meets.
"""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from selfright.domain.passages import Passage
from selfright.domain.ports import TermStatistics, Tokenizer
from selfright.domain.text import language_of
from training.bm25 import Index, Statistics

DEPTH = 8


@dataclass(frozen=True)
class Candidate:
    """A passage offered for a question: 1 helps, 0 does not; ``kind`` says where it comes from."""

    passage: Passage
    label: int
    kind: str


@dataclass(frozen=True)
class Case:
    """A question with its candidates; ``group`` never straddles folds; ``statistics`` are those of its corpus."""

    dataset: str
    id: str
    question: str
    group: str
    candidates: tuple[Candidate, ...]
    statistics: TermStatistics = field(repr=False)

    @property
    def fold(self) -> int:
        """0…4, the same for all of a group."""
        return zlib.crc32(self.group.encode()) % 5


@dataclass
class Corpus:
    """Passages with a BM25 index over title and text."""

    passages: dict[str, Passage]
    index: Index
    ids: list[str]
    tokenizer: Tokenizer

    @classmethod
    def load(cls, path: Path, tokenizer: Tokenizer) -> "Corpus":
        """Reads ``corpus.jsonl``."""
        rows = list(read_rows(path))
        passages = {row["_id"]: passage(row["_id"], row.get("title", ""), row["text"]) for row in rows}
        index = Index(tokenizer.tokens(f"{p.title}\n{p.text}") for p in passages.values())
        return cls(passages, index, list(passages), tokenizer)

    def best(self, question: str, k: int = DEPTH) -> list[str]:
        """Ids of the ``k`` best passages."""
        return [self.ids[i] for i in self.index.best(self.tokenizer.tokens(question), k)]


def passage(name: str, title: str, text: str) -> Passage:
    """A passage that is its whole document."""
    return Passage(name, name, title, text, 0, len(text), language=language_of(text))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _qrels(path: Path) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, document, score = line.split("\t")
            if int(score) > 0:
                relevant[query].add(document)
    return relevant


def _cases(
    name: str,
    corpus: Corpus,
    questions: Sequence[tuple[str, str, str]],
    relevant: dict[str, set[str]],
    is_doubtful: Callable[[str, Passage], bool] = lambda _id, _passage: False,
) -> Iterator[Case]:
    """``questions`` are (id, text, group). A doubtful passage is one whose label nobody knows; it is left out."""
    for query, text, group in questions:
        found = corpus.best(text)
        candidates = [
            Candidate(corpus.passages[d], int(d in relevant[query]), "retrieved" if d in found else "positive")
            for d in dict.fromkeys([*found, *sorted(relevant[query])[:3]])
            if d in relevant[query] or not is_doubtful(query, corpus.passages[d])
        ]
        yield Case(name, query, text, f"{name}/{group}", tuple(candidates), corpus.index.statistics)


def _beir(name: str, folder: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    corpus = Corpus.load(folder / "corpus.jsonl", tokenizer)
    relevant = _qrels(folder / "dev" / "qrels.tsv")
    queries = [
        (row["_id"], row["text"]) for row in read_rows(folder / "dev" / "queries.jsonl") if row["_id"] in relevant
    ]
    questions = [(query, text, min(relevant[query])) for query, text in queries[:limit]]
    yield from _cases(name, corpus, questions, relevant)


def squad2(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Answerable and unanswerable questions, grouped by article; the own paragraph has kind ``own``."""
    corpus = Corpus.load(data / "squad2" / "corpus.jsonl", tokenizer)
    rows = list(read_rows(data / "squad2" / "dev" / "abstain.jsonl"))[:limit]
    for row in rows:
        answers = {answer.lower() for answer in row["answers"]}
        own = Candidate(corpus.passages[row["doc_id"]], int(row["answerable"]), "own")
        others = [
            Candidate(corpus.passages[d], 0, "retrieved")
            for d in corpus.best(row["question"])
            if d != row["doc_id"] and not any(answer in corpus.passages[d].text.lower() for answer in answers)
        ]
        group = f"squad2/{row['article']}"
        yield Case("squad2", row["id"], row["question"], group, (own, *others), corpus.index.statistics)


def covidqa(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Questions on whole articles cut into chunks; a chunk that holds the answer's words elsewhere is left out."""
    corpus = Corpus.load(data / "covidqa" / "corpus.jsonl", tokenizer)
    relevant = _qrels(data / "covidqa" / "dev" / "qrels.tsv")
    rows = [row for row in read_rows(data / "covidqa" / "dev" / "qa.jsonl") if row["id"] in relevant][:limit]
    answers = {row["id"]: row["answer"].lower() for row in rows}

    def is_doubtful(query: str, candidate: Passage) -> bool:
        return answers[query] in candidate.text.lower()

    yield from _cases("covidqa", corpus, [(r["id"], r["question"], r["doc_id"]) for r in rows], relevant, is_doubtful)


def medquad(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Template questions of MedQuAD, grouped by what they are about."""
    folder = data / "medquad_liveqa"
    corpus = Corpus.load(folder / "corpus.jsonl", tokenizer)
    relevant = _qrels(folder / "dev" / "qrels.tsv")
    rows = [row for row in read_rows(folder / "dev" / "template_meta.jsonl") if row["_id"] in relevant][:limit]
    yield from _cases("medquad", corpus, [(r["_id"], r["text"], r["focus"]) for r in rows], relevant)


def pubmedqa(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Titles asked of abstracts."""
    yield from _beir("pubmedqa", data / "pubmedqa", tokenizer, limit)


def bioasq(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Expert questions; to measure only. Negatives are the set's own, for many relevant passages are unlabelled."""
    yield from _listed_pairs("bioasq", data / "bioasq", tokenizer, limit)


def korquad(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Korean questions; to measure only."""
    yield from _listed_pairs("korquad", data / "korquad", tokenizer, limit)


def covidqa_pairs(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """The pairs that come with covidqa, in the folds of ``covidqa``."""
    documents = {row["id"]: row["doc_id"] for row in read_rows(data / "covidqa" / "dev" / "qa.jsonl")}
    for case in _listed_pairs("covidqa_pairs", data / "covidqa", tokenizer, limit):
        yield replace(case, group=f"covidqa/{documents[case.id]}")


def pubmedqa_pairs(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """The pairs that come with pubmedqa, in the folds of ``pubmedqa``."""
    for case in _listed_pairs("pubmedqa_pairs", data / "pubmedqa", tokenizer, limit):
        yield replace(case, group=f"pubmedqa/{case.id}")


def liveqa(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Patients' questions in summary, answers graded by people; to measure only. Conflicting grades are left out."""
    folder = data / "medquad_liveqa"
    corpus = Corpus.load(folder / "corpus.jsonl", tokenizer)
    pairs = defaultdict(list)
    for row in read_rows(folder / "dev" / "liveqa_grader_pairs.jsonl"):
        if not row["label_conflict"]:
            pairs[row["query_summary"]].append(Candidate(corpus.passages[row["doc_id"]], row["label"], row["neg_type"]))
    for query in list(pairs)[:limit]:
        yield Case("liveqa", query, query, f"liveqa/{query}", tuple(pairs[query]), corpus.index.statistics)


def _listed_pairs(name: str, folder: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    corpus = Corpus.load(folder / "corpus.jsonl", tokenizer)
    pairs = defaultdict(list)
    for row in read_rows(folder / "dev" / "grader_pairs.jsonl"):
        pairs[row["query_id"]].append(Candidate(corpus.passages[row["doc_id"]], row["label"], row["neg_type"]))
    texts = {row["_id"]: row["text"] for row in read_rows(folder / "dev" / "queries.jsonl")}
    for query in list(pairs)[:limit]:
        yield Case(name, query, texts[query], f"{name}/{query}", tuple(pairs[query]), corpus.index.statistics)


def belebele_ko(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Korean questions on Korean passages."""
    yield from _beir("belebele_ko", data / "belebele_ko_en" / "ko", tokenizer, limit)


def belebele_en(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """English questions on English passages."""
    yield from _beir("belebele_en", data / "belebele_ko_en" / "en", tokenizer, limit)


def belebele_cross(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Questions on passages in the other language: the right one, and those BM25 brings for the question in theirs."""
    folder = data / "belebele_ko_en"
    for shown, asked in (("en", "ko"), ("ko", "en")):
        texts = {row["_id"]: row["text"] for row in read_rows(folder / asked / "dev" / "queries.jsonl")}
        for case in _beir("belebele_cross", folder / shown, tokenizer, limit):
            group = case.group.replace("belebele_cross", "belebele")
            yield replace(case, id=f"{asked}/{case.id}", question=texts[case.id], group=group)


def clapnq(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """One passage per question, half of them from the right article but without an answer."""
    rows = list(read_rows(data / "clapnq" / "dev" / "abstain.jsonl"))
    passages = [passage(r["id"], r["passages"][0]["title"], r["passages"][0]["text"]) for r in rows]
    statistics: Statistics = Index(tokenizer.tokens(f"{p.title}\n{p.text}") for p in passages).statistics
    for row, only in list(zip(rows, passages, strict=True))[:limit]:
        candidate = Candidate(only, int(row["answerable"]), "own")
        yield Case("clapnq", row["id"], row["question"], f"clapnq/{only.title}", (candidate,), statistics)


def mtrag(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
    """Conversations: only questions that stand alone, by themselves or rewritten."""
    corpus = Corpus.load(data / "mtrag" / "corpus.jsonl", tokenizer)
    relevant = _qrels(data / "mtrag" / "dev" / "qrels.tsv")
    questions = []
    for row in read_rows(data / "mtrag" / "dev" / "queries.jsonl"):
        meta = row.get("metadata", {})
        text = meta.get("rewrite") or (row["text"] if not meta.get("history_user_turns") else "")
        if text and row["_id"] in relevant:
            questions.append((row["_id"], text, row["_id"].split("<::>")[0]))
    yield from _cases("mtrag", corpus, questions[:limit], relevant)


def pairs_of(name: str) -> Callable[[Path, Tokenizer, int], Iterator[Case]]:
    """A loader of a set whose ``pairs.jsonl`` holds its passages; idf is that of all of them."""

    def load(data: Path, tokenizer: Tokenizer, limit: int) -> Iterator[Case]:
        (folder,) = (path for path in data.iterdir() if path.name.startswith(name))
        texts: dict[str, Passage] = {}
        asked: dict[str, list[tuple[Any, Passage]]] = defaultdict(list)
        for row in read_rows(folder / "dev" / "pairs.jsonl"):
            text = f"{row['title'] or ''}\n{row['passage']}"
            shown = texts.setdefault(text, passage(row["id"], row["title"] or "", row["passage"]))
            asked[row["query_id"]].append((row, shown))
        statistics = Index(tokenizer.tokens(text) for text in texts).statistics
        for query, rows in list(asked.items())[:limit]:
            rows.sort(key=lambda pair: -pair[0]["label"])
            found = tuple(Candidate(shown, row["label"], row["neg_type"]) for row, shown in rows[:DEPTH])
            group = f"{name}/{rows[0][0]['group']}"
            yield Case(name, query, rows[0][0]["query"], group, found, statistics)

    return load


def with_strangers(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases, and after every fourth its question once more with the passages of the case before: none helps.

    What a search brings is always near; without these the model would never see what far is.
    """
    before: Case | None = None
    for number, case in enumerate(cases):
        yield case
        if before and number % 4 == 3 and len(case.candidates) > 1:
            mine = {candidate.passage.id for candidate in case.candidates}
            others = [Candidate(c.passage, 0, "stranger") for c in before.candidates if c.passage.id not in mine]
            if others:
                yield replace(case, id=f"{case.id}/stranger", candidates=tuple(others))
        before = case


TRAINED_ON = (squad2, covidqa, medquad, pubmedqa, belebele_ko, belebele_en, belebele_cross, clapnq, mtrag)
MEASURED_ON = (bioasq, korquad, liveqa, covidqa_pairs, pubmedqa_pairs)
PAIRS_TRAINED_ON = ("tydiqa_ko_en", "squadshifts_wiki", "selqa", "product_qa", "nq_retrieved", "nomiracl_ko_en")
PAIRS_MEASURED_ON = ("wikiqa_nc", "trivia_retrieved_nc")
