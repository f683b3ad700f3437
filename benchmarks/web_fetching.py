"""What hostile servers can cost: memory, bytes taken and time of a fetch; and what a plain page costs.

    python -m benchmarks.web_fetching [--out FILE]

Servers on this machine send a body of 10 GB (with and without saying so), a bomb of 1 MB that unpacks to 1 GB, one byte
a second, headers without end, redirects without end, and pages of nothing but elements, which are read as well. Each
fetch runs in a process of its own with the limits that ship; ``peak`` is how far the process's resident memory rose
above what it was before the fetch.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support.web_servers import Answer, Asked, serving, site

GIGA = 10**9
TEXT = {"Content-Type": "text/html; charset=utf-8"}
SENTENCES = "<p>The valve of the boiler opens at two bar and is checked every year by an expert.</p>"


@dataclass(frozen=True)
class Cost:
    """One fetch: how it ended, seconds, MB of memory above the start, MB that the server got rid of."""

    case: str
    outcome: str
    seconds: float
    peak_mb: float
    sent_mb: float


def pieces(total: int, piece: bytes = b"x" * 65_536) -> Iterator[bytes]:
    for _ in range(total // len(piece)):
        yield piece


def drip() -> Iterator[bytes]:
    for _ in range(3_600):
        yield b"x"
        time.sleep(1)


def bomb(size: int = GIGA) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    packed = b"".join(packer.compress(b"\0" * 10_000_000) for _ in range(size // 10_000_000))
    return packed + packer.flush()


def cases() -> dict[str, Callable[[Asked], Answer]]:
    count = iter(range(10**6))
    packed = bomb()
    return {
        "a plain page of 100 kB": site({"/": Answer.html(f"<article>{SENTENCES * 1_150}</article>")}),
        "10 GB, announced": lambda _: Answer(pieces(10 * GIGA), 200, {**TEXT, "Content-Length": str(10 * GIGA)}),
        "10 GB, not announced": lambda _: Answer(pieces(10 * GIGA), 200, TEXT),
        f"gzip bomb, {len(packed) / 1e6:.1f} MB to 1 GB": lambda _: Answer(
            packed, 200, {**TEXT, "Content-Encoding": "gzip"}
        ),
        "one byte a second": lambda _: Answer(drip(), 200, TEXT),
        "1 MB of paragraphs, read": site({"/": Answer.html("<p>word " * 130_000)}),
        "1 MB of emphasis, read": site({"/": Answer.html("<i>w</i>" * 120_000)}),
        "1 MB of tables, read": site({"/": Answer.html("<table><tr><td>x<td>y</table>" * 34_000)}),
        "redirects without end": lambda _: Answer.redirect(f"/{next(count)}"),
    }


@contextmanager
def babbling() -> Iterator[int]:
    """A server whose headers never end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while True:
                    connection.sendall(b"X-Header: value\r\n" * 1_000)

        threading.Thread(target=talk, daemon=True).start()
        yield listening.getsockname()[1]


def fetched(port: int, read: bool, answers: Any) -> None:
    """In a process of its own: one fetch, and the reading of the page where that is wanted."""
    from selfright.domain.errors import WebError
    from selfright.web.addresses import Permissions, target_of
    from selfright.web.extract import read_reply
    from selfright.web.guard import Guard
    from selfright.web.types import PAGES, Reply, Request, RequestCounter

    if read:  # what is loaded once shall not count
        read_reply(Reply(target_of("http://a.example/"), 200, {}, SENTENCES.encode() * 9, "text/html"))
    guard = Guard(Permissions.of([f"127.0.0.1:{port}"]))
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    began = time.perf_counter()
    try:
        reply = asyncio.run(
            guard.follow(Request(target_of(f"http://127.0.0.1:{port}/"), types=PAGES), RequestCounter())
        )
        text = read_reply(reply).text if read else ""
        outcome = f"{len(reply.body):,} bytes, {len(text):,} characters" if read else f"{len(reply.body):,} bytes"
    except WebError as error:
        outcome = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answers.put((outcome, seconds, max(0, peak - resident) / 1e6))


def measured(case: str, port: int, sent: Callable[[], int]) -> Cost:
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=fetched, args=(port, case.endswith(", read"), answers))
    process.start()
    outcome, seconds, peak = answers.get(timeout=120)
    process.join()
    return Cost(case, outcome, round(seconds, 2), round(peak, 1), round(sent() / 1e6, 1))


def costs() -> Iterator[Cost]:
    for case, handler in cases().items():
        with serving(handler) as server:
            yield measured(case, server.port, lambda server=server: server.sent)  # type: ignore[misc]
    with babbling() as port:
        yield measured("headers without end", port, lambda: 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the figures there as JSON lines")
    options = parser.parse_args()
    lines = []
    print(f"{'case':34}{'s':>7}{'peak MB':>9}{'sent MB':>9}  outcome")
    for cost in costs():
        print(f"{cost.case:34}{cost.seconds:>7}{cost.peak_mb:>9}{cost.sent_mb:>9}  {cost.outcome}", flush=True)
        lines.append(json.dumps(asdict(cost)))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
