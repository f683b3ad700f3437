"""The network that reads pairs: what it tells apart, where answers stand, damaged files, who knows it."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.text import language_of
from selfright.models import reader
from selfright.models.files import FOLDER, LIST
from selfright.models.reader import PairNet, PairView, PairViews, load_net, matching

QUESTION = "When was the lighthouse on the northern cape built?"
PASSAGES = (
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "The lighthouse on the northern cape was built in 1874, after three ships had been lost.",
    "북쪽 곶의 등대는 배 세 척이 난파된 뒤 1874년에 지어졌다.",
    "골짜기의 제빵사들은 호밀 가루를 쓰고 반죽을 하루 동안 재워 둔다.",
)


@pytest.fixture(scope="module")
def views() -> PairViews:
    return PairViews(load_net())


@pytest.mark.parametrize("question", [QUESTION, "북쪽 곶의 등대는 언제 지어졌나요?"])
def test_what_answers_is_ahead_in_both_languages(views: PairViews, question: str) -> None:
    scores = [found.score for found in views.questions.read(question, PASSAGES)]
    own = 2 if language_of(question) == "ko" else 1
    assert scores[own] > 0 > max(score for at, score in enumerate(scores) if at != own)


def test_where_the_answer_stands(views: PairViews) -> None:
    for text, found in zip(PASSAGES[1:3], views.questions.read(QUESTION, PASSAGES[1:3]), strict=True):
        begin = max(found.places, key=lambda place: place.begins)
        assert text.index("1874") - 4 <= begin.start <= text.index("1874") + 4


def test_a_score_does_not_depend_on_company(views: PairViews, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "KEPT", 0)
    texts = [text + " More of the same follows." * times for times in (40, 0, 12) for text in PASSAGES]
    for view in (views.questions, views.claims):
        together = view.read(QUESTION, texts)
        for text, found in zip(texts, together, strict=True):
            (alone,) = view.read(QUESTION, [text])
            assert alone.score == pytest.approx(found.score, abs=1e-3)


def test_what_was_read_is_kept_for_a_while_and_never_more_than_its_bound(
    views: PairViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = PairNet()
    runs: list[str] = []
    run = net.run
    monkeypatch.setattr(net, "run", lambda text, passages: (runs.extend(passages), run(text, passages))[1])
    monkeypatch.setattr(reader, "KEPT", 3)
    view = PairView(net, claims=False)
    first = view.read(QUESTION, PASSAGES[:3])
    assert view.read(QUESTION, PASSAGES[2::-1]) == first[::-1]
    assert len(runs) == 3
    view.read(QUESTION, ["Something new."])
    view.read(QUESTION, PASSAGES[2:3])  # of the three it was used longest ago
    assert len(runs) == 5


@pytest.mark.parametrize("weights", ["grade/weights.json", "selection.json", "evaluate/weights.json", "abstain.json"])
def test_all_weights_that_count_on_it_were_fitted_with_it(weights: str) -> None:
    stored = json.loads(files("selfright.roles").joinpath(weights).read_text(encoding="utf-8"))
    assert stored["reader"] == load_net().name


def test_another_file_is_refused(tmp_path: Path) -> None:
    for name in (LIST, "words.bin"):
        (tmp_path / name).symlink_to(FOLDER / name)
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        PairView(PairNet(tmp_path), claims=True).read(QUESTION, PASSAGES)
    other = tmp_path / "reader.onnx"
    other.write_bytes(b"not the network")
    refusing = PairView(PairNet(tmp_path), claims=False)
    with pytest.raises(ModelFilesDamaged, match="SHA-256"):
        refusing.read(QUESTION, PASSAGES)
    other.unlink()
    with pytest.raises(ModelFilesDamaged, match="SHA-256"):  # it is not looked at again
        refusing.read(QUESTION, PASSAGES)


@given(st.text(max_size=200))
def test_places_are_those_of_the_text_as_it_was_given(views: PairViews, text: str) -> None:
    (found,) = views.questions.read(QUESTION, [text])
    assert all(0 <= place.start < place.end <= len(text) for place in found.places)
    assert [place.start for place in found.places] == sorted(place.start for place in found.places)


def test_places_of_text_that_is_normalized_first(views: PairViews) -> None:
    text = "The lighthouse ㈜ on the northern cape was built in １８７４."
    (found,) = views.questions.read(QUESTION, [text])
    assert max(found.places, key=lambda place: place.begins).start >= text.index("in １")


def test_pieces_that_both_have_are_marked_and_marks_of_begin_and_end_are_not() -> None:
    assert matching([0, 7, 8, 2, 2, 8, 9, 2], asked=4) == [0, 0, 1, 0, 0, 1, 0, 0]
    assert matching([0, 2, 2, 2], asked=2) == [0, 0, 0, 0]
