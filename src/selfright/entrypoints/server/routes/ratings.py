"""``/v1/ratings``: whether answers helped, by their readers; and as rows for calibration."""

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from selfright.domain.errors import InputError
from selfright.entrypoints.server.callers import caller_of
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.service import in_thread, service_of
from selfright.entrypoints.wire.people import DeletedReply, LabelledReply, RatedReply, RatingRequest

router = APIRouter(tags=["ratings"])
Id = Annotated[str, Path(min_length=8, max_length=64, pattern="^[0-9A-Za-z_-]+$", description="the answer's trace id")]
_LINES = {
    "description": "The rows; with `form=jsonl` one on a line, as `selfright calibrate` reads them.",
    "content": {"application/jsonl": {"schema": {"type": "string"}}},
}


@router.put("/v1/ratings/{trace_id}", response_model=RatedReply)
async def rate(trace_id: Id, body: RatingRequest, request: Request) -> Any:
    """Says whether an answer helped; said again for the same answer, the last counts."""
    caller, selfright = caller_of(request), service_of(request).selfright
    places = [(each.document_id, each.start, each.end) for each in body.passages]
    try:
        kept = await in_thread(selfright.rate, trace_id, body.question, body.helpful, places, caller.scope)
    except InputError as error:
        raise Refused(422, "bad_rating", str(error), param="passages") from error
    return {"trace_id": trace_id, "helpful": kept.helpful, "passages": len(kept.places)}


@router.delete("/v1/ratings/{trace_id}", response_model=DeletedReply)
async def take_back(trace_id: Id, request: Request) -> Any:
    """Takes back what the caller said of an answer."""
    gone = await in_thread(service_of(request).selfright.unrate, trace_id, caller_of(request).user)
    return {"deleted": int(gone)}


@router.get("/v1/ratings", response_model=LabelledReply, responses={200: _LINES})
async def labelled(request: Request, form: Annotated[Literal["json", "jsonl"], Query()] = "json") -> Any:
    """Lists the caller's ratings as labelled passages; for an admin everybody's."""
    found = await in_thread(service_of(request).selfright.labelled, caller_of(request).overseen)
    if form == "jsonl":
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found.rows)
        return Response(lines, media_type="application/jsonl")
    return asdict(found)
