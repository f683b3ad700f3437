"""Follow-up questions: what is found with the stand-alone question, the last turn as it is, and a person's rewrite.

    python -m benchmarks.followups --data DIR [--half tune|check] [--no-dense] [--limit 2000]

``DIR`` holds ``mtrag`` and ``canard``. mtrag brings its own passages. canard brings none: here the answers of its
conversations are the passages, each under its article's title, and the answer to a question is what it should find;
and, as a second task, whole conversations are. No history holds the titles, which a chat does not show; the people
who rewrote saw them. A question whose answer is not known is left out.

The interval is that of the mean difference to the last turn, bootstrapped over conversations. The second table says
how many questions that stand alone are changed after a conversation about something else.
"""

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retrieval_quality import fill, judgements, kept_vectors, ndcg, rows, whole
from selfright.domain.answers import Message
from selfright.domain.ports import Embedder, TermStatistics
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright.roles.similarity import SentenceSimilarity

K = 10
FORMS = ("last turn", "stand-alone", "human")
_RESAMPLED = 2_000
_SEED = 7
_BEFORE = {"ko": ("한강의 길이는 얼마인가요?", "그럼 낙동강은?"), "en": ("How long is the Rhine?", "And the Danube?")}


@dataclass(frozen=True)
class Case:
    """A question in its conversation; ``human`` is empty where nobody has rewritten it."""

    id: str
    conversation: str
    question: str
    history: tuple[Message, ...]
    human: str
    grades: Mapping[str, int]


@dataclass(frozen=True)
class Task:
    """Questions and the rows (``_id``, ``title``, ``text``) that they search."""

    name: str
    corpus: Sequence[Mapping[str, str]]
    cases: Sequence[Case]


def mtrag(data: Path, *, replies: bool) -> Task:
    """The questions of mtrag that follow another one; with ``replies`` the history has what the assistant said."""
    folder = data / "mtrag" / "dev"
    qrels, said = judgements(folder / "qrels.tsv"), _replies(folder) if replies else {}
    cases = []
    for row in map(_any, rows(folder / "queries.jsonl")):
        name, asked = row["_id"], row["metadata"]["history_user_turns"]
        if asked and name in qrels:
            history = said.get(name) or tuple(Message("user", text) for text in asked)
            human = row["metadata"].get("rewrite") or ""
            cases.append(Case(name, name.split("<::>")[0], row["text"], history, human, qrels[name]))
    return Task(f"mtrag{' + replies' if replies else ''}", list(rows(data / "mtrag" / "corpus.jsonl")), cases)


def _replies(folder: Path) -> dict[str, tuple[Message, ...]]:
    found = {}
    for file, key in (("abstain.jsonl", "id"), ("answer_human_eval.jsonl", "task_id")):
        for row in map(_any, rows(folder / file)):
            turns = (("user" if turn["speaker"] == "user" else "assistant", turn["text"]) for turn in row["history"])
            found[row[key]] = tuple(Message(role, text) for role, text in turns if text.strip())
    return found


def canard(data: Path, *, whole_conversations: bool) -> Task:
    """The questions of canard whose answers the next turn's history tells."""
    turns = list(map(_any, rows(data / "canard" / "dev" / "rewrite.jsonl")))
    place = {(turn["dialog_id"], len(turn["history"])): turn for turn in turns}
    corpus: dict[str, dict[str, str]] = {}
    cases = []
    for turn in turns:
        dialog, history = turn["dialog_id"], turn["history"]
        following = place.get((dialog, len(history) + 2))
        if following is None or _unknown(answer := following["history"][-1]):
            continue
        gold = dialog if whole_conversations else turn["id"]
        corpus.setdefault(gold, {"_id": gold, "title": ", ".join(history[:2]), "text": ""})["text"] += f"{answer}\n"
        said = tuple(Message("assistant" if at % 2 else "user", text) for at, text in enumerate(history[2:]))
        if said:
            cases.append(Case(turn["id"], dialog, turn["question"], said, turn["rewrite"], {gold: 1}))
    name = "canard conversations" if whole_conversations else "canard answers"
    return Task(name, [row | {"text": row["text"].strip()} for row in corpus.values()], cases)


def _unknown(answer: str) -> bool:
    """Whether the set says so in the answer's place."""
    return answer.casefold().replace("'", "").startswith(("i dont know", "cannotanswer")) or not answer.strip()


def _any(row: Any) -> Any:
    return row


def half_of(conversation: str) -> str:
    return "check" if hashlib.sha256(conversation.encode()).digest()[0] % 2 else "tune"


class Measured:
    """One task's figures: nDCG@10 and recall@10 by form of the question, a row for each case."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.standalone: list[str] = []
        self.ndcg = {form: np.full(len(cases), np.nan) for form in FORMS}
        self.recall = {form: np.full(len(cases), np.nan) for form in FORMS}

    async def ask(self, store: EmbeddedStore, rewriter: OfflineRewriter) -> "Measured":
        for at, case in enumerate(self.cases):
            self.standalone.append(await rewriter.standalone(case.question, case.history))
            for form, text in zip(FORMS, (case.question, self.standalone[at], case.human), strict=True):
                if text.strip():
                    found = [hit.passage.document_id for hit in (await store.search(text, K)).hits]
                    self.ndcg[form][at] = ndcg(found, case.grades, K)
                    relevant = {name for name, grade in case.grades.items() if grade > 0}
                    self.recall[form][at] = len(relevant.intersection(found)) / len(relevant)
        return self

    def line(self, name: str, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> str:
        """One row of the table over the ``chosen`` cases."""
        cells = [f"{name:30}{int(chosen.sum()):6}"]
        changed = np.array([s != c.question for s, c in zip(self.standalone, self.cases, strict=True)])
        cells.append(f"{changed[chosen].mean():9.0%}")
        for figures in (self.ndcg, self.recall):
            cells += [f"{figures[form][chosen].mean():9.3f}" for form in FORMS]
            cells.append(self._difference(figures["stand-alone"] - figures["last turn"], chosen))
        return "".join(cells)

    def _difference(self, difference: "np.ndarray[Any, np.dtype[np.float64]]", chosen: Any) -> str:
        groups: defaultdict[str, list[float]] = defaultdict(list)
        for at in np.flatnonzero(chosen):
            groups[self.cases[int(at)].conversation].append(difference[at])
        sums, sizes = (np.array([f(g) for g in groups.values()]) for f in (sum, len))
        picks = np.random.default_rng(_SEED).integers(0, len(sums), (_RESAMPLED, len(sums)))
        means = sums[picks].sum(axis=1) / sizes[picks].sum(axis=1)
        low, high = np.quantile(means, (0.025, 0.975))
        return f"  {difference[chosen].mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def measure(task: Task, embedder: Embedder | None) -> Measured:
    tokenizer = BilingualTokenizer()
    with (
        tempfile.TemporaryDirectory() as place,
        EmbeddedStore.create(Path(place) / "index", tokenizer, embedder) as store,
    ):
        corpus = Path(place) / "corpus.jsonl"
        corpus.write_text("".join(json.dumps(row) + "\n" for row in task.corpus), encoding="utf-8")
        fill(store, corpus, whole)
        likeness = SentenceSimilarity(embedder) if embedder else None
        rewriter = OfflineRewriter(TextAnalyzer(tokenizer, store), likeness=likeness)
        return asyncio.run(Measured(task.cases).ask(store, rewriter))


def report(task: Task, measured: Measured) -> None:
    every = np.ones(len(task.cases), dtype=bool)
    rewritten = np.array([bool(case.human) for case in task.cases])
    print(measured.line(task.name, every), flush=True)
    if not rewritten.all():
        print(measured.line("  with a human rewrite", rewritten), flush=True)


class _Flat:
    """Every word weighs the same: whether a question stands alone does not depend on an index."""

    def idf(self, terms: Sequence[str]) -> list[float]:
        return [1.0] * len(terms)


def alone(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Questions that stand alone, by source: first turns, later turns that a person left as they were, and others."""
    first = {row["id"].split("<::>")[0]: row for row in map(_any, rows(data / "mtrag" / "dev" / "rewrite.jsonl"))}
    yield "mtrag first turns", [row["history_user_turns"][0] for row in first.values() if row["history_user_turns"]]
    turns = list(map(_any, rows(data / "canard" / "dev" / "rewrite.jsonl")))
    kept = [turn["question"] for turn in turns if turn["question"] == turn["rewrite"]]
    yield "canard left as they were", kept
    for name, folder in (("squad2", "squad2"), ("medquad", "medquad_liveqa"), ("korquad", "korquad")):
        path = data / folder / "dev" / "queries.jsonl"
        if path.exists():
            yield f"{name} questions", [row["text"] for row in rows(path)][:1_000]


async def false_alarms(data: Path, embedder: Embedder | None) -> None:
    """Prints how many questions are changed after two questions of another conversation, which they do not need."""
    statistics: TermStatistics = _Flat()
    likeness = SentenceSimilarity(embedder) if embedder else None
    rewriter = OfflineRewriter(TextAnalyzer(BilingualTokenizer(), statistics), likeness=likeness)
    print(f"\n{'questions that stand alone':30}{'cases':>6}{'changed':>9}  for example")
    for name, questions in alone(data):
        history = [Message("user", text) for text in _BEFORE["ko" if name.startswith("korquad") else "en"]]
        changed = [text for text in questions if await rewriter.standalone(text, history) != text]
        print(f"{name:30}{len(questions):6}{len(changed) / len(questions):9.1%}  {' | '.join(changed[:3])[:90]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=("all", "tune", "check"), default="all", help="of the conversations")
    parser.add_argument("--limit", type=int, default=10_000, help="questions of a task")
    parser.add_argument("--no-dense", action="store_true", help="search by words only")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench")
    options = parser.parse_args()
    embedder = None if options.no_dense else kept_vectors(options.cache)
    heads = "".join(f"{form:>9}" for form in ("last", "alone", "human"))
    print(f"{'':30}{'cases':>6}{'changed':>9}{heads}  nDCG@10: alone - last  {heads}  recall@10: alone - last")
    makers: tuple[Callable[[Path], Task], ...] = (
        lambda data: mtrag(data, replies=False),
        lambda data: mtrag(data, replies=True),
        lambda data: canard(data, whole_conversations=False),
        lambda data: canard(data, whole_conversations=True),
    )
    for make in makers:
        task = make(options.data)
        cases = [case for case in task.cases if options.half in ("all", half_of(case.conversation))]
        task = Task(task.name, task.corpus, cases[: options.limit])
        report(task, measure(task, embedder))
    asyncio.run(false_alarms(options.data, embedder))


if __name__ == "__main__":
    main()
