"""The term lexicon: what it finds in running text, and what it says of a list that is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import SettingsError
from selfright.domain.passages import Language
from selfright.retrieval.lexicon import FileLexicon

LIST = """\
# a list for these tests
강\triver
강물\triver water
지진\tearthquake
지진 해일|쓰나미\ttsunami|tidal wave
태양 전지판\tsolar panel
전지\tbattery|cell
의사\tphysician|doctor
치료\ttreatment
도서관\tlibrary

USB 단자\tUSB port
"""


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> FileLexicon:
    path = tmp_path_factory.mktemp("lists") / "terms.tsv"
    path.write_text(LIST, encoding="utf-8")
    return FileLexicon(path)


@pytest.mark.parametrize(
    ("text", "language", "phrases"),
    [
        ("지진은 왜 일어나나요?", "ko", ("earthquake",)),
        ("지진  해일이 오면", "ko", ("tsunami", "tidal wave")),  # the longer name, and only that
        ("큰 쓰나미였다", "ko", ("tsunami", "tidal wave")),
        ("강물에서", "ko", ("river water",)),
        ("강에서 강까지", "ko", ("river",)),
        ("건강과 강의", "ko", ("river",)),  # not in 건강; 강의 may be a lecture or "the river's"
        ("강력한", "ko", ()),
        ("의사소통을 잘한다", "ko", ()),
        ("의사들에게", "ko", ("physician", "doctor")),
        ("치료하는 의사", "ko", ("treatment", "physician", "doctor")),
        ("지진치료", "ko", ("earthquake", "treatment")),  # a compound of two names
        ("시립도서관장", "ko", ("library",)),  # a long name is meant wherever it stands
        ("USB 단자가 헐겁다", "ko", ("USB port",)),
        ("", "ko", ()),
        ("Libraries and doctors", "en", ("도서관", "의사")),
        ("a Tidal wave hit the river", "en", ("지진 해일", "쓰나미", "강")),
        ("solar-panel batteries", "en", ("태양 전지판", "전지")),
        ("rivers", "ko", ()),
    ],
)
def test_names_are_found(lexicon: FileLexicon, text: str, language: Language, phrases: tuple[str, ...]) -> None:
    assert tuple(lexicon.expand(text, language)) == phrases


@given(
    st.lists(st.sampled_from([*"강의에서은는이가 지진해일치료하다usb", "지진", "강물", "doctor ", "\n"]), max_size=60)
)
def test_any_text_gives_few_phrases_of_the_list(lexicon: FileLexicon, parts: list[str]) -> None:
    for language in ("ko", "en"):
        found = lexicon.expand("".join(parts), language)
        assert len(found) == len(set(found)) <= 16
        assert all(phrase in LIST for phrase in found)


def test_what_is_found_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "many.tsv"
    path.write_text("".join(f"낱말{n:02}\tword{n:02}\n" for n in range(40)))
    text = " ".join(f"낱말{n:02}이" for n in range(40))
    assert FileLexicon(path, limit=5).expand(text, "ko") == ("word00", "word01", "word02", "word03", "word04")
    assert len(FileLexicon(path).expand(text, "ko")) == 16


def test_the_name_tells_the_list(tmp_path: Path, lexicon: FileLexicon) -> None:
    path = tmp_path / "other.tsv"
    path.write_text(LIST + "산\tmountain\n")
    assert FileLexicon(path).name != lexicon.name


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("강\triver\n산 mountain\n", "line 2: expected 'Korean<tab>English', but found 1 columns"),
        ("강\triver\twater\n", "line 1: expected"),
        ("강|\triver\n", "line 1: a name must have"),
        ("강\t" + "x" * 200, "line 1: a name must have"),
        ("강\triver".encode("cp949"), "expected UTF-8 text"),
    ],
)
def test_a_wrong_list_names_the_place(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SettingsError, match=said):
        FileLexicon(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        FileLexicon(tmp_path / "nowhere.tsv")
