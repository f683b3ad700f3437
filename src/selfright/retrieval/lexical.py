"""The lexical index: BM25 by tantivy over the terms of the catalogue.

Terms come ready from the tokenizer and are only split at blanks here. tantivy takes its statistics from the index as it
lies on disk, deleted passages included. So that scores are those of an index built at once, each term is weighed with
what its true inverse document frequency is to tantivy's.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selfright.retrieval.catalogue import Catalogue, Changes, Entry
from selfright.retrieval.projection import LATEST, NotWritten, Projection, ProjectionSnapshot, State
from selfright.retrieval.ranking import SPARE, Population, ScoredKeys, idf, in_order
from selfright.storage.files import erase, link_files

SMALL = 5_000  # passages that are indexed anew in a fraction of a second
_DELETED_SHARE = 0.1
_MAX_QUERY_TERMS = 256
_KNOWN_TERMS = 50_000
_WRITER_BYTES = 128_000_000


@dataclass(frozen=True, slots=True)
class _Snapshot(ProjectionSnapshot):
    """The index as of one commit: its searcher, and document frequencies that were asked for."""

    searcher: Any = None
    schema: Any = None
    known: dict[str, int] = field(default_factory=dict)


class LexicalIndex(Projection[_Snapshot]):
    """BM25 search over passages; kept in a folder, tied to the catalogue ``identity``."""

    def search(
        self,
        terms: Mapping[str, float],
        limit: int,
        collections: Sequence[str] = (),
        at: int = LATEST,
        korean: int = 0,
    ) -> ScoredKeys:
        """The ``limit`` best by BM25 (k1 = 1.2, b = 0.75) for ``terms``, each with what it counts.

        ``at``: the change as of which to search, if that is still known. ``korean``: see ``Population``.
        """
        snapshot = self.at(at)
        if not terms:
            return ScoredKeys()
        terms = dict(islice(terms.items(), _MAX_QUERY_TERMS))
        population = Population(snapshot.state.passages, korean)
        if snapshot.state.deleted or population.mixed:  # else tantivy's own statistics are the true ones
            terms = _weights(snapshot, terms, population)
        query = _query(snapshot.schema, terms, collections)
        hits = snapshot.searcher.search(query, limit + SPARE, count=False).hits
        addresses = [address for _, address in hits]
        if not addresses:
            return ScoredKeys()
        keys, id_hashes = (snapshot.searcher.fast_field_values(name, addresses) for name in ("key", "mark"))
        return in_order(keys, id_hashes, [score for score, _ in hits], limit)

    def idf(self, terms: Sequence[str], korean: int = 0) -> list[float]:
        """How rare each term is; ``korean``: see ``Population``."""
        snapshot = self.current()
        return Population(snapshot.state.passages, korean).idf(terms, [_alive(snapshot, term) for term in terms])

    # Projection

    def open(self, state: State, /) -> _Snapshot:
        """Its searcher."""
        index = _open(self.folder / str(state.details["folder"]))
        return _Snapshot(state, index.searcher(), index.schema)

    def update(self, catalogue: Catalogue, changes: Changes, /) -> None:
        """Applies changes to a copy whose unchanged files are links."""
        state = self.current().state
        if not (changes.added or changes.removed):  # vectors make no difference here
            self.stand(replace(state, sequence=changes.sequence), list(state.files), self.current())
            return
        entries, old = catalogue.entries(changes.added), self.folder / str(state.details["folder"])
        with self._new_folder() as folder:
            link_files(old, folder, state.files, self.folder)
            index = _open(folder)
            _commit(index, changes.removed, entries, _threads(len(changes.added)))
        state = replace(state, sequence=changes.sequence, deleted=state.deleted + len(changes.removed))
        self._finish(folder, index, state)

    def rebuild(self, catalogue: Catalogue, /) -> None:
        """Makes the index anew."""
        import tantivy

        sequence, passages = catalogue.sequence(), catalogue.stats().passages
        with self._new_folder() as folder:
            folder.mkdir(parents=True)
            index = tantivy.Index(_schema(), str(folder))
            _commit(index, (), catalogue.all_entries(), _threads(passages))
        self._finish(folder, index, State(self.identity, sequence))

    def prefers_rebuild(self, _catalogue: Catalogue, changes: Changes, /) -> bool:
        """Whether deleted passages would pile up, or a new index costs little."""
        state = self.state
        if state is None or len(changes.added) > state.passages:
            return True
        removed = len(changes.removed)
        return removed > 0 and (state.passages <= SMALL or removed + state.deleted > _DELETED_SHARE * state.passages)

    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether there are as many passages here as in the catalogue."""
        return self.state is not None and self.state.passages == catalogue.stats().passages

    @contextmanager
    def _new_folder(self) -> Iterator[Path]:
        """Where to write an index; raises ``NotWritten``, and leaves nothing there then: a full disk needs the room."""
        folder = self.place(f"segments-{self.free_number()}")
        try:
            yield folder
        except (OSError, ValueError) as error:  # tantivy raises the latter for everything
            erase(folder)
            raise NotWritten(
                f"the lexical index in {self.folder} could not be written ({error}); "
                "the documents are safe, and it is brought up to date when the index is opened again"
            ) from error

    def _finish(self, folder: Path, index: Any, state: State) -> None:
        searcher = index.searcher()
        state = replace(state, passages=searcher.num_docs, details={"folder": folder.name})
        names = [f"{path.relative_to(self.folder).as_posix()}" for path in folder.rglob("*") if _is_kept(path)]
        self.stand(state, sorted(names), _Snapshot(state, searcher, index.schema))


def _threads(passages: int) -> int:
    return 2 if passages > SMALL else 1


def _alive(snapshot: _Snapshot, term: str) -> int:
    """In how many passages a term occurs, deleted ones left out."""
    found = snapshot.known.get(term)
    if found is None:
        if snapshot.state.deleted:
            from tantivy import Query

            query = Query.term_query(snapshot.schema, "terms", term, "freq")
            found = snapshot.searcher.search(query, 1, count=True).count or 0
        else:
            found = snapshot.searcher.doc_freq("terms", term)
        if len(snapshot.known) >= _KNOWN_TERMS:
            snapshot.known.clear()
        snapshot.known[term] = found
    return found


def _weights(snapshot: _Snapshot, terms: Mapping[str, float], population: Population) -> dict[str, float]:
    """What each term counts times its true inverse document frequency, as a multiple of tantivy's."""
    true = population.idf(list(terms), [_alive(snapshot, term) for term in terms])
    searcher = snapshot.searcher
    held = searcher.doc_freq("everywhere", "1")  # tantivy counts deleted ones as well
    return {
        term: count * rarity / idf(searcher.doc_freq("terms", term), held)
        for (term, count), rarity in zip(terms.items(), true, strict=True)
    }


def _commit(index: Any, delete: Sequence[int], entries: Iterable[Entry], threads: int) -> None:
    import tantivy

    writer, schema = index.writer(_WRITER_BYTES, threads), index.schema
    for key in delete:
        writer.delete_documents_by_term("key", key)
    for entry in entries:
        fields = {"key": entry.key, "mark": entry.id_hash, "collection": entry.collection, "everywhere": "1"}
        # from_dict checks the types against the schema; a wrong one would otherwise end the writer's thread.
        writer.add_document(tantivy.Document.from_dict({**fields, "terms": entry.terms}, schema))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    # Integers, because tantivy deletes nothing by the value of an unsigned field, and says nothing.
    builder.add_integer_field("key", indexed=True, fast=True)
    builder.add_integer_field("mark", fast=True)
    builder.add_text_field("collection", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("everywhere", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _open(path: Path) -> Any:
    import tantivy

    if not os.access(path, os.W_OK):  # it makes a lock file even to read, but keeps all open that it reads once
        with TemporaryDirectory(prefix="selfright-") as name:
            for file in filter(_is_kept, path.iterdir()):
                (Path(name) / file.name).symlink_to(file.absolute())
            return _open(Path(name))
    index = tantivy.Index.open(str(path))
    index.config_reader("manual")
    index.reload()
    return index


def _query(schema: Any, terms: Mapping[str, float], collections: Sequence[str]) -> Any:
    from tantivy import Occur, Query

    clauses = []
    for term, weight in terms.items():
        clause = Query.term_query(schema, "terms", term, "freq")
        clauses.append(clause if weight == 1 else Query.boost_query(clause, weight))
    wanted = Query.boolean_query([(Occur.Should, clause) for clause in clauses])
    if not collections:
        return wanted
    among = Query.const_score_query(Query.term_set_query(schema, "collection", list(collections)), 0.0)
    return Query.boolean_query([(Occur.Must, wanted), (Occur.Must, among)])


def _is_kept(path: Path) -> bool:
    return path.is_file() and not path.name.endswith(".lock")
