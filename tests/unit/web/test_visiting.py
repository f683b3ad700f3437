"""Visiting pages politely: robots.txt first, and no crowd at one host."""

import asyncio
import threading
import time
from collections.abc import Mapping
from itertools import pairwise

import pytest

from selfright.domain.errors import PageRefused, PageUnusable
from selfright.web.politeness import HostThrottle, Visitor
from selfright.web.types import RequestCounter
from tests.support.web_rooms import guard, visitor
from tests.support.web_servers import Answer, WebServer, serving, site

PAGE = Answer.html("<p>a page</p>")


def visit(server: WebServer, *paths: str, visiting: Visitor | None = None) -> list[object]:
    """Each page, or the error it ended with, one after the other."""
    host = visiting or visitor(guard(f"v.example:{server.port}", table={"v.example": ["127.0.0.1"]}))

    async def one_by_one() -> list[object]:
        found: list[object] = []
        for path in paths:
            try:
                found.append((await host.fetch(f"http://v.example:{server.port}{path}", RequestCounter())).status)
            except (PageRefused, PageUnusable) as error:
                found.append(error)
        return found

    return asyncio.run(one_by_one())


def site_with(robots: Answer, **pages: Answer) -> Mapping[str, Answer]:
    return {"/robots.txt": robots, "/a": PAGE, "/private/b": PAGE, **{f"/{name}": page for name, page in pages.items()}}


def test_robots_txt_is_asked_once_and_obeyed() -> None:
    rules = Answer(
        "User-agent: Selfright\nDisallow: /private\n\nUser-agent: *\nDisallow: /", 200, {"Content-Type": "text/plain"}
    )
    with serving(site(site_with(rules))) as server:
        found = visit(server, "/a", "/private/b", "/a")
    assert found[0] == found[2] == 200
    assert "does not want robots" in str(found[1])
    assert server.paths == ["/robots.txt", "/a", "/a"]


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (Answer("", 404), True),
        (Answer("", 403), True),
        (Answer("", 500), False),
        (Answer("", 429), False),
        (Answer("<html>not found</html>", 200, {"Content-Type": "text/html"}), True),
        (Answer(b"\xff\xfe\x00\x00" * 100, 200), True),
        (Answer.redirect("/robots.txt"), False),
        (Answer("User-agent: *\nDisallow: /\n" + "#" * 2_000_000), False),
        (Answer("User-agent: *\n" + f"Disallow: /{'*a' * 1_000}b$\n" * 200), True),
        *((Answer(f"User-agent: *\nCrawl-delay: {delay}"), True) for delay in ("nan", "-1", "soon")),
    ],
    ids=[
        "missing",
        "forbidden",
        "broken",
        "busy",
        "page",
        "garbage",
        "circle",
        "endless",
        "spiteful",
        "nan",
        "-1",
        "soon",
    ],
)
def test_what_stands_for_a_robots_txt(robots: Answer, allowed: bool) -> None:
    with serving(site(site_with(robots))) as server:
        (found,) = visit(server, "/a")
    assert (found == 200) is allowed
    assert ("/a" in server.paths) is allowed


def test_a_robots_txt_that_leads_inside_is_not_followed() -> None:
    with serving(site(site_with(Answer.redirect("http://169.254.169.254/")))) as server:
        (found,) = visit(server, "/a")
    assert isinstance(found, PageRefused)
    assert server.paths == ["/robots.txt"]


def test_where_a_page_redirects_to_has_rules_too() -> None:
    rules = Answer("User-agent: *\nDisallow: /private")
    with serving(site(site_with(rules, go=Answer.redirect("/private/b")))) as server:
        (found,) = visit(server, "/go")
    assert "does not want robots" in str(found)
    assert "/private/b" not in server.paths


def test_a_host_that_wants_long_pauses_is_left_out() -> None:
    with serving(site(site_with(Answer("User-agent: *\nCrawl-delay: 60")))) as server:
        (found,) = visit(server, "/a")
    assert "wants 60 s between two requests" in str(found)


@pytest.mark.parametrize("status", [204, 304, 403, 404, 410, 429, 500])
def test_a_status_is_told(status: int) -> None:
    with serving(site(site_with(Answer("", 404), a=Answer("", status)))) as server:
        (found,) = visit(server, "/a")
    assert isinstance(found, PageUnusable)
    assert found.status == status


async def test_one_host_is_not_crowded() -> None:
    busy, most, lock = [0], [0], threading.Lock()

    def slow() -> Answer:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.05)
        with lock:
            busy[0] -= 1
        return PAGE

    with serving(site({"/a": slow})) as server:
        host = Visitor(
            guard(f"v.example:{server.port}", table={"v.example": ["127.0.0.1"]}), HostThrottle(at_once=2, apart_s=0.01)
        )
        await asyncio.gather(*(host.fetch(f"http://v.example:{server.port}/a?{n}", RequestCounter()) for n in range(8)))
    assert most[0] == 2
    assert len(server.asked) == 9  # one of them for robots.txt


def test_the_pace_holds_across_threads_and_loops() -> None:
    throttle, times, lock = HostThrottle(at_once=5, apart_s=0.05), [], threading.Lock()

    async def go() -> None:
        async with throttle.place("h"):
            with lock:
                times.append(time.monotonic())

    threads = [threading.Thread(target=lambda: asyncio.run(go())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    assert len(times) == 4
    assert all(later - earlier > 0.03 for earlier, later in pairwise(times))


async def test_patience_ends_and_places_come_back() -> None:
    throttle = HostThrottle(at_once=1, apart_s=0.0, patience_s=0.1)
    async with throttle.place("h"):
        with pytest.raises(PageUnusable, match="too many"):
            async with throttle.place("h"):
                pass
        async with throttle.place("other"):
            pass
    async with throttle.place("h"):
        pass


async def test_all_hosts_together_have_so_many_places() -> None:
    throttle = HostThrottle(at_once=9, in_all=2, apart_s=0.0, patience_s=0.05)
    async with throttle.place("one"):
        async with throttle.place("two"):
            with pytest.raises(PageUnusable, match="too many"):
                async with throttle.place("three"):
                    pass
        async with throttle.place("three"):
            pass


async def test_a_cancelled_wait_leaves_no_place_taken() -> None:
    throttle = HostThrottle(at_once=1, apart_s=0.0)

    async def hold() -> None:
        async with throttle.place("h"):
            await asyncio.sleep(10)

    task = asyncio.create_task(hold())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(1), throttle.place("h"):
        pass
