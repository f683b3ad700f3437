"""Profiles from end to end: said in a turn, seen, corrected and erased at every door; packs by setting."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.cli.main import main
from selfright.domain.errors import InputError, SettingsError, UnknownName
from selfright.domain.judgements import StopReason
from tests.support.folders import opened_over

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SUPPORT = "support_desk:PACK"
DOCUMENTS = {
    "upgrade.md": "# Upgrading\n\nFxStore 0.3 is installed with Gradle. Files of version 0.2 must be converted with "
    "`fxstore migrate` before FxStore 0.3 opens them.\n",
    "errors.md": "# Error codes\n\nFX-1007 means that another process holds the lock of the store.\n",
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Selfright]:
    """A small index, and the support desk's pack from the documentation."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    with opened_over(tmp_path, DOCUMENTS, embedder="none", pack=SUPPORT) as selfright:
        yield selfright


def test_a_second_pack_is_read_from_a_setting_and_does_all_that_a_pack_does(desk: Selfright) -> None:
    first = desk.ask("I use FxStore version 0.2.4 on linux. What does FX-1007 mean?", user="ana")
    assert first.citations
    assert desk.profile_summary("ana") == "FxStore 0.2.4, linux, error FX-1007"
    upgrade = desk.ask("How do I upgrade with Gradle?", user="ana")
    assert "must be converted" in upgrade.answer  # what the profile makes a concern, though it was not asked
    assert desk.ask("How do I upgrade with Gradle?", user="ben").citations
    desk.ask("Now I have version 0.3.0.", user="ana")
    assert desk.profile("ana").values("version") == ("0.3.0",)
    assert [fact.state for fact in desk.profile_history("ana") if fact.slot.name == "version"] == [
        "superseded",
        "stands",
    ]
    corrupt = desk.ask("The file is corrupt, what does FX-1007 mean?", user="ana")
    assert corrupt.answer.startswith("First copy the store's file")


def test_nothing_is_kept_of_who_is_not_named_or_asks_for_it(desk: Selfright) -> None:
    desk.ask("I use FxStore version 0.2.4. How do I upgrade?")
    desk.ask("I use FxStore version 0.2.4. How do I upgrade?", user="ana", flags={"memory_mode": "none"})
    assert desk.profile_users() == ()
    desk.ask("I use FxStore version 0.2.4. How do I upgrade?", session="s")
    assert desk.profile_users() == ("local",)


def test_a_profile_that_comes_with_the_question_counts_and_is_not_kept(desk: Selfright) -> None:
    answer = desk.ask("How do I upgrade with Gradle?", profile={"version": "0.2.4"}, user="ana")
    assert "must be converted" in answer.answer
    assert desk.profile("ana").slots == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere_at_all:PACK", "cannot be had"),
        ("support_desk:NOTHING", "cannot be had"),
        ("support_desk:ERROR", "Pattern"),
    ],
    ids=["no module", "no attribute", "no pack"],
)
def test_a_pack_that_is_none_is_refused(name: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    with pytest.raises(SettingsError, match=expected):
        Selfright.open(pack=name).profile("ana")


def test_an_unknown_pack_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="medical"):
        Selfright.open(pack="medicall")


def test_a_profile_without_a_user_is_the_default_ones(
    capsys: pytest.CaptureFixture[str], home_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_PACK", "medical")
    assert main(["profile", "show"]) == 0
    assert "nothing is known of 'local'" in capsys.readouterr().err
    assert main(["profile", "set", "age=60", "sex=male"]) == 0
    assert main(["profile", "export"]) == 0
    assert '"user": "local"' in capsys.readouterr().out
    assert main(["profile", "forget", "--name", "age"]) == 0
    assert "1 current or past fact of 'local' erased" in capsys.readouterr().out
    assert main(["profile", "forget"]) == 2  # nobody erases everything by leaving out a word
    assert "profile forget local" in capsys.readouterr().err
    assert main(["profile", "export"]) == 0
    assert '"male"' in capsys.readouterr().out
    assert main(["profile", "set", "ana"]) == 2
    assert "expected at least one NAME=VALUE" in capsys.readouterr().err


def test_the_command_line_shows_corrects_exports_and_erases(
    capsys: pytest.CaptureFixture[str], home_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_PACK", "medical")
    assert main(["profile", "set", "ana", "age=60", "sex=male", "conditions=2형 당뇨병", "conditions=gout"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "60-year-old male, type 2 diabetes, gout"
    assert main(["profile", "show", "ana", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == {"user", "summary", "slots", "disputed"}
    assert [slot["value"] for slot in shown["slots"]] == ["60", "male", "2형 당뇨병", "gout"]
    assert all(slot["by_hand"] for slot in shown["slots"])
    assert main(["profile", "set", "ana", "conditions="]) == 0
    assert "gout" not in capsys.readouterr().out
    assert main(["profile", "export", "ana"]) == 0
    exported = json.loads(capsys.readouterr().out)
    assert {(fact["value"], fact["state"]) for fact in exported["facts"]} >= {("gout", "superseded"), ("60", "stands")}
    assert main(["profile", "forget", "ana", "--name", "age", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"user": "ana", "erased": 1, "sessions": 0, "traces": 0}
    assert main(["profile", "forget", "ana"]) == 0
    capsys.readouterr()
    assert main(["profile", "show", "ana"]) == 0
    assert "nothing is known of 'ana'" in capsys.readouterr().err
    left = b"".join(path.read_bytes() for path in (home_folder / "home").rglob("*") if path.is_file())
    assert not [value for value in ("gout", "2형 당뇨병", "male") if value.encode() in left]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["profile", "set", "ana", "colour=red"], "unknown kind of fact 'colour'"),
        (["profile", "set", "ana", "age"], "expected NAME=VALUE"),
        (["profile", "set", "ana", "age=1", "age=2"], "'age' has one value"),
        (["profile", "set", "ana", f"age={'9' * 501}"], "more than 500"),
        (["profile", "set", "ana", "age=abc"], "'age' cannot be 'abc'; expected an age"),
        (["profile", "set", "ana", "pregnancy=no"], "not pregnant"),
        (["profile", "set", "ana", "hba1c=300"], "a number from 3 to 20 %"),
        (["profile", "set", "ana", "blood_pressure=high"], "two numbers in mmHg"),
        (["profile", "show", ""], "name of a user"),
    ],
    ids=["kind", "no pair", "two values", "long", "age", "pregnancy", "measure", "pressure", "no name"],
)
def test_wrong_use_is_told_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_PACK", "medical")
    assert main(arguments) in (1, 2)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_what_users_say_of_themselves_is_in_no_log(desk: Selfright, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        desk.ask("I use FxStore version 7.7.7 on alpine.", user="secretive")
        desk.set_profile({"version": "8.8.8"}, "secretive")
        desk.forget_profile("secretive")
    assert not [word for word in ("7.7.7", "8.8.8", "alpine", "secretive") if word in caplog.text]


def test_without_a_home_to_write_to_it_says_that_it_will_forget(desk: Selfright, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with Selfright.open(tmp_path / "index", embedder="none", pack=SUPPORT, home=tmp_path / "file") as selfright:
        answer = selfright.ask("I use FxStore version 0.2.4. What does FX-1007 mean?", user="ana")
        assert any("forgotten when the program ends" in note for note in answer.notes)
        assert selfright.profile("ana").values("version") == ("0.2.4",)


def test_an_allergy_warns_whatever_the_documents_say(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Amoxicillin\n\nAmoxicillin is taken three times a day.\n", encoding="utf-8")
    with Selfright.open(tmp_path / "i", home=tmp_path / "h", embedder="none", pack="medical") as selfright:
        selfright.add([tmp_path / "a.md"])
        warned = selfright.ask("I am allergic to penicillin. Can I take amoxicillin?", user="kim")
        assert warned.question == "Can I take amoxicillin?"
        assert any("penicillins with a penicillin allergy" in note for note in warned.notes)
        later = selfright.ask("아목시실린은 하루에 몇 번 먹나요?", user="kim")
        assert any("페니실린" in note for note in later.notes)
        assert not any("allergy" in note for note in selfright.ask("Can I take amoxicillin?", user="lee").notes)


def test_a_value_that_its_kind_cannot_hold_changes_nothing(tmp_path: Path) -> None:
    with Selfright.open(tmp_path / "index", pack="medical") as selfright:
        with pytest.raises(InputError, match="expected a number from 20 to 1500 mg/dL"):
            selfright.set_profile({"conditions": "gout", "glucose": "abc"}, "ana")
        with pytest.raises(InputError, match="maps names to values"):
            selfright.set_profile("gout", "ana")
        assert not selfright.profile("ana").slots


def test_values_set_by_hand_are_read_as_in_a_message(tmp_path: Path) -> None:
    said = {"age": "18개월", "pregnancy": "not pregnant", "glucose": "7.8 mmol/L", "calcium": 9.5}
    with Selfright.open(tmp_path / "index", pack="medical") as selfright:
        kept = selfright.set_profile(said, "ana").slots
        assert selfright.profile_summary("ana") == "18-month-old, glucose 141 mg/dL, calcium 9.5 mg/dL, not pregnant"
    assert [(slot.value, slot.unit, slot.negated) for slot in kept] == [
        ("18", "months", False),
        ("pregnant", None, True),
        ("141", "mg/dL", False),
        ("9.5", "mg/dL", False),
    ]


CLINIC = {
    "metformin.md": "# Metformin\n\nMetformin treats type 2 diabetes. Metformin is taken with or after a meal.\n",
    "메트포르민.md": "# 메트포르민\n\n메트포르민은 당뇨병 약입니다. 메트포르민은 식사와 함께 복용합니다.\n",
    "페니실린.md": "# 페니실린\n\n페니실린은 항생제입니다. 페니실린에 알레르기가 있는 사람은 복용하면 안 됩니다.\n",
}


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Selfright]:
    with opened_over(tmp_path, CLINIC, pack="medical") as selfright:
        yield selfright


@pytest.mark.parametrize(
    ("message", "question", "said"),
    [
        ("이제 62세가 됐고 당뇨가 있어요. 메트포르민은 어떻게 먹나요?", "메트포르민은 어떻게 먹나요?", "식사와 함께"),
        ("I am 60 now and have kidney disease. How is metformin taken?", "How is metformin taken?", "with or after"),
    ],
)
def test_a_message_that_tells_and_asks_is_answered_by_what_it_asks(
    clinic: Selfright, message: str, question: str, said: str
) -> None:
    answer = clinic.ask(message, user="ana")
    assert (answer.question, answer.abstained) == (question, False)
    assert said in answer.answer
    assert not any("세가 됐" in note or "60" in note for note in answer.notes)
    assert {slot.name for slot in clinic.profile("ana").slots} >= {"age", "conditions"}


@pytest.mark.parametrize(
    ("message", "reply", "known"),
    [
        ("저는 62세이고 페니실린 알레르기가 있어요.", "네, 알겠습니다", "62세, 페니실린 알레르기"),
        ("페니실린 알레르기 없어요.", "네, 알겠습니다", "페니실린 알레르기 없음"),
        ("알레르기 없어요", "네, 알겠습니다", "알레르기 없음"),
        ("약물 알레르기는 없습니다.", "네, 알겠습니다", "약물 알레르기 없음"),
        ("I have no known drug allergies.", "All right", "no drug allergy"),
        ("NKDA", "All right", "no drug allergy"),
        ("allergies: none", "All right", "no allergies"),
        ("allergies to medication: none known", "All right", "no drug allergy"),
        ("알레르기: 없음", "네, 알겠습니다", "알레르기 없음"),
        ("두통이 있어요.", "네, 알겠습니다", "두통 증상"),
        ("어제부터 열이 나요", "네, 알겠습니다", "발열 증상"),
        ("저는 메트포르민 먹고 있어요", "네, 알겠습니다", "메트포르민 복용 중"),
        ("I have a headache", "All right", "has headache"),
        ("My stomach hurts.", "All right", "has abdominal pain"),
        ("I am 60 and diabetic.", "All right", "60-year-old, diabetes"),
        ("I'm not allergic to penicillin. I take metformin.", "All right", "takes metformin, no allergy to penicillin"),
    ],
)
def test_a_message_that_only_tells_is_acknowledged(clinic: Selfright, message: str, reply: str, known: str) -> None:
    answer = clinic.ask(message, user="ana")
    assert answer.answer.startswith(reply)
    assert (answer.citations, answer.stop_reason) == ((), StopReason.FAST_PATH)
    assert any(note.endswith(f": {known}") for note in answer.notes)
    assert not any("금기" in note or "conflicts" in note for note in answer.notes)


@pytest.mark.parametrize(
    "message",
    [
        "no ibuprofen",
        "Diabetes and metformin",
        "Metformin is for diabetes.",
        "메트포르민 먹어도 돼요",
        "두통이 있어요. 어떡하죠?",
    ],
)
def test_what_may_ask_is_looked_up(clinic: Selfright, message: str) -> None:
    assert clinic.ask(message, user="ana").stop_reason is not StopReason.FAST_PATH


def test_a_question_about_one_medicine_keeps_another_that_is_told(clinic: Selfright) -> None:
    message = "와파린을 먹고 있어요. 아스피린 먹어도 되나요?"
    assert clinic.ask(message, user="ana").question == message


def test_what_is_said_both_ways_stands_once_with_its_turn(clinic: Selfright) -> None:
    turns = ["저는 62세예요.", *["페니실린 알레르기가 있어요.", "페니실린 알레르기 없어요."] * 2]
    for message in [*turns, "당뇨약으로 메트포르민 500mg을 먹어요."]:
        clinic.ask(message, user="ana", session="s", flags={"history_limit": 2})
    kept = clinic.profile("ana")
    assert [(slot.name, slot.value, slot.negated, slot.turn) for slot in kept.slots] == [
        ("age", "62", False, 0),
        ("allergies", "페니실린", True, 4),
        ("medications", "메트포르민", False, 5),
    ]
    assert [(slot.value, slot.negated) for slot in kept.disputed] == [("페니실린", False)]
    assert clinic.profile_summary("ana").endswith("no allergy to penicillin (said both ways)")
