"""Each fault as the real OpenAI client sees it, and each kind of damage as JSON's own parser does."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import openai
import pytest

from selfright.domain.errors import UnknownName
from tests.support.scripted.catalogue import FAULTS, Cut, NoFinish, fault_named
from tests.support.scripted.damage import DAMAGES, damaged
from tests.support.scripted.faults import Reset, Stall, Status
from tests.support.scripted.rules import Damaged, Rule, When
from tests.support.scripted.server import ScriptedServer

ANSWER = "The red pump runs at 40 rpm. [1] It is cleaned weekly. [2]"
ASKED: list[Any] = [{"role": "user", "content": "hello"}]
IMPATIENCE_S = 0.3

# What the client raises, whole and streamed; None where it raises nothing.
ERRORS: Mapping[str, tuple[type[Exception] | None, type[Exception] | None]] = {
    "400": (openai.BadRequestError,) * 2,
    "401": (openai.AuthenticationError,) * 2,
    "403": (openai.PermissionDeniedError,) * 2,
    "404": (openai.NotFoundError,) * 2,
    "408": (openai.APIStatusError,) * 2,
    "429": (openai.RateLimitError,) * 2,
    "quota": (openai.RateLimitError,) * 2,
    "500": (openai.InternalServerError,) * 2,
    "502": (openai.InternalServerError,) * 2,
    "503": (openai.InternalServerError,) * 2,
    "stall": (openai.APITimeoutError,) * 2,
    "stall-midway": (openai.APITimeoutError,) * 2,
    "reset": (openai.APIConnectionError,) * 2,
    "reset-midway": (openai.APIConnectionError,) * 2,
    "truncated": (openai.APIConnectionError,) * 2,
    "empty-body": (json.JSONDecodeError, None),
    "gzip": (openai.APIConnectionError,) * 2,
    "error-inside": (None, openai.APIError),
    "broken-piece": (json.JSONDecodeError,) * 2,
    "broken-text": (UnicodeDecodeError,) * 2,
}
# What is left of the answer where nothing is raised: its text (None for no choice at all) and finish reason.
LEFT: Mapping[str, tuple[tuple[str | None, str | None], tuple[str | None, str | None]]] = {
    "empty-body": ((None, None), ("", None)),
    "error-inside": ((None, None), ("", None)),
    "null": (("", "stop"),) * 2,
    "empty-text": (("", "stop"),) * 2,
    "blank": ((" \n\t", "stop"),) * 2,
    "refusal": (("", "stop"),) * 2,
    "length": ((ANSWER[:29], "length"),) * 2,
    "length-at-once": (("", "length"),) * 2,
    "content-filter": (("", "content_filter"),) * 2,
    "no-finish": ((ANSWER, None), ("The ", None)),
    "no-choices": ((None, None), ("", None)),
    "repeated": (("No.", "stop"), ("".join(word * 2 for word in ANSWER.replace(" ", " |").split("|")), "stop")),
}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ScriptedServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0, timeout=IMPATIENCE_S) as one:
        yield one


def heard(client: openai.OpenAI, stream: bool, **more: Any) -> tuple[str | None, str | None]:
    """Text and finish reason; no text at all where there was no choice."""
    if not stream:
        reply = client.chat.completions.create(model="m", messages=ASKED, **more)
        choices = getattr(reply, "choices", None)
        return (choices[0].message.content or "", choices[0].finish_reason) if choices else (None, None)
    text, finish = "", None
    for piece in client.chat.completions.create(model="m", messages=ASKED, stream=True, **more):
        for choice in piece.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    return text, finish


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
class TestFaults:
    @pytest.mark.parametrize("name", FAULTS)
    def test_each(self, name: str, stream: bool, server: ScriptedServer, client: openai.OpenAI) -> None:
        fault = FAULTS[name]
        server.use([Rule(When(nth=1), type(fault)(**{**vars(fault), "reply": ANSWER})), Rule(When(), ANSWER)])
        error = ERRORS.get(name, (None, None))[stream]
        if error:
            with pytest.raises(error):
                heard(client, stream, timeout=2 if "stall" not in name else IMPATIENCE_S)
        elif name in LEFT:
            assert heard(client, stream) == LEFT[name][stream]
        elif name == "html":
            assert heard(client, stream)[0] in (None, "")
        elif "thinking" in name:
            text, _ = heard(client, stream)
            assert text is not None
            assert text.startswith("<think>")
            assert text.endswith(ANSWER)
            assert ("</think>" in text) == (name == "thinking")
        else:
            assert fault.harmless, f"{name} is neither tested nor harmless"
            assert heard(client, stream, timeout=10) == (ANSWER, "stop")
        assert server.requests[-1].fault == type(fault).__name__
        assert heard(client, stream, timeout=10) == (ANSWER, "stop"), "the next call is sound again"

    def test_an_object_is_spoilt_as_well(self, stream: bool, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), Cut(0.5, reply={"grounding": 0.25}))])
        form = {"type": "json_schema", "json_schema": {"name": "evaluate", "schema": {"type": "object"}}}
        assert heard(client, stream, response_format=form) == ('{"groundi', "length")

    def test_a_rate_limit_says_when_to_come_back(
        self, stream: bool, server: ScriptedServer, client: openai.OpenAI
    ) -> None:
        server.use([Rule(When(), Status(429, "slow down", "rate_limit_exceeded", retry_after=7))])
        with pytest.raises(openai.RateLimitError) as caught:
            heard(client, stream)
        assert caught.value.response.headers["retry-after"] == "7"
        assert caught.value.code == "rate_limit_exceeded"

    def test_a_reset_before_the_answer_is_a_real_one(
        self, stream: bool, server: ScriptedServer, client: openai.OpenAI
    ) -> None:
        server.use([Rule(When(), Reset())])
        with pytest.raises(openai.APIConnectionError) as caught:
            heard(client, stream)
        assert "reset by peer" in str(caught.value.__cause__), "a connection closed in an orderly way says otherwise"

    def test_a_stall_ends_when_the_client_gives_up(
        self, stream: bool, server: ScriptedServer, client: openai.OpenAI
    ) -> None:
        server.use([Rule(When(), Stall(after=1))])
        with pytest.raises(openai.APITimeoutError):
            heard(client, stream)
        for _ in range(200):
            if server.requests[-1].hung_up:
                break
            time.sleep(0.01)
        assert server.requests[-1].hung_up


def test_names() -> None:
    assert fault_named("stall") == Stall()
    with pytest.raises(UnknownName, match="did you mean 'reset'"):
        fault_named("resett")
    with pytest.raises(UnknownName, match="unknown damage"):
        damaged("nothing", {})
    assert NoFinish().harmless is False


EVALUATION = {
    "grounding": 0.9, "completeness": 0.85, "accuracy": 1.0, "answer_quality": "adequate", "confidence": 0.8,
    "missing_info": ["the price"], "needs_retrieval": False, "reason": 'It says "so", and more.',
    "claims": [{"text": "A is B.", "status": "supported", "passages": [1]}],
}  # fmt: skip
GRADING = {"passages": [{"n": 1, "probability": 0.85}, {"n": 2, "probability": 0.1}], "sufficiency": 0.8}
OBJECTS: list[Mapping[str, Any]] = [EVALUATION, GRADING, {"query_class": "question"}, {"kept": [1, 3]}]


class TestDamage:
    @pytest.mark.parametrize("kind", DAMAGES)
    def test_each_spoils_what_fits_and_nothing_else(self, kind: str) -> None:
        for data in OBJECTS:
            whole = json.dumps(data)
            if not DAMAGES[kind].fits(data):
                with pytest.raises(ValueError, match=f"'{kind}' spoils a"):
                    damaged(kind, data)
                continue
            spoilt = damaged(kind, data)
            assert spoilt == damaged(kind, data)
            assert json.dumps(data) == whole, "the object that was given stays as it is"
            if data is EVALUATION:
                assert _strictly(spoilt) != data

    def test_numbers_of_passages_are_no_scores(self) -> None:
        spoilt = json.loads(damaged("above-one", GRADING))
        assert [(one["n"], one["probability"]) for one in spoilt["passages"]] == [(1, 1.7), (2, 1.7)]
        assert json.loads(damaged("score-as-word", EVALUATION))["claims"][0]["passages"] == [1]

    def test_as_a_reply_it_spoils_what_the_mind_says(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        schema = {"title": "grade", "type": "object", "properties": {"sufficiency": {"type": "number"}}}
        form = {"type": "json_schema", "json_schema": {"name": "grade", "schema": schema}}
        server.use([Rule(When(job="grade"), [Damaged("above-one"), Damaged("fenced", {"sufficiency": 0.5})])])
        assert heard(client, False, response_format=form)[0] == '{"sufficiency": 1.7}'
        assert heard(client, False, response_format=form)[0] == '```json\n{"sufficiency": 0.5}\n```'


def _strictly(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
