"""An index copied into another: documents, passages, vectors and collections as they are, nothing embedded anew.

What is to do is found by comparing the two lists of documents, so that a copy that was broken off anywhere is finished
by making it again. It ends with a comparison of everything that both hold (see ``comparing``). A copy whose vectors are
of another embedder is the one exception: those it makes itself.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from selfright.domain.errors import IncompatibleIndex, NotAnIndex, StoreError, UsageError
from selfright.domain.passages import Document, DocumentInfo, Passage
from selfright.domain.stores import Store
from selfright.ingest.comparing import Comparison, Tolerance, Unequal, compare
from selfright.ingest.pipeline import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 512  # passages written at a time
_CHARACTERS = 8_000_000  # of the documents in memory at a time
_COMMIT = 10_000  # passages that an interruption costs at most
_COMMIT_ANEW = 1_000  # the same where they have to be embedded again
_REMOVED = 500


class Origin(Protocol):
    """Remembers, with the target, which index it is a copy of."""

    def read(self) -> str | None:
        """What was written; None when nothing was."""
        ...

    def write(self, name: str) -> None:
        """Writes it down, lastingly, before anything is copied."""
        ...


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy did, in documents, and what the comparison at its end looked at.

    ``mended`` were there already and differed in what a content hash does not tell. ``checksum`` (SHA-256, hex) is of
    the documents and passages of both; ``overlap`` is the share of the ten best passages that both find, over
    ``queries`` sample queries (None where the target holds more than the source, and so ranks otherwise).
    """

    copied: int
    unchanged: int
    removed: int
    mended: int
    documents: int
    passages: int
    vectors: int
    collections: int
    checksum: str
    queries: int
    overlap: float | None


@dataclass(slots=True)
class _Work:
    """One copy: from where, to where, whether the target makes vectors of its own, and what was done."""

    source: Store
    target: Store
    anew: bool
    tell: Callable[[str], None]
    copied: int = 0
    removed: int = 0
    mended: int = 0


def copy_store(
    source: Store,
    target: Store,
    name: str,
    origin: Origin | None,
    *,
    into: bool = False,
    anew: bool = False,
    tolerance: Tolerance | None = None,
    progress: Progress | None = None,
) -> CopyReport:
    """Makes ``target`` hold what ``source``, called ``name``, holds, and proves it.

    A target that was begun as a copy of this source loses what the source no longer has. Another one that is not empty
    raises ``NotAnIndex``, unless ``into``: then the source's documents are added to it, replacing those with the same
    ids. With ``anew`` no vectors are taken over: the target's embedder makes them. ``origin`` None: the target cannot
    remember what it is a copy of, and passes for one as long as it holds nothing but documents of the source. Raises
    ``IncompatibleIndex`` when the two were not made with the same tokenizer and embedder, ``StoreError`` when the
    result is not equal within ``tolerance``.
    """
    _check_alike(source, target, ("tokenizer",) if anew else ("tokenizer", "embedder", "dimension"))
    with closing(_Plan(source, target)) as plan:
        whole = _is_ours(target, name, origin, plan, into=into)
        total = plan.count("put") + source.info().documents
        work = _Work(source, target, anew, _Steps(progress, total).tell)
        try:
            _remove(work, plan.names("extra") if whole else ())
            _put(work, plan.names("put"))
        except BaseException:
            target.discard()
            raise
        unchanged = plan.count("same")
    described = _describe(source, target, whole=whole)
    found = _compared(work, tolerance or Tolerance(), whole=whole)
    return CopyReport(
        work.copied, unchanged, work.removed, work.mended, found.documents, found.passages, found.vectors,
        described, found.checksum, found.queries, found.overlap,
    )  # fmt: skip


def _check_alike(source: Store, target: Store, facts: Sequence[str]) -> None:
    here, there = source.info(), target.info()
    for what in facts:
        made, came = getattr(here, what), getattr(there, what)
        if made != came:
            raise IncompatibleIndex(
                f"the index {here.location} was made with the {what} {made}, the target {there.location} with {came}; "
                "copy into a new place, or index the documents anew"
            )


def _is_ours(target: Store, name: str, origin: Origin | None, plan: "_Plan", *, into: bool) -> bool:
    """Whether the target is a copy of the source, so that what is beyond the source may go; begins one where empty."""
    known = origin.read() if origin else None
    if not target.info().documents:
        if origin and known != name:
            origin.write(name)
        return True
    if known == name or (origin is None and not plan.count("extra") and not plan.count("changed")):
        return True
    if into:
        return False
    raise NotAnIndex(
        f"{target.info().location} holds {target.info().documents:,} documents and is no copy of this index; "
        "copy into an empty place, or add the documents to what is there with --into"
    )


class _Plan:
    """What is to do, kept in a temporary file: memory stays small however many documents there are."""

    def __init__(self, source: Store, target: Store) -> None:
        self._table = sqlite3.connect("")  # private, on disk once it outgrows the cache, and gone when closed
        self._table.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, line TEXT, state TEXT) WITHOUT ROWID")
        self._table.executemany(
            "INSERT INTO documents VALUES (?, ?, 'extra')", ((info.id, _line(info)) for info in target.documents())
        )
        self._table.executemany(
            "INSERT INTO documents VALUES (?, ?, 'new') "
            "ON CONFLICT (id) DO UPDATE SET state = CASE WHEN line = excluded.line THEN 'same' ELSE 'changed' END",
            ((info.id, _line(info)) for info in source.documents()),
        )

    def count(self, state: str) -> int:
        """How many documents are in a state."""
        query = f"SELECT COUNT(*) FROM documents WHERE {_STATES[state]}"  # noqa: S608 - one of four texts of our own
        return int(self._table.execute(query).fetchone()[0])

    def names(self, state: str) -> Iterator[str]:
        """Their ids, in order."""
        query = f"SELECT id FROM documents WHERE {_STATES[state]} ORDER BY id"  # noqa: S608 - likewise
        return (name for (name,) in self._table.execute(query))

    def close(self) -> None:
        """Removes the file."""
        self._table.close()


_STATES = {
    "put": "state IN ('new', 'changed')",
    "same": "state = 'same'",
    "changed": "state = 'changed'",
    "extra": "state = 'extra'",
}


def _line(info: DocumentInfo) -> str:
    """What the lists tell of a document, its content hash before all."""
    told = (info.content_hash, info.title, info.collection, info.language, info.source, info.characters, info.passages)
    return "\x1f".join(map(str, told))


class _Steps:
    """Counts what is done for whoever watches."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def tell(self, name: str) -> None:
        """One more document."""
        self._done += 1
        if self._progress:
            self._progress(self._done, max(self._total, self._done), name)


def _remove(work: _Work, names: Iterable[str]) -> None:
    waiting = iter(names)
    while some := list(islice(waiting, _REMOVED)):
        work.removed += len(work.target.remove(some))
        work.target.commit()


def _put(work: _Work, names: Iterable[str]) -> None:
    uncommitted, most = 0, _COMMIT_ANEW if work.anew else _COMMIT
    for batch, vectors in _batches(work, names):
        work.target.put(batch, vectors=vectors)
        uncommitted += sum(len(passages) for _, passages in batch)
        work.copied += len(batch)
        if uncommitted >= most:
            work.target.commit()
            uncommitted = 0
    work.target.commit()


_Batch = tuple[list[tuple[Document, list[Passage]]], "dict[str, NDArray[np.float32]]"]


def _batches(work: _Work, names: Iterable[str]) -> Iterator[_Batch]:
    batch: list[tuple[Document, list[Passage]]] = []
    vectors: dict[str, NDArray[np.float32]] = {}
    passages = characters = 0
    for name in names:
        document = work.source.document(name)
        if document is None:
            continue  # removed meanwhile
        cut = work.source.passages_of(name)
        batch.append((document, cut))
        vectors.update({} if work.anew else work.source.vectors_of(name))
        passages, characters = passages + len(cut), characters + len(document.text)
        work.tell(name)
        if passages >= _BATCH or len(batch) >= _BATCH or characters >= _CHARACTERS:
            yield batch, vectors
            batch, vectors, passages, characters = [], {}, 0, 0
    if batch:
        yield batch, vectors


def _describe(source: Store, target: Store, *, whole: bool) -> int:
    """Copies what is said of collections; gives back of how many."""
    wanted = {found.name: replace(found, documents=0) for found in source.collections()}
    there = {found.name: replace(found, documents=0) for found in target.collections()}
    if whole:
        wanted = {
            **{name: replace(found, description="", classes=(), slots=()) for name, found in there.items()},
            **wanted,
        }
    for name, collection in wanted.items():
        said = collection.description or collection.classes or collection.slots
        if there.get(name) != collection and (said or name in there):
            target.describe(collection)
    return len(source.collections())


def _compared(work: _Work, tolerance: Tolerance, *, whole: bool) -> Comparison:
    """The comparison at the end; what was there already and is not equal is copied after all, once."""

    def mend(names: Sequence[str]) -> None:
        _put(_Work(work.source, work.target, work.anew, lambda _name: None), names)
        work.mended += len(names)

    wanted = None if work.anew else tolerance
    try:
        return compare(work.source, work.target, wanted, whole=whole, mend=mend, tell=work.tell)
    except Unequal as error:
        raise StoreError(
            f"the copy at {work.target.info().location} is not equal to its source: {error}; "
            "if the source changed meanwhile copy again, else look at both with: selfright index verify"
        ) from error


def check_apart(source: str, target: str) -> None:
    """Raises ``UsageError`` when an index would be copied onto itself."""
    if source == target:
        raise UsageError("source and target are the same index; name another place with --to")
