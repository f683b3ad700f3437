"""The languages of an index in a folder: its passages in each, and which passages are foreign to a query."""

import json
from typing import get_args

from selfright.domain.passages import Language
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import passages_in, read_stats
from selfright.retrieval.records import damaged
from selfright.retrieval.scored import Scored
from selfright.retrieval.search_request import SearchRequest, foreign


class Languages:
    """Looks into ``catalogue``; safe to share between threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: tuple[int, frozenset[str], int] = (-1, frozenset(), 0)

    def held(self, sequence: int) -> frozenset[str]:
        """The languages of the documents."""
        return self._at(sequence)[1]

    def korean(self, sequence: int) -> int:
        """The number of passages in Korean."""
        return self._at(sequence)[2]

    def _at(self, sequence: int) -> tuple[int, frozenset[str], int]:
        """Read once for each change, whichever embedder the index has by now."""
        known = self._known
        if known[0] != sequence:
            with self._catalogue.connections.reading() as connection:
                stats = read_stats(connection, self._catalogue.path)
                passages = passages_in(connection, stats)
            languages = frozenset(name for name, count in stats.languages.items() if count > 0)
            self._known = known = (sequence, languages, passages["ko"])
        return known

    def foreign(self, request: SearchRequest, dense: Scored, sequence: int) -> frozenset[int]:
        """The id hashes of those near passages that are in another language than the query; none in an index of one.

        Raises ``IndexDamaged`` for what is no language.
        """
        if not dense.keys or len(self.held(sequence)) < 2:
            return frozenset()
        query = "SELECT key, language FROM passages WHERE key IN (SELECT value FROM json_each(?))"
        with self._catalogue.connections.reading() as connection:
            found: dict[int, str] = dict(connection.execute(query, (json.dumps(list(dense.keys)),)).fetchall())
        for key, language in found.items():
            if language not in get_args(Language):
                raise damaged(self._catalogue.path, f"the language of passage number {key}")
        return foreign(request, dense, found)
