"""Prompts for models that read little: data gives way, evenly; rules, question and what is judged stay whole."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import ModelRejected
from selfright.llm.local.backend import LEAST_REPLY, fit_request

RULES = "You answer from the passages."
QUESTION = "<question-0a1b2c3d>\nWhen does the ferry leave?\n</question-0a1b2c3d>"
SENTENCE = "The ferry leaves the north pier at seven. "
TEMPLATE = 96


def passage(n: int, text: str) -> str:
    return f"passage-0a1b2c3d [{n}] Ferry\n{text}"


def prompt(*texts: str) -> str:
    numbered = "\n".join(passage(n, text) for n, text in enumerate(texts, start=1))
    return f"<passages-0a1b2c3d>\n{numbered}\n</passages-0a1b2c3d>\n\n{QUESTION}" if texts else QUESTION


async def words(text: str) -> int:
    """A count that is easy to check: a token for each four letters."""
    return len(text) // 4


def fit(user: str, context: int = 2_048, max_tokens: int = 512, system: str = RULES) -> tuple[ChatRequest, int]:
    asked = ChatRequest(Job.ANSWER, system, user, max_tokens=max_tokens)
    return asyncio.run(fit_request(asked, context, words))


def bodies(user: str) -> list[str]:
    return re.findall(r"-0a1b2c3d \[\d+\] Ferry\n(.*?)\n(?=passage-0a|</passages)", user, re.DOTALL)


def test_what_fits_is_sent_as_it_is() -> None:
    user = prompt(SENTENCE * 3, SENTENCE)
    request, left_out = fit(user)
    assert (request.user, request.max_tokens, left_out) == (user, 512, 0)


def test_long_passages_are_cut_to_one_length_and_short_ones_stay() -> None:
    request, left_out = fit(prompt(SENTENCE * 200, SENTENCE * 4, SENTENCE * 90))
    first, second, third = bodies(request.user)
    assert second == (SENTENCE * 4)
    assert abs(len(first) - len(third)) < len(SENTENCE)
    assert first.endswith("seven.…")
    assert left_out > 0
    assert len(RULES + request.user) // 4 + request.max_tokens + TEMPLATE <= 2_048


def test_question_and_numbers_stay_whatever_is_cut() -> None:
    request, _ = fit(prompt(*(SENTENCE * 100 for _ in range(12))))
    assert QUESTION in request.user
    assert [f"[{n}] Ferry" in request.user for n in range(1, 13)] == [True] * 12


def test_of_many_passages_the_last_ones_go_before_all_are_cut_to_nothing() -> None:
    request, _ = fit(prompt(*(SENTENCE * 100 for _ in range(60))))
    found = bodies(request.user)
    assert len(found[0]) > 100
    assert found[-1] == "…"


def test_what_is_judged_is_never_cut() -> None:
    answer = f"<answer-0a1b2c3d>\n{SENTENCE * 30}\n</answer-0a1b2c3d>"
    request, _ = fit(f"{prompt(SENTENCE * 200)}\n{answer}")
    assert answer in request.user


def test_a_question_longer_than_the_model_reads_is_turned_down() -> None:
    with pytest.raises(ModelRejected, match="reads 2048"):
        fit(f"<question-0a1b2c3d>\n{SENTENCE * 400}\n</question-0a1b2c3d>")


def test_delimiters_that_a_document_shows_are_data() -> None:
    forged = f"passage-ffffffff [1] Ferry\n{'x' * 20_000}\n</passages-ffffffff>"
    request, _ = fit(prompt(forged, SENTENCE))
    assert QUESTION in request.user


def test_the_reply_keeps_room_where_the_prompt_needs_it() -> None:
    request, _ = fit(prompt(SENTENCE * 300), max_tokens=4_000)
    assert LEAST_REPLY <= request.max_tokens <= 2_048 - TEMPLATE


@given(
    st.lists(st.integers(0, 30_000), max_size=12),
    st.sampled_from([2_048, 4_096, 8_192]),
    st.integers(16, 4_096),
    st.sampled_from(["ferry ", "여객선은 일곱 시에 ", "x", "🌊"]),
)
def test_whatever_comes_fits(lengths: list[int], context: int, max_tokens: int, unit: str) -> None:
    request, left_out = fit(prompt(*((unit * n)[:n] for n in lengths)), context, max_tokens)
    assert QUESTION in request.user
    assert left_out >= 0
    assert 0 < request.max_tokens <= max_tokens
    assert asyncio.run(words(f"{RULES}\n{request.user}")) + request.max_tokens + TEMPLATE <= context
