"""The static provider over the network: a file of addresses on a real server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright.domain.errors import SettingsError, WebUnavailable
from selfright.web.live import MOST_ADDRESSES, ListedWeb, Pages, addresses_in
from tests.support.web_rooms import Words, guard, split, visitor
from tests.support.web_servers import Answer, WebServer, serving, site

FILL = "The boiler stands in the cellar and is looked after by the people who live on the ground floor."


def article(text: str) -> Answer:
    return Answer.html(f"<html><head><title>T</title></head><body><article><p>{text}</p><p>{FILL}</p></article></body>")


@pytest.fixture
def server() -> Iterator[WebServer]:
    pages = {"/valve": article("The valve opens at two bar."), "/pump": article("The pump turns at night.")}
    with serving(site(pages)) as running:
        yield running


def listed(folder: Path, server: WebServer, *paths: str) -> ListedWeb:
    file = folder / "addresses.txt"
    file.write_text("# what we trust\n" + "".join(f"http://t.example:{server.port}{path}  # one\n" for path in paths))
    transport = guard(f"t.example:{server.port}", table={"t.example": ["127.0.0.1"]})
    return ListedWeb(file, Pages(visitor(transport)), split, Words())


def test_the_listed_pages_are_searched_and_fetched_once(tmp_path: Path, server: WebServer) -> None:
    web = listed(tmp_path, server, "/valve", "/pump", "/missing")
    first = asyncio.run(web.search("valve opens", 5))
    assert [str(one.url).rpartition("/")[2] for one in first.passages] == ["valve"]
    assert first.passages[0].text == "The valve opens at two bar."
    assert first.requests == 4  # robots.txt and three pages
    asked = len(server.paths)
    again = asyncio.run(web.search("pump night", 5))
    assert [str(one.url).rpartition("/")[2] for one in again.passages] == ["pump"]
    assert (again.requests, len(server.paths)) == (0, asked)


def test_no_page_at_all_is_said(tmp_path: Path, server: WebServer) -> None:
    with pytest.raises(WebUnavailable, match="none of the 1 listed pages"):
        asyncio.run(listed(tmp_path, server, "/missing").search("valve", 5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ftp://a.example/\n", "line 1: expected an address"),
        ("http://a.example/\nnonsense\n", "line 2: expected an address"),
        ("# nothing\n", "1 to 200 addresses"),
        ("".join(f"http://a.example/{n}\n" for n in range(MOST_ADDRESSES + 1)), "there are 201"),
        ("#" * 600_000, "larger than that"),
    ],
    ids=["scheme", "second line", "none", "too many", "too large"],
)
def test_a_list_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "list.txt").write_text(text)
    with pytest.raises(SettingsError, match=said):
        addresses_in(tmp_path / "list.txt")
