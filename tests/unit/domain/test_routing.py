"""Names of collections: what nobody can read, or what looks like another, is none."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from selfright import Selfright
from selfright.domain.errors import UsageError
from selfright.domain.routing import collection_name
from selfright.ingest.syncing import SyncOptions
from selfright.server.keys import make_key
from selfright.server.service import Caller
from tests.support.uploads import take_in

UNSEEN = ["a\0b", "a\nb", "a\r\nb", "a\u202eb", "a\u200bb", "a\u2066b", "a\ufeffb", "a\u2028b", "a\x1bb", "\ud800"]
UNSEEN += ["a\u3164b", "a\u115fb", "a\u1160b", "a\uffa0b", "a\u034fb", "a\ufe0fb", "a\u17b4b"]


@pytest.mark.parametrize("name", UNSEEN)
def test_invisible_characters_are_named(name: str) -> None:
    with pytest.raises(UsageError, match=r"U\+[0-9A-F]{4}"):
        collection_name(name)


@pytest.mark.parametrize("name", ["편지", "Briefe 2026 – A/B", " notes ", "données", "書類"])
def test_readable_names_stay(name: str) -> None:
    assert collection_name(name) == name.strip()


@pytest.mark.parametrize("name", ["a\u202eb", "a\nb"])
def test_every_door_asks(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe text of it.")
    settings: dict[str, Any] = {"home": tmp_path / "home", "index": tmp_path / "index", "embedder": "none"}
    with Selfright.open(**settings) as selfright:
        for door in (selfright.add, selfright.sync):
            with pytest.raises(UsageError):
                door(tmp_path / "a.md", collection=name)
        with pytest.raises(UsageError):
            take_in(selfright, tmp_path / "a.md", "a.md", collection=name)
        with pytest.raises(UsageError):
            selfright.describe_collection(name, "Letters.")
    with pytest.raises(UsageError):
        SyncOptions(name)
    with pytest.raises(UsageError):
        make_key("ann", name, admin=False, note="")


def test_composed_and_decomposed_hangul_name_one_collection(tmp_path: Path) -> None:
    whole, apart = normalize("NFC", "편지"), normalize("NFD", "편지")
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(f"# {name}\n\nThe lamp of {name} is green.")
    settings: dict[str, Any] = {"home": tmp_path / "home", "index": tmp_path / "index", "embedder": "none"}
    with Selfright.open(**settings) as selfright:
        selfright.add(tmp_path / "a.md", collection=whole)
        selfright.sync(tmp_path / "b.md", collection=apart)
        take_in(selfright, tmp_path / "c.md", "c.md", collection=apart)
        selfright.describe_collection(apart, "Letters.")
        assert [(each.name, each.description) for each in selfright.collections()] == [(whole, "Letters.")]
        assert len(selfright.search("green lamp", collections=[apart])) == 3
        assert selfright.ask("What is green?", collections=[apart]).citations
        caller = Caller("k", "ann", make_key("ann", apart, admin=False, note="")[0].collections)
        assert caller.within([apart], [each.name for each in selfright.collections()]) == (whole,)
