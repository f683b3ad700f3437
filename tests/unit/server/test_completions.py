"""Chat completions read and told."""

from hypothesis import given
from hypothesis import strategies as st

from selfright.server.errors import Refused
from selfright.server.routes.openai import ParsedChat, pieces, read
from selfright.wire.openai import ChatMessage, ContentPart

PART = st.builds(ContentPart, type=st.sampled_from(["text", "image_url"]), text=st.none() | st.text(max_size=9))
MESSAGES = st.lists(
    st.builds(
        ChatMessage,
        role=st.sampled_from(["system", "developer", "user", "assistant", "tool", "x"]),
        content=st.none() | st.text(max_size=20) | st.lists(PART, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


@given(st.text(max_size=300))
def test_pieces_are_the_text_again(text: str) -> None:
    assert "".join(pieces(text)) == text


def read_or_refused(messages: list[ChatMessage]) -> ParsedChat | Refused:
    try:
        return read(messages)
    except Refused as refused:
        return refused


@given(MESSAGES)
def test_a_conversation_is_understood_or_refused_with_its_place(messages: list[ChatMessage]) -> None:
    said = read_or_refused(messages)
    if isinstance(said, Refused):
        assert said.status_code == 400
        assert (said.param or "").startswith("messages.")
        return
    assert said.question.strip()
    assert {message.role for message in said.history} <= {"user", "assistant"}
    assert said.instructed == any(message.role in ("system", "developer") for message in messages)


def test_parts_of_text_are_joined() -> None:
    parts = [ContentPart(type="text", text="one"), ContentPart(type="text", text="two")]
    assert read([ChatMessage(role="user", content=parts)]).question == "one\ntwo"
