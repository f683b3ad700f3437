"""The grader with a model: when it is asked, what of its word counts, and that garbage is never a yes or a no."""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import BudgetSpent, JudgeFailed, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import Passage
from selfright.roles.grade.llm import BATCH, ModelGrader
from selfright.roles.grade.model import load_model
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.model_calls import JudgingMode
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import analyzer, hits
from tests.support.texts import named as passage

ANSWER = passage("a", "Compaction runs every night at 02:00 and rewrites the log. It needs free disk space.")
NEAR = passage("b", "Compaction can be switched off. Old keys then stay in the log.")
OTHER = passage("c", "The licence is Apache-2.0. Contributions are welcome on the mailing list.")
PAGES = (ANSWER, NEAR, OTHER)
QUESTION = "When does compaction run and rewrite the log?"
WORDS = analyzer(*(page.text for page in PAGES))
SHIPPED = OfflineGrader(WORDS)
_, SECOND, THIRD = (g.probability or 0.0 for g in SHIPPED.grade_now(QUESTION, hits(*PAGES)).grades)
UNSURE = OfflineGrader(WORDS, model=replace(load_model(), lower=(SECOND + THIRD) / 2, upper=1.0))


def grade(
    *replies: Scripted,
    offline: OfflineGrader = UNSURE,
    judging: JudgingMode = "cascade",
    pages: tuple[Passage, ...] = PAGES,
) -> tuple[Grading, ScriptedChat]:
    chat = ScriptedChat(replies)
    return asyncio.run(ModelGrader(chat, offline, judging).grade(QUESTION, hits(*pages))), chat


def said(*probabilities: object, sufficiency: object = 0.5) -> dict[str, Any]:
    rows = [{"n": n, "probability": p} for n, p in enumerate(probabilities, start=1)]
    return {"passages": rows, "sufficiency": sufficiency, "reason": "because"}


def probabilities(grading: Grading) -> list[float | None]:
    return [g.probability for g in grading.grades]


def test_the_fixture_is_what_the_tests_need() -> None:
    own = SHIPPED.grade_now(QUESTION, hits(*PAGES))
    assert UNSURE.grade_now(QUESTION, hits(*PAGES)).verdict is Verdict.AMBIGUOUS
    assert UNSURE.may_help(UNSURE.read(QUESTION, hits(*PAGES))) == [0, 1]
    assert own.grades == UNSURE.grade_now(QUESTION, hits(*PAGES)).grades


@pytest.mark.parametrize(("lower", "upper", "verdict"), [(0, 0, Verdict.CORRECT), (1, 1, Verdict.INCORRECT)])
def test_no_call_where_the_offline_grader_is_sure(lower: float, upper: float, verdict: Verdict) -> None:
    sure = OfflineGrader(WORDS, model=replace(load_model(), lower=lower, upper=upper))
    assert grade(offline=sure)[0] == sure.grade_now(QUESTION, hits(*PAGES))
    assert grade(offline=sure)[0].verdict is verdict


def test_nothing_found_needs_no_judge() -> None:
    assert grade(pages=(), judging="always")[0].verdict is Verdict.INCORRECT


def test_only_passages_that_may_help_are_sent_in_one_call_and_replace_the_offline_word() -> None:
    grading, chat = grade(said(0.9, 0.1))
    own = UNSURE.grade_now(QUESTION, hits(*PAGES))
    assert probabilities(grading) == [0.9, 0.1, own.grades[2].probability]
    assert chat.request.job is Job.GRADE
    assert chat.request.temperature == 0
    assert chat.request.schema is not None
    assert "Apache" not in chat.request.user
    assert "02:00" in chat.request.user


def test_the_models_view_of_the_set_counts_half_in_a_cascade_and_alone_when_always_asked() -> None:
    without = grade(said(0.9, 0.1, sufficiency="?"))[0].sufficiency
    assert without is not None
    assert grade(said(0.9, 0.1, sufficiency=0.9))[0].sufficiency == pytest.approx((without + 0.9) / 2)
    assert grade(said(0.9, 0.1, 0.0, sufficiency=0.9), judging="always")[0].sufficiency == pytest.approx(0.9)


def test_one_threshold_for_both_graders() -> None:
    offline = OfflineGrader(WORDS, model=replace(load_model(), lower=0.3, upper=0.6))
    for view, verdict in ((0.2, Verdict.INCORRECT), (0.4, Verdict.AMBIGUOUS), (0.6, Verdict.CORRECT)):
        reply = said(0.9, 0.9, 0.9, sufficiency=view)
        assert grade(reply, offline=offline, judging="always")[0].verdict is verdict


def test_no_set_is_better_than_its_parts() -> None:
    grading, _ = grade(said(0.01, 0.02, 0.0, sufficiency=1.0), judging="always")
    assert grading.sufficiency == pytest.approx(1 - 0.99 * 0.98)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"n": 1, "probability": 0.9}], [0.9, None]),  # missing
        ([{"n": 1, "probability": 0.9}, {"n": 1, "probability": 0.9}, {"n": 2, "probability": 0.2}], [None, 0.2]),
        ([{"n": 0, "probability": 0.9}, {"n": 3, "probability": 0.9}, {"n": 2, "probability": 0.2}], [None, 0.2]),
        ([{"n": 1, "probability": 1.7}, {"n": 2, "probability": 0.2}], [None, 0.2]),
        ([{"n": 1, "probability": -0.1}, {"n": 2, "probability": 0.2}], [None, 0.2]),
        ([{"n": 1, "probability": math.nan}, {"n": 2, "probability": 0}], [None, 0.0]),
        ([{"n": 1, "probability": None}, {"n": 2, "probability": 1}], [None, 1.0]),
        ([{"n": 1, "probability": True}, {"n": 2, "probability": 1}], [None, 1.0]),
        ([{"n": "1", "probability": "0.8"}, {"n": "2", "probability": "8/10"}], [0.8, 0.8]),
        ([{"n": 1.0, "probability": 0.9}, {"n": True, "probability": 0.9}, {"n": 2, "probability": 0.2}], [None, 0.2]),
        (["0.9", None, {"n": 2, "probability": 0.2}, {"probability": 0.4}], [None, 0.2]),
    ],
)
def test_what_cannot_be_read_is_unknown(rows: list[object], expected: list[float | None]) -> None:
    grading, _ = grade({"passages": rows, "sufficiency": 0.5, "reason": ""})
    assert probabilities(grading)[:2] == expected
    assert grading.verdict is not Verdict.UNKNOWN


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"passages": None},
        {"passages": {"1": 0.9}},
        {"passages": []},
        said(1.7, -1, sufficiency=1.0),
        {"sufficiency": 1.0},
        "correct",
        ReplyUnusable("cut off"),
        ModelUnavailable("time-out"),
        ModelRejected("bad request", status=400),
    ],
)
def test_a_call_that_brings_nothing_fails_the_judge(reply: Scripted) -> None:
    with pytest.raises(JudgeFailed):
        grade(reply)
    with pytest.raises(JudgeFailed):
        grade(reply, judging="always")


@pytest.mark.parametrize("reply", [BudgetSpent("spent"), ModelUnavailable("open breaker", called=False)])
def test_a_call_that_was_not_made_leaves_the_offline_verdict(reply: Scripted) -> None:
    assert grade(reply)[0] == UNSURE.grade_now(QUESTION, hits(*PAGES))


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "n": st.one_of(st.integers(-1, 4), st.none(), st.text(max_size=2)),
                "probability": st.one_of(st.floats(), st.none(), st.text(max_size=5), st.booleans(), st.integers()),
            }
        ),
        max_size=5,
    ),
    sufficiency=st.one_of(st.floats(), st.none(), st.text(max_size=4)),
)
def test_any_object_gives_numbers_in_range_or_a_failure(rows: list[Mapping[str, object]], sufficiency: object) -> None:
    reply = {"passages": rows, "sufficiency": sufficiency}
    for judging in ("cascade", "always"):
        try:
            grading, _ = grade(reply, judging=judging)
        except JudgeFailed:
            continue
        assert grading.sufficiency is not None
        assert 0 <= grading.sufficiency <= 1
        assert all(p is None or 0 <= p <= 1 for p in probabilities(grading))
        good = {row["probability"] for row in rows if row["n"] in range(1, 4)}
        assert any(p is not None for p in probabilities(grading)[:3])
        assert good


MANY = tuple(passage(f"p{n:02}", f"{ANSWER.text} Node {n}.") for n in range(2 * BATCH + 3))


def by_page(answer: Callable[[int], Scripted]) -> Callable[[ChatRequest], Scripted]:
    """A reply by the number of the first page that a request shows."""
    return lambda request: answer(int(request.user.split("Node ")[1].split(".")[0]))


def grade_many(answer: Callable[[int], Scripted]) -> tuple[Grading, ScriptedChat]:
    chat = ScriptedChat(by_page(answer))
    return asyncio.run(ModelGrader(chat, UNSURE, "always").grade(QUESTION, hits(*MANY))), chat


def test_many_passages_go_in_batches_at_the_same_time() -> None:
    running: list[int] = []
    together = asyncio.Event()

    class Slow(ScriptedChat):
        async def complete(self, request: ChatRequest, on_text: Any = None) -> Any:
            running.append(1)
            if len(running) == 3:
                together.set()
            await together.wait()
            return await super().complete(request, on_text)

    def reply(request: ChatRequest) -> Scripted:
        return said(*[0.5] * request.user.count("\npassage-"), sufficiency=0.7)

    chat = Slow(reply)
    waiting = asyncio.wait_for(ModelGrader(chat, UNSURE, "always").grade(QUESTION, hits(*MANY)), 5)
    grading = asyncio.run(waiting)
    assert sorted(request.user.count("\npassage-") for request in chat.requests) == [3, BATCH, BATCH]
    assert probabilities(grading) == [0.5] * len(MANY)


def test_each_batch_answers_for_its_own_passages() -> None:
    grading, _ = grade_many(lambda first: said(*[0.1 + first / 100] * (3 if first == 16 else 8)))
    assert probabilities(grading) == [0.1] * 8 + [0.18] * 8 + [0.26] * 3


def test_a_failed_batch_is_unknown_and_the_others_stand() -> None:
    grading, _ = grade_many(lambda first: ReplyUnusable("?") if first == 0 else said(*[0.4] * 8, sufficiency=1.0))
    assert probabilities(grading) == [None] * 8 + [0.4] * 11
    offline = UNSURE.read(QUESTION, hits(*MANY))
    expected = UNSURE.decide(offline, probabilities(grading))  # the view of a part alone does not count
    assert grading == expected


def test_a_batch_that_was_not_sent_keeps_its_offline_probabilities() -> None:
    grading, _ = grade_many(lambda first: BudgetSpent("spent") if first == 16 else said(*[0.4] * 8))
    own = UNSURE.grade_now(QUESTION, hits(*MANY))
    assert probabilities(grading) == [0.4] * 16 + probabilities(own)[16:]


async def test_cancelling_cancels_the_calls_under_way() -> None:
    cancelled: list[str] = []

    class Stuck(ScriptedChat):
        async def complete(self, request: ChatRequest, on_text: Any = None) -> Any:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(request.job)
                raise

    turn = asyncio.create_task(ModelGrader(Stuck(), UNSURE, "always").grade(QUESTION, hits(*MANY)))
    await asyncio.sleep(0.2)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert len(cancelled) == 3
