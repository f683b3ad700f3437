"""``/v1/traces``: the caller's turns as they are kept; an admin sees everybody's."""

import re
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse

from selfright.domain.errors import InputError
from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.schemas import trace_form
from selfright.server.errors import Refused
from selfright.server.service import Service, caller_of, in_thread, service_of
from selfright.wire.user_data import DeletedReply, RatingReply, RatingRequest

router = APIRouter(tags=["traces"])
Id = Annotated[str, Path(min_length=8, max_length=64, pattern="^[0-9A-Za-z_-]+$")]
_WHOLE = re.compile("[0-9a-f]{32}")
HIDDEN = ("index", "modes", "worse")  # where it lies on this machine, and what is known of its models


@router.get("/v1/traces", response_model=dict[Literal["traces"], list[Trace]])
async def list_traces(request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Any:
    """Lists the kept traces of the caller's turns, the newest first; of everybody's for an admin."""
    caller, selfright = caller_of(request), service_of(request).selfright
    found = await in_thread(selfright.traces, limit, caller.overseen)
    return JSONResponse({"traces": [trace_view(trace) for trace in found]})


@router.get("/v1/traces/{trace_id}", response_model=Trace)
async def get_trace(trace_id: Id, request: Request) -> Any:
    """Shows the path of one turn: nodes, verdicts, scores by pass, times, cost."""
    found = await in_thread(visible_trace, service_of(request), caller_of(request).overseen, trace_id)
    return JSONResponse(trace_view(found))


@router.post("/v1/traces/{trace_id}/rating", response_model=RatingReply)
async def rate_trace(trace_id: Id, body: RatingRequest, request: Request) -> Any:
    """Says whether an answer helped; what is said last counts, and null takes it back."""
    service, scope = service_of(request), caller_of(request).overseen
    trace = await in_thread(visible_trace, service, scope, trace_id)
    kept = await in_thread(service.selfright.rate, trace.id, body.rating, scope)
    return {"trace_id": kept.id, "rating": kept.rating}


@router.delete("/v1/traces/{trace_id}", response_model=DeletedReply)
async def delete_trace(trace_id: Id, request: Request) -> Any:
    """Deletes one trace for good."""
    service, caller = service_of(request), caller_of(request)
    trace = await in_thread(visible_trace, service, caller.overseen, trace_id)
    return {"deleted": await in_thread(service.selfright.forget_traces, caller.overseen, trace.id)}


@router.delete("/v1/traces", response_model=DeletedReply)
async def delete_traces(request: Request) -> Any:
    """Deletes all traces of the caller's turns for good."""
    selfright = service_of(request).selfright
    return {"deleted": await in_thread(selfright.forget_traces, caller_of(request).scope)}


def visible_trace(service: Service, scope: Scope, trace_id: str) -> Trace:
    """The trace of that whole id. Raises ``Refused``, in the same words for what there is not and what is another's.

    The beginning of an id is not looked up: whether it fits would tell of the traces of others.
    """
    if _WHOLE.fullmatch(trace_id):
        with suppress(InputError):
            return service.selfright.trace(trace_id, scope)
    raise Refused(404, "trace_not_found", f"there is no trace '{trace_id}'", param="trace_id")


def trace_view(trace: Trace) -> dict[str, Any]:
    """The form of a trace, without what is hidden from callers."""
    form = trace_form(trace)
    return {**form, "origins": {name: value for name, value in form["origins"].items() if name not in HIDDEN}}
