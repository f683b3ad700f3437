"""The static provider: a folder that is searched like the web."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from selfright.domain.errors import SettingsError, UnreadableFile
from selfright.domain.passages import Document, Passage
from selfright.web import services
from selfright.web.services import StaticWeb
from tests.support.web_rooms import Words


def read_page(path: Path) -> Document:
    text = path.read_text()
    if "broken" in text:
        raise UnreadableFile(str(path), "broken")
    url = text.split()[1] if text.startswith("canonical") else None
    return Document(path.name, path.stem, text, url=url)


def split(document: Document) -> list[Passage]:
    """A passage a line."""
    passages, start = [], 0
    for n, line in enumerate(document.text.split("\n")):
        end = start + len(line)
        passages.append(Passage(f"{document.id}#{n}", document.id, document.title, line, start, end, url=document.url))
        start = end + 1
    return passages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = {
        "valve.html": "canonical https://x.example/valve\nThe valve opens at two bar.\nIt is blue.",
        "pump.md": "The pump turns.\nA valve of the pump opens.",
        "deep/seal.txt": "The seal holds water back.",
        "picture.png": "valve valve valve",
        "bad.txt": "broken valve",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


Web = Callable[[], StaticWeb]


@pytest.fixture
def web(folder: Path) -> Web:
    return lambda: StaticWeb(folder, read_page, split, Words())


def urls(web: StaticWeb, query: str, k: int = 5) -> list[str]:
    return list(dict.fromkeys(str(p.url) for p in asyncio.run(web.search(query, k)).passages))


def test_passages_are_cited_by_url_and_cut_from_the_page(web: Web) -> None:
    finding = asyncio.run(web().search("when opens the valve", 5))
    assert (finding.provider, finding.requests) == ("static", 2)
    best = finding.passages[0]
    assert best.text == "The valve opens at two bar."
    assert (best.document_id, best.url) == ("https://x.example/valve", "https://x.example/valve")
    assert (best.id, best.origin) == ("web:https://x.example/valve#1", "web")
    assert len({passage.id for passage in finding.passages}) == len(finding.passages)


def test_a_page_without_a_canonical_link_is_cited_by_its_file(web: Web, folder: Path) -> None:
    assert urls(web(), "seal water") == [(folder / "deep" / "seal.txt").as_uri()]


def test_the_best_page_comes_first_and_k_bounds_the_pages(web: Web, folder: Path) -> None:
    assert urls(web(), "pump valve")[0] == (folder / "pump.md").as_uri()
    assert len(urls(web(), "the valve pump seal", k=1)) == 1


@pytest.mark.parametrize("query", ["", "quantum chromodynamics", "the quick brown fox jumps", "?"])
def test_a_query_that_hardly_matches_finds_nothing(web: Web, query: str) -> None:
    finding = asyncio.run(web().search(query, 5))
    assert (finding.passages, finding.requests) == ((), 0)


def test_what_is_over_the_bounds_is_left_out_and_said(
    web: Web, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.WARNING), monkeypatch.context() as small:
        small.setattr(services, "_PAGE_BYTES", 60)
        assert urls(web(), "valve opens two bar") != ["https://x.example/valve"]
    assert "valve.html" in caplog.text
    assert "bad.txt" in caplog.text
    with monkeypatch.context() as small:
        small.setattr(services, "_CHARACTERS", 10)
        assert urls(web(), "valve pump seal") == []
    monkeypatch.setattr(services, "_PAGES", 3)
    assert len(urls(web(), "valve pump seal water")) == 2


async def test_the_folder_is_read_once_and_only_when_it_is_needed(folder: Path) -> None:
    read: list[str] = []

    def counting(path: Path) -> Document:
        read.append(path.name)
        return read_page(path)

    web = StaticWeb(folder, counting, split, Words())
    assert read == []
    await asyncio.gather(web.search("valve", 3), web.search("pump", 3))
    assert sorted(read) == ["bad.txt", "pump.md", "seal.txt", "valve.html"]


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text("The secret plan.")
    (folder / "link.txt").symlink_to(outside)
    assert urls(StaticWeb(folder, read_page, split, Words()), "secret plan") == []


def test_two_pages_of_one_address_are_one(folder: Path) -> None:
    (folder / "copy.html").write_text("canonical https://x.example/valve\nThe valve opens in the copy.")
    web = StaticWeb(folder, read_page, split, Words())
    ids = [passage.id for passage in asyncio.run(web.search("valve opens", 5)).passages]
    assert len(set(ids)) == len(ids)


def test_a_folder_of_pages_needs_no_extra() -> None:
    """The demo has one, and is to run after ``pip install .`` alone."""
    absent = "import sys; sys.modules.update(dict.fromkeys(('anyio', 'httpcore', 'idna', 'protego', 'trafilatura')));"
    subprocess.run([sys.executable, "-c", f"{absent} import selfright.web.live, selfright.web.services"], check=True)


def test_a_missing_folder_is_heard_of_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="expected a folder of pages"):
        StaticWeb(tmp_path / "nowhere", read_page, split, Words())


@pytest.mark.parametrize("canonical", ["javascript:alert(1)", "https://user:pw@x.example/", "https://x.example/\\"])
def test_an_address_that_is_none_is_not_cited(folder: Path, canonical: str) -> None:
    (folder / "odd.txt").write_text(f"canonical {canonical}\nThe odd gasket.")
    assert urls(StaticWeb(folder, read_page, split, Words()), "odd gasket") == [(folder / "odd.txt").as_uri()]
