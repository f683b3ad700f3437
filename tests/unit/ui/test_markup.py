"""Nothing of what others wrote becomes markup."""

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from selfright.schemas import NodeOutcome, RoutingDecision
from selfright.ui.answers import live, whole
from selfright.ui.markup import figure_bars, link_out, plain, prose, tag, text
from selfright.ui.state import Turn, WithdrawnDraft
from selfright.ui.words import LANGUAGES
from selfright.wire.answers import NodeFinished, VerdictReached
from tests.support.answers import EVALUATION, cited, passage, reply

HOSTILE = """<script>x</script>"' onload=x <img src=x onerror=x> javascript:x </details></section>&lt; [1] **b** `c`"""
_OURS = {
    "a", "b", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "figcaption", "figure", "h2", "h3", "i",
    "li", "mark", "ol", "p", "pre", "section", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
    "aside", "bdi", "blockquote", "br", "em", "hr", "s",
}  # fmt: skip
_ATTRIBUTES = {
    "aria-busy", "aria-hidden", "aria-label", "aria-level", "class", "href", "id", "lang", "open", "rel", "role",
    "scope", "start", "style", "tabindex", "target", "title",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects what is in a piece of HTML, and whether all that was opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    return reader


def safe(markup: str) -> Reader:
    """The markup read, once it is known to hold our elements only, and links that lead nowhere bad."""
    reader = read(markup)
    assert reader.seen <= _OURS
    assert {name for name, _ in reader.attributes} <= _ATTRIBUTES
    assert all(value.startswith(("#", "https://", "http://")) for name, value in reader.attributes if name == "href")
    assert all(value.startswith(("height:", "text-align:")) for name, value in reader.attributes if name == "style")
    return reader


def a_turn(said: str) -> Turn:
    claim = {"text": said, "status": said, "citations": [1]}
    evaluation = {**EVALUATION, "claims": [claim], "missing_info": [said], "source": said, "reason": said}
    step = {
        "query": said, "verdict": "correct", "overall": 0.5, "documents": [said], "improvement": 0.1,
        "duplicate_share": 0.2,
    }  # fmt: skip
    fields = {"title": said, "section": said, "url": said}
    answer = reply(
        said, language=said, citations=[cited(1, 0, 3, said, **fields), cited(2, 90, 99, "other", **fields)],
        evaluation=evaluation, verdict=said, stop_reason=said, preset=said, iterations=[step, step],
        removed_claims=[said], notes=[said], trace_id=said, degraded=True, abstained=True,
    )  # fmt: skip
    routing = RoutingDecision(collections=[said], reason=said, fallback=False, about=said)
    outcome = NodeOutcome(passages=1, routing=routing, provider=said, stop=said)
    steps = [
        NodeFinished(said, 0.1),
        NodeFinished(said, 0.1, outcome),
        VerdictReached(said, None),
        WithdrawnDraft(said, said),
    ]
    return Turn(said, steps, said, answer, [passage(said + "xyz", (0, 2), document=said, **fields)])


@given(st.text(min_size=1) | st.text("<>&\"'`*[]#=/:!() scriptdocvu1", min_size=1))
def test_a_turn_about_anything_is_ours_alone(said: str) -> None:
    for language in LANGUAGES:
        safe(whole(a_turn(said), "turn-0", language))
        safe(live(a_turn(said), language))
        safe(whole(Turn(said, trouble=said), "turn-0", language))


def test_hostile_text_is_shown_as_it_is() -> None:
    reader = safe(whole(a_turn(HOSTILE), "turn-0", "en"))
    assert "<script>x</script>" in "".join(reader.text)
    assert "&lt;" in "".join(reader.text)


def test_attributes_and_characters_that_hide_text() -> None:
    assert tag("p", "x", title='"><b>', cls=None, hidden=False) == '<p title="&quot;&gt;&lt;b&gt;">x</p>'
    assert text("a\u202eb\u200bc\x00d") == "abcd"


def test_only_addresses_of_the_web_become_links() -> None:
    assert 'href="https://example.org/a?b=c&amp;d"' in link_out("https://example.org/a?b=c&d", "open")
    for url in (None, "", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://a b", " http://x"):
        assert link_out(url, "open") == ""


def test_prose_keeps_code_and_emphasis_and_nothing_else() -> None:
    said = "# Head\n**bold** `a*b` ![p](http://x/y.png) [l](http://x)\n```py\nif a < b: [1]\n```"
    markup = prose(said, lambda escaped: escaped.replace("[l]", "<i>l</i>"))
    assert "<strong>Head</strong>" in markup
    assert "<strong>bold</strong>" in markup
    assert "<code>a*b</code>" in markup
    assert "<pre><code>if a &lt; b: [1]\n</code></pre>" in markup
    assert "<i>l</i>" in markup
    assert "<img" not in markup
    assert "<a" not in markup


def test_bars_are_read_aloud_with_their_values() -> None:
    markup = figure_bars("quality", {"Pass 1": 0.45, "Pass 2": None, "Pass 3": 7.0}, "not judged")
    labels = [value for name, value in read(markup).attributes if name == "aria-label"]
    assert labels == ["quality — Pass 1: 0.45, Pass 2: not judged, Pass 3: 7.00"]
    assert markup.count('class="bar"') == 3
    assert "height:80.0%" in markup


def test_what_streamlit_shows_by_itself_is_no_markdown() -> None:
    assert plain(":material/x: [a](b) **c** ![d](e) <f> `g` $h$") == (
        "\\:material/x\\: \\[a\\]\\(b\\) \\*\\*c\\*\\* \\!\\[d\\]\\(e\\) \\<f\\> \\`g\\` \\$h\\$"
    )


@given(st.text())
def test_no_sign_of_markdown_and_no_address_is_left(said: str) -> None:
    shown = plain(f"{said} https://e.org/x www.e.org a@e.org {said}")
    bare = re.sub(r"\\.", "", shown, flags=re.DOTALL)
    assert not set("`*_{}[]()<>#+!|~:$&\\") & set(bare)
    assert not re.search(r"https?:|www\.|@\w", shown.replace("\\", ""), re.IGNORECASE)
