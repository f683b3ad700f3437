"""What adaptive fusion is fitted on: questions with judged passages, and queries of other kinds derived from them.

``--data`` names a folder with one sub-folder per set. A task belongs to a *family*, the set its texts come from; a set
left out takes its whole family along, the derived tasks too.
"""

import json
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from selfright.domain.text import sentence_spans
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.preparing import text_to_index
from selfright.retrieval.tokenizer import content_terms
from training.desk import HELD, QUESTIONS, questions_of

MOST = 600  # queries of a natural task
MOST_DERIVED = 250

Grades = Mapping[str, int]
Document = tuple[str, str, str]
"""Id, title, text."""


@dataclass(frozen=True)
class Task:
    """Queries with their grades on one corpus; ``train`` is false where a set may only be measured on."""

    name: str
    family: str
    corpus: tuple[Document, ...]
    queries: tuple[tuple[str, Grades], ...]
    train: bool = True
    derived: bool = False


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def beir(
    name: str,
    folder: Path,
    *,
    queries: str = "queries.jsonl",
    qrels: str = "qrels.tsv",
    family: str = "",
    train: bool = True,
) -> Task:
    """A set in BEIR layout; queries without a relevant document are left out."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "dev" / qrels).read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades[query][document] = int(grade)
    asked = [(row["text"], grades.get(row["_id"], {})) for row in read_rows(folder / "dev" / queries)]
    kept = [(text, judged) for text, judged in asked if any(grade > 0 for grade in judged.values())]
    return Task(name, family or name, documents(folder / "corpus.jsonl"), tuple(kept[:MOST]), train)


def documents(path: Path) -> tuple[Document, ...]:
    """A corpus."""
    return tuple((row["_id"], row.get("title") or "", row["text"]) for row in read_rows(path))


def natural(data: Path) -> Iterator[Task]:
    """The nine English rows that figures are reported for."""
    yield beir("bioasq", data / "bioasq", train=False)
    yield beir("covidqa", data / "covidqa")
    liveqa = data / "medquad_liveqa"
    yield beir("medquad", liveqa)
    for kind in ("message", "summary"):
        queries, qrels = f"liveqa_queries_{kind}.jsonl", "liveqa_qrels.tsv"
        yield beir(f"liveqa_{kind}", liveqa, queries=queries, qrels=qrels, family="medquad", train=False)
    yield beir("mtrag", data / "mtrag")
    yield beir("squad2", data / "squad2")
    yield beir("pubmedqa", data / "pubmedqa")
    yield beir("belebele_en", data / "belebele_ko_en" / "en")


def desk(work: Path) -> Iterator[Task]:
    """The sets of ``training.desk``, over the passages of the indexes that ``training.desk_rows`` made in ``work``;
    those held back are only measured."""
    for path in sorted(QUESTIONS.glob("*.jsonl")):
        catalogue = Catalogue(work / f"index-{path.stem}")
        passages = [row.passage for row in catalogue.all_shown()]
        catalogue.close()
        queries = []
        for asked in questions_of(path.stem, work / "documents"):
            told = {one.id: 1 for one in passages if asked.answer and asked.label(f"{one.text} {one.head}") == 1}
            if told:
                queries.append((asked.question, told))
        corpus = tuple((one.id, "", text_to_index(one)) for one in passages)
        yield Task(f"desk_{path.stem}", "desk", corpus, tuple(queries), path.stem not in HELD)


def paired(data: Path) -> Iterator[Task]:
    """Texts that belong together by their source: message and summary, title and abstract."""
    rows = [(row["message"], row["summary"]) for row in read_rows(data / "meqsum" / "dev" / "rewrite.jsonl")]
    yield _pairs("meqsum", [(message, "", summary) for message, summary in rows])
    rows = [(row["text"], row["title_len"]) for row in read_rows(data / "bc5cdr" / "dev" / "slots.jsonl")]
    yield _pairs("bc5cdr", [(text[:length], "", text[length:].strip()) for text, length in rows])
    clap = [
        (row["question"], row["passages"][0]["title"], row["passages"][0]["text"])
        for row in read_rows(data / "clapnq" / "dev" / "abstain.jsonl")
    ]
    yield _pairs("clapnq", clap)


def _pairs(name: str, rows: Sequence[tuple[str, str, str]]) -> Task:
    corpus = tuple((str(number), title, text) for number, (_, title, text) in enumerate(rows))
    queries = tuple((query, {str(number): 1}) for number, (query, _, _) in enumerate(rows))
    return Task(name, name, corpus, queries[:MOST])


def derived(task: Task, tokens: Callable[[str], list[str]], asides: Sequence[str]) -> Iterator[Task]:
    """The task's questions as keywords, mistyped and wordy, and its passages' own sentences and codes as queries."""
    changes: dict[str, Callable[[str], str]] = {
        "keywords": keywords,
        "mistyped": mistyped,
        "wordy": lambda text: f"{chance(text).choice(asides)} {text}",
    }
    for kind, change in changes.items():
        queries = [(change(text), grades) for text, grades in task.queries]
        yield _derived(task, kind, queries)
    yield _derived(task, "sentences", [pair for row in task.corpus if (pair := sentence_of(row))])
    yield _derived(task, "codes", list(codes(task.corpus, tokens)))


def _derived(task: Task, kind: str, queries: Sequence[tuple[str, Grades]]) -> Task:
    some = chance(f"{task.name}/{kind}").sample(list(queries), min(MOST_DERIVED, len(queries)))
    return replace(task, name=f"{task.name}/{kind}", queries=tuple(some), derived=True)


def chance(text: str) -> random.Random:
    """A generator that gives the same for the same text."""
    return random.Random(zlib.crc32(text.encode()))


def keywords(text: str) -> str:
    """Two to four of the words that are no stop words, in their order."""
    words = re.findall(r"[\w'-]+", text)
    content = [word for word in words if content_terms([word.lower(), ""]) != [""]]
    count = min(len(content), chance(text).randint(2, 4))
    return " ".join(content[at] for at in sorted(chance(text).sample(range(len(content)), count))) or text


def mistyped(text: str) -> str:
    """About a third of the longer words with two letters swapped, one lost or one doubled."""
    generator = chance(text)

    def damage(match: re.Match[str]) -> str:
        word = match.group()
        if generator.random() > 0.35:
            return word
        at = generator.randrange(1, len(word) - 2)
        middle = generator.choice((word[at + 1] + word[at], word[at], word[at] * 2 + word[at + 1]))
        return word[:at] + middle + word[at + 2 :]

    return re.sub(r"[A-Za-z]{5,}", damage, text)


def sentence_of(row: Document) -> tuple[str, Grades] | None:
    """A sentence of a passage that asks for that passage."""
    spans = [(start, end) for start, end in sentence_spans(row[2]) if 40 <= end - start <= 250]
    if not spans:
        return None
    start, end = chance(row[0] + row[2]).choice(spans)
    return row[2][start:end], {row[0]: 1}


def codes(corpus: Sequence[Document], tokens: Callable[[str], list[str]]) -> Iterator[tuple[str, Grades]]:
    """Terms of letters and digits that only one or two passages hold, alone or with one more word."""
    holders: dict[str, list[int]] = defaultdict(list)
    bags = [Counter(tokens(text)) for _, _, text in corpus]
    for number, bag in enumerate(bags):
        for term in bag:
            holders[term].append(number)
    for term, found in sorted(holders.items()):
        if len(found) <= 2 and re.search(r"\d", term) and re.search(r"[a-z]", term) and 3 < len(term) < 16:
            words = sorted(word for word in bags[found[0]] if word.isalpha() and len(word) > 4)
            beside = chance(term).choice(["", *words])
            yield f"{beside} {term}".strip(), {corpus[number][0]: 1 for number in found}


def synonymous(task: Task, data: Path) -> Task:
    """Template questions that name their subject in another way than the passage does."""
    queries = []
    grades = dict(task.queries)
    for row in read_rows(data / "medquad_liveqa" / "dev" / "template_meta.jsonl"):
        names = [name for name in row["synonyms"] or () if name.lower() not in row["focus"].lower()]
        if names and row["text"] in grades and row["focus"] in row["text"]:
            changed = row["text"].replace(row["focus"], chance(row["text"]).choice(names))
            queries.append((changed, grades[row["text"]]))
    return _derived(task, "synonyms", queries)


def asides(data: Path) -> list[str]:
    """What people write before they come to their question: the beginnings of messages."""
    found = []
    for row in read_rows(data / "meqsum" / "dev" / "rewrite.jsonl"):
        spans = list(sentence_spans(row["message"]))
        if len(spans) > 2:
            found.append(row["message"][spans[0][0] : spans[min(2, len(spans) - 2)][1]])
    return found


def every_task(data: Path, tokens: Callable[[str], list[str]], families: Sequence[str] = ()) -> Iterator[Task]:
    """Those of some families, or all of them; those to measure on alone carry ``train`` false."""
    beginnings = asides(data)
    for task in (*natural(data), *paired(data)):
        if families and task.family not in families:
            continue
        yield task
        if task.train and task.name != "meqsum":
            yield from derived(task, tokens, beginnings)
        if task.name == "medquad":
            yield synonymous(task, data)
