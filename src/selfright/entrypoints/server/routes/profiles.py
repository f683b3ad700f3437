"""``/v1/profiles``: what is remembered of the caller, to see, correct and erase; an admin sees everybody's."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from selfright.domain.json_views import history_view, profile_view
from selfright.domain.passages import Language
from selfright.entrypoints.server.callers import Caller, caller_of
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.routes.names import NAME
from selfright.entrypoints.server.service import Service, in_thread, service_of
from selfright.entrypoints.wire.people import DeletedReply, ErasedReply, Facts, ProfileReply, ProfilesReply

ME = "me"
router = APIRouter(tags=["profiles"])
User = Annotated[str, Path(min_length=1, max_length=200, description="`me`, or the user's name")]
_Language = Annotated[str, Query(pattern="^(en|ko)$", description="of the summary: `en` or `ko`")]


@router.get("/v1/profiles", response_model=ProfilesReply)
async def list_profiles(request: Request) -> Any:
    """Lists the users of whom anything is remembered: the caller alone, unless it is an admin."""
    caller = caller_of(request)
    users = await in_thread(service_of(request).selfright.profile_users)
    return {"users": [user for user in users if caller.admin or user == caller.user]}


@router.get(f"/v1/profiles/{{user:{NAME}}}", response_model=ProfileReply)
async def get_profile(user: User, request: Request, language: _Language = "en") -> Any:
    """Shows what is remembered of a user, with its history."""
    return await _shown(service_of(request), _own(caller_of(request), user), language)


@router.patch(f"/v1/profiles/{{user:{NAME}}}", response_model=ProfileReply)
async def correct_profile(user: User, body: Facts, request: Request, language: _Language = "en") -> Any:
    """Corrects a profile: what is given for a kind takes the place of all that stood of it, an empty value ends it."""
    name = _own(caller_of(request), user)
    await service_of(request).selfright.aset_profile(body.facts, name)
    return await _shown(service_of(request), name, language)


@router.delete(f"/v1/profiles/{{user:{NAME}}}", response_model=DeletedReply)
async def erase_profile(
    user: User,
    request: Request,
    name: Annotated[str | None, Query(max_length=200, description="only facts of this kind")] = None,
    value: Annotated[str | None, Query(max_length=1_000, description="only facts with this value")] = None,
) -> Any:
    """Erases a profile for good, history included; or one kind or value of it."""
    own = _own(caller_of(request), user)
    return {"deleted": await service_of(request).selfright.aforget_profile(own, name, value)}


@router.delete(f"/v1/users/{{user:{NAME}}}", response_model=ErasedReply)
async def erase_user(user: User, request: Request) -> Any:
    """Erases all that is kept of a user for good: conversations, profile, traces. Needs a key for all collections."""
    caller = caller_of(request)
    name = _own(caller, user)
    if caller.collections:
        raise Refused(403, "limited_key", "this key sees some collections only; use one that sees all of them")
    return asdict(await service_of(request).selfright.aerase(name))


async def _shown(service: Service, user: str, language: str) -> dict[str, Any]:
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
