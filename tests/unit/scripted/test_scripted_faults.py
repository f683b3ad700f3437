"""Each fault as the real OpenAI client sees it, and each kind of damage as JSON's own parser does."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.damage import DAMAGES, damaged
from tests.support.scripted.rules import Rule, When
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
        server.use([Rule(When(), type(fault)(**{**vars(fault), "reply": ANSWER}), times=1), Rule(When(), ANSWER)])
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


def _strictly(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def test_every_fault_is_documented() -> None:
    page = (Path(__file__).parents[2] / "support" / "scripted" / "README.md").read_text("utf-8")
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [name for name in FAULTS if f"`{name}`" not in rows] == []
    harmless = {name for line in rows.splitlines() if "†" in line for name in line.split("`")[1::2]}
    assert harmless == {name for name, fault in FAULTS.items() if fault.harmless}
