"""A recorded turn, run again with other settings: what a fresh run gives, and not one call of a model."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from selfright import Answer, Selfright
from selfright.domain.chat import Job
from selfright.domain.errors import InputError, SelfrightError, UnknownName, UsageError
from selfright.domain.judgements import StopReason
from selfright.llm.structured import FILE, ModelChecks
from tests.functional.conftest import Cli
from tests.support.llm import HISTORY, QUESTION, WANTING, is_job, rules, write_index
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.rules import Rule, When
from tests.support.scripted.server import ScriptedServer

QUESTIONS = (
    "How often is the lamp of the Dunmore lighthouse changed?",
    "던모어 등대의 등은 얼마나 자주 교체하나요?",
    "What does mooring cost, and who keeps the tide tables?",
    "What is the capital of Mongolia?",
)
CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("full", {}),
    ("full", {"quality_threshold": 0.99, "duplicate_threshold": 1.0, "min_improvement": 0.0}),
    ("full", {"quality_threshold": 0.0, "evaluation_threshold": 0.0}),
    ("full", {"max_refine_iterations": 0, "abstention_enabled": False}),
    ("full", {"evaluator": "heuristic", "claim_repair_enabled": False}),
    ("full", {"correct_threshold": 0.99, "incorrect_threshold": 0.9}),
    ("crag", {"correct_threshold": 1e-9}),
    ("full", {"top_k": 2}),
    ("crag", {"citation_style": "source"}),
    ("self_refine", {"query_rewrite_enabled": False, "safety_guards_enabled": False}),
    ("baseline", {}),
)


def told(answer: Answer) -> tuple[Any, ...]:
    """All of an answer but its id, its clock and its cost."""
    return (
        answer.answer,
        answer.citations,
        answer.verdict,
        answer.evaluation,
        answer.stop_reason,
        answer.abstained,
        answer.iterations,
        answer.removed_claims,
        answer.notes,
        answer.degraded,
        answer.preset,
        answer.web,
        answer.strips,
        [(step.node, step.said) for step in answer.trace],
    )


def billed(cost: Any) -> tuple[int, int, int, int]:
    return cost.llm_calls, cost.prompt_tokens, cost.completion_tokens, cost.web_requests


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, documents: Path) -> Path:
    place = tmp_path_factory.mktemp("small") / "index"
    with Selfright.open(place, embedder="none", pack="none") as selfright:
        selfright.add([documents])
    return place


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {**write_index(tmp_path_factory.mktemp("replay")), "traces": "full", "pack": "none"}


class TestOffline:
    @pytest.fixture
    def selfright(self, small: Path) -> Iterator[Selfright]:
        with Selfright.open(small, embedder="none", pack="none", traces="full") as selfright:
            yield selfright

    @pytest.mark.parametrize("base", ["full", "crag"])
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_a_replay_is_what_a_fresh_run_is(self, selfright: Selfright, question: str, base: str) -> None:
        trace_id = selfright.ask(question, preset=base).trace_id
        for preset, flags in CHANGES:
            replay = selfright.replay(trace_id, preset=preset, flags=flags)
            fresh = selfright.ask(question, preset=preset, flags=flags)
            assert told(replay.answer) == told(fresh), (preset, flags)
            assert replay.faithful

    def test_what_was_recorded_is_not_asked_again(self, selfright: Selfright) -> None:
        replay = selfright.replay(selfright.ask(QUESTIONS[0]).trace_id)
        assert dict(replay.asked) == {}
        assert set(replay.reused) == {"retriever", "router"}

    def test_flags_given_with_the_question_stay(self, selfright: Selfright) -> None:
        trace_id = selfright.ask(QUESTIONS[0], flags={"top_k": 1}).trace_id
        assert selfright.trace(trace_id).origins.chosen == {"top_k": 1}
        replay = selfright.replay(trace_id, preset="crag")
        assert told(replay.answer) == told(selfright.ask(QUESTIONS[0], preset="crag", flags={"top_k": 1}))

    def test_judges_say_what_they_said_though_the_index_has_changed(
        self, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Selfright.open(tmp_path / "index", embedder="none", pack="none") as selfright:
            selfright.add([documents])
            before = selfright.ask(QUESTIONS[0], record=True)
            selfright.remove([document.id for document in selfright.documents()])
            assert told(selfright.replay(before.trace_id).answer) == told(before)

    def test_a_damaged_line_is_asked_anew_and_told(self, selfright: Selfright, home_folder: Path) -> None:
        before = selfright.ask(QUESTIONS[0])
        with closing(sqlite3.connect(home_folder / "home" / "traces.sqlite")) as file, file:
            (recording,) = file.execute("SELECT recording FROM turn_traces WHERE id = ?", (before.trace_id,)).fetchone()
            lines = recording.split(b"\n")
            torn = [line if b'"call":"retriever' not in line else line[: len(line) // 2] for line in lines]
            file.execute("UPDATE turn_traces SET recording = ? WHERE id = ?", (b"\n".join(torn), before.trace_id))
        replay = selfright.replay(before.trace_id)
        assert told(replay.answer) == told(before)
        assert replay.asked["retriever"] == 1

    def test_from_a_node_on_only_what_comes_after_is_changed(self, selfright: Selfright) -> None:
        flags = {"quality_threshold": 1.0, "duplicate_threshold": 1.0, "min_improvement": 0.0}
        before = selfright.ask(QUESTIONS[2], flags=flags)
        assert len(before.iterations) >= 2
        stopped = selfright.replay(before.trace_id, flags={"max_refine_iterations": 0})
        later = selfright.replay(before.trace_id, flags={"max_refine_iterations": 0}, start_at="rewrite")
        assert (len(stopped.answer.iterations), len(later.answer.iterations)) == (1, 2)
        assert [s.node for s in later.answer.trace[:12]] == [s.node for s in before.trace[:12]]

    @pytest.mark.parametrize(
        "place", ["contextualize", "retrieve", "grade", "refine_knowledge", "evaluate:1", "finalize"]
    )
    def test_unchanged_it_comes_to_the_same_from_anywhere(self, selfright: Selfright, place: str) -> None:
        before = selfright.ask(QUESTIONS[0])
        assert told(selfright.replay(before.trace_id, start_at=place).answer) == told(before)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"start_at": "grading"}, UnknownName, "did you mean 'grade'"),
            ({"start_at": "grade", "preset": "basic"}, UnknownName, "node of preset 'basic'"),
            ({"start_at": "grade:x"}, UsageError, "NODE:VISIT"),
            ({"start_at": "grade:9"}, UsageError, "came to 'grade' 1 times"),
            ({"preset": "ful"}, UnknownName, "did you mean 'full'"),
            ({"flags": {"topk": 3}}, UnknownName, "did you mean 'top_k'"),
        ],
        ids=str,
    )
    def test_what_does_not_fit_is_refused(
        self, selfright: Selfright, options: dict[str, Any], error: type[SelfrightError], message: str
    ) -> None:
        trace_id = selfright.ask(QUESTIONS[0]).trace_id
        with pytest.raises(error, match=message):
            selfright.replay(trace_id, **options)

    def test_an_outline_cannot_be_replayed(self, small: Path) -> None:
        with Selfright.open(small, embedder="none", pack="none") as selfright:
            trace_id = selfright.ask(QUESTIONS[0]).trace_id
            with pytest.raises(InputError, match="--record"):
                selfright.replay(trace_id)

    def test_a_session_is_replayed_and_not_gone_on_with(self, selfright: Selfright) -> None:
        selfright.ask(QUESTIONS[0], session="s")
        second = selfright.ask("And who signs the log?", session="s")
        replay = selfright.replay(second.trace_id)
        assert told(replay.answer) == told(second)
        assert len(selfright.conversation("s").messages) == 4

    def test_a_replay_remembers_nothing(self, small: Path) -> None:
        said = "I am 61 years old and take metformin. How often is the lamp changed?"
        with Selfright.open(small, embedder="none", pack="medical") as selfright:
            before = selfright.ask(said, preset="crag", user="anna", record=True)
            replay = selfright.replay(before.trace_id, preset="full")
            assert replay.asked["profiles"] == 1
            assert selfright.profile("anna").slots == ()
            assert told(replay.answer) == told(selfright.ask(said, preset="full", user="anna"))
            assert selfright.profile("anna").slots != ()

    def test_the_command_line_replays(self, cli: Cli, small: Path) -> None:
        plain = ("--index", small, "--set", "embedder=none", "--set", "pack=none")
        trace_id = json.loads(cli("ask", QUESTIONS[0], *plain, "--record", "--json").out)["trace_id"]
        form = json.loads(cli("trace", "replay", trace_id, "--preset", "crag", *plain, "--json").out)
        assert (form["of"], form["faithful"], form["answer"]["preset"]) == (trace_id, True, "crag")
        assert form["answer"]["cost"]["llm_calls"] == 0
        text = cli("trace", "replay", trace_id[:8], "--set", "max_refine_iterations=0", *plain).out
        assert f"Replay of {trace_id}" in text
        assert "model calls: 0" in text


class TestWithAModel:
    @pytest.fixture(autouse=True)
    def _key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "none")

    @pytest.mark.parametrize("judging", ["always", "cascade"])
    @pytest.mark.parametrize(
        "flags",
        [
            {},
            {"max_refine_iterations": 0, "correct_threshold": 0.57, "incorrect_threshold": 0.16},
            {"quality_threshold": 0.1, "evaluation_threshold": 0.1},
            {"llm_judging": "never"},
            {"max_llm_calls": 4},
        ],
        ids=str,
    )
    def test_a_replay_is_what_a_fresh_run_is_and_calls_nobody(
        self, settings: dict[str, Any], judging: str, flags: dict[str, Any]
    ) -> None:
        with (
            ScriptedServer() as server,
            Selfright.open(**{**settings, "llm_judging": judging}, base_url=server.url) as selfright,
        ):
            before = selfright.ask(QUESTION, history=HISTORY)
            calls = server.count
            replay = selfright.replay(before.trace_id, flags=flags)
            assert server.count == calls
            fresh = selfright.ask(QUESTION, history=HISTORY, flags=flags)
        if replay.faithful:
            assert told(replay.answer) == told(fresh)
            assert billed(replay.fresh) == billed(fresh.cost)
        assert billed(replay.answer.cost)[0] == 0
        # What another budget or other judges lead to may be questions that no model was asked.
        assert replay.faithful or flags.keys() & {"llm_judging", "max_llm_calls"}

    def test_it_needs_neither_server_nor_model_any_more(self, settings: dict[str, Any]) -> None:
        with ScriptedServer(rules()) as server, Selfright.open(**settings, base_url=server.url) as selfright:
            before = selfright.ask(QUESTION, history=HISTORY)
        with Selfright.open(**{**settings, "llm": "offline"}) as selfright:
            replay = selfright.replay(before.trace_id)
        assert told(replay.answer) == told(before)
        assert billed(replay.fresh) == billed(before.cost)
        assert billed(replay.answer.cost) == (0, 0, 0, 0)

    def test_what_a_check_said_of_the_model_then_holds_whatever_is_known_of_it_now(
        self, settings: dict[str, Any], tmp_path: Path
    ) -> None:
        checked = {**settings, "home": tmp_path / "home", "llm_judging": "auto"}
        worse = {job: {"may": False} for job in ("answer", "grade", "evaluate")}
        with ScriptedServer(rules(answer="FxStore was written by Ada in 1843 [1].")) as server:
            name = f"{settings['llm']}@{server.url}"
            ModelChecks(tmp_path / "home" / FILE).keep(name, {"jobs": worse})
            with Selfright.open(**checked, base_url=server.url) as selfright:
                before = selfright.ask(QUESTION, history=HISTORY)
            ModelChecks(tmp_path / "home" / FILE).keep(name, {"jobs": {}})
            for llm in (settings["llm"], "offline"):
                with Selfright.open(**{**checked, "llm": llm}, base_url=server.url) as selfright:
                    replay = selfright.replay(before.trace_id)
                assert replay.faithful, replay.missing
                assert told(replay.answer) == told(before)

    def test_what_went_wrong_goes_wrong_again_without_waiting(self, settings: dict[str, Any]) -> None:
        fails = [
            Rule(When(job="grade"), FAULTS["503"], times=1),
            Rule(lambda request: is_job(Job.REWRITE, request), FAULTS["empty-body"], times=1),
        ]
        with ScriptedServer([*fails, *rules()]) as server, Selfright.open(**settings, base_url=server.url) as selfright:
            before = selfright.ask(QUESTION, history=HISTORY)
            assert before.cost.llm_calls > 18
            replay = selfright.replay(before.trace_id)
        assert told(replay.answer) == told(before)
        assert billed(replay.fresh) == billed(before.cost)

    def test_a_call_that_was_not_recorded_is_named_and_not_made(self, settings: dict[str, Any]) -> None:
        more = {"max_refine_iterations": 2}
        with (
            ScriptedServer(rules(evaluate=[WANTING])) as server,
            Selfright.open(**settings, base_url=server.url) as selfright,
        ):
            before = selfright.ask(QUESTION, flags={"max_refine_iterations": 0})
            calls = server.count
            replay = selfright.replay(before.trace_id, flags=more)
            assert server.count == calls
            assert not replay.faithful
            assert "rewrite" in replay.missing
            assert replay.answer.degraded
            assert replay.answer.answer

            live = selfright.replay(before.trace_id, flags=more, live=True)
            assert server.count > calls
            assert live.faithful
            assert live.answer.cost.llm_calls == live.asked["model"] == server.count - calls
            assert told(live.answer) == told(selfright.ask(QUESTION, flags=more))

    def test_only_the_recorded_model_may_go_on_live(self, settings: dict[str, Any]) -> None:
        with ScriptedServer(rules()) as server, Selfright.open(**settings, base_url=server.url) as selfright:
            before = selfright.ask(QUESTION)
        with (
            Selfright.open(**{**settings, "llm": "offline"}) as selfright,
            pytest.raises(UsageError, match="set llm=openai:scripted"),
        ):
            selfright.replay(before.trace_id, live=True)

    @pytest.mark.parametrize("place", ["web_search", "refine_knowledge", "retrieve:2", "evaluate:2"])
    def test_from_nodes_that_run_side_by_side_too(self, settings: dict[str, Any], place: str) -> None:
        with ScriptedServer(rules()) as server, Selfright.open(**settings, base_url=server.url) as selfright:
            before = selfright.ask(QUESTION, history=HISTORY)
            calls = server.count
            replay = selfright.replay(before.trace_id, start_at=place)
            assert server.count == calls
        assert replay.faithful
        assert told(replay.answer)[:-1] == told(before)[:-1]
        assert billed(replay.fresh) == billed(before.cost)

    def test_a_time_that_was_over_is_not_over_again(self, settings: dict[str, Any]) -> None:
        with ScriptedServer(rules()) as server, Selfright.open(**settings, base_url=server.url) as selfright:
            before = selfright.ask(QUESTION, flags={"deadline_s": 0.0})
            assert before.stop_reason is StopReason.DEADLINE
            replay = selfright.replay(before.trace_id, flags={"deadline_s": 60.0})
        assert not replay.faithful
        assert replay.answer.answer
