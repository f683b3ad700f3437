"""Ratings of answers: taken, kept, and turned into labelled rows for calibration."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from selfright.assembly.engine import Engine
from selfright.assembly.persistence import open_ratings
from selfright.domain.errors import IndexNotFound, InputError
from selfright.domain.passages import Document
from selfright.domain.ratings import LabelledRow, LabelledRows, Place, Rating, RatingStore, checked, digest_of
from selfright.domain.turns import Scope

MAX_ROWS = 100_000
MAX_PASSAGE = 50_000
_AT_HAND = 64  # documents that are read once for several ratings


class RatingService:
    """What users say of answers, over the index that the answers came from."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def store(self) -> RatingStore:
        """Where ratings are kept."""
        return open_ratings(self._engine.settings, self._engine.database)

    def rate(
        self, trace_id: str, question: str, helpful: bool, places: Sequence[tuple[str, int, int]], scope: Scope
    ) -> Rating:
        """Keeps whether the answer of a turn helped, and the places of the passages that it was written from.

        Raises ``InputError`` for a place that ``scope`` does not see, in the same words as for one that there is not.
        """
        given = tuple(Place(*place) for place in places)
        rating = checked(Rating(scope.owner, trace_id, time.time(), question, helpful, given))
        document = self._documents(scope)
        found = tuple(Place(*place, digest_of(self._text(document, Place(*place)))) for place in dict.fromkeys(places))
        rating = Rating(rating.user, trace_id, rating.at, question, helpful, found)
        self.store.put(rating)
        return rating

    def rows(self, scope: Scope) -> LabelledRows:
        """Labelled rows of the ratings of a scope: passages of answers that helped are 1, of others 0.

        Where a passage was rated twice for one question, what was said last counts.
        """
        document = self._documents(scope)
        rows: dict[tuple[str, str], LabelledRow] = {}
        left_out = 0
        for rating in self.store.listed(scope.user):
            for place in rating.places:
                try:
                    passage = self._text(document, place)
                except InputError:
                    passage = ""
                if not passage.strip() or digest_of(passage) != place.digest or len(rows) >= MAX_ROWS:
                    left_out += 1
                    continue
                row: LabelledRow = {"question": rating.question, "passage": passage, "label": int(rating.helpful)}
                rows.setdefault((rating.question, passage), row)
        return LabelledRows(tuple(rows.values()), left_out)

    def forget(self, user: str, trace_id: str | None = None) -> int:
        """Erases a user's ratings, or that of one turn; gives back how many."""
        return self.store.forget(user, trace_id)

    def close(self) -> None:
        """Closes the store."""
        if store := self.__dict__.pop("store", None):
            store.close()

    def _documents(self, scope: Scope) -> Callable[[str], Document | None]:
        @lru_cache(_AT_HAND)
        def document(document_id: str) -> Document | None:
            try:
                found = self._engine.index.library().document(document_id)
            except IndexNotFound:
                return None
            return found if found is not None and scope.covers([found.collection]) else None

        return document

    @staticmethod
    def _text(document: Callable[[str], Document | None], place: Place) -> str:
        found = document(place.document_id)
        if found is None:
            raise InputError(f"there is no document '{place.document_id}'; rate an answer whose sources are there")
        if not 0 <= place.start < place.end <= min(len(found.text), place.start + MAX_PASSAGE):
            raise InputError(
                f"'{place.document_id}' has {len(found.text):,} characters: a passage from {place.start:,} to "
                f"{place.end:,} is not in it, or is longer than {MAX_PASSAGE:,}"
            )
        return found.text[place.start : place.end]
