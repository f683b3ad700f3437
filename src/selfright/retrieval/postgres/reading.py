"""Reads an index in PostgreSQL: both rankings in one statement, documents, passages and vectors."""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval
from selfright.retrieval.postgres.schema import term_as_kept, vector_of
from selfright.retrieval.ranking import SPARE, Population, ScoredKeys, fewest_holders, in_order
from selfright.retrieval.records import SHOWN, IndexCounts
from selfright.retrieval.search_request import Best, Lists, SearchRequest, Task
from selfright.storage.postgres import Connection, PostgresDatabase
from selfright.storage.postgres_address import decode, decode_row, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

# ruff: noqa: S608 - statements are put together from constants of this module alone

EXACT_MOST = 20_000  # vectors that are compared one by one
_GRAPH_DEPTH = 400  # candidates beyond which a graph search would be no faster than looking at all
_MOST_TERMS = 256
_PAGE = 500
_LOOK_S = 60.0

_DOCUMENT = "id, title, text, language, source, url, media_type, collection, metadata"
_INFO = "id, title, collection, language, source, content_hash, characters, passages"
_PASSAGE = ", ".join(f"p.{name}" for name in SHOWN.split(", "))

# BM25 (k1 = 1.2, b = 0.75), exact over the live passages; ``held``: ``Population.of``. Rows: kind, key, mark, score.
_WORDS = """
size AS (SELECT coalesce(sum(passages), 0)::float8 AS n, coalesce(sum(length), 0)::float8 AS length FROM tally),
asked AS (
    SELECT t.id, t.df, times, place, CASE WHEN fewest > 0 THEN least(greatest(fewest, df), n) ELSE n END AS held
    FROM unnest(%(terms)s::text[], %(times)s::float8[], %(fewest)s::bigint[])
    WITH ORDINALITY AS u (term, times, fewest, place) JOIN terms t USING (term) CROSS JOIN size
),
weighed AS MATERIALIZED (  -- once for each term, not for each posting
    SELECT a.id, a.times * ln(1 + (a.held - a.df + 0.5) / (a.df + 0.5)) * 2.2 AS weight,
           0.9 * s.n / greatest(s.length, 1) AS slope
    FROM asked a, size s
),
words AS (
    SELECT o.key, sum(weight * tf / (tf + 0.3 + slope * o.length)) AS score
    FROM weighed w JOIN postings o ON o.term = w.id {among}
    GROUP BY o.key ORDER BY score DESC, o.key LIMIT %(limit)s
)
"""
_AMONG_PASSAGES = "JOIN passages p ON p.key = o.key WHERE p.collection = ANY(%(collections)s)"

_NEAR_EXACT = """
near AS (
    SELECT key, mark, -(embedding <#> %(vector)s) AS score FROM vectors {among}
    ORDER BY embedding <#> %(vector)s LIMIT %(limit)s
)
"""
_NEAR_GRAPH = """
near AS (
    SELECT key, mark, -(embedding <#> %(vector)s) AS score FROM (
        SELECT key, mark, embedding FROM vectors {among}
        ORDER BY embedding::halfvec({dimension}) <#> %(vector)s::halfvec({dimension}) LIMIT %(limit)s
    ) AS candidates
)
"""
_BOTH = """
WITH {words}, {near}
SELECT 'words', w.key, p.mark, w.score FROM words w JOIN passages p USING (key)
UNION ALL SELECT 'near', key, mark, score FROM near
UNION ALL SELECT 'df', place, df, 0 FROM asked
UNION ALL SELECT 'size', n::bigint, 0, 0 FROM size
"""
_NO_NEAR = "near AS (SELECT 0::bigint AS key, 0::bigint AS mark, 0::float8 AS score WHERE false)"


@dataclass(slots=True)
class Shape:
    """What is known of the index, to choose how to search: it may be old, for every way finds the same or more, but
    for documents in the first other language."""

    dimension: int
    graph: bool = False
    languages: Mapping[str, int] = field(default_factory=dict)  # passages
    passages: Mapping[str, int] = field(default_factory=dict)


class Reader:
    """Reads on one connection, all of it as of one moment."""

    def __init__(self, connection: Connection, shape: Shape) -> None:
        self._connection = connection
        self._shape = shape

    def lists(self, request: SearchRequest, /) -> Lists:
        """Both rankings and the idf of each wanted term."""
        vector, words = request.leaning(self.languages()), request.weight_terms(self.languages())
        kept = [term_as_kept(term) for term in request.terms]
        counted = {term_as_kept(term): count for term, count in islice(words.items(), _MOST_TERMS)}
        collections = [encode(name) for name in request.collections]
        query = _BOTH.format(
            words=_WORDS.format(among=_AMONG_PASSAGES if collections else ""), near=self._near(request, vector)
        )
        rows = self._connection.execute(
            query,
            {
                "terms": list(counted),
                "times": list(counted.values()),
                "fewest": [fewest_holders(term, self._shape.languages.get("ko", 0)) for term in counted],
                "collections": collections,
                "vector": vector,
                "limit": request.depth + SPARE,
            },
        ).fetchall()
        by_words, near = ([row for row in rows if row[0] == kind] for kind in ("words", "near"))
        total = next(int(row[1]) for row in rows if row[0] == "size")
        names = list(counted)
        found = {names[row[1] - 1]: int(row[2]) for row in rows if row[0] == "df"}
        rarity = Population(total, self._shape.languages.get("ko", 0)).idf(kept, [found.get(term, 0) for term in kept])
        return Lists(_score(by_words, request.depth), _score(near, request.depth), rarity)

    def search_rows(
        self, best: Sequence[Best], vector: "NDArray[np.float32] | None", known: Collection[int], /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        """The passages by key, and cosines by id hash."""
        del known
        if not best:
            return {}, {}
        score, joined = "NULL", ""
        if vector is not None:
            score, joined = "-(v.embedding <#> %(vector)s)", "LEFT JOIN vectors v USING (key)"
        rows = self._connection.execute(
            f"SELECT p.key, p.mark, {score}, {_PASSAGE} FROM passages p {joined} WHERE p.key = ANY(%(keys)s)",
            {"vector": vector, "keys": [found.key for found in best]},
        ).fetchall()
        passages = {row[0]: _passage(row[3:]) for row in rows}
        return passages, {row[1]: float(row[2]) for row in rows if row[2] is not None}

    def languages(self) -> frozenset[str]:
        """The languages of the documents as of the last look."""
        return frozenset(self._shape.languages)

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """The language of each of these passages, by key."""
        query = "SELECT key, language FROM passages WHERE key = ANY(%s)"
        return dict(self._connection.execute(query, [list(keys)]).fetchall())

    def without_vectors(self, collections: Sequence[str], /) -> None:
        """None: passages are embedded before they are committed."""

    def _near(self, request: SearchRequest, vector: "NDArray[np.float32] | None") -> str:
        if vector is None or not self._shape.dimension:
            return _NO_NEAR
        among = "WHERE collection = ANY(%(collections)s)" if request.collections else ""
        reached = sum(self._shape.passages.get(name, 0) for name in request.collections or self._shape.passages)
        if not self._shape.graph or reached <= EXACT_MOST or request.depth > _GRAPH_DEPTH:
            return _NEAR_EXACT.format(among=among)
        return _NEAR_GRAPH.format(among=among, dimension=self._shape.dimension)


class IndexReader:
    """What can be read of an index: searches, documents, passages, vectors, figures."""

    def __init__(self, database: PostgresDatabase, dimension: int) -> None:
        self._database = database
        self._looked = time.monotonic()
        self.shape = Shape(dimension)

    def read(self, request: SearchRequest, task: Task, /) -> Retrieval:
        """What ``task`` gives, at one moment of the index; tried again when the connection breaks."""
        _ = request.vector  # no connection waits for it
        if time.monotonic() - self._looked > _LOOK_S:  # another process may have made a graph
            self.refresh()
        return self._database.within(lambda connection: task(Reader(connection, self.shape)))

    def refresh(self) -> None:
        """Looks at the vectors again, to search them in the way that suits them now."""
        self._looked = time.monotonic()
        rows = self._rows("SELECT collection, passages FROM tally")
        (graph,) = self._rows("SELECT to_regclass('vectors_graph') IS NOT NULL")[0]
        by_language = self._rows("SELECT language, sum(passages)::bigint FROM documents GROUP BY language")
        passages = {decode(name): count for name, count in rows}
        self.shape = Shape(self.shape.dimension, bool(graph), dict(by_language), passages)

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        rows = self._rows(f"SELECT {_DOCUMENT} FROM documents WHERE id = %s", encode(document_id))
        if not rows:
            return None
        row = *decode_row(rows[0][:-1]), json.loads(rows[0][-1])
        return Document(*row)

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents behind ``after``, ordered by id, some hundred at a time."""
        among = "AND collection = ANY(%s)" if collections else ""
        names = [[encode(name) for name in collections]] if collections else []
        query = f"SELECT {_INFO} FROM documents WHERE id > %s {among} ORDER BY id LIMIT {_PAGE}"
        rows = self._rows(query, encode(after), *names)
        while rows:
            yield from (DocumentInfo(*decode_row(row)) for row in rows)
            rows = self._rows(query, rows[-1][0], *names) if len(rows) == _PAGE else []

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        query = f"SELECT {_PASSAGE} FROM passages p WHERE p.document_id = %s ORDER BY p.key"
        return [_passage(row) for row in self._rows(query, encode(document_id))]

    def vectors_of(self, document_id: str) -> "Mapping[str, NDArray[np.float32]]":
        """Vectors by passage id."""
        if not self.shape.dimension:
            return {}
        rows = self._rows(
            "SELECT p.id, v.embedding FROM passages p JOIN vectors v USING (key) "
            "WHERE p.document_id = %s ORDER BY p.key",
            encode(document_id),
        )
        return {decode(passage_id): vector_of(found) for passage_id, found in rows}

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""
        kept = [term_as_kept(term) for term in terms]
        rows = self._rows(
            "SELECT term, df FROM terms WHERE term = ANY(%s) "
            "UNION ALL SELECT NULL, coalesce(sum(passages), 0) FROM tally",
            list(set(kept)),
        )
        found = {term: int(count) for term, count in rows}
        return Population(found[None], self.shape.languages.get("ko", 0)).idf(
            kept, [found.get(term, 0) for term in kept]
        )

    def counts(self) -> tuple[IndexCounts, int]:
        """What the index holds, and its bytes on disk with all indexes."""
        passages, size = self._rows(
            "SELECT (SELECT coalesce(sum(passages), 0) FROM tally), sum(pg_total_relation_size(oid)) "
            "FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        )[0]
        counts = IndexCounts(int(passages))
        for name, language, count in self._rows("SELECT collection, language, count(*) FROM documents GROUP BY 1, 2"):
            counts.collections[decode(name)] += count
            counts.languages[language] += count
        return counts, int(size)

    def described_collections(self) -> list[tuple[Any, ...]]:
        """What the operator said of collections: name, description, classes, slots."""
        return [decode_row(row) for row in self._rows("SELECT name, description, classes, slots FROM collections")]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.within(lambda connection: connection.execute(query, values or None).fetchall())


def _passage(row: Sequence[Any]) -> Passage:
    return Passage(*decode_row(row))


def _score(rows: Sequence[tuple[Any, ...]], limit: int) -> ScoredKeys:
    return in_order([row[1] for row in rows], [row[2] for row in rows], [row[3] for row in rows], limit)
