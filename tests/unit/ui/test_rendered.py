"""Rendered passages: nothing is lost, marks stand where they should, and nothing of a document runs, loads or leads."""

import html
import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from selfright.entrypoints.ui.evidence import marked

MARKDOWN = st.text("ab 1#-*_|>`~[]()!\\\n.&<가나", max_size=80) | st.text(max_size=40)
_TAG = re.compile(r"<[^>]*>")
_OURS = frozenset(
    "p br div span em strong s code pre ul ol li hr blockquote table thead tbody tr th td mark".split()  # noqa: SIM905
)


def words(markup: str) -> list[str]:
    return re.findall(r"\w+", html.unescape(_TAG.sub(" ", markup)))


@given(st.lists(MARKDOWN, min_size=1, max_size=5))
def test_marks_change_nothing_of_what_is_shown(parts: list[str]) -> None:
    plain = marked(["".join(parts)], lambda _, said: said)
    found = marked(parts, lambda _, said: f"<mark>{said}</mark>")
    if found is None:
        return  # shown as it is written
    assert plain is not None
    assert found.replace("<mark>", "").replace("</mark>", "") == plain
    assert {name.split()[0].strip("/") for name in re.findall(r"<(/?[a-z0-9]+)", found)} <= _OURS


def test_runs_of_text_are_of_the_part_they_stand_in() -> None:
    text = "# Light\n\n- Signed by **the** keeper.\n- Lit at dusk.\n\n| a | b |\n|---|---|\n| one | two |\n"
    cuts = [0, text.index("- Lit"), text.index("| a"), len(text)]
    seen: dict[int, list[str]] = {}

    def mark(part: int, said: str) -> str:
        seen.setdefault(part, []).append(said)
        return said

    found = marked([text[a:b] for a, b in itertools.pairwise(cuts)], mark)
    assert found is not None
    assert seen == {
        0: ["Light", "Signed by ", "the", " keeper."], 1: ["Lit at dusk."], 2: ["a", "b", "one", "two"],
    }  # fmt: skip
    assert "<table>" in found
    assert found.count("<li>") == 2


def test_addresses_pictures_and_markup_of_a_document_lead_nowhere() -> None:
    hostile = (
        "[go](https://evil.example) ![pixel](https://evil.example/p.png) <img src=x onerror=alert(1)>\n\n"
        '<script>alert(1)</script>\n\n<https://evil.example>\n\n```x" onload="y\n<b>code</b>\n```\n\n[r]: https://evil.example\n[r]\n'
    )
    found = marked([hostile], lambda _, said: said)
    assert found is not None
    for bad in ("href", 'src="', "<img", "<script", "<a ", 'onload="'):
        assert bad not in found
    assert "go" in words(found)
    assert "pixel" in words(found)


def test_text_that_hides_is_shown_without_what_hides_it() -> None:
    found = marked(["safe\u202e gnp.exe \u200bword"], lambda _, said: said)
    assert found == "<p>safe gnp.exe word</p>\n"


def test_what_cannot_be_marked_is_left_to_be_shown_as_written() -> None:
    assert marked(["nobody's \ue000 sign"], lambda _, said: said) is None
    assert marked(["| a | b |\n|--", "-|---|\n| 1 | 2 |\n"], lambda _, said: said) is None
