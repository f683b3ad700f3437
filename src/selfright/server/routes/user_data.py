"""What is kept of the caller: ``/v1/sessions``, ``/v1/profiles``; an admin sees all profiles."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request

from selfright.domain.passages import Language
from selfright.domain.turns import Erased
from selfright.schemas import history_view, profile_view
from selfright.server.errors import Refused, no_session
from selfright.server.service import NAME, Caller, Service, caller_of, in_thread, service_of
from selfright.wire.user_data import (
    DeletedReply,
    Facts,
    ProfileReply,
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
    name = caller.user if user == ME else user
    if not (caller.admin or name == caller.user):
        raise Refused(404, "user_not_found", f"there is no user '{user}'", param="user")
    return name
