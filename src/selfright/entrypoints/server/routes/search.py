"""``/v1/search``: passages found, nothing answered."""

from typing import Any

from fastapi import APIRouter, Request

from selfright.domain.json_views import search_view, searched_view
from selfright.entrypoints.server.callers import caller_of
from selfright.entrypoints.server.service import service_of
from selfright.entrypoints.wire.content import SearchReply, SearchRequest

router = APIRouter(tags=["documents"])


@router.post("/v1/search", response_model=SearchReply)
async def search(body: SearchRequest, request: Request) -> Any:
    """Finds the passages nearest to a query, with their places in both rankings."""
    service = service_of(request)
    collections = await service.within(caller_of(request), body.collections)
    found = await service.selfright.aretrieve(body.query, body.k, collections)
    return {"hits": search_view(found.hits), "searched": searched_view(found.trust)}
