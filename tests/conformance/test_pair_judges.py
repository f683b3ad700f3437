"""What every reader of pairs must do, whichever network is behind it: one suite, run against each."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from selfright.domain.judgements import PairReading
from selfright.domain.ports import PairJudge
from selfright.models import reader
from selfright.models.cross_encoder import CrossEncoderJudge
from selfright.models.reader import PairViews, load_net
from tests.support.torch_models import tiny_bert

TEXTS = (
    "The lighthouse on the northern cape was built in 1874.",
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "등대는 1874년에 지어졌다.",
    "",
)
QUESTION = "When was the lighthouse on the cape built?"

Maker = Callable[[Path, int], PairJudge]
"""Makes a judge in a folder; another number, another network of the kind."""


@cache
def shipped() -> PairViews:
    return PairViews(load_net())


def passages(folder: Path, number: int = 0) -> PairJudge:
    return CrossEncoderJudge(str(tiny_bert(folder, TEXTS, seed=number)), "passages")


def claims(folder: Path, number: int = 0) -> PairJudge:
    return CrossEncoderJudge(str(tiny_bert(folder, TEXTS, labels=3, seed=number)), "claims")


MAKERS: dict[str, Maker] = {"cross-encoder": passages, "nli": claims}


@pytest.fixture(scope="module", params=["shipped questions", "shipped claims", *MAKERS])
def judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PairJudge:
    if request.param.startswith("shipped"):
        return shipped().questions if request.param == "shipped questions" else shipped().claims
    return MAKERS[request.param](tmp_path_factory.mktemp("model"), 0)


def scores(readings: list[PairReading] | tuple[PairReading, ...]) -> list[float]:
    return [found.score for found in readings]


def test_nothing_is_read_of_nothing(judge: PairJudge) -> None:
    assert list(judge.read(QUESTION, [])) == []
    assert list(judge.read("", [])) == []


def test_a_pair_has_one_score_alone_in_company_and_in_any_order(
    judge: PairJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = list(judge.read(QUESTION, TEXTS))
    assert len(together) == len(TEXTS)
    assert list(judge.read(QUESTION, TEXTS[::-1])) == together[::-1]
    assert list(judge.read(QUESTION, [TEXTS[0], TEXTS[0]])) == [together[0]] * 2
    monkeypatch.setattr(reader, "KEPT", 0)
    judge.read("another question", TEXTS)  # after this one none is known from before
    for text, found in zip(TEXTS, together, strict=True):
        (alone,) = judge.read(QUESTION, [text])
        assert alone.score == pytest.approx(found.score, abs=1e-4)
        assert alone.denies == pytest.approx(found.denies, abs=1e-4)


def test_scores_are_finite_numbers_whatever_the_texts(judge: PairJudge) -> None:
    strange = ["word " * 3000, "", " \n\t", "등대" * 2000, "\ud800", "\x00", "🙂 [SEP] </s>", "x" * 30_000]
    for text in (QUESTION, "", "question " * 2000, "등대는 언제 지어졌나?"):
        found = list(judge.read(text, strange))
        assert len(found) == len(strange)
        assert all(one.score - one.score == 0 for one in found)
        assert all(0 <= one.denies <= 1 for one in found)


def test_places_lie_within_the_text_and_in_order(judge: PairJudge) -> None:
    for text, found in zip(TEXTS, judge.read(QUESTION, TEXTS), strict=True):
        assert all(0 <= place.start < place.end <= len(text) for place in found.places)
        assert [place.start for place in found.places] == sorted(place.start for place in found.places)


def test_threads_read_what_one_alone_reads(judge: PairJudge) -> None:
    asked = [f"{QUESTION} {number % 7}" for number in range(28)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: scores(list(judge.read(text, TEXTS))), asked))
    for text, at_once in zip(asked, found, strict=True):
        assert at_once == pytest.approx(scores(list(judge.read(text, TEXTS))), abs=1e-4)


def test_it_says_which_it_is_and_what_it_reads(judge: PairJudge) -> None:
    assert judge.name.isprintable()
    assert 0 < len(judge.name) <= 100
    assert set(judge.languages) <= {"en", "ko"}
    assert judge.languages


@pytest.mark.parametrize("kind", MAKERS)
def test_the_name_stays_with_the_network_and_changes_with_it(kind: str, tmp_path: Path) -> None:
    make = MAKERS[kind]
    first, same, other = (make(tmp_path / place / "model", n).name for place, n in (("a", 0), ("b", 0), ("c", 1)))
    assert first == same != other
