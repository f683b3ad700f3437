"""What the network that reads pairs learns from: questions and claims, each beside a passage, from the sets allowed.

``--data`` names a folder with one sub-folder per set. A quarter of all groups (``is_left_out``) is never learnt from:
what counts on the network is fitted there, and its figures are measured there.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from selfright.domain.passages import Passage
from selfright.domain.ports import Tokenizer
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.reading import WINDOWS, QuestionFeatures, Sentences
from training.bm25 import Index
from training.pairs import Page, Question, is_left_out, load_pages, read_rows

SUPPORTED, CONTRADICTED, NEITHER, NOT_SUPPORTED = range(4)
"""What a passage says of a claim; the last is said of sets that do not tell the two before it apart."""
NEAR = 4
STRANGERS = 0.06  # how often a question is also seen on any page of its set


@dataclass(frozen=True, slots=True)
class Row:
    """A question or a claim beside what is shown of a passage.

    ``label``: of a question 1 when the passage answers it, else 0; of a claim one of the four above. ``about``: whether
    the passage is about the thing, -1 where nobody knows. ``start``, ``end``: characters of ``text`` that answer, or
    -1.
    """

    is_claim: bool
    dataset: str
    group: str
    asked: str
    heading: str
    text: str
    label: int
    about: int = -1
    start: int = -1
    end: int = -1

    @property
    def left_out(self) -> bool:
        """Whether the row is kept for fitting and measuring."""
        return is_left_out(self.group)


class Windows:
    """Shows of a passage what the grader shows: the sentences in a row that hold the most of what is asked."""

    def __init__(self, texts: Iterable[str], tokenizer: Tokenizer, chooser: random.Random) -> None:
        self._analyzer = TextAnalyzer(tokenizer, Index(tokenizer.tokens(text) for text in texts).statistics)
        self._random = chooser

    def shown(self, row: Row, *, moved: bool = True) -> Row:
        """The row cut to a window; ``moved`` to one that holds the answer where the grader's would miss it."""
        language = language_of(row.text)
        most = WINDOWS[language]
        if len(row.text) <= most:
            return row
        passage = Passage("", "", row.heading, row.text, 0, len(row.text), language=language)
        asked = QuestionFeatures.of(row.asked, self._analyzer)
        read = Sentences.of(asked, passage)
        if not row.text.startswith(read.text):  # something that no reader sees was taken out: places would be off
            row = replace(row, text=read.text, start=-1, end=-1)
        start, end = read.window(asked, most)
        if moved and row.start >= 0 and not start <= row.start < row.end <= end:
            start = max(0, row.start - self._random.randrange(most // 5, most * 4 // 5))
            start = row.text.rfind(" ", 0, start) + 1
            end = max(row.end, min(len(row.text), start + most))
        inside = start <= row.start < row.end <= end
        first, last = (row.start - start, row.end - start) if inside else (-1, -1)
        return replace(row, text=row.text[start:end], start=first, end=last)


# How often the questions of a set of pages are seen, and how often each time on a page near their own.
PAGES = {
    "squad2": (3.0, 0.2),
    "covidqa": (2.0, 1.0),
    "canard": (1.0, 0.0),
    "clapnq": (2.0, 0.0),
    "belebele_en": (1.0, 1.0),
    "belebele_ko": (2.0, 1.0),
    "belebele_ko→en": (2.0, 1.0),
    "belebele_en→ko": (1.0, 1.0),
    "medquad": (0.5, 1.0),
    "mtrag": (1.0, 1.0),
    "pubmedqa": (1.0, 1.0),
}
# How often rows of a set of pairs are seen, by (answers, does not).
PAIRS = {
    "tydiqa_ko_en": (1.0, 1.0),
    "squadshifts_wiki": (1.0, 0.6),
    "selqa": (1.5, 0.25),
    "product_qa": (0.7, 0.35),
    "nq_retrieved": (1.0, 1.0),
    "nomiracl_ko_en": (0.0, 1.0),
}
CLAIMS = {
    "klue_nli": 2.0,
    "fm2": 1.0,
    "check_covid": 1.5,
    "fever_symmetric": 1.5,
    "expertqa": 1.0,
    "kobest_boolq": 1.0,
    "strategyqa_facts": 0.3,
    "tydiqa_ko_en": 0.5,
    "squadshifts_wiki": 0.7,
    "product_qa": 0.4,
    "belebele_ko_en": 0.5,
    "summedits": 2.0,
}
_SAID = {
    **dict.fromkeys(("SUPPORTS", "SUPPORT", "entailment", "Complete"), SUPPORTED),
    **dict.fromkeys(("REFUTES", "REFUTE", "contradiction", "wrong_number"), CONTRADICTED),
    **dict.fromkeys(("NOTENOUGHINFO", "neutral", "irrelevant_passage"), NEITHER),
    **dict.fromkeys(("other_passage_bm25", "other_passage_same_article"), NEITHER),
}
_ABOUT = {"positive": 1, "same_section": 1, "same_product": 1}
_REVIEWS = ("airbnb", "NSMC")  # of klue_nli: not what anyone asks documents


def asked_rows(data: Path, tokenizer: Tokenizer, seed: int, *, left_out: bool = False) -> Iterator[Row]:
    """Rows of questions to learn from, drawn as often as the tables say, or all those ``left_out`` once."""
    chooser = random.Random(seed)
    for name, pages in pages_by_set(data).items():
        yield from _of_pages(pages, PAGES[name], tokenizer, chooser, left_out=left_out)
    for name, often in PAIRS.items():
        rows = [of_pair(name, row) for row in read_rows(data / name / "dev" / "pairs.jsonl")]
        windows = Windows({row.text: 0 for row in rows}, tokenizer, chooser)
        for row in rows:
            if row.left_out == left_out:
                for _ in range(1 if left_out else _times(often[1 - row.label], chooser)):
                    yield windows.shown(row)


def claimed_rows(data: Path, tokenizer: Tokenizer, seed: int, *, left_out: bool = False) -> Iterator[Row]:
    """Rows of claims, drawn as ``asked_rows`` does."""
    chooser = random.Random(seed)
    for name, often in CLAIMS.items():
        rows = [row for row in claims_of(data, name) if row.text]
        windows = Windows({row.text: 0 for row in rows}, tokenizer, chooser)
        for row in rows:
            if row.left_out == left_out:
                for _ in range(1 if left_out else _times(often, chooser)):
                    yield windows.shown(row)


def learnt_questions(data: Path) -> set[str]:
    """The questions (lower case) of all groups that are not left out."""
    pages = (page for pages in pages_by_set(data).values() for page in pages if not page.left_out)
    found = {question.text.strip().lower() for page in pages for question in page.questions}
    for name in PAIRS:
        rows = read_rows(data / name / "dev" / "pairs.jsonl")
        found |= {row["query"].strip().lower() for row in rows if not is_left_out(f"{name}/{row['group']}")}
    return found


def _times(often: float, chooser: random.Random) -> int:
    return int(often) + (chooser.random() < often % 1)


def pages_by_set(data: Path) -> dict[str, list[Page]]:
    """The pages of all sets of questions, by the set's name."""
    pages: dict[str, list[Page]] = defaultdict(list)
    for page in load_pages(data):
        pages[page.dataset].append(page)
    for asked, shown in (("ko", "ko"), ("ko", "en"), ("en", "ko")):
        name = "belebele_ko" if asked == shown else f"belebele_{asked}→{shown}"
        pages[name] = list(_belebele(data / "belebele_ko_en", name, asked, shown))
    return pages


def _belebele(folder: Path, name: str, asked: str, shown: str) -> Iterator[Page]:
    questions = {row["_id"]: row["text"] for row in read_rows(folder / asked / "dev" / "queries.jsonl")}
    of_page: dict[str, list[Question]] = defaultdict(list)
    for line in (folder / shown / "dev" / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0 and query in questions:
            of_page[document].append(Question(questions[query], 1))
    for row in read_rows(folder / shown / "corpus.jsonl"):
        group = f"belebele_en/{row['_id']}"  # one group in both languages
        yield Page(name, group, row.get("title", ""), row["text"], tuple(of_page.get(row["_id"], ())))


def _of_pages(
    pages: Sequence[Page], often: tuple[float, float], tokenizer: Tokenizer, chooser: random.Random, *, left_out: bool
) -> Iterator[Row]:
    copies, others = (1.0, 1.0) if left_out else often
    near = Index(tokenizer.tokens(f"{page.heading} {page.text}") for page in pages)
    windows = Windows((f"{page.heading}\n{page.text}" for page in pages), tokenizer, chooser)
    for page in pages:
        for question in page.questions if page.left_out == left_out else ():
            for _ in range(_times(copies, chooser)):
                yield windows.shown(on_page(page, question))
                if chooser.random() < others:
                    other = _near(page, question, pages, partial(near.best, k=NEAR + 2), tokenizer, chooser)
                    if other:
                        yield windows.shown(on_page(other, Question(question.text, 0), about=-1))
                if chooser.random() < STRANGERS and not left_out:
                    other = chooser.choice(pages)
                    if other.group != page.group and other.left_out == page.left_out:
                        yield windows.shown(on_page(other, Question(question.text, 0), about=0))


def _near(
    page: Page,
    question: Question,
    pages: Sequence[Page],
    best: Callable[[Sequence[str]], list[int]],
    tokenizer: Tokenizer,
    chooser: random.Random,
) -> Page | None:
    """A page that the question's words bring, or those of its own page, and that does not hold its answer."""
    answer = page.text[question.start : question.end].lower() if question.start >= 0 else ""
    crosses = language_of(question.text) != language_of(page.text)
    found = best(tokenizer.tokens(page.text if crosses else question.text))
    fitting = [
        other
        for other in (pages[number] for number in found)
        if other is not page
        and not (answer and answer in other.text.lower())
        and all(known.text != question.text for known in other.questions)
        and is_left_out(other.group) == is_left_out(page.group)
    ]
    return chooser.choice(fitting[:NEAR]) if fitting else None


def on_page(page: Page, question: Question, about: int = 1) -> Row:
    """A question beside a page."""
    return Row(
        False,
        page.dataset,
        page.group,
        question.text,
        page.heading,
        page.text,
        question.label,
        about,
        question.start if question.label else -1,
        question.end if question.label else -1,
    )


def of_pair(name: str, row: dict[str, Any]) -> Row:
    """A row of a set of pairs."""
    start, end = -1, -1
    for answer in row.get("answers") or () if row["label"] else ():
        start = row["passage"].find(answer)
        if answer and start >= 0:
            end = start + len(answer)
            break
    about = _ABOUT.get(row["neg_type"], -1)
    group = f"{name}/{row['group']}"
    return Row(False, name, group, row["query"], row["title"] or "", row["passage"], row["label"], about, start, end)


def claims_of(data: Path, name: str) -> Iterator[Row]:
    """The rows of a set of claims, with the whole text beside them."""
    folder = data / name
    documents: dict[str, str] = {}
    if name == "summedits":
        documents = {row["doc_id"]: row.get("doc") or row["text"] for row in read_rows(folder / "docs.jsonl")}
    if name == "belebele_ko_en":
        for language in ("ko", "en"):
            for row in read_rows(folder / language / "corpus.jsonl"):
                documents[f"{language}:{row['_id']}"] = row["text"]
    for row in read_rows(folder / "dev" / "grounded.jsonl"):
        if row.get("domain") in _REVIEWS or row.get("negated_question"):
            continue
        key = row.get("doc_id", "")
        context = row.get("context") or documents.get(f"{row.get('lang', '')}:{key}") or documents.get(key) or ""
        said = _SAID.get(row.get("label_raw") or "", SUPPORTED if row["label"] else NOT_SUPPORTED)
        if (said == SUPPORTED) != bool(row["label"]):
            said = SUPPORTED if row["label"] else NOT_SUPPORTED
        claim = f"{row.get('question') or ''} {row['answer']}".strip()
        group = f"{name}/{row.get('group') or key or row['context']}"
        if name == "belebele_ko_en":
            group = f"belebele_en/{key}"
        yield Row(True, name, group, claim, row.get("title") or "", context, said)
