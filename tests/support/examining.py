"""Looks at what a killed writer left behind: is it one of the states it may be, wholly, in every way of looking?"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from selfright.domain.errors import IndexNotFound, SelfrightError
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support import histories
from tests.support.histories import Model, batch, built_at_once, find, open_store


@dataclass
class Crash:
    """A kill: in which phase and at which point, and the states that the index may be in after it."""

    phase: str
    point: str
    before: Model | None
    during: Model | None
    highest: int

    @property
    def allowed(self) -> list[Model]:
        """The last committed state, and the one that was being committed."""
        return [state for state in (self.before or {}, self.during) if state is not None]


@dataclass
class Examination:
    """What a fresh process found: the model that the index holds, and all that is wrong with it by kind."""

    model: dict[str, str] = field(default_factory=dict)
    exists: bool = True
    wrong: dict[str, str] = field(default_factory=dict)


def examine(folder: Path, crash: Crash, erased: list[str]) -> Examination:
    """Opens the index and asks it everything: is it one of the allowed states, wholly, in every way of looking?

    ``erased`` are texts that were removed or replaced earlier; none of them may be found.
    """
    found = Examination()
    try:
        store = open_store(folder)
    except IndexNotFound:
        found.exists = False
        if crash.before is not None:
            found.wrong["unopenable"] = "the index is gone"
        return found
    except SelfrightError as error:
        found.wrong["unopenable"] = f"{type(error).__name__}: {error}"
        return found
    with store, tempfile.TemporaryDirectory() as place:
        found.model = {info.id: _text(store, info.id) for info in store.documents()}
        found.wrong = dict(_wrong_documents(store, found.model, crash))
        if not found.wrong and store.info().without_vectors:
            found.wrong = dict(_unknown_words(store, found.model))
            store.fill()
        if not found.wrong:
            found.wrong = dict(wrong_searches(store, found.model, erased))
        if not found.wrong:
            with built_at_once(Path(place) / "index", found.model) as reference:
                if different := histories.misranked(store, reference):
                    found.wrong["misranked"] = different
        if problems := [str(finding) for finding in getattr(store, "verify", list)()]:
            found.wrong["unsound"] = "; ".join(problems)
    return found


def _text(store: EmbeddedStore, document_id: str) -> str:
    source = store.document(document_id)
    return source.text if source else ""


def _wrong_documents(store: EmbeddedStore, model: Model, crash: Crash) -> Iterator[tuple[str, str]]:
    if model not in crash.allowed:
        kept = crash.allowed[0]
        lost = [name for name in kept if name not in model]
        strange = [name for name in model if model[name] not in [state.get(name) for state in crash.allowed]]
        kind = "resurrected" if strange else "lost" if lost else "partial"
        yield kind, f"missing {lost}, strange {strange}, of {len(kept)} documents"
    for source, passages in batch(model):
        if store.document(source.id) != source or store.passages_of(source.id) != passages:
            yield "partial", f"document {source.id} is not whole"


def _unknown_words(store: EmbeddedStore, model: Model) -> Iterator[tuple[str, str]]:
    """What is not found while vectors are missing."""
    for passage in (passage for _, passages in batch(model) for passage in passages):
        hit = next((hit for hit in find(store, passage.text) if hit.passage == passage), None)
        if hit is None or hit.bm25 is None:
            yield "lost", f"passage {passage.id} is not found by its words before its vector is made"


def wrong_searches(store: EmbeddedStore, model: Model, erased: list[str]) -> Iterator[tuple[str, str]]:
    """What searches miss of a model, and what they find beside it: kinds and descriptions."""
    living = {passage.id: passage for _, passages in batch(model) for passage in passages}
    for passage in living.values():
        hit = next((hit for hit in find(store, passage.text) if hit.passage == passage), None)
        if hit is None or hit.bm25 is None:
            yield "lost", f"passage {passage.id} is not found by its words"
        elif passage.language == "en" and (hit.dense is None or hit.dense.score < 0.999):
            yield "lost", f"passage {passage.id} is not found by its meaning"
    for text in [*erased[-20:], *histories.QUERIES]:
        for hit in find(store, text):
            if living.get(hit.passage.id) != hit.passage:
                yield "resurrected", f"'{hit.passage.text}' is still found"
            if hit.bm25 and text in erased and marker_of(text) in hit.passage.text:
                yield "resurrected", f"the marker of '{text}' is still found"


def marker_of(text: str) -> str:
    """The marker at the beginning of a random text."""
    return text.split(maxsplit=1)[0]
