"""The lexical index: BM25 by tantivy over the terms of the catalogue.

Terms come ready from the tokenizer and are only split at blanks here. A deleted passage's terms count in tantivy's
statistics until its segment is merged; to rank like an index built at once, ours is made anew when that matters.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexDamaged, StoreError
from selfright.retrieval.catalogue import Catalogue, Entry
from selfright.retrieval.projection import State, StateFile

Scored = list[tuple[int, float]]
"""Passage keys with their scores, best first."""

_MAX_QUERY_TERMS = 256
_WRITER_BYTES = 64_000_000
_SMALL = 20_000  # passages that are indexed anew in about a second
_DELETED_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The index as of one commit."""

    state: State
    searcher: Any
    schema: Any


class LexicalIndex:
    """BM25 search over passage keys; kept in ``folder``, tied to the catalogue ``identity``."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._file = StateFile(folder, identity)
        self._refreshing = threading.Lock()
        self._snapshot: _Snapshot | None = None
        self.refresh()

    @property
    def state(self) -> State | None:
        """How far the index has followed the catalogue."""
        return self._snapshot.state if self._snapshot else None

    def refresh(self) -> None:
        """Takes over what another process has committed."""
        if not self._file.changed():
            return
        with self._refreshing:
            self._snapshot = self._file.load(self._load)

    def search(self, terms: Sequence[str], limit: int, collections: Sequence[str] = ()) -> Scored:
        """The ``limit`` best passages by BM25 (k1 = 1.2, b = 0.75); repeated terms count repeatedly."""
        snapshot = self._current()
        if not terms:
            return []
        query = _query(snapshot.schema, terms[:_MAX_QUERY_TERMS], collections)
        hits = snapshot.searcher.search(query, limit, count=False).hits
        keys = snapshot.searcher.fast_field_values("key", [address for _, address in hits]) if hits else []
        return [(int(key), float(score)) for key, (score, _) in zip(keys, hits, strict=True)]

    def frequencies(self, terms: Sequence[str]) -> tuple[list[int], int]:
        """In how many passages each term occurs, and how many passages there are."""
        snapshot = self._current()
        total = snapshot.state.passages
        return [min(total, snapshot.searcher.doc_freq("terms", term)) for term in terms], total

    def update(self, sequence: int, removed: Sequence[int], added: Sequence[int], entries: Iterable[Entry]) -> None:
        """Applies changes; the same ones may come twice."""
        snapshot = self._current()
        index = _open(self._file.folder / snapshot.state.files)
        state = replace(snapshot.state, sequence=sequence, deleted=snapshot.state.deleted + len(removed))
        self._write(index, state, [*removed, *added], entries)

    def rebuild(self, sequence: int, entries: Iterable[Entry]) -> None:
        """Makes the index anew."""
        import tantivy

        path = self._file.next_name("segments", self.state)
        path.mkdir()
        state = State(self._file.identity, sequence, path.name)
        self._write(tantivy.Index(_schema(), str(path)), state, (), entries)

    def prefers_rebuild(self, removed: int, /) -> bool:
        """Whether deleted passages would distort the statistics, or a new index costs little."""
        passages = self.state.passages if self.state else 0
        deleted = self.state.deleted if self.state else 0
        return removed > 0 and (passages <= _SMALL or removed + deleted > _DELETED_SHARE * passages)

    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether there are as many passages here as in the catalogue."""
        return self._snapshot is not None and self._snapshot.searcher.num_docs == catalogue.passage_count()

    def _write(self, index: Any, state: State, delete: Sequence[int], entries: Iterable[Entry]) -> None:
        try:
            _commit(index, delete, entries)
        except ValueError as error:  # the only kind of error that tantivy raises
            raise StoreError(
                f"the lexical index in {self._file.folder} could not be written ({error}); "
                "the documents are safe, and it is brought up to date when the index is opened again"
            ) from error
        searcher = index.searcher()
        state = replace(state, passages=searcher.num_docs)
        self._file.write(state)
        self._snapshot = _Snapshot(state, searcher, index.schema)

    def _load(self, state: State) -> _Snapshot | None:
        try:
            index = _open(self._file.folder / state.files)
        except ValueError:  # tantivy's own error for missing and damaged files
            return None
        return _Snapshot(state, index.searcher(), index.schema)

    def _current(self) -> _Snapshot:
        if self._snapshot is None:
            raise IndexDamaged(
                f"the lexical index in {self._file.folder} cannot be read; open the index anew to mend it"
            )
        return self._snapshot


def _commit(index: Any, delete: Sequence[int], entries: Iterable[Entry]) -> None:
    writer = index.writer(_WRITER_BYTES, 1)
    for key in delete:
        writer.delete_documents_by_term("key", key)
    for entry in entries:
        writer.add_document(_document(entry, index.schema))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    # An integer, because tantivy deletes nothing by the value of an unsigned field, and says nothing.
    builder.add_integer_field("key", stored=True, indexed=True, fast=True)
    builder.add_text_field("collection", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _open(path: Path) -> Any:
    import tantivy

    index = tantivy.Index.open(str(path))
    index.config_reader("manual")
    index.reload()
    return index


def _document(entry: Entry, schema: Any) -> Any:
    import tantivy

    # from_dict checks the types against the schema; a wrong one would otherwise end the writer's thread.
    fields = {"key": entry.key, "collection": entry.collection, "terms": entry.tokens}
    return tantivy.Document.from_dict(fields, schema)


def _query(schema: Any, terms: Sequence[str], collections: Sequence[str]) -> Any:
    from tantivy import Occur, Query

    wanted = Query.boolean_query([(Occur.Should, Query.term_query(schema, "terms", term, "freq")) for term in terms])
    if not collections:
        return wanted
    among = Query.const_score_query(Query.term_set_query(schema, "collection", list(collections)), 0.0)
    return Query.boolean_query([(Occur.Must, wanted), (Occur.Must, among)])
