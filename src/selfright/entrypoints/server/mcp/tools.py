"""What agents may ask for over the Model Context Protocol: search, ask, ingest, explain."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.answer_form import answer_view
from selfright.domain.errors import InputError
from selfright.domain.json_views import search_view, searched_view
from selfright.domain.passages import DEFAULT_COLLECTION
from selfright.domain.turns import TurnOptions
from selfright.entrypoints.server.routes.documents import place_for, safe_name
from selfright.entrypoints.server.routes.traces import shown_trace, visible_trace
from selfright.entrypoints.server.service import Caller, Service, in_thread
from selfright.entrypoints.server.turns import PreparedTurn, finished

if TYPE_CHECKING:
    from selfright.domain.traces import Trace

MOST_TEXT = 1_000_000


@dataclass(frozen=True, slots=True)
class Tools:
    """The four tools over one service. Every method is told who calls, and keeps to what that one may see."""

    service: Service

    async def search(self, caller: Caller, query: str, k: int, collections: list[str] | None) -> dict[str, Any]:
        """The best passages for a query, best first, and whether they were searched by words, by meaning or by both."""
        with self.service.limiter.searching(caller.key):
            within = await self.service.within(caller, collections or [])
            found = await self.service.selfright.aretrieve(query, k, within)
        return {"results": search_view(found.hits), "searched": searched_view(found.trust)}

    async def ask(
        self, caller: Caller, question: str, options: TurnOptions, collections: list[str] | None, request_id: str
    ) -> dict[str, Any]:
        """An answer with citations, judged, and how it came about; counted, logged and bounded as one over HTTP."""
        within = await self.service.within(caller, collections or [])
        wanted: TurnOptions = {**options, "user": caller.user, "collections": within}
        with await self.service.limiter.acquire(caller.key):
            return answer_view(await finished(PreparedTurn(self.service, caller, question, wanted, request_id)))

    async def ingest(self, caller: Caller, name: str, text: str, collection: str | None) -> dict[str, Any]:
        """Adds a text to the index, or replaces the one of that name; what kind it is, its name's ending says."""
        collection = collection or (caller.collections[0] if caller.collections else DEFAULT_COLLECTION)
        if not caller.changes(collection):
            raise InputError(f"this key may not change collection '{collection}'")
        if not text.strip() or len(text) > MOST_TEXT:
            raise InputError(f"expected a text of 1 to {MOST_TEXT:,} characters, but it has {len(text):,}")
        safe = safe_name(name if Path(name).suffix else f"{name}.md")
        # What is being written cannot be broken off: a call that is cancelled leaves it to its end.
        return await asyncio.shield(self._taken_in(caller, safe, text, collection))

    async def explain(self, caller: Caller, trace_id: str | None) -> dict[str, Any]:
        """How an answer came about: the trace of the named turn, or of the caller's last one."""
        found = await in_thread(self._trace, caller, trace_id)
        return shown_trace(found)

    async def _taken_in(self, caller: Caller, name: str, text: str, collection: str) -> dict[str, Any]:
        with self.service.uploads.admitted(caller.key):
            async with place_for(name) as path:
                await in_thread(path.write_text, text, encoding="utf-8", errors="replace")
                report = await self.service.take_in(caller, path, name, collection)
        return {
            "collection": collection,
            "documents": report.documents,
            "added": report.added,
            "replaced": report.replaced,
            "unchanged": report.unchanged,
            "passages": report.passages,
            "errors": [why for _, why in report.failed],
        }

    def _trace(self, caller: Caller, trace_id: str | None) -> "Trace":
        if trace_id is not None:
            return visible_trace(self.service, caller.scope, trace_id)
        mine = self.service.selfright.traces(1, caller.scope)
        if not mine:
            raise InputError("no turn is kept yet; ask something first (the setting 'traces' must not be 'off')")
        return mine[0]
