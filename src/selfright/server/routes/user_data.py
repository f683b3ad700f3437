"""What is kept of the caller: ``/v1/sessions``, ``/v1/profiles``, ``/v1/traces``; an admin sees everybody's."""

import re
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse

from selfright.domain.errors import InputError
from selfright.domain.passages import Language
from selfright.domain.text import compose_name
from selfright.domain.traces import Trace
from selfright.domain.turns import Erased, Scope
from selfright.schemas import history_view, profile_view, trace_form
from selfright.server.errors import Refused, no_session
from selfright.server.service import NAME, Caller, Service, caller_of, in_thread, service_of
from selfright.wire.user_data import (
    DeletedReply,
    Facts,
    ProfileReply,
    RatingReply,
    RatingRequest,
    SessionReply,
    SessionsReply,
)

router = APIRouter()
Name = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("/v1/sessions", response_model=SessionsReply, tags=["sessions"])
async def list_sessions(request: Request) -> Any:
    """Lists the conversations that are kept, the one used last first; at most 100."""
    return {"sessions": await service_of(request).selfright.asessions(caller_of(request).scope)}


@router.get(f"/v1/sessions/{{session:{NAME}}}", response_model=SessionReply, tags=["sessions"])
async def get_session(session: Name, request: Request) -> Any:
    """Shows what was said in a conversation."""
    selfright, scope = service_of(request).selfright, caller_of(request).scope
    so_far = await selfright.aconversation(session, scope)
    if not so_far.turns and so_far.unfinished is None:
        raise no_session(session)
    return {
        "session": session,
        "turns": so_far.turns,
        "summary": so_far.summary,
        "unfinished": so_far.unfinished.question if so_far.unfinished else None,
        "kept": [
            {**asdict(turn), "urgent": selfright.urgent(turn.question)}
            for turn in await selfright.aturns(session, scope)
        ],
    }


@router.delete(f"/v1/sessions/{{session:{NAME}}}", response_model=DeletedReply, tags=["sessions"])
async def delete_session(session: Name, request: Request) -> Any:
    """Deletes a conversation for good."""
    deleted = await service_of(request).selfright.aforget(session, caller_of(request).scope)
    if not deleted:
        raise no_session(session)
    return {"deleted": deleted}


@router.delete("/v1/sessions", response_model=DeletedReply, tags=["sessions"])
async def delete_sessions(request: Request) -> Any:
    """Deletes all of the caller's conversations for good."""
    return {"deleted": await service_of(request).selfright.aforget(None, caller_of(request).scope)}


ME = "me"
User = Annotated[str, Path(min_length=1, max_length=200, description="`me`, or the user's name")]
_Language = Annotated[str, Query(pattern="^(en|ko)$", description="of the summary: `en` or `ko`")]


@router.get("/v1/profiles", tags=["profiles"])
async def list_profiles(request: Request) -> dict[Literal["users"], list[str]]:
    """Lists the users of whom anything is remembered: the caller alone, unless it is an admin."""
    caller = caller_of(request)
    users = await in_thread(service_of(request).selfright.profile_users)
    return {"users": [user for user in users if caller.admin or user == caller.user]}


@router.get(f"/v1/profiles/{{user:{NAME}}}", response_model=ProfileReply, tags=["profiles"])
async def get_profile(user: User, request: Request, language: _Language = "en") -> Any:
    """Shows what is remembered of a user, with its history."""
    return await _profile_view(service_of(request), _own(caller_of(request), user), language)


@router.patch(f"/v1/profiles/{{user:{NAME}}}", response_model=ProfileReply, tags=["profiles"])
async def correct_profile(user: User, body: Facts, request: Request, language: _Language = "en") -> Any:
    """Corrects a profile: what is given for a kind takes the place of all that stood of it, an empty value ends it."""
    name = _own(caller_of(request), user)
    await service_of(request).selfright.aset_profile(body.facts, name)
    return await _profile_view(service_of(request), name, language)


@router.delete(f"/v1/profiles/{{user:{NAME}}}", response_model=DeletedReply, tags=["profiles"])
async def erase_profile(
    user: User,
    request: Request,
    name: Annotated[str | None, Query(max_length=200, description="only facts of this kind")] = None,
    value: Annotated[str | None, Query(max_length=1_000, description="only facts with this value")] = None,
) -> Any:
    """Erases a profile for good, history included; or one kind or value of it."""
    own = _own(caller_of(request), user)
    return {"deleted": await service_of(request).selfright.aforget_profile(own, name, value)}


@router.delete(f"/v1/users/{{user:{NAME}}}", response_model=Erased, tags=["profiles"])
async def erase_user(user: User, request: Request) -> Any:
    """Erases all that is kept of a user for good: conversations, profile, traces. Needs a key for all collections."""
    caller = caller_of(request)
    name = _own(caller, user)
    if caller.collections:
        raise Refused(403, "limited_key", "this key sees some collections only; use one that sees all of them")
    return asdict(await service_of(request).selfright.aerase(name))


async def _profile_view(service: Service, user: str, language: str) -> dict[str, Any]:
    selfright = service.selfright
    profile = await selfright.aprofile(user)
    wanted: Language = "ko" if language == "ko" else "en"
    summary = await in_thread(selfright.profile_summary, user, wanted)
    history = history_view(user, await selfright.aprofile_history(user))
    kinds = [
        {"name": kind.name, "label": kind.label.get(wanted, kind.name), "many": kind.many}
        for kind in selfright.profile_kinds()
    ]
    return {**profile_view(user, profile, summary), "history": history["facts"], "kinds": kinds}


def _own(caller: Caller, user: str) -> str:
    """The user that is meant, when the caller may see that one; others are told like those that do not exist."""
    name = caller.user if user == ME else compose_name(user)
    if not (caller.admin or name == caller.user):
        raise Refused(404, "user_not_found", f"there is no user '{user}'", param="user")
    return name


Id = Annotated[str, Path(min_length=8, max_length=64, pattern="^[0-9A-Za-z_-]+$")]
_WHOLE = re.compile("[0-9a-f]{32}")
HIDDEN = ("index", "modes", "worse")  # where it lies on this machine, and what is known of its models


@router.get("/v1/traces", response_model=dict[Literal["traces"], list[Trace]], tags=["traces"])
async def list_traces(request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Any:
    """Lists the kept traces of the caller's turns, the newest first; of everybody's for an admin."""
    caller, selfright = caller_of(request), service_of(request).selfright
    found = await in_thread(selfright.traces, limit, caller.overseen)
    return JSONResponse({"traces": [trace_view(trace) for trace in found]})


@router.get("/v1/traces/{trace_id}", response_model=Trace, tags=["traces"])
async def get_trace(trace_id: Id, request: Request) -> Any:
    """Shows the path of one turn: nodes, verdicts, scores by pass, times, cost."""
    found = await in_thread(visible_trace, service_of(request), caller_of(request).overseen, trace_id)
    return JSONResponse(trace_view(found))


@router.post("/v1/traces/{trace_id}/rating", response_model=RatingReply, tags=["traces"])
async def rate_trace(trace_id: Id, body: RatingRequest, request: Request) -> Any:
    """Says whether an answer helped; what is said last counts, and null takes it back."""
    service, scope = service_of(request), caller_of(request).overseen
    trace = await in_thread(visible_trace, service, scope, trace_id)
    kept = await in_thread(service.selfright.rate, trace.id, body.rating, scope)
    return {"trace_id": kept.id, "rating": kept.rating}


@router.delete("/v1/traces/{trace_id}", response_model=DeletedReply, tags=["traces"])
async def delete_trace(trace_id: Id, request: Request) -> Any:
    """Deletes one trace for good."""
    service, caller = service_of(request), caller_of(request)
    trace = await in_thread(visible_trace, service, caller.overseen, trace_id)
    return {"deleted": await in_thread(service.selfright.forget_traces, caller.overseen, trace.id)}


@router.delete("/v1/traces", response_model=DeletedReply, tags=["traces"])
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
