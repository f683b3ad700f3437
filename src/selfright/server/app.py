"""The service put together: endpoints, and the layers that every request passes."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response

from selfright.background import FairThreads
from selfright.domain.errors import IndexNotFound, SelfrightError
from selfright.flow.presets import PRESETS
from selfright.processes import usable_cpus
from selfright.server.admission import Limits, RateLimit, limits_of
from selfright.server.authentication import Authenticator, AuthMiddleware
from selfright.server.errors import DOCUMENTED, Refused, unusable_body
from selfright.server.keys import Keys, open_keys
from selfright.server.metrics import CONTENT_TYPE
from selfright.server.middleware import BodyLimit, Envelope, refusal_for
from selfright.server.routes import ask, documents, openai, user_data
from selfright.server.routes.documents import remove_leftovers
from selfright.server.service import Service, caller_of, in_thread, service_of
from selfright.wire.user_data import WhoReply

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
_CODES = {404: "not_found", 405: "method_not_allowed", 406: "not_acceptable", 415: "unsupported_media_type"}


def create_app(
    selfright: "Selfright",
    limits: Limits | None = None,
    keys: Keys | None = None,
    *,
    keyed: bool = False,
    ready: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The service over an opened Selfright. ``keyed`` asks for a key even before there is one.

    ``ready`` is called when requests can be answered.

    The Selfright is closed when the service ends. Settings of it that begin with ``serve_`` hold where no ``limits``
    are given.
    """
    settings = selfright.settings
    limits = limits or limits_of(settings)
    keys = keys or open_keys(settings)
    service = Service(selfright, limits)
    rate = RateLimit(limits.rate, limits.burst)
    authenticator = Authenticator(keys, rate, frozenset(settings.serve_hosts), keyed)
    agents = None
    if importlib.util.find_spec("mcp"):
        from selfright.server.mcp import build, over_http

        agents = build(service)

    app = FastAPI(
        title="Selfright",
        version=version("selfright"),
        description="Answers questions from your own documents, checks and corrects itself, and says what it could not "
        "support.",
        docs_url=None,  # that page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses=DOCUMENTED,
        lifespan=_lifespan(service, keys, agents, ready),
        middleware=[
            Middleware(Envelope, metrics=service.metrics),
            Middleware(AuthMiddleware, authenticator=authenticator),
            Middleware(BodyLimit, limits=limits),
        ],
        exception_handlers=dict.fromkeys((RequestValidationError, HTTPException, SelfrightError), _reply_to),
    )
    app.state.service = service
    for each in (ask.router, documents.router, user_data.router, openai.router, router):
        app.include_router(each)
    if agents:
        app.routes.append(over_http(agents))
    return app


def _lifespan(service: Service, keys: Keys, agents: Any, ready: Callable[[], None]) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(FairThreads(usable_cpus()))
        with suppress(IndexNotFound):
            await service.selfright.aprepare()
        await in_thread(remove_leftovers)
        async with agents.session_manager.run() if agents else nullcontext():
            service.vectors.begin()  # with what a process before this one left
            ready()
            yield
        await in_thread(service.vectors.end)
        keys.close()
        await service.selfright.aclose()

    return lifespan


async def _reply_to(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        return unusable_body(error.errors()).response()
    if isinstance(error, HTTPException) and not isinstance(error, Refused):
        message = f"{error.detail}; /openapi.json lists what there is"
        code = _CODES.get(error.status_code, "bad_request")
        return Refused(error.status_code, code, message, headers=error.headers).response()
    return refusal_for(error, request.scope["state"]["request_id"]).response()


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
