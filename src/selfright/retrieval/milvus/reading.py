"""Reads an index in Milvus: candidates from the server's BM25 and vector search, scored by its live statistics."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval
from selfright.retrieval.milvus.layout import Counts, DocumentRecord, encode_term, passage_of, read_about
from selfright.retrieval.milvus.server import Server
from selfright.retrieval.ranking import SPARE, Population, ScoredKeys, in_order
from selfright.retrieval.records import id_hash
from selfright.retrieval.search_request import Best, Lists, SearchRequest, Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
_HELPERS = 4
_MOST_TERMS = 256
_KNOWN_TERMS = 50_000


class IndexReader:
    """What can be read of an index; safe to use from many threads."""

    def __init__(self, server: Server, dimension: int) -> None:
        self._server = server
        self._dimension = dimension
        self._helpers = ThreadPoolExecutor(_HELPERS, thread_name_prefix="selfright-milvus")
        self._frequencies: dict[str, int] = {}
        self._counted = ""
        self.about: dict[str, str] = {}
        self.counts = Counts()
        self.refresh()

    def close(self) -> None:
        """Ends the helpers."""
        self._helpers.shutdown()

    def refresh(self) -> None:
        """Reads again what is known of the index as a whole."""
        self.about = read_about(self._server)
        self._count(self.about.get("counts", ""))

    def look(self) -> None:
        """Reads the counts again; forgets how rare terms were when they have changed."""
        rows = self._server.get("about", ["counts"], ["value"])
        self._count(rows[0]["value"] if rows else "")

    def _count(self, text: str) -> None:
        if text != self._counted:
            self.counts, self._frequencies, self._counted = Counts.of(text), {}, text

    def read(self, request: SearchRequest, task: Task, /) -> Retrieval:
        """What ``task`` gives, with the counts of the last commit, whoever made it."""
        del request
        self.look()
        return task(self)

    # Reader

    def lists(self, request: SearchRequest, /) -> Lists:
        """Both rankings and the idf of each wanted term."""
        vector = request.leaning(self.languages())
        marks = ", ".join(str(id_hash(name)) for name in request.collections)
        condition = f"collection in [{marks}]" if marks else ""
        waiting = None
        if vector is not None and self._dimension:
            waiting = self._helpers.submit(self._near, vector, request.depth, condition)
        wanted = dict(islice(request.weight_terms(self.languages()).items(), _MOST_TERMS))
        weights = {
            encode_term(term): count * rarity
            for (term, count), rarity in zip(wanted.items(), self._idf(list(wanted)), strict=True)
        }
        # The server counts a term as often as it is written: in halves, so that translations count less.
        text = " ".join(" ".join([encode_term(term)] * max(1, round(2 * count))) for term, count in wanted.items())
        found = self._words(text, weights, request.depth, condition)
        return Lists(found, waiting.result() if waiting else ScoredKeys(), self._idf(request.terms))

    def languages(self) -> frozenset[str]:
        """The languages of the documents as of the last commit."""
        return frozenset(name for name, count in self.counts.languages.items() if count > 0)

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """The language of each of these passages, by key; it lies in their records, which are read whole."""
        rows = self._server.get("passages", list(keys), ["key", "record"])
        return {row["key"]: passage_of(row["record"]).language for row in rows}

    def search_rows(
        self, best: Sequence[Best], vector: "NDArray[np.float32] | None", known: Collection[int], /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        """The passages by key, and cosines by id hash."""
        del known
        if not best:
            return {}, {}
        with_vector = vector is not None and self._dimension > 0
        fields = ["key", "mark", "record", *(["dense", "known"] if with_vector else [])]
        rows = self._server.get("passages", [found.key for found in best], fields)
        passages = {row["key"]: passage_of(row["record"]) for row in rows}
        if vector is None or not with_vector:
            return passages, {}
        vectors = {row["mark"]: np.asarray(row["dense"], np.float32) for row in rows if row["known"]}
        return passages, {mark: float(np.dot(found, vector)) for mark, found in vectors.items()}

    def without_vectors(self, collections: Sequence[str], /) -> None:
        """None: passages are embedded before they are committed."""

    # Library

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        head = self._head(document_id)
        if head is None:
            return None
        parts = []
        if head.pieces:
            condition = f"document == {id_hash(document_id)} and generation == {head.generation} and part > 0"
            rows = self._server.rows("documents", condition, ["part", "record"])
            parts = [row["record"] for row in sorted(rows, key=lambda row: int(row["part"]))]
        return Document(head.id, head.title, "".join(parts), *head[7:])

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents behind ``after``, ordered by id; the server keeps no order, so all are read and sorted."""
        heads = (DocumentRecord.of(row["record"]) for row in self._server.rows("documents", "part == 0", ["record"]))
        among = (head for head in heads if head.id > after and (not collections or head.collection in collections))
        for head in sorted(among, key=lambda head: head.id):
            where = head.collection, head.language, head.source
            yield DocumentInfo(head.id, head.title, *where, head.content_hash, head.characters, head.passages)

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        return [passage_of(row["record"]) for row in self._passages(document_id, ["key", "record"])]

    def vectors_of(self, document_id: str) -> "Mapping[str, NDArray[np.float32]]":
        """Vectors by passage id."""
        if not self._dimension:
            return {}
        rows = self._passages(document_id, ["key", "record", "dense", "known"])
        known = [row for row in rows if row["known"]]
        return {passage_of(row["record"]).id: np.asarray(row["dense"], np.float32) for row in known}

    # TermStatistics

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""
        self.look()
        return self._idf(terms)

    # Inside

    def _idf(self, terms: Sequence[str]) -> list[float]:
        known = self._frequencies
        stored = [encode_term(term) for term in terms]
        missing = [term for term in dict.fromkeys(stored) if term not in known]
        if missing:
            if len(known) > _KNOWN_TERMS:
                self._frequencies = known = {}
            found = {row["term"]: int(row["df"]) for row in self._server.get("terms", missing, ["term", "df"])}
            known.update((term, found.get(term, 0)) for term in missing)
        frequencies = [known.get(term, 0) for term in stored]
        return Population(self.counts.passages, self.counts.passages_in["ko"]).idf(terms, frequencies)

    def _words(self, text: str, weights: Mapping[str, float], limit: int, condition: str) -> ScoredKeys:
        if not weights:
            return ScoredKeys()
        named = {"filter": condition, "output_fields": ["mark", "terms"]}
        found = self._server.search("passages", text, "sparse", "BM25", limit + SPARE, **named)
        scores = [self._bm25(str(hit["entity"]["terms"]), weights) for hit in found]
        return _score(found, scores, limit)

    def _bm25(self, text: str, weights: Mapping[str, float]) -> float:
        """Exactly, with the statistics of the live passages: those of the server count deleted ones, and by segment."""
        counted = Counter(terms := text.split())
        average = self.counts.length / max(self.counts.passages, 1) or 1.0
        slope = K1 * (1 - B + B * len(terms) / average)
        return sum(
            weight * (K1 + 1) * counted[term] / (counted[term] + slope)
            for term, weight in weights.items()
            if counted[term]
        )

    def _near(self, vector: "NDArray[np.float32]", limit: int, condition: str) -> ScoredKeys:
        if self.counts.blank:
            condition = f"known == true and {condition}" if condition else "known == true"
        found = self._server.search(
            "passages", vector, *("dense", "IP", limit + SPARE), filter=condition, output_fields=["mark"]
        )
        return _score(found, [float(hit["distance"]) for hit in found], limit)

    def _head(self, document_id: str) -> DocumentRecord | None:
        rows = self._server.get("documents", [id_hash(document_id)], ["record"])
        return DocumentRecord.of(rows[0]["record"]) if rows else None

    def _passages(self, document_id: str, fields: Sequence[str]) -> list[Mapping[str, Any]]:
        head = self._head(document_id)
        if head is None:
            return []
        condition = f"document == {id_hash(document_id)} and generation == {head.generation}"
        return sorted(self._server.rows("passages", condition, fields), key=lambda row: int(row["key"]))


def _score(found: Sequence[Any], scores: Sequence[float], limit: int) -> ScoredKeys:
    return in_order([hit["key"] for hit in found], [hit["entity"]["mark"] for hit in found], scores, limit)
