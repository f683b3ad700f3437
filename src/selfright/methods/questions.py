"""Text as users hand it in."""

from selfright.domain.errors import InputError

MAX_QUESTION_CHARACTERS = 10_000


def checked(question: str) -> str:
    """The question without blanks around it. Raises ``InputError`` for an empty or overlong one."""
    # Places of facts are counted in the message, and the same message has to be the same question.
    question = readable(question).strip()
    if not question:
        raise InputError("the question is empty; ask something, for example: selfright ask 'What is this about?'")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question has {len(question):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are taken. "
            "Put long text into a document and add it to the index"
        )
    return question


def readable(text: str) -> str:
    """Restores text that Python, without a UTF-8 locale, passed from the command line as lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
