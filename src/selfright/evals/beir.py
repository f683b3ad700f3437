"""Retrieval sets in BEIR's layout (Thakur et al. 2021): a corpus, queries, and judgements of which document helps.

``FOLDER/corpus.jsonl`` with either ``FOLDER/SPLIT/queries.jsonl`` and ``FOLDER/SPLIT/qrels.tsv``, or, as BEIR itself
has it, ``FOLDER/queries.jsonl`` and ``FOLDER/qrels/SPLIT.tsv``.

A corpus is indexed once and kept: a few at a time, the one used longest ago goes.
"""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, BaseModel, Field

from selfright.api.selfright import Selfright
from selfright.domain.errors import IncompatibleIndex, InputError
from selfright.evals.reading import Filled, Identifier, choose, file_sha256, read_rows, refuse_bad
from selfright.evals.results import DataSet
from selfright.settings import load_settings

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query and the grade of each judged document, 0 for one that does not help."""

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """The queries that have a document that helps, in the file's order; ``of`` counts all queries of the split."""

    name: str
    corpus: Path
    queries: tuple[JudgedQuery, ...]
    sha256: str
    of: int

    def sample(self, limit: int | None, seed: int) -> "RetrievalSet":
        """At most ``limit`` queries, chosen by ``seed``, in the file's order."""
        return replace(self, queries=choose(self.queries, limit, seed))

    def facts(self) -> DataSet:
        """As results name it."""
        return DataSet(self.name, "beir", self.sha256, len(self.queries), self.of)


class _Query(BaseModel):
    id: Identifier = Field("", validation_alias=AliasChoices("_id", "id"))
    text: Filled


def load(folder: Path, split: str) -> RetrievalSet:
    """The set at ``folder``. Raises ``InputError`` for a missing file, and for bad rows with their lines."""
    corpus, (queries, judgements) = folder / "corpus.jsonl", _files(folder, split)
    if not corpus.is_file():
        raise InputError(f"{folder}: expected corpus.jsonl in it, the documents of a set in BEIR's layout")
    grades = _grades(judgements)
    texts = {row.id or f"line {number}": row.text for number, row in read_rows(queries, _Query)}
    if unknown := next((name for name in grades if name not in texts), None):
        raise InputError(f"{judgements}: the query '{unknown}' is judged but is not in {queries}")
    judged = (JudgedQuery(name, asked, grades.get(name, {})) for name, asked in texts.items())
    useful = tuple(query for query in judged if any(grade > 0 for grade in query.grades.values()))
    if not useful:
        raise InputError(f"{judgements}: no query has a document of grade 1 or more, so there is nothing to measure")
    sha256 = file_sha256([corpus, queries, judgements])
    return RetrievalSet(f"{folder.resolve().name}/{split}", corpus, useful, sha256, len(texts))


def _files(folder: Path, split: str) -> tuple[Path, Path]:
    layouts = (
        (folder / split / "queries.jsonl", folder / split / "qrels.tsv"),
        (folder / "queries.jsonl", folder / "qrels" / f"{split}.tsv"),
    )
    found = next((layout for layout in layouts if all(path.is_file() for path in layout)), None)
    if found is None:
        raise InputError(
            f"{folder}: expected {split}/queries.jsonl and {split}/qrels.tsv, or queries.jsonl and qrels/{split}.tsv; "
            "choose the split with --split"
        )
    return found


def _grades(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    bad: list[str] = []
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if not line.strip() or (number == 1 and cells[-1].strip() == "score"):
                continue
            if len(cells) != 3 or not cells[2].strip().lstrip("-").isdecimal():
                bad.append(f"line {number}: expected query, document and a whole number, parted by tabs")
                continue
            found.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    refuse_bad(path, bad)
    return found


KEPT = 4
"""How many indexes are kept under ``home``; a corpus of 10,000 passages takes about 40 MB."""

_DONE = ".complete"


def corpus_index(corpus: Path, values: Mapping[str, Any], progress: "Progress | None" = None) -> Selfright:
    """An index over a JSON Lines corpus, opened with these settings; made when there is none of it yet.

    It lies under ``home``, by the corpus's content and the embedder. What a killed run left unfinished is finished.
    The caller closes it.
    """
    settings = load_settings(values)
    digest = hashlib.sha256(f"{file_sha256([corpus])} {settings.embedder} {corpus.name}".encode()).hexdigest()
    place = settings.home / "evaluations" / "indexes" / f"corpus-{digest[:24]}"
    done = place.with_name(place.name + _DONE)
    selfright = Selfright.open(**{**values, "index": place})
    if not done.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        report = selfright.add([corpus], progress=progress)
        if report.failed:
            selfright.close()
            raise InputError(f"{corpus}: {report.failed[0][1]}; a set is measured whole or not at all")
    else:
        try:
            selfright.search("?", 1)
        except IncompatibleIndex:  # the same setting means another embedder by now
            selfright.reembed(progress=progress)
    done.touch()  # also says when it was used last
    _forget_oldest(place.parent)
    return selfright


def _forget_oldest(place: Path) -> None:
    done = sorted(place.glob(f"corpus-*{_DONE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for marker in done[KEPT:]:
        marker.unlink(missing_ok=True)
        shutil.rmtree(place / marker.name.removesuffix(_DONE), ignore_errors=True)
