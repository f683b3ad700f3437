"""Questions on passages for training a reader: which questions a passage answers, and where.

A ``Page`` holds all questions asked of one passage, so that a network may read the passage once for all of them.
Only sets that may shape shipped weights are read here. Where a set says which words answer, the span is kept.
"""

import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Question:
    """A question on a page: ``label`` 1 when the page answers it; ``start``/``end`` of the (plausible) answer or -1."""

    text: str
    label: int
    start: int = -1
    end: int = -1


@dataclass(frozen=True)
class Page:
    """A passage and what is asked of it; ``group`` (an article, a document, a topic) never straddles folds."""

    dataset: str
    group: str
    heading: str
    text: str
    questions: tuple[Question, ...]

    @property
    def fold(self) -> int:
        """0…4, the same for all of a group."""
        return zlib.crc32(self.group.encode()) % 5

    @property
    def left_out(self) -> bool:
        """Whether the group is among the quarter that the reader to be measured does not see."""
        return is_left_out(self.group)


def is_left_out(group: str) -> bool:
    """About a quarter of all groups; not aligned with ``fold``."""
    return zlib.crc32(b"left/" + group.encode()) % 4 == 0


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


def _located(text: str, question: str, label: int, answers: list[str]) -> Question:
    """The question with the first place where one of the answers stands."""
    for answer in answers:
        start = text.find(answer)
        if answer and start >= 0:
            return Question(question, label, start, start + len(answer))
    return Question(question, label)


def _placed(text: str, row: dict[str, Any], offset: int) -> Question:
    """As ``_located``, for an answer that may go beyond the chunk's edges."""
    found = _located(text, row["question"], 1, [row["answer"]])
    start, end = max(0, offset), min(len(text), offset + len(row["answer"]))
    return replace(found, start=start, end=end) if found.start < 0 and start < end else found


def _pages(
    name: str, corpus: Path, asked: dict[str, list[Question]], group: Callable[[dict[str, Any]], str]
) -> Iterator[Page]:
    """Every passage of a corpus, those without a question too: they are negatives and hold synthetic questions."""
    for row in read_rows(corpus):
        questions = tuple(asked.get(row["_id"], ()))
        yield Page(name, f"{name}/{group(row)}", row.get("title", ""), row["text"], questions)


def squad2(data: Path) -> Iterator[Page]:
    """Answerable and unanswerable questions on the same paragraph."""
    folder = data / "squad2"
    texts = {row["_id"]: row["text"] for row in read_rows(folder / "corpus.jsonl")}
    asked: dict[str, list[Question]] = defaultdict(list)
    for row in read_rows(folder / "dev" / "abstain.jsonl"):
        answers = row["answers"] or row["plausible_answers"]
        asked[row["doc_id"]].append(_located(texts[row["doc_id"]], row["question"], int(row["answerable"]), answers))
    yield from _pages("squad2", folder / "corpus.jsonl", asked, lambda row: row["_id"].rsplit("-", 1)[0])


def covidqa(data: Path) -> Iterator[Page]:
    """Chunks of articles; a chunk that holds more than half of the answer answers."""
    folder = data / "covidqa"
    chunks = {row["_id"]: row for row in read_rows(folder / "corpus.jsonl")}
    asked: dict[str, list[Question]] = defaultdict(list)
    for row in read_rows(folder / "dev" / "qa.jsonl"):
        for chunk in row["chunk_ids"]:
            at = chunks[chunk]["metadata"]["start"] if "metadata" in chunks[chunk] else chunks[chunk]["start"]
            asked[chunk].append(_placed(chunks[chunk]["text"], row, row["answer_start"] - at))
    yield from _pages("covidqa", folder / "corpus.jsonl", asked, lambda row: row["_id"].rsplit("-", 1)[0])


def _beir(name: str, folder: Path, group: Callable[[dict[str, Any]], str]) -> Iterator[Page]:
    relevant = _qrels(folder / "dev" / "qrels.tsv")
    asked: dict[str, list[Question]] = defaultdict(list)
    for row in read_rows(folder / "dev" / "queries.jsonl"):
        for document in relevant.get(row["_id"], ()):
            asked[document].append(Question(row["text"], 1))
    yield from _pages(name, folder / "corpus.jsonl", asked, group)


def pubmedqa(data: Path) -> Iterator[Page]:
    """A study's question and its abstract without the conclusion."""
    yield from _beir("pubmedqa", data / "pubmedqa", lambda row: row["_id"])


def medquad(data: Path) -> Iterator[Page]:
    """Aspects of a topic; the other aspects of the same topic are the hard negatives."""
    yield from _beir("medquad", data / "medquad_liveqa", lambda row: row.get("title", row["_id"]))


def belebele(data: Path) -> Iterator[Page]:
    """English reading comprehension."""
    yield from _beir("belebele_en", data / "belebele_ko_en" / "en", lambda row: row["_id"])


def clapnq(data: Path) -> Iterator[Page]:
    """One passage per question; half of the passages are from the right article but do not answer."""
    for row in read_rows(data / "clapnq" / "dev" / "abstain.jsonl"):
        only = row["passages"][0]
        chosen = [sentence for group in row["selected_sentences"] for sentence in group][:1]
        question = _located(only["text"], row["question"], int(row["answerable"]), chosen)
        yield Page("clapnq", f"clapnq/{only['title']}", only["title"], only["text"], (question,))


def mtrag(data: Path) -> Iterator[Page]:
    """Conversations: only questions that stand alone, by themselves or rewritten."""
    folder = data / "mtrag"
    relevant = _qrels(folder / "dev" / "qrels.tsv")
    asked: dict[str, list[Question]] = defaultdict(list)
    for row in read_rows(folder / "dev" / "queries.jsonl"):
        known = row.get("metadata", {})
        text = known.get("rewrite") or ("" if known.get("history_user_turns") else row["text"])
        for document in relevant.get(row["_id"], ()) if text else ():
            asked[document].append(Question(text, 1))
    yield from _pages("mtrag", folder / "corpus.jsonl", asked, lambda row: row["_id"])


def canard(data: Path) -> Iterator[Page]:
    """Interviews on an article: the answers in their order are the page, rewritten questions are asked of it."""
    answers: dict[str, dict[int, str]] = defaultdict(dict)
    asked: dict[str, dict[int, str]] = defaultdict(dict)
    titles: dict[str, str] = {}
    for row in read_rows(data / "canard" / "dev" / "rewrite.jsonl"):
        dialog, turn = row["dialog_id"], (len(row["history"]) - 2) // 2
        titles[dialog] = f"{row['history'][0]}: {row['history'][1]}"
        asked[dialog][turn] = row["rewrite"]
        answers[dialog].update(enumerate(row["history"][3::2]))
    for dialog, said in answers.items():
        kept = {turn: text for turn, text in sorted(said.items()) if "CANNOTANSWER" not in text and len(text) > 25}
        text = " ".join(kept.values())
        questions = []
        for turn, question in asked[dialog].items():
            if turn in kept:
                questions.append(_located(text, question, 1, [kept[turn]]))
            elif "CANNOTANSWER" in said.get(turn, "") or "don't know" in said.get(turn, ""):
                questions.append(Question(question, 0))
        if questions:
            yield Page("canard", f"canard/{titles[dialog].split(':')[0]}", titles[dialog], text, tuple(questions))


SOURCES = (squad2, covidqa, pubmedqa, medquad, belebele, clapnq, mtrag, canard)


def load_pages(data: Path) -> list[Page]:
    """All pages of all sources; doubled questions of a page once."""
    pages = []
    for source in SOURCES:
        for page in source(data):
            unique = {question.text.strip().lower(): question for question in page.questions}
            pages.append(replace(page, questions=tuple(unique.values())))
    return pages


def hashes(data: Path) -> dict[str, str]:
    """File below ``data`` → the first 16 digits of its SHA-256, for every file of the sources."""
    folders = ("squad2", "covidqa", "pubmedqa", "medquad_liveqa", "belebele_ko_en", "clapnq", "mtrag", "canard")
    files = sorted(
        file for folder in folders for file in (data / folder).rglob("*") if file.suffix in (".jsonl", ".tsv")
    )
    return {str(file.relative_to(data)): hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}
