"""Questions really asked of a small index, and what each turn knew of its answer: to measure how turns end.

Each set is indexed as a user would, and every question goes through the preset ``full`` without abstention, and through
``basic``. Only questions are asked that the network has not learnt from, for on questions that it knows it is surer
than on others. An answer is right when it holds
a gold string (of CLAPNQ, whose gold answers are whole paragraphs: or a sentence that people selected); an answer to an
unanswerable question is always wrong.
"""

import json
import random
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.domain.answers import Answer
from selfright.domain.passages import Hit
from selfright.domain.ports import RefineStrategy
from selfright.domain.text import has_hangul
from selfright.flow.strategies import CorrectiveRAGStrategy, register_strategy
from selfright.roles.abstain import Grounds, signals
from selfright.roles.evaluate.scoring import support
from training.asked_sets import FIELD as QUESTIONS
from training.asked_sets import FIELD_SETS
from training.desk import HELD, pattern, questions_of
from training.labelled import read_rows
from training.reading_rows import learnt_questions

SEED = 5
FEW = 3
_WORD = re.compile(r"\w+")
_MARK = re.compile(r"\[\d+\]")
_STRATEGY = "recorded"


@dataclass(frozen=True)
class Question:
    """``gold`` are strings of which an answer must hold one; none when the index has no answer. ``group``: article.

    ``document`` is the id of the document that it was asked about, where that is known.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    group: str
    document: str = ""

    @property
    def fold(self) -> int:
        """0…4, the same for all of a group."""
        return zlib.crc32(self.group.encode()) % 5

    def is_right(self, answer: Answer) -> bool:
        """Whether the answer holds a gold string; letter case, punctuation and citation marks aside.

        What is cited does not count: whole passages are quoted at greater length than strips.
        """
        said = _plain(_MARK.sub(" ", answer.answer))
        return any(_holds(said, gold) for gold in map(_plain, self.gold) if gold)


@dataclass(frozen=True)
class FieldQuestion(Question):
    """A question of a field set; ``gold`` are regular expressions of which one must match."""

    def is_right(self, answer: Answer) -> bool:
        """Whether a gold pattern stands in the answer."""
        return any(re.search(pattern, answer.answer, re.IGNORECASE) for pattern in self.gold)


@dataclass(frozen=True)
class Task:
    """Documents to index (id, title, text; or a folder of files) and questions to ask."""

    name: str
    documents: Sequence[Mapping[str, str]] | Path = field(repr=False)
    questions: Sequence[Question] = field(repr=False)


@dataclass(frozen=True)
class Row:
    """One question's outcome. ``x`` are the signals of ``full``'s best draft, None when it was refused or unjudged."""

    dataset: str
    id: str
    fold: int
    answerable: bool
    right: bool
    refused: bool
    basic_right: bool
    basic_refused: bool
    passes: int
    seconds: float
    basic_seconds: float
    x: dict[str, float] | None
    support: float
    retrieval: dict[str, float]


def squad2(data: Path) -> Task:
    """Answerable questions, and edits of them that have no answer, over all paragraphs."""
    rows = read_rows(data / "squad2" / "dev" / "abstain.jsonl")
    questions = [Question(r["id"], r["question"], tuple(r["answers"]), r["article"], r["doc_id"]) for r in rows]
    return Task("squad2", _corpus(data / "squad2" / "corpus.jsonl"), questions)


def clapnq(data: Path) -> Task:
    """Searchers' questions over the passages that stand with them, half of which do not answer."""
    rows = list(read_rows(data / "clapnq" / "dev" / "abstain.jsonl"))
    own = [row["passages"][0] for row in rows]
    documents = [{"_id": r["id"], "title": p["title"], "text": p["text"]} for r, p in zip(rows, own, strict=True)]
    questions = [
        Question(r["id"], r["question"], (*r["answers"], *_selected(r)) if r["answerable"] else (), p["title"], r["id"])
        for r, p in zip(rows, own, strict=True)
    ]
    return Task("clapnq", documents, questions)


def tydiqa(data: Path) -> Task:
    """Korean searchers' questions over paragraphs; of two fifths the ones that answer are left out. To measure only:
    other paragraphs of the same articles say much of it again, and gold strings are short."""
    rows = [r for r in read_rows(data / "tydiqa_ko_en" / "dev" / "pairs.jsonl") if r["lang"] == "ko"]
    rows = [r for r in rows if not (r["label"] and _is_left_out(r["group"]))]
    texts = {f"{r['title']}\n{r['passage']}": r for r in rows}
    documents = [{"_id": r["id"], "title": str(r["title"]), "text": r["passage"]} for r in texts.values()]
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        asked.setdefault(row["query_id"], []).append(row)
    questions = [
        Question(name, each[0]["query"], tuple(a for r in each if r["label"] for a in r["answers"]), each[0]["group"])
        for name, each in asked.items()
    ]
    return Task("tydiqa", documents, questions)


def few(task: Task, limit: int) -> Iterator[Task]:
    """The same questions over indexes of three neighbouring documents each: those about one of the three, half as many
    about the three that come next, which have no answer here. Together at least ``limit`` questions, if there are.
    """
    documents = list(task.documents) if not isinstance(task.documents, Path) else []
    shelves = [documents[at : at + FEW] for at in range(0, len(documents) - 2 * FEW, 2 * FEW)]
    random.Random(SEED).shuffle(shelves)
    place = {str(document["_id"]): at for at, document in enumerate(documents)}
    by_place: dict[int, list[Question]] = {}
    for question in task.questions:
        if question.document in place:
            by_place.setdefault(place[question.document], []).append(question)
    asked = 0
    for shelf in shelves:
        first = place[str(shelf[0]["_id"])]
        own = [q for at in range(first, first + FEW) for q in by_place.get(at, ())]
        next_ones = [q for at in range(first + FEW, first + 2 * FEW) for q in by_place.get(at, ())]
        foreign = [replace(q, gold=()) for q in next_ones[: (len(own) + 1) // 2]]
        if own and asked < limit:
            asked += len(own) + len(foreign)
            yield Task(f"few_{task.name}", shelf, [*own, *foreign])


def covidqa(data: Path) -> Task:
    """Questions on whole articles, all of which are there."""
    return _articles(data, set())


def covidqa_missing(data: Path) -> Task:
    """The same, with two fifths of the articles left out: their questions have no answer here. To measure only."""
    rows = read_rows(data / "covidqa" / "dev" / "qa.jsonl")
    return _articles(data, {str(row["doc_id"]) for row in rows if _is_left_out(str(row["doc_id"]))})


def korquad_missing(data: Path) -> Task:
    """Korean questions; two fifths of the articles are left out. To measure only."""
    rows = list(read_rows(data / "korquad" / "dev" / "qa.jsonl"))
    gone = {row["doc_id"] for row in rows if _is_left_out(row["article"])}
    documents = [row for row in _corpus(data / "korquad" / "corpus.jsonl") if row["_id"] not in gone]
    questions = [
        Question(r["id"], r["question"], () if r["doc_id"] in gone else tuple(r["answers"]), r["article"]) for r in rows
    ]
    return Task("korquad_missing", documents, questions)


def _articles(data: Path, gone: set[str]) -> Task:
    folder = data / "covidqa"
    documents = [row for row in _corpus(folder / "documents.jsonl") if row["_id"] not in gone]
    questions = [
        Question(r["id"], r["question"], () if str(r["doc_id"]) in gone else (r["answer"],), str(r["doc_id"]))
        for r in read_rows(folder / "dev" / "qa.jsonl")
    ]
    return Task("covidqa_missing" if gone else "covidqa", documents, questions)


def _corpus(path: Path) -> list[Mapping[str, str]]:
    return [{name: str(row.get(name, "")) for name in ("_id", "title", "text")} for row in read_rows(path)]


def _selected(row: Mapping[str, Any]) -> list[str]:
    chosen = row.get("selected_sentences") or row["passages"][0].get("selected_sentences") or []
    return [sentence for each in chosen for sentence in (each if isinstance(each, list) else [each])]


def _is_left_out(article: str) -> bool:
    return zlib.crc32(article.encode()) % 5 < 2


def _holds(said: str, gold: str) -> bool:
    """Whole words in English; Korean ones carry particles."""
    return gold in said if has_hangul(gold) else f" {gold} " in f" {said} "


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


class Recorder:
    """The corrective strategy, whose judgements are kept with the state that they were made in."""

    def __init__(self, inner: RefineStrategy, kept: list[Mapping[str, Any]]) -> None:
        self._inner = inner
        self._kept = kept

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """As the strategy does."""
        update = await self._inner.refine(state)
        self._kept.append({**state, **update})
        return update

    def should_retrieve(self, state: Mapping[str, Any]) -> bool:
        """As the strategy does."""
        return self._inner.should_retrieve(state)

    def get_strategy_name(self) -> str:
        """The strategy's own."""
        return self._inner.get_strategy_name()

    def get_metrics(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The strategy's own."""
        return self._inner.get_metrics(state)


def asked(task: Task, limit: int) -> Iterator[Row]:
    """A row for each of ``limit`` questions, drawn with a seed; the index lives in a temporary folder."""
    kept: list[Mapping[str, Any]] = []
    register_strategy(_STRATEGY, lambda *parts: Recorder(CorrectiveRAGStrategy(*parts), kept))
    chosen = list(task.questions)
    random.Random(SEED).shuffle(chosen)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with Selfright.open(place / "index", refine_strategy=_STRATEGY, abstention_enabled=False) as selfright:
            documents = task.documents
            selfright.add(
                [documents if isinstance(documents, Path) else _written(documents, place / "documents.jsonl")]
            )
            for question in chosen[:limit]:
                yield _row(task.name, question, selfright, kept)


def _row(
    name: str,
    question: Question,
    selfright: Selfright,
    kept: list[Mapping[str, Any]],
) -> Row:
    basic, basic_seconds = _timed(
        lambda: selfright.ask(question.text, preset="basic", flags={"refine_strategy": "basic_rag"})
    )
    kept.clear()
    full, seconds = _timed(lambda: selfright.ask(question.text, preset="full"))
    best = max(kept, key=lambda state: (state["quality_score"], -state["iteration_count"]), default=None)
    grounds = _grounds(best) if best and not full.abstained else None
    return Row(
        dataset=name,
        id=question.id,
        fold=question.fold,
        answerable=bool(question.gold),
        right=question.is_right(full) and not full.abstained,
        refused=full.abstained,
        basic_right=question.is_right(basic) and not basic.abstained,
        basic_refused=basic.abstained,
        passes=len(full.iterations),
        seconds=seconds,
        basic_seconds=basic_seconds,
        x=signals(grounds) if grounds else None,
        support=support(grounds.evaluation) if grounds else 0.0,
        retrieval=_retrieval(best["retrieved_docs"] if best else ()),
    )


def _grounds(state: Mapping[str, Any]) -> Grounds:
    return Grounds(state["draft"], state["evaluation"], state.get("grading"))


def _retrieval(hits: Sequence[Hit]) -> dict[str, float]:
    """The best scores of the retrieval: what a threshold without any judge would look at."""
    return {
        "rrf": max((hit.rrf_score for hit in hits), default=0.0),
        "bm25": max((hit.bm25.score for hit in hits if hit.bm25), default=0.0),
        "cosine": max((hit.cosine or 0.0 for hit in hits), default=0.0),
    }


def _timed(ask: Callable[[], Answer]) -> tuple[Answer, float]:
    began = time.perf_counter()
    return ask(), time.perf_counter() - began


def _written(documents: Iterable[Mapping[str, str]], path: Path) -> Path:
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    return path


TASKS = {task.__name__: task for task in (squad2, clapnq, tydiqa, covidqa, covidqa_missing, korquad_missing)}
SMALL = ("few_squad2", "few_clapnq")
FIELD = tuple(f"field_{name}" for name in FIELD_SETS)
DESK = tuple(f"desk_{name}" for name in HELD)
TRAINED_ON = ("squad2", "clapnq", *SMALL, *FIELD)


def unseen(task: Task, data: Path) -> Task:
    """The task with the questions only that the network has not learnt from."""
    known = learnt_questions(data)
    return replace(task, questions=[q for q in task.questions if q.text.strip().lower() not in known])


def field_task(name: str, documents: Path) -> Task:
    """The field set ``name`` (``field_handbook``), whose documents are in ``documents``."""
    short = name.removeprefix("field_")
    rows = read_rows(QUESTIONS / short / "questions.jsonl")
    questions = [FieldQuestion(r["id"], r["question"], tuple(r.get("patterns") or ()), r["id"]) for r in rows]
    return Task(name, documents / short, questions)


def desk_task(name: str, documents: Path) -> Task:
    """A set of ``training.desk`` (``desk_guide``), whose documents are in ``documents``."""
    short = name.removeprefix("desk_")
    questions = [
        FieldQuestion(f"{short}/{at}", one.question, (pattern(one.answer),) if one.answer else (), one.document)
        for at, one in enumerate(questions_of(short, documents))
    ]
    return Task(name, documents / short, questions)


def rows(data: Path, names: Sequence[str], limit: int, cache: Path, documents: Path | None = None) -> list[Row]:
    """The rows of these tasks, kept as JSON in ``cache``; delete a file there after a role has changed. ``documents``
    are those of the field sets, or of the desk sets."""
    found: list[Row] = []
    for name in names:
        path = cache / f"abstention-{name}-{limit}.json"
        if not path.exists():
            if name in (*FIELD, *DESK) and documents is None:
                raise SystemExit(f"the documents of {name} were expected; name their folder with --field")
            known = TASKS.get(name.removeprefix("few_"))
            of_folder = desk_task if name in DESK else field_task
            task = unseen(known(data), data) if known else of_folder(name, documents or Path())
            parts = few(task, limit) if name.startswith("few_") else [task]
            made = [asdict(row) for part in parts for row in asked(part, limit)]
            cache.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(made), encoding="utf-8")
        found += [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    return found
