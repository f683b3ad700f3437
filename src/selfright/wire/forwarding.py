"""Headers that tell of a proxy between a caller and the service."""

from collections.abc import Iterable

_NAMES = frozenset(
    "forwarded via x-real-ip x-client-ip true-client-ip client-ip x-cluster-client-ip x-proxyuser-ip cdn-loop "  # noqa: SIM905 - quoted one by one they read worse
    "x-host x-scheme x-url-scheme".split()
)
_BEGINNINGS = ("x-forwarded", "x-original-", "x-envoy-", "x-amz", "x-azure-", "x-appengine-", "cf-", "fly-", "fastly-")


def forwarding_header(names: Iterable[str]) -> str | None:
    """The first of these names of headers that only a proxy, a balancer or a CDN sends, in lower case."""
    lower = (name.lower() for name in names)
    return next((name for name in lower if name in _NAMES or name.startswith(_BEGINNINGS)), None)
