"""What is indexed, found and cut: documents, passages, hits, strips.

Every text knows where it stands: ``passage.text == document.text[passage.start:passage.end]``, and the same holds
for a strip and the document of its passage. Citations rest on that equality.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self, get_args

from selfright.domain.file_names import full_title
from selfright.domain.judgements import WithheldReason

Language = Literal["ko", "en"]
Origin = Literal["index", "upload", "web"]
"""Who brought a text: the operator, somebody who sent a file, or anybody who has a web page."""

_ORIGINS: tuple[Origin, ...] = get_args(Origin)
SearchedBy = Literal["words", "meaning", "both"]

DEFAULT_COLLECTION = "default"


@dataclass(frozen=True, slots=True)
class Document:
    """One source as text, exactly as stored; spans of passages and citations point into ``text``.

    ``source`` is where it was read from (an absolute path or a URL), ``url`` where a reader can open it.
    """

    id: str
    title: str
    text: str
    language: Language = "en"
    source: str | None = None
    url: str | None = None
    media_type: str = "text/plain"
    collection: str = DEFAULT_COLLECTION
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> Origin:
        """What its metadata says under ``origin``; a document that says nothing was brought by the operator."""
        said = self.metadata.get("origin", "index")
        return next((origin for origin in _ORIGINS if origin == said), "index")

    def with_origin(self, origin: Origin) -> "Document":
        """The same, brought by others unless ``origin`` is ``index``: trust can be lowered, not raised."""
        return self if origin == "index" else replace(self, metadata={**self.metadata, "origin": origin})

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of what retrieval sees of the document: title, text and collection."""
        digest = hashlib.sha256()
        for part in (self.title, self.text, self.collection):
            digest.update(part.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        return digest.hexdigest()

    def passage(
        self, number: int, start: int, end: int, section: str = "", head: str = "", language: Language | None = None
    ) -> "Passage":
        """Passage ``number`` (from 0): the text from ``start`` to ``end``, by default in its language."""
        return Passage(
            id=f"{self.id}#{number}",
            document_id=self.id,
            title=self.title,
            text=self.text[start:end],
            start=start,
            end=end,
            section=section,
            language=language or self.language,
            collection=self.collection,
            url=self.url,
            head=head,
            origin=self.origin,
        )


_OF_THE_WEB = "web:"


def web_id(page_id: str) -> str:
    """The id of a passage of a page of the web, which no passage of an index has."""
    return f"{_OF_THE_WEB}{page_id}"


def is_of_the_web(passage_id: str) -> bool:
    """Whether it is such an id."""
    return passage_id.startswith(_OF_THE_WEB)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is indexed and retrieved: ``text`` is the document's text from ``start`` to ``end``.

    ``head`` names the columns of the table whose rows it begins with or has first: the header row as it stands in the
    document, without its outer bars, whether or not it is in the passage.
    """

    id: str
    document_id: str
    title: str
    text: str
    start: int
    end: int
    section: str = ""
    language: Language = "en"
    collection: str = DEFAULT_COLLECTION
    url: str | None = None
    head: str = ""
    origin: Origin = "index"

    @property
    def trusted(self) -> bool:
        """Whether the operator brought it. What others brought may answer, but gives way to what is trusted."""
        return self.origin == "index"

    @property
    def heading(self) -> str:
        """Title and section in one line: the context a passage loses when it is cut out of its document."""
        return f"{self.title} > {self.section}" if self.section and self.title else self.title or self.section

    @property
    def context(self) -> str:
        """The heading, and the head of a table that begins before the passage: with these it is searched and judged."""
        return self.above(self.text)

    def above(self, part: str, *, section: bool = True) -> str:
        """The same for a part of the text: the head of the table, too, where the part has rows without it.

        Without ``section``, the title stands for the heading.
        """
        has_rows = "|" in part and self.head not in part
        head = " | ".join(name.strip() for name in self.head.split("|")) if has_rows else ""
        title = full_title(self.document_id, self.title)
        heading = " > ".join(filter(None, (title, self.section if section else "")))
        return f"{heading}\n{head}" if heading and head else heading or head


class Ranked(NamedTuple):
    """A place in one ranking: ``rank`` from 1, ``score`` in that ranking's own unit (BM25, cosine)."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchWeights:
    """How far a search trusted its two halves: weights from 0 to 1 that add up to 1, and the reason in a sentence.

    A half that did not search, or brought nothing, weighs 0.
    """

    bm25: float
    dense: float
    why: str

    @property
    def by(self) -> SearchedBy:
        """What searched."""
        return "words" if not self.dense else "both" if self.bm25 else "meaning"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, with its fused score and its place in each list (None where it was not in it).

    ``cosine`` is the similarity of its vector to the query's, also where it was too low for the dense list; None where
    no vectors were compared. ``trust`` is how the search weighed its halves, the same for all of its hits.
    """

    passage: Passage
    rrf_score: float
    bm25: Ranked | None = None
    dense: Ranked | None = None
    cosine: float | None = None
    trust: SearchWeights | None = None


@dataclass(frozen=True, slots=True)
class WaitingVectors:
    """How many ``passages`` are searched by words only until their vectors are made.

    ``total`` is how many there are; None where only some collections were searched.
    """

    passages: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search brought: hits best first, and the query's vector when a dense half took part.

    ``trust`` is how its halves were weighed, said also where nothing was found; None where only the engine knows.
    ``waiting`` tells how much of what was searched has no vectors yet. ``lacks_meaning``: words alone were searched,
    because the embedder could not be used.
    """

    hits: tuple[Hit, ...]
    query_vector: tuple[float, ...] | None = None
    trust: SearchWeights | None = None
    waiting: WaitingVectors | None = None
    lacks_meaning: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """One to three sentences of a passage, the unit of knowledge refinement.

    ``start`` and ``end`` are positions in the *document's* text; ``score`` (0…1) is the probability that
    its passage answers, times how near the strip comes to the best one; of an unrefined strip, 1 / rank.
    """

    passage: Passage
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class FilteredHits:
    """Hits that may be evidence, and those ``withheld``; both in their order. ``reasons`` are by passage id.

    ``names_subject`` is false when nothing of all that was found names what the question is about.
    """

    hits: tuple[Hit, ...]
    withheld: tuple[Hit, ...] = ()
    names_subject: bool = True
    reasons: Mapping[str, WithheldReason] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Sequence[Hit], reasons: Mapping[str, WithheldReason], *, names_subject: bool = True) -> Self:
        """What was ``found``, without the passages that there are ``reasons`` against."""
        left = tuple(hit for hit in found if hit.passage.id not in reasons)
        withheld = tuple(hit for hit in found if hit.passage.id in reasons)
        return cls(left, withheld, names_subject, reasons)


@dataclass(frozen=True, slots=True)
class Refinement:
    """Strips that survived, in document order; ``removed_share`` is the share of characters taken out (0…1).

    ``fell_back`` is true when no strip reached the threshold and only the best one was kept.
    """

    strips: tuple[Strip, ...]
    removed_share: float
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class WebFinding:
    """What a web search brought: passages cut from the pages it read, the provider asked, and the requests made."""

    passages: tuple[Passage, ...]
    provider: str
    requests: int


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A line of the catalogue: what is known of a document without its text. ``characters`` is the text's length."""

    id: str
    title: str
    collection: str
    language: Language
    source: str | None
    content_hash: str
    characters: int
    passages: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """An index in figures. ``dense_kind`` names the vector index in use; ``bytes`` is the size on disk.

    ``cannot`` are the abilities (see ``selfright.domain.stores``) that its engine lacks, ``without_vectors`` the
    passages that are searched by words only until their vectors are made.
    """

    location: str
    format_version: int
    documents: int
    passages: int
    collections: Mapping[str, int]
    languages: Mapping[str, int]
    tokenizer: str
    embedder: str
    dimension: int
    dense_kind: str
    bytes: int
    cannot: tuple[str, ...] = ()
    without_vectors: int = 0
