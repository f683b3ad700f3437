import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from selfright.domain.answers import Cost, Step
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.entrypoints.account import account
from selfright.entrypoints.trace_page import page
from selfright.entrypoints.ui.words import WORDS
from selfright.telemetry.drawing import drawn, listed, plain, rounds
from selfright.telemetry.outline import broken, finished
from tests.support.traces import ORIGINS, SAID, answer

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J\x1b]8;;http://evil\x07 "
    "\"' onmouseover=x javascript:alert(1) </style></title>\u202e\x00&lt;b>"
)


def trace(text: str = SAID, *, content: bool = True, **fields: object) -> Trace:
    return finished(answer(text, **fields), 1_700_000_000.0, Scope("u"), ORIGINS, content=content)


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def elements(html: str) -> Elements:
    parser = Elements()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def test_the_path_shows_its_loop_and_its_passes() -> None:
    text = drawn(trace())
    assert "pass 1: retrieve → grade → quality_check" in text
    assert "↺ back to rewrite" in text
    assert "pass 2: rewrite → retrieve → quality_check" in text
    assert "0.82" in text
    assert "stopped: adequate" in text


def test_of_one_thing_no_account_speaks_as_of_several() -> None:
    one = trace(cost=Cost(1, 1, 0, 1, 1.5), iterations=answer().iterations[:1], trace=())
    accounts = [drawn(one), page(one), listed([one]), account(answer(cost=Cost(1, 1, 0, 1, 1.5)))]
    accounts.append(WORDS["en"]["spent"].format(seconds=1.5, calls=1, tokens=1, web=1))
    for said in accounts:
        assert re.search(r"calls +1\b", said)
        assert not re.search(r"(?<![\d.])1 (?:model |web )?(?:calls|tokens|passes|documents|pages|requests)\b", said)


def test_the_longest_step_has_the_longest_bar() -> None:
    rows = {row.split()[3]: row.count("█") for row in drawn(trace()).splitlines() if " ms " in row and "█" in row}
    assert rows["grade"] == 24
    assert rows["rewrite"] == 1


def test_an_outline_is_drawn_without_content() -> None:
    outline = trace(content=False)
    assert SAID not in drawn(outline)
    assert SAID not in page(outline)
    assert "holds nothing of what was said" in page(outline)


def test_a_turn_that_an_error_ended_is_drawn_as_far_as_it_came() -> None:
    one = broken(
        "ab" * 16, 1.0, Scope("u"), ORIGINS, [Step("retrieve", 0.5, NodeOutcome(passages=8))], 2.0, RuntimeError()
    )
    assert "error: RuntimeError" in drawn(one)
    assert "retrieve" in page(one)
    assert "error: RuntimeError" in listed([one])


def test_a_page_cannot_be_steered_by_what_documents_say() -> None:
    hostile = trace(HOSTILE)
    step = Step(HOSTILE, 0.1, NodeOutcome(again=HOSTILE, words=HOSTILE))
    hostile = replace(hostile, steps=(*hostile.steps, step), error=HOSTILE, quality=HOSTILE)
    html = page(hostile)
    seen = elements(html)
    allowed = {"html", "head", "meta", "link", "title", "style", "body", "h1", "h2", "h3", "p", "dl", "dt", "dd", "div"}
    allowed |= {"ol", "li", "table", "tr", "th", "td", "span", "svg", "path", "polyline", "circle", "text"}
    assert {tag for tag, _ in seen.tags} <= allowed
    assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]
    links = [value for _, attributes in seen.tags for name, value in attributes.items() if name in ("src", "href")]
    assert links == ["data:,"]
    assert not set(html) & {"\x1b", "\x00", "\u202e", "\x07"}
    assert "<script>alert(1)</script>" in "".join(seen.text)


def test_a_page_forbids_what_it_does_not_need() -> None:
    policy = next(a for tag, a in elements(page(trace())).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert "http://" not in page(trace())
    assert "https://" not in page(trace())


def test_a_page_holds_what_the_turn_said_and_cited() -> None:
    text = " ".join(elements(page(trace("Changed every 90 days."))).text)
    assert text.count("Changed every 90 days.") >= 4
    assert "back to rewrite" in text


def test_scores_are_plotted_when_there_are_several() -> None:
    assert 'aria-label="quality by pass: 0.25, 0.82"' in page(trace())
    assert "<svg" not in page(trace(iterations=()))


def test_a_terminal_cannot_be_steered_either() -> None:
    hostile = replace(trace(HOSTILE), error=HOSTILE)
    for text in (drawn(hostile), listed([hostile])):
        assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e", "\r"}


def test_lists_show_the_beginning_of_a_question_where_it_was_kept() -> None:
    full, outline = trace("When is the lamp changed? " * 10), trace(content=False)
    first, second = listed([full, outline]).splitlines()
    assert "When is the lamp changed?" in first
    assert len(first) < 200
    assert SAID not in second
    assert listed([]).startswith("no traces")


@pytest.mark.parametrize(("given", "shown"), [("a\tb", "ab"), ("한국어\n둘째", "한국어\n둘째"), (3, "3")])
def test_plain_text_keeps_what_can_be_read(given: object, shown: str) -> None:
    assert plain(given) == shown


def test_steps_are_told_apart_by_pass() -> None:
    found = list(rounds(answer().trace))
    assert [one.again for one in found] == ["rewrite", ""]
    assert sum(len(one.steps) for one in found) == len(answer().trace)
    assert list(rounds(())) == []
