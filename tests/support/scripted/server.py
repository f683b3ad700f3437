"""The server: a thread with an event loop of its own that plays a language model over HTTP.

```python
with ScriptedServer([Rule(When(job="grade"), FAULTS["503"], times=1)], latency_s=0.3) as server:
    ...  # any OpenAI client with base_url=server.url and any key
```
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.support.scripted import http
from tests.support.scripted.answering import Answering
from tests.support.scripted.fake_model import FakeModel
from tests.support.scripted.requests import Log, Request
from tests.support.scripted.rules import Rule, Script

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_BACKLOG = 1_024
_START_S = 10.0


class ScriptedServer:
    """Speaks OpenAI's chat completions on ``127.0.0.1``, and replies by ``rules``, else by ``model``.

    ``latency_s`` passes before an answer begins (a number, or a function of the request), ``pace_s`` between the pieces
    of a stream. ``key``: what must come as bearer token, else 401. The last ``keep`` requests are kept; ``count``
    counts all. ``port`` 0 takes a free one. ``start`` raises ``OSError`` where it cannot listen.
    """

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        latency_s: float | Callable[[Request], float] = 0.0,
        pace_s: float = 0.0,
        model: FakeModel | None = None,
        key: str | None = None,
        keep: int = 1_000,
        port: int = 0,
    ) -> None:
        self._model = model or FakeModel()
        self._log = Log(keep)
        self._answering = Answering(Script(rules, self._model.reply), self._log, latency_s, pace_s, key)
        self._port = port
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        """The base URL for clients, ``http://127.0.0.1:PORT/v1``."""
        return f"http://{_HOST}:{self.port}/v1"

    @property
    def port(self) -> int:
        """Where it listens; 0 before it was started."""
        return self._port

    @property
    def requests(self) -> list[Request]:
        """The requests kept, of any path, in order of arrival."""
        return self._log.kept()

    def calls(self, job: str | None = None, user: str | None = None) -> list[Request]:
        """The chat completions kept: of this job, and with this regular expression in their user messages."""
        return self._log.calls(job, user)

    @property
    def count(self) -> int:
        """How many chat completions came in all."""
        return self._log.chats

    @property
    def most_at_once(self) -> int:
        """The most chat completions that were under way at one time."""
        return self._log.most_at_once

    def rounds(self) -> int:
        """In how many rounds the calls kept were made: the longest chain in which each waited for the one before."""
        return self._log.rounds()

    def use(self, rules: Sequence[Rule]) -> None:
        """Replaces the rules, all counts at zero; calls under way keep theirs."""
        self._answering.script = Script(rules, self._model.reply)

    def forget(self) -> None:
        """Empties ``requests`` and sets the counts to zero."""
        self._log.clear()

    def start(self) -> "ScriptedServer":
        """Listens, and gives itself back."""
        if self._thread is not None:
            raise RuntimeError("this server was started before; make a new one")
        self._thread = threading.Thread(target=self._run, name="scripted-model", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_S) and self._failure is None:
            raise OSError("the scripted server did not start in time")
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def close(self) -> None:
        """Breaks off whatever is under way and ends the thread; may be called twice."""
        if self._loop is not None and self._stop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> "ScriptedServer":
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
        server = await asyncio.start_server(self._connected, _HOST, self._port, limit=http.HEAD_BYTES, backlog=_BACKLOG)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        for listening in server.sockets:
            with suppress(NotImplementedError):  # not on every loop of Windows
                self._loop.remove_reader(listening.fileno())
        await _turns_of_the_loop()  # a connection just taken comes as far as _connected; a closed server loses it
        server.close()
        await self._hang_up()
        await server.wait_closed()
        await _turns_of_the_loop()  # and their sockets are closed

    async def _hang_up(self) -> None:
        tasks = list(self._connections)
        for task, writer in self._connections.items():
            task.cancel()
            writer.transport.abort()  # a task that never began closes nothing
        await asyncio.gather(*tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(lambda done: self._connections.pop(done, None))

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answering.converse(reader, writer)
        except OSError:
            log.debug("a client broke off")
        except Exception:
            log.exception("a connection failed")
        finally:
            writer.close()


async def _turns_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
