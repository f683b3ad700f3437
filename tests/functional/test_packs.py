"""No pack is on by default, and an index keeps the words that it was made with, whichever pack is on."""

import importlib.util
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.domain.errors import IncompatibleIndex
from selfright.domain.packs import DomainPack
from selfright.settings import Settings

TEXT = (
    "# 혈압\n\n고혈압은 수축기 혈압이 140mmHg 이상일 때를 말합니다.\n\n# 폐\n\n만성폐쇄성폐질환은 숨이 차는 병입니다.\n"
)
QUESTIONS = ("만성폐쇄성폐질환이란?", "고혈압의 기준은?")
OWN = DomainPack("own", words=lambda: ("던모어등대",))

needs_analyser = pytest.mark.skipif(
    not importlib.util.find_spec("kiwipiepy"), reason="needs the package kiwipiepy: without it no words are kept whole"
)


def made(location: Path | str, folder: Path, pack: str) -> str:
    """Makes an index while ``pack`` is on; gives the name of its tokenizer."""
    document = folder / "blood.md"
    document.write_text(TEXT, encoding="utf-8")
    with Selfright.open(location, embedder="none", pack=pack) as selfright:
        selfright.add([document])
        return selfright.info().tokenizer


def found(location: Path | str, pack: str) -> tuple[str, list[list[str]]]:
    """The tokenizer, and what is found; scores are of the pack's names in the other language too."""
    with Selfright.open(location, embedder="none", pack=pack) as selfright:
        hits = [[hit.passage.id for hit in selfright.search(text)] for text in QUESTIONS]
        return selfright.info().tokenizer, hits


def test_no_pack_is_on_by_default(indexed: Path) -> None:
    assert Settings().pack == "none"
    with Selfright.open(indexed, embedder="none", preset="crag") as selfright:
        assert selfright.profile_kinds() == ()
        assert selfright.urgent("I have crushing chest pain and cannot breathe.") == ""


@needs_analyser
def test_a_pack_is_part_of_a_new_index_only_while_it_is_on(tmp_path: Path) -> None:
    plain = made(tmp_path / "plain", tmp_path, "none")
    medical = made(tmp_path / "medical", tmp_path, "medical")
    assert plain.endswith("kiwi-1")
    assert medical.startswith(f"{plain}-")


@needs_analyser
@pytest.mark.parametrize(("first", "then"), [("medical", "none"), ("none", "medical")])
def test_an_index_keeps_its_words_whichever_pack_is_on(first: str, then: str, tmp_path: Path) -> None:
    made(tmp_path / "index", tmp_path, first)
    before = found(tmp_path / "index", first)
    assert all(before[1])
    assert before == found(tmp_path / "index", then)
    (tmp_path / "more.md").write_text("# 신장\n\n만성콩팥병은 사구체여과율로 나눕니다.\n", encoding="utf-8")
    with Selfright.open(tmp_path / "index", embedder="none", pack=then) as selfright:
        selfright.add([tmp_path / "more.md"])
        assert selfright.search("만성콩팥병")[0].passage.document_id == "more.md"
    assert found(tmp_path / "index", then)[0] == before[0]


@needs_analyser
def test_an_index_on_a_server_keeps_its_words_too(database: str, tmp_path: Path) -> None:
    name = made(database, tmp_path, "medical")
    assert found(database, "none") == found(database, "medical")
    assert found(database, "none")[0] == name


@needs_analyser
def test_words_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "index", tmp_path, f"{__name__}:OWN")
    with pytest.raises(IncompatibleIndex, match="set 'pack' to the domain pack"):
        found(tmp_path / "index", "none")
    assert found(tmp_path / "index", f"{__name__}:OWN")[1]
