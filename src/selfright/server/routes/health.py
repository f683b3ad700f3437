"""``/healthz``, ``/readyz``, ``/metrics`` and ``/v1/me``: for those who run the service, and those who come to it."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from selfright.flow.presets import PRESETS
from selfright.server.errors import Refused
from selfright.server.metrics import CONTENT_TYPE
from selfright.server.service import caller_of, service_of
from selfright.wire.user_data import WhoReply

router = APIRouter(tags=["service"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether the process is alive."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> dict[str, str]:
    """Whether turns can be taken now: not when index or database cannot be read."""
    await service_of(request).readiness.check()
    return {"status": "ok"}


@router.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def metrics(request: Request) -> Response:
    """Counts and times in Prometheus' text format; needs an admin's key where there are keys."""
    if not caller_of(request).admin:
        raise Refused(403, "admin_only", "this needs an admin's key; ask the operator for one")
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE)


@router.get("/v1/me", response_model=WhoReply)
async def me(request: Request) -> Any:
    """Who the caller is to the service, and what it offers."""
    caller, selfright = caller_of(request), service_of(request).selfright
    settings = selfright.settings
    return {
        "user": caller.user,
        "admin": caller.admin,
        "collections": list(caller.collections),
        "presets": list(PRESETS),
        "default_preset": settings.preset,
        "version": version("selfright"),
        "profiles": bool(selfright.profile_kinds()),
        "model": selfright.has_model,
    }
