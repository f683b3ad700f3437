import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.clients import find_refused_parameter, translate_error


class Failed(Exception):
    """As client libraries raise: whatever they carry."""

    def __init__(self, message: str = "", **carried: Any) -> None:
        super().__init__(message)
        self.__dict__.update(carried)


def caused(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


def answered(status: int, **headers: str) -> SimpleNamespace:
    return SimpleNamespace(
        status_code=status, headers=httpx.Headers({k.replace("_", "-"): v for k, v in headers.items()})
    )


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_unavailable(status: int) -> None:
    failure = translate_error(Failed(status_code=status), "openai:gpt-4o-mini")
    assert isinstance(failure, ModelUnavailable)
    assert failure.status == status
    assert str(status) in str(failure)
    assert "openai:gpt-4o-mini" in str(failure)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "take the request"), (401, "OPENAI_API_KEY"), (402, "credit"), (403, "permissions"), (404, "name"),
        (413, "too long"), (422, "take the request"),
    ],
)  # fmt: skip
def test_what_will_not_pass_is_rejected_with_advice(status: int, advice: str) -> None:
    failure = translate_error(Failed(status_code=status), "openai:gpt-4o-mini", "OPENAI_API_KEY")
    assert isinstance(failure, ModelRejected)
    assert failure.status == status
    assert advice in str(failure)


@pytest.mark.parametrize(
    "error",
    [
        Failed(status_code=503),
        Failed(code=503),
        Failed(response=answered(503)),
        caused(Failed("wrapped"), Failed(code=503)),
        caused(ValueError(), caused(KeyError(), Failed(status=503))),
        ExceptionGroup("several", [Failed(http_status=503)]),
    ],
    ids=["status_code", "code", "response", "cause", "two causes", "group"],
)
def test_a_status_is_found_wherever_a_library_keeps_it(error: Exception) -> None:
    assert translate_error(error).status == 503


@pytest.mark.parametrize("status", [200, -1, 0, True, "none", None])
def test_what_is_no_error_status_is_no_status(status: object) -> None:
    failure = translate_error(Failed(status_code=status))
    assert isinstance(failure, ModelUnavailable)
    assert failure.status is None


def test_no_credit_is_no_rate_limit() -> None:
    assert isinstance(translate_error(Failed(status_code=429, code="insufficient_quota")), ModelRejected)
    assert isinstance(
        translate_error(Failed(status_code=429, body={"error": {"code": "insufficient_quota"}})), ModelRejected
    )
    assert isinstance(translate_error(Failed(status_code=429, code="rate_limit_exceeded")), ModelUnavailable)


def test_googles_wrong_key_is_a_wrong_key_though_its_status_is_400() -> None:
    details = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}
    failure = translate_error(Failed(code=400, details=details), key="GOOGLE_API_KEY")
    assert "check GOOGLE_API_KEY" in str(failure)


@pytest.mark.parametrize(
    "error",
    [
        Failed("This model's maximum context length is 4096 tokens", status_code=400),
        Failed("no", status_code=400, code="context_length_exceeded"),
        Failed("max_tokens is too large: the context length is 4096 and the prompt has 4000", status_code=400),
    ],
)
def test_a_prompt_that_is_too_long_is_named_and_blamed_on_no_parameter(error: Exception) -> None:
    assert "top_k" in str(translate_error(error))
    assert find_refused_parameter(error) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ReadTimeout("x"), "in time"),
        (TimeoutError(), "in time"),
        (httpx.ConnectError("x"), "cannot be reached"),
        (httpx.RemoteProtocolError("x"), "cannot be reached"),
        (ConnectionResetError(), "cannot be reached"),
        (ValueError("x"), "ValueError"),
    ],
)
def test_without_a_status_it_is_unavailable_and_says_how(error: Exception, kind: str) -> None:
    failure = translate_error(error)
    assert isinstance(failure, ModelUnavailable)
    assert kind in str(failure)


PLAIN, TLS = "openai:m@http://127.0.0.1:8000/v1", "openai:m@https://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("model", "error", "told"),
    [
        (TLS, caused(httpx.ConnectError("x"), ssl.SSLError(1, "wrong version number")), "address with http://"),
        (TLS, httpx.ConnectTimeout("x"), "address with http://"),
        (TLS, caused(httpx.ConnectError("x"), ConnectionRefusedError()), "that the server runs"),
        (TLS, caused(httpx.ConnectError("x"), ssl.SSLCertVerificationError(1, "self-signed")), "SSL_CERT_FILE"),
        (TLS, httpx.RemoteProtocolError("x"), "that the server runs"),
        (PLAIN, httpx.RemoteProtocolError("x"), "address with https://"),
        (PLAIN, caused(httpx.ReadError("x"), ConnectionResetError()), "address with https://"),
        (PLAIN, Failed("Client sent an HTTP request to an HTTPS server.", status_code=400), "address with https://"),
        (PLAIN, httpx.ConnectTimeout("x"), "in time"),
    ],
)
def test_an_address_with_the_other_scheme_says_what_to_write(model: str, error: Exception, told: str) -> None:
    assert told in str(translate_error(error, model))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250"}, 0.25),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    failure = translate_error(Failed(response=answered(429, **headers)))
    assert isinstance(failure, ModelUnavailable)
    assert failure.retry_after == seconds


@pytest.mark.parametrize(("minutes", "low", "high"), [(2, 110, 121), (-2, 0, 0)])
def test_retry_after_as_a_date(minutes: int, low: float, high: float) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    failure = translate_error(caused(Failed(), Failed(response=answered(503, retry_after=date))))
    assert isinstance(failure, ModelUnavailable)
    assert failure.retry_after is not None
    assert low <= failure.retry_after <= high


def test_googles_delay_is_in_the_body() -> None:
    details = {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}
    failure = translate_error(Failed(code=429, details=details))
    assert isinstance(failure, ModelUnavailable)
    assert failure.retry_after == 34.0


@pytest.mark.parametrize(
    ("message", "param", "expected"),
    [
        ("Unsupported value: 'temperature' does not support 0.3", None, "temperature"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens", "limit"),
        ("Unrecognized request argument: max_completion_tokens", None, "limit"),
        ("unknown field stream_options", None, "usage"),
        ("we talk of temperature", "response_format", None),
        ("something else", None, None),
    ],
)
def test_the_refused_parameter(message: str, param: str | None, expected: str | None) -> None:
    assert find_refused_parameter(Failed(message, status_code=400, param=param)) == expected


def test_only_a_bad_request_refuses_parameters() -> None:
    assert find_refused_parameter(Failed("temperature", status_code=503)) is None
    assert find_refused_parameter(Failed("temperature")) is None


def test_what_is_translated_already_stays() -> None:
    failure = ModelUnavailable("gone", status=503)
    assert translate_error(failure) is failure


@given(
    words=st.text(st.characters(categories=["L", "N"]), min_size=8),
    status=st.sampled_from([None, 200, 400, 401, 404, 413, 429, 500]),
)
def test_a_providers_words_never_get_into_the_message(words: str, status: int | None) -> None:
    secret = f"sk-{words}!"
    error = Failed(secret, status_code=status, body={"message": secret, "code": secret}, code=secret, type=secret)
    assert secret not in str(translate_error(error))


def test_causes_that_go_in_a_circle_end() -> None:
    first, second = Failed(), Failed()
    first.__cause__, second.__cause__ = second, first
    assert isinstance(translate_error(first), ModelUnavailable)
