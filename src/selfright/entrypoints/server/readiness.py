"""Whether turns can be taken: looked at anew only so often, however many ask."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from selfright.domain.errors import SelfrightError
from selfright.entrypoints.server.errors import Refused

_KEPT_S = 1.0
_LOOK_S = 10.0


class Readiness:
    """What ``look`` found within the last second. Anybody may ask, and looking is what costs."""

    def __init__(self, look: Callable[[], Awaitable[None]], clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock = look, clock
        self._lock = asyncio.Lock()
        self._until = 0.0
        self._trouble: SelfrightError | Refused | None = None

    async def check(self) -> None:
        """Raises what keeps turns from being taken: an error of the stores, or ``Refused`` when they do not answer."""
        async with self._lock:
            if self._clock() >= self._until:
                self._trouble = await self._found()
                self._until = self._clock() + _KEPT_S
        if self._trouble is not None:
            raise self._trouble.with_traceback(None)

    async def _found(self) -> SelfrightError | Refused | None:
        try:
            async with asyncio.timeout(_LOOK_S):
                await self._look()
        except SelfrightError as error:
            return error
        except TimeoutError:
            return Refused(503, "not_ready", "what the service keeps does not answer now; try again", retry_after=5)
        return None
