"""Questions over indexes: what the offline judges are fitted on.

Each set is documents and questions on them, which the network that reads pairs has not learnt from: groups that are
left out of its training, and the field sets. Some answers are known to the letter, of others only the passage.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from selfright.domain.passages import Passage
from training import desk
from training.pairs import is_left_out, read_rows

SEED = 5
DESK = 70  # questions of each set of a help desk
FIELD = Path(__file__).parent.parent / "benchmarks" / "field"
FIELD_SETS = ("handbook", "fastapi", "office_ko", "manual_en")
"""Those for tuning; ``privacy`` is never read here."""


@dataclass(frozen=True)
class Question:
    """``answers`` are strings of which the answer has one (of field sets: patterns); none where nothing answers.

    ``gold``: the ids of the documents that answer. ``group`` never straddles folds.
    ``spoken``: the question in the passage's language, where its own differs. ``said``: what answers, to the letter; a
    text with the pattern and little of it may answer or not.
    """

    id: str
    text: str
    group: str
    answers: tuple[str, ...]
    gold: tuple[str, ...] = ()
    known: Literal["span", "sentence", "pattern"] = "span"
    spoken: str = ""
    said: str = ""

    def label(self, passage: Passage) -> int | None:
        """1 for a passage that answers, 0 for one that does not; None where nobody knows."""
        if self.known == "pattern":
            own = passage.document_id in self.gold
            return 0 if not self._matches(passage.text) else 1 if own and self._says(passage.text) else None
        if self.known == "sentence":
            return int(passage.document_id in self.gold)
        text = plain(passage.text)
        has = any(plain(answer) in text for answer in self.answers)
        own = passage.document_id in self.gold
        return (int(has) if own else None if has else 0) if self.answers else 0

    def piece_label(self, text: str, passage: int | None) -> int | None:
        """The same of a sentence or an entry of a passage with the label ``passage``."""
        if self.known == "pattern":
            return 0 if not self._matches(text) else 1 if passage == 1 and self._says(text) else None
        if self.known == "sentence" or not self.answers:
            return 0 if passage == 0 else None
        said = plain(text)
        found = any(answer in said or (len(said) > 25 and said in answer) for answer in map(plain, self.answers))
        return 0 if not found else 1 if passage == 1 else None

    def _matches(self, text: str) -> bool:
        return any(re.search(pattern, text, re.IGNORECASE) for pattern in self.answers)

    def _says(self, text: str) -> bool:
        return not self.said or desk.share_of(self.said, text) >= desk.SHARE


@dataclass(frozen=True)
class AskedSet:
    """``documents``: rows with id, title and text, or a folder. Sets with one ``index`` share their documents."""

    name: str
    index: str
    documents: Sequence[dict[str, str]] | Path = field(repr=False)
    questions: Sequence[Question] = field(repr=False)


def plain(text: str) -> str:
    """In small letters, blanks collapsed."""
    return " ".join(text.split()).casefold()


def asked_sets(data: Path, documents: Path) -> Iterator[AskedSet]:
    """All sets; ``documents`` has a folder for each field set and each desk set that is held back."""
    for name, (most, make) in SETS.items():
        made = make(name, data)
        yield AskedSet(name, made.index, made.documents, _some(made.questions, most))
    for name in FIELD_SETS:
        rows = [json.loads(line) for line in (FIELD / name / "questions.jsonl").open(encoding="utf-8")]
        questions = [
            Question(
                r["id"],
                r["question"],
                f"{name}/{r['id']}",
                tuple(r.get("patterns") or ()),
                tuple(r.get("relevant") or ()),
                "pattern",
            )
            for r in rows
        ]
        yield AskedSet(f"field_{name}", f"field_{name}", documents / name, questions)
    yield from (_of_desk(name, documents) for name in desk.HELD)


def _of_desk(name: str, documents: Path) -> AskedSet:
    questions = [
        Question(
            f"{name}/{number}",
            one.question,
            f"{name}/{one.document}",
            (desk.pattern(one.answer),) if one.answer else (),
            (one.document,) if one.answer else (),
            "pattern",
            said=one.quote,
        )
        for number, one in enumerate(desk.questions_of(name, documents))
    ]
    return AskedSet(f"field_{name}", f"field_{name}", documents / name, _some(questions, DESK))


def _some(questions: Sequence[Question], most: int) -> Sequence[Question]:
    shuffled = list(questions)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[:most]


def _squad2(name: str, data: Path) -> AskedSet:
    documents = [_document(r["_id"], r.get("title", ""), r["text"]) for r in read_rows(data / name / "corpus.jsonl")]
    questions = [
        Question(r["id"], r["question"], f"squad2/{r['article']}", tuple(r["answers"]), (r["doc_id"],))
        if r["answerable"]
        else Question(r["id"], r["question"], f"squad2/{r['article']}", ())
        for r in read_rows(data / name / "dev" / "abstain.jsonl")
        if is_left_out(f"squad2/{r['article']}")
    ]
    return AskedSet(name, name, documents, questions)


def _of_pairs(folder: str, language: str, name: str, data: Path) -> AskedSet:
    rows = [r for r in read_rows(data / folder / "dev" / "pairs.jsonl") if is_left_out(f"{folder}/{r['group']}")]
    ids = {(r["title"] or "", r["passage"]): str(r["id"]) for r in rows}
    by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.get("lang", language) == language:
            by_question[row["query_id"]].append(row)
    questions = []
    for key, own in by_question.items():
        right = [r for r in own if r["label"]]
        answers = tuple(a for r in right for a in r["answers"] or () if a)
        gold = tuple(ids[r["title"] or "", r["passage"]] for r in right)
        if answers or not right:
            questions.append(Question(key, own[0]["query"], f"{folder}/{own[0]['group']}", answers, gold))
    documents = [_document(key, title, text) for (title, text), key in ids.items()]
    return AskedSet(name, folder, documents, questions)


def _covidqa(name: str, data: Path) -> AskedSet:
    rows = [
        r for r in read_rows(data / name / "dev" / "qa.jsonl") if is_left_out(f"covidqa/{r['doc_id']}") and r["answer"]
    ]
    ids = {str(r["doc_id"]) for r in rows}
    documents = [
        _document(str(r["_id"]), r.get("title", ""), r["text"])
        for r in read_rows(data / name / "documents.jsonl")
        if str(r["_id"]) in ids
    ]
    questions = [
        Question(str(r["id"]), r["question"], f"covidqa/{r['doc_id']}", (r["answer"],), (str(r["doc_id"]),))
        for r in rows
    ]
    return AskedSet(name, name, documents, questions)


def _belebele(asked: str, shown: str, name: str, data: Path) -> AskedSet:
    folder = data / "belebele_ko_en"
    documents = [_document(r["_id"], r.get("title", ""), r["text"]) for r in read_rows(folder / shown / "corpus.jsonl")]
    both: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in read_rows(folder / "dev" / "grounded.jsonl"):
        if row["label"] == 1 and not row["negated_question"]:
            both[row["qid"]][row["lang"]] = row
    questions = []
    for key, rows in both.items():
        if len(rows) == 2 and is_left_out(group := f"belebele_en/{rows[shown]['doc_id']}"):
            own, said = rows[shown], rows[asked]["question"]
            answers, gold = (own["answer"],), (own["doc_id"],)
            questions.append(Question(key, said, group, answers, gold, "sentence", own["question"]))
    return AskedSet(name, f"belebele_{shown}", documents, questions)


def _document(name: str, title: str, text: str) -> dict[str, str]:
    return {"id": name, "title": title or "", "text": text}


SETS: dict[str, tuple[int, Callable[[str, Path], AskedSet]]] = {
    "squad2": (160, _squad2),
    "tydiqa_ko": (90, partial(_of_pairs, "tydiqa_ko_en", "ko")),
    "tydiqa_en": (90, partial(_of_pairs, "tydiqa_ko_en", "en")),
    "squadshifts": (60, partial(_of_pairs, "squadshifts_wiki", "en")),
    "covidqa": (60, _covidqa),
    **{
        f"belebele_{asked}_{shown}": (45, partial(_belebele, asked, shown))
        for asked in ("ko", "en")
        for shown in ("ko", "en")
    },
}
