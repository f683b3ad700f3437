"""Custom judges as a user has them: a folder in a setting, and calibration that weighs."""

import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from selfright.api.selfright import Selfright
from selfright.domain.errors import ModelFilesDamaged, SettingsError
from selfright.domain.judgements import PairReading, StopReason
from selfright.domain.passages import Language
from tests.functional.conftest import Cli

MADE_HERE = "selfright.models.cross_encoder.CrossEncoderJudge"
QUESTION = "How often is the lamp of the lighthouse changed?"
SYLLABLES = ("ba", "lo", "mi", "ru", "te", "ko", "sa", "ne")
KNOWN = [f"zi{a}{b}" for a, b in product(SYLLABLES, SYLLABLES)]
LITTLE = {"the", "of", "is", "how", "and", "by", "a", "was"}
OTHERS = [f"vo{a}{b}" for a, b in product(SYLLABLES, SYLLABLES)]


class Believing:
    """Believes every passage that holds a word."""

    name = "believing-1"
    languages: Sequence[Language] = ("en", "ko")

    def __init__(self, named: str, job: str) -> None:
        self.word = named

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        return [PairReading(9.0 if self.word in passage else -9.0) for passage in passages]


class Sharing(Believing):
    """The share of a text's words that a passage has too, less a half; a denial where one alone says "not"."""

    def __init__(self, named: str, job: str) -> None:
        self.name = f"{job}-{named}"
        self.scale = -24.0 if "doubting" in named else 12.0

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        asked = [word for word in words(text) if word not in LITTLE]
        found = ([word in words(passage) and word not in OTHERS for word in asked] for passage in passages)
        return [PairReading(self.scale * (sum(known) / max(len(known), 1) - 0.5)) for known in found]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Gone(Believing):
    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        raise ModelFilesDamaged("the network is gone; put it there again")


def labelled(place: Path) -> Path:
    """Pairs that words cannot tell apart: each text has two rare words, one of them in each passage, and it is always
    the first that matters. Only a judge that knows the first kind of words knows."""
    rows = [
        {"question": f"The {first} and the {other} stand by the door.", "passage": f"A {word} fell.", "label": label}
        for first, other in zip(KNOWN, OTHERS, strict=True)
        for word, label in ((first, 1), (other, 0))
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges that settings name are made here instead of with sentence-transformers."""
    monkeypatch.setattr(MADE_HERE, Sharing)


def asked(cli: Cli, index: Path, *settings: str, question: str = QUESTION) -> dict[str, Any]:
    options = [part for setting in ("embedder=none", *settings) for part in ("--set", setting)]
    done = cli("ask", question, "--index", index, "--json", *options)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.usefixtures("named")
def test_judges_named_in_settings_judge_passages_and_claims_in_both_languages(
    cli: Cli, own_index: Path, documents: Path, tmp_path: Path
) -> None:
    judges = ("passage_judge=models/sharing", "claim_judge=models/sharing")
    # The same judge the other way round: what it likes best is now what it likes least. It likes passages of the
    # other language, which translated words bring, so it sees none.
    doubting = "passage_judge=models/doubting"
    # The judge is one of several signals: at one threshold for both, what it says decides.
    threshold = "incorrect_threshold=0.2"
    english = (documents / "lighthouse.md", documents / "harbour.md")
    cases = ((QUESTION, "90 days", english), ("던모어 등대의 등은 며칠마다 교체하나요?", "90일", (documents / "ko",)))
    for question, holds, own in cases:
        found = asked(cli, own_index, *judges, threshold, question=question)
        assert holds in found["answer"]
        assert found["verdict"] != "incorrect"
        place = tmp_path / holds
        assert cli("index", "add", *own, "--index", place, "--set", "embedder=none").code == 0
        assert asked(cli, place, doubting, threshold, "preset=crag", question=question)["verdict"] == "incorrect"


def test_what_it_says_of_passages_decides(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    with Selfright.open(index, embedder="none") as alone:
        alone.add([documents])
        assert alone.ask(QUESTION, preset="crag").verdict != "incorrect"
    monkeypatch.setattr(MADE_HERE, Believing)
    with Selfright.open(index, embedder="none", passage_judge="nowhere") as doubted:
        assert doubted.ask(QUESTION, preset="crag").verdict == "incorrect"


@pytest.mark.usefixtures("named")
def test_calibrating_weighs_the_judge_says_what_it_is_worth_and_turns_use_it(
    cli: Cli, own_index: Path, tmp_path: Path
) -> None:
    rows = labelled(tmp_path / "labelled.jsonl")
    options = ("--index", own_index, "--set", "embedder=none")
    judge = "passage_judge=models/sharing"
    done = cli("calibrate", rows, *options, "--set", judge, "--json", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    worth = found["judge"]
    assert worth["without"] == pytest.approx(0.5, abs=0.1)
    assert worth["judge"] == 1.0
    assert worth["together"] > 0.95
    assert worth["weighed_on"] + worth["rows"] // 2 == len(KNOWN)
    assert found["passages"]["after"]["rows"] == worth["rows"]
    blend = found["calibration"]["judge"]["weights"]
    assert blend["judge"] > 0.1
    assert "passages-models/sharing" in found["calibration"]["origin"]["grader"]
    shown = cli("calibrate", rows, *options, "--set", judge)
    assert f"your judge read {worth['rows']} of the rows" in shown.out
    assert f"on {worth['weighed_on']} others" in shown.out
    # It is of this judge, and of no other.
    with Selfright.open(own_index, embedder="none", passage_judge="models/sharing") as selfright:
        assert selfright._engine.judging.judging().calibration is not None
    with Selfright.open(own_index, embedder="none") as selfright:
        assert selfright._engine.judging.judging().calibration is None


@pytest.mark.usefixtures("named")
def test_few_rows_keep_the_weights(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    rows = labelled(tmp_path / "labelled.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    few = tmp_path / "few.jsonl"
    few.write_text("".join(rows[:24]), encoding="utf-8")
    options = ("--index", own_index, "--set", "embedder=none", "--set", "passage_judge=models/sharing")
    done = cli("calibrate", few, *options, "--yes")
    assert done.code == 0, done.err
    assert "too few rows to weigh them against each other: each counts half" in done.out


def test_calibrating_without_the_judge_that_was_asked_for_is_no_calibration(
    own_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MADE_HERE, Gone)
    rows = labelled(tmp_path / "labelled.jsonl")
    with (
        Selfright.open(own_index, embedder="none", passage_judge="gone") as selfright,
        pytest.raises(ModelFilesDamaged, match="put it there again"),
    ):
        selfright.calibrate(rows)
    assert not (own_index / "calibration.json").exists()


def test_a_judge_of_ones_own_that_fails_costs_itself_alone(own_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MADE_HERE, Gone)
    with Selfright.open(own_index, embedder="none") as selfright:
        without = selfright.ask(QUESTION)
    with Selfright.open(own_index, embedder="none", passage_judge="gone", claim_judge="gone") as selfright:
        answer = selfright.ask(QUESTION)
    assert answer.answer == without.answer
    assert answer.stop_reason is not StopReason.ERROR


def test_a_wrong_judge_is_said_at_once(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    model = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "entailment", "1": "contradiction"}}
    (tmp_path / "config.json").write_text(json.dumps(model), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    for setting, why in (
        (f"passage_judge={tmp_path / 'nowhere'}", "that is there"),
        (f"passage_judge={tmp_path}", "claim_judge"),
        ("claim_judge=owner/name", "download"),
    ):
        done = cli("ask", QUESTION, "--index", own_index, "--set", "embedder=none", "--set", setting)
        assert done.code == SettingsError.exit_code, done.out
        assert why in done.err
