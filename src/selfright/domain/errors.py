"""What can go wrong. Each message says what was expected, what came, and what to do.

* SelfrightError
  + UsageError              an option or a name that is wrong (exit code 2)
    - UnknownName           an unknown flag, preset, option or value; the nearest valid name is given
  + SettingsError           a settings file or variable cannot be used
  + InputError              a question or file cannot be used
    - UnreadableFile        one file that could not be read; the others go on
  + StoreError
    - IndexNotFound         there is no index there
    - NotAnIndex            something else is there
    - IncompatibleIndex     made by another version, tokenizer or embedder
    - IndexBusy             another process is writing; can be retried
    - IndexDamaged          a file of the index is broken
    - StoreUnavailable      the server that keeps it cannot be reached now; can be retried
    - SessionBusy           another turn of the same session is running; can be retried
    - SessionLost           the session was taken over while this turn was not heard of; can be retried
  + MissingExtra            an optional package is not installed
  + ModelError
    - ModelFilesDamaged     the encoder's weights are not the ones that were pinned
    - NoModelFile           a path that should name a GGUF chat model does not
    - NotEnoughMemory       a local model does not fit into what is free
    - EmbeddingFailed       an embedding model failed or gave what are no vectors; can be retried
    - JudgeFailed           a judge failed, timed out or answered garbage
    - ModelUnavailable      a language model cannot be reached now; can be retried
    - ModelRejected         a provider turned the call down: key, model name or request are wrong
    - ReplyUnusable         a language model answered, but with nothing that can be used
    - BudgetSpent           the turn's calls, tokens or seconds do not allow another call
  + WebError
    - WebUnavailable        a provider of web results cannot be asked now; can be retried
    - WebRejected           a provider turned the search down: its key, quota or address is wrong
    - WebReplyUnusable      a provider answered, but with nothing that can be read
    - PageRefused           an address that the guard does not let be fetched
    - PageUnusable          a page could not be had or read
  + ServiceError            a service of ours turned a request down
    - ServiceUnreachable    it did not answer; can be retried
"""

import difflib
import importlib.util
from collections.abc import Iterable
from typing import Any


class SelfrightError(Exception):
    """Base class: catch this to catch everything Selfright raises."""

    exit_code = 1


RECOVERABLE_ERRORS = (SelfrightError, OSError)
"""What a judge, a router or a provider may fail of while a turn goes on without it: an error of ours (a reply that is
none is one), the system or the network (time-outs included). Anything else is a mistake in the code, and is not taken
for it."""


class UsageError(SelfrightError):
    """An option or a name that is wrong, or that does not exist."""

    exit_code = 2


class UnknownName(UsageError):
    """An unknown flag, preset, option or value."""

    def __init__(self, kind: str, given: str, valid: Iterable[str]) -> None:
        names = sorted(valid)
        near = difflib.get_close_matches(given, names, n=1)
        hint = (
            f"did you mean '{near[0]}'?" if near else f"choose one of: {', '.join(names)}" if names else "there is none"
        )
        super().__init__(f"unknown {kind} '{given}': {hint}")
        self.kind = kind


class SettingsError(SelfrightError):
    """A settings file or variable cannot be used."""

    exit_code = 2


class InputError(SelfrightError):
    """A question or a file cannot be used as given."""


class UnreadableFile(InputError):
    """One file that could not be read; ``path`` names it and the message says why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class StoreError(SelfrightError):
    """Something is wrong with the index, or with what is kept of sessions."""


class IndexNotFound(StoreError):
    """There is no index at the given place."""


class NotAnIndex(StoreError):
    """Something that is not a Selfright index is at the given place."""


class IncompatibleIndex(StoreError):
    """The index was made by another version, tokenizer or embedder."""


class IndexBusy(StoreError):
    """Another process is writing to the index."""


class IndexDamaged(StoreError):
    """A file of the index is broken."""


class StoreUnavailable(StoreError):
    """The server of an index, or of sessions and profiles, cannot be reached now."""


class SessionBusy(StoreError):
    """Another turn of the same session is running."""


class SessionLost(StoreError):
    """Another turn took the session over while this one had lost its hold on it; nothing of this one was kept."""


class MissingExtra(SelfrightError):
    """An optional package is not installed."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} is not installed; install it with: {command}")

    @classmethod
    def check(cls, what: str, extra: str, *modules: str) -> None:
        """Raises it, with the name of the extra, where one of these modules is not installed."""
        if not all(map(importlib.util.find_spec, modules)):
            raise cls(what, f'pip install "selfright[{extra}]"')

    @classmethod
    def load(cls, what: str, extra: str, module: str) -> Any:
        """The module, untyped. Raises as ``check``."""
        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise cls(what, f'pip install "selfright[{extra}]"') from error


class ModelError(SelfrightError):
    """A model could not be used."""


class ModelFilesDamaged(ModelError):
    """A network's files are missing, damaged, or not the ones that were pinned."""


class NoModelFile(ModelError):
    """A path that should name a GGUF chat model does not."""


class NotEnoughMemory(ModelError):
    """A local model does not fit into what is free."""


class EmbeddingFailed(ModelError):
    """An embedding model failed, or answered anything but one finite vector for each text."""


class JudgeFailed(ModelError):
    """A judge failed, timed out or answered garbage; the turn goes on with the verdict ``unknown``."""


class ModelUnavailable(ModelError):
    """A language model cannot be reached now: time-out, reset, rate limit, server error, open circuit breaker.

    ``status`` is the HTTP status where there was one, ``retry_after`` the seconds that the provider asked to wait.
    ``called`` is false when nothing was sent, because it failed often enough just before.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, called: bool = True
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.called = called


class ModelRejected(ModelError):
    """A provider turned the call down (400, 401, 403, 404, …); the same call would be turned down again."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ReplyUnusable(ModelError):
    """A language model answered with nothing that can be used: empty, cut off, refused, or not what was asked for."""


class BudgetSpent(ModelError):
    """The turn's calls, tokens or seconds do not allow another call of a language model."""


class WebError(SelfrightError):
    """The web could not be used; ``requests`` is how many had been sent until then.

    ``status`` is the HTTP status where there was one.
    """

    def __init__(self, message: str, *, status: int | None = None, requests: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.requests = requests


class WebUnavailable(WebError):
    """A provider cannot be asked now: time-out, no connection, rate limit, server error, or left alone for a while.

    ``retry_after`` are the seconds that it asked to wait.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, requests: int = 0
    ) -> None:
        super().__init__(message, status=status, requests=requests)
        self.retry_after = retry_after


class WebRejected(WebError):
    """A provider turned the search down (400, 401, 403, …); the same search would be turned down again."""


class WebReplyUnusable(WebError):
    """A provider answered with something that is not what its interface promises."""


class PageRefused(WebError):
    """The guard does not let this address be fetched; it is not cited either."""


class PageUnusable(WebError):
    """A page could not be had or read: it is down, too slow, too large, of another type, or closed to robots."""


class ServiceError(SelfrightError):
    """A service of ours turned a request down: ``status`` is the HTTP status, ``code`` is for programs.

    ``retry_after`` are the seconds that it asked to wait, where another try may help.
    """

    def __init__(
        self, message: str, *, status: int | None = None, code: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class ServiceUnreachable(ServiceError):
    """A service of ours did not answer, or broke off."""
