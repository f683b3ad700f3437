"""``/v1/sessions``: the caller's conversations, and nobody else's."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from selfright.entrypoints.server.callers import caller_of
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.routes.names import NAME
from selfright.entrypoints.server.service import service_of
from selfright.entrypoints.wire.people import DeletedReply, SessionReply, SessionsReply

router = APIRouter(tags=["sessions"])
Name = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("/v1/sessions", response_model=SessionsReply)
async def list_sessions(request: Request) -> Any:
    """Lists the conversations that are kept, the one used last first; at most 100."""
    found = await service_of(request).selfright.asessions(caller_of(request).scope)
    return {
        "sessions": [
            {
                "session": info.session,
                "turns": info.turns,
                "created": info.created,
                "updated": info.updated,
                "unfinished": info.unfinished,
            }
            for info in found
        ]
    }


@router.get(f"/v1/sessions/{{session:{NAME}}}", response_model=SessionReply)
async def get_session(session: Name, request: Request) -> Any:
    """Shows what was said in a conversation."""
    selfright, scope = service_of(request).selfright, caller_of(request).scope
    so_far = await selfright.aconversation(session, scope)
    if not so_far.turns and so_far.unfinished is None:
        raise _unknown(session)
    return {
        "session": session,
        "turns": so_far.turns,
        "summary": so_far.summary,
        "unfinished": so_far.unfinished.question if so_far.unfinished else None,
        "kept": [
            {**turn.stored(), "urgent": selfright.urgent(turn.question)}
            for turn in await selfright.aturns(session, scope)
        ],
    }


@router.delete(f"/v1/sessions/{{session:{NAME}}}", response_model=DeletedReply)
async def delete_session(session: Name, request: Request) -> Any:
    """Deletes a conversation for good."""
    deleted = await service_of(request).selfright.aforget(session, caller_of(request).scope)
    if not deleted:
        raise _unknown(session)
    return {"deleted": deleted}


@router.delete("/v1/sessions", response_model=DeletedReply)
async def delete_sessions(request: Request) -> Any:
    """Deletes all of the caller's conversations for good."""
    return {"deleted": await service_of(request).selfright.aforget(None, caller_of(request).scope)}


def _unknown(session: str) -> Refused:
    return Refused(404, "session_not_found", f"there is no session '{session}'", param="session")
