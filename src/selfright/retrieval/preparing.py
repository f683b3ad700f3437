"""From passages to what the catalogue stores of them: terms, and vectors that are computed only once."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Language, Passage
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.ledger import Prepared

_BATCH = 256  # texts that are embedded at a time


class Preparer:
    """Makes passages ready to be stored. Passages in a language the embedder does not know get no vector."""

    def __init__(self, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._languages = frozenset(embedder_languages(embedder))

    def prepare(
        self, passages: Sequence[Passage], known: Callable[[Sequence[str]], Mapping[str, bytes]]
    ) -> list[Prepared]:
        """One for each passage; ``known`` gives the vectors that are already stored, by the hash of their text."""
        texts = [indexed_text(passage) for passage in passages]
        hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        vectors = self._vectors(
            {
                digest: text
                for digest, text, passage in zip(hashes, texts, passages, strict=True)
                if not self._languages or passage.language in self._languages
            },
            known,
        )
        return [
            Prepared(passage, " ".join(self._tokenizer.tokens(text)), digest, vectors.get(digest))
            for passage, text, digest in zip(passages, texts, hashes, strict=True)
        ]

    def _vectors(
        self, texts: Mapping[str, str], known: Callable[[Sequence[str]], Mapping[str, bytes]]
    ) -> dict[str, bytes]:
        """Vectors by hash. Texts of one length go together, so that little is spent on padding."""
        if self._embedder is None:
            return {}
        vectors = dict(known(list(texts)))
        missing = sorted((digest for digest in texts if digest not in vectors), key=lambda digest: len(texts[digest]))
        for start in range(0, len(missing), _BATCH):
            some = missing[start : start + _BATCH]
            matrix = self._embedder.embed([texts[digest] for digest in some])
            vectors.update(zip(some, (row.astype("<f4").tobytes() for row in matrix), strict=True))
        return vectors


def indexed_text(passage: Passage) -> str:
    """What is searched of a passage: its title and section, then its text."""
    return f"{passage.heading}\n{passage.text}" if passage.heading else passage.text


def embedder_languages(embedder: Embedder | None) -> tuple[Language, ...]:
    """The languages an embedder declares; none declared means that it knows all."""
    return tuple(getattr(embedder, "languages", ()))


def check_input(document: Document, passages: Sequence[Passage]) -> None:
    """Raises ``InputError`` for text that cannot be stored, and for a passage that is not a part of its document."""
    try:
        "".join((document.id, document.title, document.text, *document.metadata.values())).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"document '{document.id!a}' holds what is no text ({error.reason}); clean it first"
        ) from error
    for passage in passages:
        if passage.document_id != document.id or passage.text != document.text[passage.start : passage.end]:
            raise InputError(
                f"passage '{passage.id}' must be the text of document '{document.id}' from {passage.start} to "
                f"{passage.end}, but is not; split the document anew"
            )
