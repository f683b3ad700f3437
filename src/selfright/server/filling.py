"""Vectors of uploads, made while the service answers: one thread, one batch after the other."""

import logging
import threading
from typing import TYPE_CHECKING

from selfright.domain.errors import IndexNotFound, SelfrightError

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright

log = logging.getLogger(__name__)

_AGAIN_S = 60.0  # after a failure


class VectorThread:
    """Runs ``selfright.embed`` whenever it is woken, from ``start`` until ``end``."""

    def __init__(self, selfright: "Selfright") -> None:
        self._selfright = selfright
        self._woken, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="selfright-vectors", daemon=True)

    def start(self) -> None:
        """Begins with what a process before this one left."""
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """There may be passages without vectors."""
        self._woken.set()

    @property
    def is_woken(self) -> bool:
        """Whether there is something to look at."""
        return self._woken.is_set()

    def end(self) -> None:
        """Breaks off within some texts, and waits until what was made is stored."""
        self._ending.set()
        self.wake()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait: float | None = None
        while True:
            self._woken.wait(wait)
            self._woken.clear()
            if self._ending.is_set():
                return
            wait = None if self._is_done() else _AGAIN_S

    def _is_done(self) -> bool:
        try:
            return not self._selfright.embed(stop=self._ending.is_set)
        except IndexNotFound:
            return True
        except SelfrightError as error:
            log.warning("the vectors of new passages cannot be made now: %s", error)
            return False
