"""Errors tell callers what to do."""

from selfright.domain import errors


def test_an_unreadable_file_is_named_with_the_reason() -> None:
    error = errors.UnreadableFile("notes/a.pdf", "it is encrypted; save it without a password")
    assert str(error) == "notes/a.pdf: it is encrypted; save it without a password"
    assert (error.path, error.why) == ("notes/a.pdf", "it is encrypted; save it without a password")


def test_a_missing_extra_says_how_to_get_it() -> None:
    error = errors.MissingExtra("kiwipiepy", "pip install 'selfright[ko]'")
    assert "kiwipiepy is not installed; install it with: pip install 'selfright[ko]'" in str(error)


def test_where_there_are_no_names_that_is_said() -> None:
    assert str(errors.UnknownName("collection", "notes", [])) == "unknown collection 'notes': there is none"
