"""The lexical index: BM25 by tantivy over the terms of the catalogue.

Terms come ready from the tokenizer and are only split at blanks here. tantivy takes its statistics from each index as
it lies on disk, deleted passages included. So that scores are those of an index built at once, each term is weighed
with what its true inverse document frequency is to tantivy's. Large indexes lie in parts, which the two threads of a
search take one after the other, and the same weights make them one.
"""

import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selfright.domain.errors import StoreError
from selfright.retrieval.catalogue import Catalogue, Changes, Entry
from selfright.retrieval.files import link_files
from selfright.retrieval.projection import LATEST, Projection, Standing, State
from selfright.retrieval.scored import SPARE, Population, Scored, idf, in_order

SMALL = 5_000  # passages that are indexed anew in a fraction of a second
PARTS_FROM = 300_000  # passages from which several parts pay
_PARTS = 3  # three are shared between two threads more evenly than two, and more cost more than they save
_DELETED_SHARE = 0.1
_MAX_QUERY_TERMS = 256
_KNOWN_TERMS = 50_000
_WRITER_BYTES = 128_000_000


@dataclass(frozen=True, slots=True)
class _Snapshot(Standing):
    """The index as of one commit: the searchers of its parts, and document frequencies that were asked for."""

    parts: tuple[Any, ...] = ()
    schema: Any = None
    known: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether tantivy's own statistics are the true ones."""
        return len(self.parts) == 1 and not self.state.deleted


class LexicalSearch:
    """A search for the ``limit`` best, one task for each part; the threads that ``work`` on it share the tasks."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tasks: deque[tuple[Any, Any]] = deque()
        self._found: list[tuple[list[int], list[int], list[float]]] = []

    def add(self, tasks: Iterable[tuple[Any, Any]]) -> None:
        """Parts to be searched, each with its query."""
        self._tasks.extend(tasks)

    def work(self) -> None:
        """Searches parts that nobody has taken, until there are none."""
        while True:
            try:
                part, query = self._tasks.popleft()
            except IndexError:  # none left
                return
            self._found.append(_search(part, query, self._limit + SPARE))

    def result(self) -> Scored:
        """The best of all parts, once every thread's ``work`` has ended."""
        keys, id_hashes, scores = (
            list(chain.from_iterable(found[column] for found in self._found)) for column in range(3)
        )
        return in_order(keys, id_hashes, scores, self._limit)


class LexicalIndex(Projection[_Snapshot]):
    """BM25 search over passages; kept in a folder, tied to the catalogue ``identity``."""

    def tasks(
        self,
        terms: Mapping[str, float],
        collections: Sequence[str] = (),
        at: int = LATEST,
        korean: int = 0,
    ) -> list[tuple[Any, Any]]:
        """Of a search by BM25 (k1 = 1.2, b = 0.75) for ``terms``, each with what it counts.

        ``at``: the change as of which to search, if that is still known. ``korean``: see ``Population``.
        """
        snapshot = self.at(at)
        if not terms:
            return []
        terms = dict(islice(terms.items(), _MAX_QUERY_TERMS))
        population = Population(snapshot.state.passages, korean)
        plain = snapshot.exact and not population.mixed
        weights = [terms] * len(snapshot.parts) if plain else _weights(snapshot, terms, population)
        queries = (_query(snapshot.schema, weight, collections) for weight in weights)
        return list(zip(snapshot.parts, queries, strict=True))

    @property
    def parts(self) -> int:
        """How many there are, each searched by itself."""
        return len(self.current().parts)

    def idf(self, terms: Sequence[str], korean: int = 0) -> list[float]:
        """How rare each term is; ``korean``: see ``Population``."""
        snapshot = self.current()
        return Population(snapshot.state.passages, korean).idf(terms, [sum(_alive(snapshot, term)) for term in terms])

    # Projection

    def open(self, state: State, /) -> _Snapshot:
        """The searchers of all parts."""
        folder = self.folder / str(state.details["folder"])
        indexes = [_open(folder / str(part)) for part in range(int(state.details["parts"]))]
        return _Snapshot(state, tuple(index.searcher() for index in indexes), indexes[0].schema)

    def update(self, catalogue: Catalogue, changes: Changes, /) -> None:
        """Applies changes to a copy whose unchanged files are links."""
        state = self.current().state
        if not (changes.added or changes.removed):  # vectors make no difference here
            self.stand(replace(state, sequence=changes.sequence), list(state.files), self.current())
            return
        folder = self.place(f"segments-{self.free_number()}")
        link_files(self.folder / str(state.details["folder"]), folder, state.files, self.folder)
        indexes = [_open(folder / str(part)) for part in range(int(state.details["parts"]))]
        state = replace(state, sequence=changes.sequence, deleted=state.deleted + len(changes.removed))
        self._write(folder, indexes, state, changes.removed, catalogue.entries(changes.added), len(changes.added))

    def rebuild(self, catalogue: Catalogue, /) -> None:
        """Makes the index anew."""
        import tantivy

        sequence, passages = catalogue.sequence(), catalogue.stats().passages
        folder = self.place(f"segments-{self.free_number()}")
        indexes = []
        for part in range(_parts(passages)):
            (folder / str(part)).mkdir(parents=True)
            indexes.append(tantivy.Index(_schema(), str(folder / str(part))))
        self._write(folder, indexes, State(self.identity, sequence), (), catalogue.all_entries(), passages)

    def prefers_rebuild(self, catalogue: Catalogue, changes: Changes, /) -> bool:
        """Whether deleted passages would pile up, the size asks for another shape, or a new index costs little."""
        state = self.state
        if state is None or len(changes.added) > state.passages or "parts" not in state.details:
            return True
        if int(state.details["parts"]) != _parts(catalogue.stats().passages):
            return True
        removed = len(changes.removed)
        return removed > 0 and (state.passages <= SMALL or removed + state.deleted > _DELETED_SHARE * state.passages)

    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether there are as many passages here as in the catalogue."""
        return self.state is not None and self.state.passages == catalogue.stats().passages

    def _write(
        self,
        folder: Path,
        indexes: Sequence[Any],
        state: State,
        delete: Sequence[int],
        add: Iterable[Entry],
        count: int,
    ) -> None:
        try:
            _commit(indexes, delete, add, threads=2 if count > SMALL else 1)
        except ValueError as error:  # the only kind of error that tantivy raises
            raise StoreError(
                f"the lexical index in {self.folder} could not be written ({error}); "
                "the documents are safe, and it is brought up to date when the index is opened again"
            ) from error
        searchers = tuple(index.searcher() for index in indexes)
        passages = sum(searcher.num_docs for searcher in searchers)
        state = replace(state, passages=passages, details={"folder": folder.name, "parts": len(indexes)})
        names = [f"{path.relative_to(self.folder).as_posix()}" for path in folder.rglob("*") if _is_kept(path)]
        self.stand(state, sorted(names), _Snapshot(state, searchers, indexes[0].schema))


def _parts(passages: int) -> int:
    return _PARTS if passages >= PARTS_FROM else 1


def _search(part: Any, query: Any, limit: int) -> tuple[list[int], list[int], list[float]]:
    hits = part.search(query, limit, count=False).hits
    addresses = [address for _, address in hits]
    if not addresses:
        return [], [], []
    keys, id_hashes = part.fast_field_values("key", addresses), part.fast_field_values("mark", addresses)
    return keys, id_hashes, [score for score, _ in hits]


def _alive(snapshot: _Snapshot, term: str) -> tuple[int, ...]:
    """In how many passages of each part a term occurs, deleted ones left out."""
    found = snapshot.known.get(term)
    if found is None:
        if snapshot.state.deleted:
            from tantivy import Query

            query = Query.term_query(snapshot.schema, "terms", term, "freq")
            found = tuple(part.search(query, 1, count=True).count or 0 for part in snapshot.parts)
        else:
            found = tuple(part.doc_freq("terms", term) for part in snapshot.parts)
        if len(snapshot.known) >= _KNOWN_TERMS:
            snapshot.known.clear()
        snapshot.known[term] = found
    return found


def _weights(snapshot: _Snapshot, terms: Mapping[str, float], population: Population) -> list[Mapping[str, float]]:
    """For each part what a term counts times its true inverse document frequency, as a multiple of tantivy's."""
    alive = [_alive(snapshot, term) for term in terms]
    true = population.idf(list(terms), [sum(found) for found in alive])
    wanted = {term: count * rarity for (term, count), rarity in zip(terms.items(), true, strict=True)}
    weights: list[Mapping[str, float]] = []
    for number, part in enumerate(snapshot.parts):
        held = part.doc_freq("everywhere", "1")
        deleted = snapshot.state.deleted  # tantivy counts them as well
        holders = [part.doc_freq("terms", term) for term in terms] if deleted else [found[number] for found in alive]
        pairs = zip(wanted.items(), holders, strict=True)
        weights.append({term: weight / idf(count, held) for (term, weight), count in pairs})
    return weights


def _commit(indexes: Sequence[Any], delete: Sequence[int], entries: Iterable[Entry], threads: int) -> None:
    import tantivy

    writers = [index.writer(_WRITER_BYTES // len(indexes), max(1, threads // len(indexes))) for index in indexes]
    for writer in writers:
        for key in delete:
            writer.delete_documents_by_term("key", key)
    schema = indexes[0].schema
    for entry in entries:
        fields = {"key": entry.key, "mark": entry.id_hash, "collection": entry.collection, "everywhere": "1"}
        # from_dict checks the types against the schema; a wrong one would otherwise end the writer's thread.
        document = tantivy.Document.from_dict({**fields, "terms": entry.terms}, schema)
        writers[entry.id_hash % len(writers)].add_document(document)
    for writer, index in zip(writers, indexes, strict=True):
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
