"""What every way to the web must do: the providers against servers that speak as they do, and the static folder."""

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import WebError, WebRejected, WebReplyUnusable, WebUnavailable
from selfright.domain.passages import Document
from selfright.web.guard import Guard, Permissions
from selfright.web.page_index import ChainedWeb
from selfright.web.provider import Result
from selfright.web.services import SERVICES, SearXng, StaticWeb
from selfright.web.types import RequestCounter, RequestLimits
from tests.support import web_servers
from tests.support.web_rooms import KEY, PROVIDERS, Words, at_once, live, split
from tests.support.web_servers import ROWS, Answer, Handler, WebServer, always, serving

SPOKEN = {name: getattr(web_servers, name) for name in PROVIDERS}
NAMES = list(PROVIDERS)


def ask(name: str, handler: Handler, query: str = "valve 점검", count: int = 5, **more: Any) -> tuple[Any, WebServer]:
    """What a provider gives for a server of this kind, or the error that it raises."""
    with serving(handler) as server:
        provider = PROVIDERS[name](server.url, **more)
        try:
            return asyncio.run(provider.results(query, count, RequestCounter())), server
        except WebError as error:
            return error, server


@pytest.mark.parametrize("name", NAMES)
def test_results_as_documented(name: str) -> None:
    results, server = ask(name, always(SPOKEN[name]()))
    assert results == (
        Result(ROWS[0][0], ROWS[0][1], ROWS[0][2]),
        Result("https://example.com/%EB%B0%B8%EB%B8%8C", "밸브 정비", ROWS[1][2]),
    )
    (asked,) = server.asked
    assert "cookie" not in asked.headers
    assert asked.headers["user-agent"].startswith("Selfright/")


def test_each_provider_is_asked_in_its_own_words() -> None:
    _, server = ask("tavily", always(SPOKEN["tavily"]()), count=3)
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert (asked.json["query"], asked.json["max_results"]) == ("valve 점검", 3)

    _, server = ask("brave", always(SPOKEN["brave"]()), query="valve & bar", count=3)
    (asked,) = server.asked
    assert asked.path.startswith("/res/v1/web/search?q=valve+%26+bar&count=3")
    assert asked.headers["x-subscription-token"] == KEY

    _, server = ask("searxng", always(SPOKEN["searxng"]()), query="밸브")
    (asked,) = server.asked
    assert asked.path == "/search?q=%EB%B0%B8%EB%B8%8C&format=json&language=ko-KR&safesearch=1"

    _, server = ask("duckduckgo", always(SPOKEN["duckduckgo"]()), query="valve")
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/html/", b"q=valve&b=&l=us-en")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_found_is_an_answer(name: str) -> None:
    assert ask(name, always(SPOKEN[name](())))[0] == ()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
@pytest.mark.parametrize("name", NAMES)
def test_a_search_that_is_turned_down_is_not_repeated(name: str, status: int) -> None:
    error, server = ask(name, always(Answer.json({"detail": {"error": "no"}}, status)))
    assert isinstance(error, WebRejected)
    assert (error.status, error.requests, len(server.asked)) == (status, 1, 1)
    assert KEY not in str(error)
    assert "valve" not in str(error)


@pytest.mark.parametrize("name", NAMES)
def test_a_short_retry_after_is_waited_for(name: str) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    busy = Answer.json({}, 429, Retry_After="2")
    results, server = ask(name, always(busy, SPOKEN[name]()), sleep=sleep)
    assert len(results) == 2
    assert waits == [2.0]
    assert len(server.asked) == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_long_retry_after_leaves_the_provider_alone(name: str) -> None:
    clock = [100.0]
    with serving(always(Answer.json({}, 429, Retry_After="120"), SPOKEN[name]())) as server:
        provider = PROVIDERS[name](server.url, clock=lambda: clock[0])
        with pytest.raises(WebUnavailable) as first:
            asyncio.run(provider.results("q", 5, RequestCounter()))
        assert (first.value.status, first.value.retry_after) == (429, 120.0)
        with pytest.raises(WebUnavailable, match="left alone"):
            asyncio.run(provider.results("q", 5, RequestCounter()))
        assert len(server.asked) == 1
        clock[0] += 121
        assert len(asyncio.run(provider.results("q", 5, RequestCounter()))) == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_server_error_that_passes_costs_a_retry(name: str) -> None:
    results, server = ask(name, always(Answer("oops", 500), Answer("oops", 503), SPOKEN[name]()))
    assert len(results) == 2
    assert len(server.asked) == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_server_error_that_stays_is_told(name: str) -> None:
    error, server = ask(name, always(Answer("oops", 500)))
    assert isinstance(error, WebUnavailable)
    assert (error.status, error.requests, len(server.asked)) == (500, 3, 3)


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[1, 2]", b'{"results": 7}', b"\xff\xfe\x00", b"<html>hi</html>",
                                  b'{"results": {"url": 1}, "web": {"results": "x"}}', b"[" * 100_000])  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_a_malformed_reply_has_a_name(name: str, body: bytes) -> None:
    error, _ = ask(name, always(Answer(body, 200, {"Content-Type": "application/json"})))
    assert isinstance(error, WebReplyUnusable | WebUnavailable)


@pytest.mark.parametrize("name", ["tavily", "brave", "searxng"])
def test_rows_that_are_none_are_passed_over(name: str) -> None:
    rows: list[Any] = [None, 7, {"url": 3}, {"title": "no address"}, {"url": "javascript:alert(1)", "title": "x"}]
    rows += [{"url": "https://example.org/a", "title": None, "content": ["x"], "description": {}}]
    results, _ = ask(name, always(Answer.json({"type": "search", "results": rows, "web": {"results": rows}})))
    assert results == (Result("https://example.org/a", "example.org", ""),)


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_that_says_nothing_is_given_up_in_time(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        transport = Guard(Permissions.of_base(url), RequestLimits(seconds=0.2))
        provider = SERVICES[name](url, transport, KEY, apart_s=0.0, sleep=at_once)
        began = time.monotonic()
        with pytest.raises(WebUnavailable, match="took longer"):
            asyncio.run(provider.results("q", 5, RequestCounter()))
        assert 0.3 < time.monotonic() - began < 2.0


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_that_is_not_there_is_told(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    with pytest.raises(WebUnavailable, match="cannot be asked"):
        asyncio.run(PROVIDERS[name](url).results("q", 5, RequestCounter()))


def test_a_riddle_for_robots_is_no_empty_answer() -> None:
    riddle = Answer.html('<html><body><div class="anomaly-modal__title">Bots?</div></body></html>')
    error, _ = ask("duckduckgo", always(riddle))
    assert isinstance(error, WebUnavailable)


def test_three_failed_searches_are_enough_for_a_while() -> None:
    with serving(always(Answer("oops", 500))) as server:
        provider = PROVIDERS["tavily"](server.url)
        for _ in range(5):
            with pytest.raises(WebUnavailable):
                asyncio.run(provider.results("q", 5, RequestCounter()))
        assert len(server.asked) == 9


def test_searches_keep_their_distance() -> None:
    with serving(always(SPOKEN["searxng"]())) as server:
        transport = Guard(Permissions.of_base(server.url))
        provider = SearXng(server.url, transport, apart_s=0.15)

        async def four() -> None:
            await asyncio.gather(*(provider.results(f"q{n}", 5, RequestCounter()) for n in range(4)))

        began = time.monotonic()
        asyncio.run(four())
        assert time.monotonic() - began > 0.4
        assert len(server.asked) == 4


# The whole way: results, pages (none can be reached here, so the provider's own words stand for them), passages.


@pytest.mark.parametrize("name", NAMES)
def test_a_search_is_cited_by_address(name: str) -> None:
    with serving(always(SPOKEN[name]())) as server:
        finding = asyncio.run(live(PROVIDERS[name](server.url)).search("valve opens", 2))
    assert finding.provider == name
    assert [p.url for p in finding.passages] == ["https://example.org/valve", "https://example.com/%EB%B0%B8%EB%B8%8C"]
    assert {p.origin for p in finding.passages} == {"web"}
    assert finding.passages[1].language == "ko"


def folder_web(tmp_path: Path) -> StaticWeb:
    (tmp_path / "valve.txt").write_text("The valve opens at two bar.")

    def read(path: Path) -> Document:
        return Document(path.name, "Valve", path.read_text(), url="https://s.example/v")

    return StaticWeb(tmp_path, read, split, Words())


def test_the_order_of_fall_back(tmp_path: Path) -> None:
    with serving(always(Answer("oops", 500))) as down, serving(always(SPOKEN["searxng"](()))) as empty:
        chain = ChainedWeb(
            [
                ("tavily", live(PROVIDERS["tavily"](down.url))),
                ("searxng", live(PROVIDERS["searxng"](empty.url))),
                ("static", folder_web(tmp_path)),
            ]
        )
        finding = asyncio.run(chain.search("valve opens", 3))
        assert finding.provider == "static"
        assert [p.url for p in finding.passages] == ["https://s.example/v"]
        assert finding.requests == 3 + 1 + 1
        nothing = asyncio.run(chain.search("quantum chromodynamics", 3))
        assert (nothing.passages, nothing.provider) == ((), "searxng, static")


def test_when_nobody_answers_each_is_named() -> None:
    with serving(always(Answer("oops", 500))) as down, serving(always(Answer("no", 401))) as closed:
        chain = ChainedWeb(
            [("brave", live(PROVIDERS["brave"](down.url))), ("tavily", live(PROVIDERS["tavily"](closed.url)))]
        )
        with pytest.raises(
            WebUnavailable, match=r"brave answered with status 500.*tavily turned the search down"
        ) as told:
            asyncio.run(chain.search("valve", 3))
    assert told.value.requests == 4


# The providers' own clients understand the same servers, so that those speak as the providers do.


def test_tavilys_own_client_reads_the_same_reply() -> None:
    tavily = pytest.importorskip("tavily")
    with serving(always(SPOKEN["tavily"]())) as server:
        client = tavily.TavilyClient(KEY, api_base_url=server.url)
        reply = client.search("valve 점검", max_results=3)
        assert [row["url"] for row in reply["results"]] == [url for url, _, _ in ROWS]
        asyncio.run(PROVIDERS["tavily"](server.url).results("valve 점검", 3, RequestCounter()))
        theirs, ours = server.asked
    assert (theirs.method, theirs.path, theirs.headers["authorization"]) == (
        ours.method,
        ours.path,
        ours.headers["authorization"],
    )
    assert {name: theirs.json[name] for name in ("query", "max_results")} == {
        name: ours.json[name] for name in ("query", "max_results")
    }


@pytest.mark.parametrize(("status", "error"), [(401, "InvalidAPIKeyError"), (429, "UsageLimitExceededError")])
def test_tavilys_own_client_names_the_same_errors(status: int, error: str) -> None:
    errors = pytest.importorskip("tavily.errors")
    import tavily

    with serving(always(Answer.json({"detail": {"error": "no"}}, status))) as server:
        client = tavily.TavilyClient(KEY, api_base_url=server.url)
        with pytest.raises(getattr(errors, error)):
            client.search("valve")


def test_duckduckgos_usual_client_reads_the_same_page() -> None:
    engine_module = pytest.importorskip("ddgs.engines.duckduckgo")
    with serving(always(SPOKEN["duckduckgo"]())) as server:
        engine = engine_module.Duckduckgo(timeout=5)
        engine.search_url = f"{server.url}/html/"
        rows = engine.search("valve")
        asyncio.run(PROVIDERS["duckduckgo"](server.url).results("valve", 3, RequestCounter()))
        theirs, ours = server.asked
    assert [(row.href, row.body) for row in rows] == [(url, text) for url, _, text in ROWS]
    assert (theirs.method, theirs.path, sorted(theirs.body.split(b"&"))) == (
        ours.method,
        ours.path,
        sorted(ours.body.split(b"&")),
    )
