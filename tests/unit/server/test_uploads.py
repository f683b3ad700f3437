"""Names of files that callers send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.entrypoints.server.routes.documents import safe_name


@pytest.mark.parametrize("name", ["a.md", "등대 안내.pdf", "a..b.txt", "-rf.txt", "con.txt"])
def test_plain_names_are_taken(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["", "..", ".a", "a/b", "a\\b", "C:a.md", "a\x00.md", "a\n.md", "x" * 151])
def test_names_that_lead_somewhere_are_not(name: str) -> None:
    with pytest.raises(UnreadableFile):
        safe_name(name)


@given(st.text(max_size=30))
def test_a_name_that_is_taken_is_one_part_of_a_path(name: str) -> None:
    try:
        taken = safe_name(name)
    except UnreadableFile:
        return
    assert not set(taken) & set("/\\:\x00")
    assert not taken.startswith(".")
