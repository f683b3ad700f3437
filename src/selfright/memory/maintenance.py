"""What is done for sessions beside their turns: a thread that renews leases and prunes."""

import logging
import threading
from collections.abc import Callable

from selfright.domain.errors import SelfrightError

BEAT_S = 2.0
_PATIENCE_S = 30.0

log = logging.getLogger(__name__)


class Upkeep:
    """Calls ``renew`` every ``BEAT_S`` seconds, and ``prune`` when asked to, until it finds no more to delete.

    What fails is logged and costs no turn.
    """

    def __init__(self, renew: Callable[[], None], prune: Callable[[], int]) -> None:
        self._renew, self._prune = renew, prune
        self._wake, self._starting = threading.Event(), threading.Lock()
        self._is_due = self._is_over = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts the thread, if it does not run; it does not keep a program from ending."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="selfright-upkeep", daemon=True)
                self._thread.start()

    def prune_soon(self) -> None:
        """Prunes on the thread, at once."""
        self._is_due = True
        self._wake.set()
        self.begin()

    def close(self) -> None:
        """Ends the thread, after what is due."""
        self._is_over = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        while True:
            self._wake.wait(BEAT_S)
            self._wake.clear()
            is_over = self._is_over
            try:
                self._renew()
                if self._is_due:
                    self._is_due = self._prune() > 0
            except SelfrightError as error:
                self._is_due = False
                log.warning("leases of sessions not renewed, or outdated sessions not deleted (%s); try later", error)
            if self._is_due:
                self._wake.set()
            elif is_over:
                return
