"""What a result says of its origin names no password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.evals.running import models, public
from selfright.settings import Settings

_WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_.!$&'()*+;=:%@/#?", min_size=6)


@given(login=_WORD, key=_WORD)
def test_no_login_is_sent(login: str, key: str) -> None:
    for address in (f"http://<{login}>@host:80/v1", f"https://host/v1?<{key}>", f"http://<{login}>@host/?<{key}>"):
        for value in (address, f"openai:m@{address}"):
            assert not {"<", ">"} & set(public(value))


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("openai:gpt-4o-mini", "openai:gpt-4o-mini"),
        ("http://127.0.0.1:80/v1", "http://127.0.0.1:80/v1"),
        ("openai:m@http://me:a,b@host/v1?key=1", "openai:m@http://host/v1"),
    ],
)
def test_where_a_model_is_may_be_known(given: str, sent: str) -> None:
    assert public(given) == sent


def test_no_result_names_a_password() -> None:
    found = models(Settings(llm="openai:small@http://ann:secret@127.0.0.1:9"))
    assert set(found.values()) == {"openai:small@http://127.0.0.1:9"}
