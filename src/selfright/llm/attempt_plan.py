"""The course of one call over its attempts: what is sent next, and whether another attempt may help."""

from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.chat import ChatRequest
from selfright.domain.errors import ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.text import language_of
from selfright.llm.backend import Mode
from selfright.llm.structured import in_words

_WRONG_MODE = (400, 404, 422)


class UnfitError(ModelRejected):
    """The model's library cannot ask in this mode, so nothing was sent."""


class RefusedError(ReplyUnusable):
    """The model would not answer."""


class CutOffError(ReplyUnusable):
    """The reply ran into the token limit before it was of use."""


class AttemptPlan:
    """Where one call stands: what is sent next, and what may still be tried.

    ``rungs`` are the modes to try for an object, ``proven`` whether the first is known to work with the model. An
    attempt that brought nothing uses one of the ``attempts``; an unusable reply is asked for again once; going down the
    ladder uses none, for it ends by itself.
    """

    def __init__(self, request: ChatRequest, rungs: Sequence[Mode], proven: bool, attempts: int) -> None:
        self.request = request
        self.failures = 0
        self._rungs = list(rungs) if request.schema is not None else [Mode.TEXT]
        self._proven = proven
        self._attempts = attempts
        self._again = False

    @property
    def mode(self) -> Mode:
        """The mode of the next attempt."""
        return self._rungs[0]

    @property
    def guessed(self) -> bool:
        """Whether the mode was chosen after an unusable reply, which may have been a single one."""
        return self._again and not self._proven

    @property
    def to_send(self) -> ChatRequest:
        """The request, with its schema in words where the model gets it in no other way or did not keep to it."""
        schema = self.request.schema
        if schema is None or not (self._again or self.mode is Mode.TEXT):
            return self.request
        words = in_words(schema, language_of(self.request.system))
        return replace(self.request, user=f"{self.request.user}\n\n{words}")

    def goes_on(self, error: ModelUnavailable | ModelRejected | ReplyUnusable) -> bool:
        """Whether another attempt may help; it is then due, changed by what the error tells."""
        if isinstance(error, ModelRejected):
            return self._goes_down(error)
        self.failures += 1
        if isinstance(error, RefusedError) or self.failures >= self._attempts:
            return False
        return isinstance(error, ModelUnavailable) or self._asks_again(error)

    def _goes_down(self, error: ModelRejected) -> bool:
        fits = len(self._rungs) > 1 and (isinstance(error, UnfitError) or error.status in _WRONG_MODE)
        if fits:
            self._rungs.pop(0)
        return fits

    def _asks_again(self, error: ReplyUnusable) -> bool:
        """Once, with more room where it was cut off.

        A server that was never seen to keep to a schema may have ignored it: then words alone must do.
        """
        if self._again:
            return False
        self._again = True
        if isinstance(error, CutOffError):
            self.request = replace(self.request, max_tokens=2 * self.request.max_tokens)
        elif not self._proven:
            self._rungs = [Mode.TEXT]
        return True
