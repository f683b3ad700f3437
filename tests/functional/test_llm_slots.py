"""Slots read by a model, from the wire to the profile: calls are counted, words checked, failures made good."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright import Answer, Selfright
from selfright.domain.chat import Job
from selfright.domain.errors import UsageError
from tests.support.llm import is_job, rules, write_index
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.rules import Plain
from tests.support.scripted.server import ScriptedServer

TEXT = "계란을 먹으면 큰일 나요. 엄마는 와파린 3mg을 드세요. How is FxStore installed?"
SAID = {
    "facts": [
        {"kind": kind, "quote": quote, "negated": False, "subject": subject, "time": "current", "certain": True}
        for kind, quote, subject in (("allergies", "계란", "user"), ("medications", "와파린", "family"))
    ]
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {**write_index(tmp_path_factory.mktemp("slots")), "llm_judging": "never", "pack": "medical"}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


def told(
    settings: dict[str, Any], server: ScriptedServer, home: Path, extract: Plain | Any, **flags: Any
) -> tuple[Answer, list[tuple[str, ...]]]:
    """The answer to ``TEXT``, and what the user's profile then holds."""
    server.use(rules(extract=extract))
    server.forget()
    with Selfright.open(**settings, base_url=server.url, home=home, llm_attempts=1) as selfright:
        answer = selfright.ask(TEXT, user="ana", flags={"llm_slots_enabled": True, **flags})
        kept: list[tuple[str, ...]] = [(slot.name, slot.value, slot.subject) for slot in selfright.profile("ana").slots]
    return answer, kept


def extractions(server: ScriptedServer) -> int:
    return sum(is_job(Job.EXTRACT, request) for request in server.calls())


BY_RULES = [("medications", "와파린", "family")]  # eggs are no allergy to them in these words


def test_what_the_model_points_at_is_remembered_and_its_call_is_counted(
    settings: dict[str, Any], server: ScriptedServer, tmp_path: Path
) -> None:
    answer, kept = told(settings, server, tmp_path, SAID)
    assert kept == [("allergies", "계란", "user"), *BY_RULES]
    assert extractions(server) == 1
    assert answer.cost.llm_calls == server.count
    assert not answer.degraded


def test_without_the_flag_no_model_reads_what_users_say(
    settings: dict[str, Any], server: ScriptedServer, tmp_path: Path
) -> None:
    answer, kept = told(settings, server, tmp_path, SAID, llm_slots_enabled=False)
    assert (kept, extractions(server), answer.degraded) == (BY_RULES, 0, False)


INVENTED = {"facts": [{**SAID["facts"][0], "quote": "땅콩"}]}


@pytest.mark.parametrize(
    "reply", [FAULTS["503"], FAULTS["html"], "no object", INVENTED], ids=["503", "html", "text", "invented"]
)
def test_when_it_fails_or_talks_rubbish_the_rules_stand_in_and_the_answer_says_so(
    reply: Any, settings: dict[str, Any], server: ScriptedServer, tmp_path: Path
) -> None:
    answer, kept = told(settings, server, tmp_path, reply)
    assert kept == BY_RULES
    assert extractions(server) >= 1
    assert answer.degraded
    assert any("규칙으로 읽은 정보" in note for note in answer.notes)
    assert answer.answer.strip()


def test_the_budget_holds_for_it(settings: dict[str, Any], server: ScriptedServer, tmp_path: Path) -> None:
    answer, kept = told(settings, server, tmp_path, SAID, max_llm_calls=1)
    assert (kept, extractions(server), server.count) == (BY_RULES, 0, 1)
    assert not answer.degraded


@pytest.mark.parametrize("instead", [{"llm": "offline"}, {"pack": "none"}, {"models": {"extract": "offline"}}])
def test_without_a_model_or_a_pack_for_it_the_flag_is_refused(
    instead: dict[str, Any], settings: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="llm_slots_enabled"):
        Selfright.open(
            **{**settings, "base_url": "http://127.0.0.1:9", **instead}, home=tmp_path, llm_slots_enabled=True
        )


def test_a_recorded_turn_is_replayed_from_the_models_words(
    settings: dict[str, Any], server: ScriptedServer, tmp_path: Path
) -> None:
    server.use(rules(extract=SAID))
    with Selfright.open(**settings, base_url=server.url, home=tmp_path, traces="full") as selfright:
        answer = selfright.ask(TEXT, flags={"llm_slots_enabled": True})
        server.forget()
        again = selfright.replay(answer.trace_id)
        assert server.count == 0
    assert again.answer.answer == answer.answer
