"""The faults by name: for ``--fault``, for rule files, and for going through all of them in a test."""

from collections.abc import Mapping
from types import MappingProxyType

from selfright.domain.errors import UnknownName
from selfright.testing import content_faults as content
from selfright.testing import faults
from selfright.testing.faults import Fault, Status

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "400": Status(400, "the request was malformed", "invalid_request"),
        "401": Status(401, "the key is not known here", "invalid_api_key"),
        "403": Status(403, "the key may not use this model", "permission_denied"),
        "404": Status(404, "there is no such model", "model_not_found"),
        "408": Status(408, "the request took too long"),
        "429": Status(429, "too many requests", "rate_limit_exceeded", retry_after=1),
        "quota": Status(429, "the account has nothing left to spend", "insufficient_quota"),
        "500": Status(500, "something broke"),
        "502": Status(502, "the model behind could not be reached"),
        "503": Status(503, "overloaded, try again", retry_after=1),
        "stall": faults.Stall(),
        "stall-midway": faults.Stall(after=2),
        "slow": faults.Slow(),
        "reset": faults.Reset(),
        "reset-midway": faults.Reset(after=3),
        "truncated": faults.Truncated(),
        "empty-body": faults.EmptyBody(),
        "html": faults.NotJson(),
        "wrong-type": faults.WrongType(),
        "gzip": faults.GzipGarbage(),
        "error-inside": faults.ErrorInside(),
        "null": content.Says(None),
        "empty-text": content.Says(""),
        "blank": content.Says(" \n\t"),
        "refusal": content.Refuses(),
        "length": content.Cut(),
        "length-at-once": content.Says("", finish="length"),
        "content-filter": content.Says("", finish="content_filter"),
        "thinking": content.Thinks(),
        "only-thinking": content.Thinks(closed=False),
        "broken-piece": content.BrokenPiece(),
        "broken-text": content.BrokenText(),
        "no-done": content.NoDone(),
        "no-finish": content.NoFinish(),
        "no-choices": content.NoChoices(),
        "padded": content.Padded(),
        "repeated": content.Repeated(),
    }
)
"""Every fault with its usual parameters."""


def fault_named(name: str) -> Fault:
    """The fault of that name; raises ``UnknownName`` with the nearest one."""
    if name not in FAULTS:
        raise UnknownName("fault", name, FAULTS)
    return FAULTS[name]
