"""Text and Markdown: decoded in whatever encoding they are, otherwise untouched."""

import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.encodings import decode
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.readers.markdown import visible_text
from selfright.ingest.reading import read, read_page

KOREAN = "관의 압력이 2 bar 아래로 내려가면 밸브가 저절로 열립니다.\r\n둘째 줄.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp949", "euc-kr"])
def test_korean_text_is_read_in_the_encodings_it_comes_in(read_one: Callable[..., Document], encoding: str) -> None:
    document = read_one("안내.txt", KOREAN.encode(encoding))
    assert document.text == KOREAN
    assert (document.id, document.title, document.language) == ("안내.txt", "안내", "ko")


def test_western_text_is_not_taken_for_korean(read_one: Callable[..., Document]) -> None:
    german = (
        "Die Ärzte öffnen das große Ventil. Natürlich fällt der Druck über Nacht, schließlich müssen Prüfer üben.\n"
    )
    assert read_one("pruefung.txt", (german * 5).encode("cp1252")).text == german * 5


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()) == text


SITE = """# CORS { #cors }

## `yield`가 있는 의존성 { #dependencies-with-yield-httpexception-except-and-background-tasks-개요 }

/// tip | For browsers
See the [guide](x.md){ .md-button } on :material-alert: attacks{.red}, at 10:30:45 or std::vector::at.
///

//// tab | Node.js
{* ../src/main.py hl[3] *}
////

!!! warning "Careful"

=== "Linux"

``` { .python .annotate }
# { .kept } :material-kept:
```

:::tip[Note]
:::

|plan|backups|
|---|---|
|free|:material-close:|
|paid|:white_check_mark: daily|
"""


def test_what_site_generators_add_to_markdown_is_left_out() -> None:
    text = visible_text(SITE)
    assert [line.strip() for line in text.splitlines() if line.strip()] == [
        "# CORS",
        "## `yield`가 있는 의존성",
        "For browsers",
        "See the [guide](x.md) on attacks, at 10:30:45 or std::vector::at.",
        "Node.js",
        "Careful",
        "Linux",
        "```python",
        "# { .kept } :material-kept:",
        "```",
        "Note",
        "|plan|backups|",
        "|---|---|",
        "|free|✗|",
        "|paid|✓ daily|",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "code (AB){2} followed by HKEY_LOCAL(machine){4D36E968}",
        "function area(r){ return 3.14*r*r; } and $$f(x){dx}$$ at /users/{.format} for {#if user}Hello",
        "{% if premium %}Premium customers get free delivery.{% endif %}",
        "{* a *} text {* b *}",
        "!!! Attention the valve must stay closed",
        "!!! 경고 반드시 읽으세요",
        "??? who may open the valve",
    ],
)
def test_text_that_only_resembles_such_marks_stays(text: str) -> None:
    assert visible_text(text) == text


def test_a_heading_of_marks_takes_no_time(read_one: Callable[..., Document]) -> None:
    began = time.perf_counter()
    read_one("a.md", ("# " + "`" * 30_000 + "\n\n# " + "[[" * 30_000).encode())
    assert time.perf_counter() - began < 5


def test_markdown_keeps_its_marks_and_takes_its_title_from_the_first_heading(read_one: Callable[..., Document]) -> None:
    text = "Intro\n\n```\n# a comment\n```\n\n## Part\n\n# The *Valve* [Guide](x.md) #\n\nText."
    document = read_one("guide.md", text)
    assert document.text == text
    assert document.title == "The Valve Guide"
    assert read_one("plain.md", "No heading here.").title == "plain"
    # The second letter of a heading without marks may be a blank.
    assert read_one("rules.md", "제 3조 (대출)\n\n두 주 동안 빌린다.\n").title == "rules"
    assert read_one("faq.md", "I need a form?\nYes, form 7.\n\n# Forms\n").title == "Forms"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf\n", "no text"),
        (b"\x89PNG\r\n\0\0\0", "binary content"),
        (b"\xff\xfea\0b", "begins as UTF-16"),
        ("가나다 \x01 값".encode("utf-16-le"), "binary content"),
        ("a text".encode("utf-16-le")[:-1], "binary content"),
        (b"some text\0and more of it", "binary content"),
        (struct.pack("<40H", *range(40)), "binary content"),
        (bytes(range(1, 256)) * 20, "encoding could not be told"),
    ],
)
def test_what_is_no_text_is_refused(read_file: Callable[..., object], content: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_file("notes.txt", content)


def test_a_file_over_the_limit_is_refused(read_file: Callable[..., object]) -> None:
    with pytest.raises(UnreadableFile, match="larger than 10 bytes; split it"):
        read_file("long.md", "x" * 11, FileLimits(file_bytes=10))


def test_links_folders_and_forbidden_files_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lost.txt").symlink_to(tmp_path / "nowhere.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "secret.txt").write_text("text")

    def forbidden(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    assert "points to nothing" in why(tmp_path / "lost.txt")
    assert "leads back to itself" in why(tmp_path / "loop.txt")
    assert "regular file" in why(tmp_path / "folder.txt")
    assert "there is no file" in why(tmp_path / "gone.txt")
    monkeypatch.setattr(Path, "open", forbidden)
    assert "no permission" in why(tmp_path / "secret.txt")


def why(path: Path) -> str:
    with pytest.raises(UnreadableFile) as raised:
        list(read(SourceFile(path, path.name)))
    assert "\n" not in str(raised.value)
    return raised.value.why


def test_a_single_page_can_be_read_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("nonsense\n")
    with pytest.raises(UnreadableFile, match="not JSON"):
        read_page(tmp_path / "rows.jsonl")
    (tmp_path / "page.txt").write_text("One page.")
    assert read_page(tmp_path / "page.txt").id == "page.txt"


JAPANESE = "圧力が七バールを超えると、安全弁が開きます。毎週月曜日に点検してください。"
SIMPLIFIED = "当压力超过七巴时，安全阀会打开。请在每个星期一进行检查，并把结果写在记录本里。"
TRADITIONAL = "當壓力超過七巴時，安全閥會打開。請在每個星期一進行檢查，並把結果寫在記錄本裡。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "shift_jis"), (JAPANESE, "euc_jp"), ("ポンプ", "shift_jis"),
        (SIMPLIFIED, "gb2312"), (SIMPLIFIED, "gb18030"), (TRADITIONAL, "big5"),
        ("압력이 칠 바를 넘으면 안전밸브가 열립니다.", "euc-kr"), ("뷁쉛 펲시", "cp949"),
        ("La soupape s’ouvre à sept bars, déjà très tôt.", "cp1252"), ("Das Überdruckventil öffnet.", "latin-1"),
        ("밸브", "cp949"), ("똠방각하 펲시콜라", "cp949"), ("閥門", "big5"), ("Größe: 5 m², 12 €", "cp1252"),
        ("ação", "cp1252"), ("¿Dónde está el niño?", "cp1252"), ("Ärger", "cp1252"),
        ("バルブの点検は毎月行うこと。", "euc_jp"),
    ],
)  # fmt: skip
def test_encodings_are_told_apart_by_their_letters(read_one: Callable[..., Document], text: str, encoding: str) -> None:
    for times in (1, 200):
        content = f"Valve 7\n{text}\n" * times
        assert read_one("a.txt", content.encode(encoding)).text == content


def test_of_html_in_markdown_stays_what_a_reader_sees(read_one: Callable[..., Document]) -> None:
    document = read_one(
        "readme.md",
        '<h1 align="center">Pump <img src="a.png" alt="logo" width=9></h1>\n\n<!-- toc -->\n\n'
        '## Install & run {#install .x}\n\nWith <b>bold</b>, `<div class="a">`, List<String> and a < b > c.\n\n'
        '10<sup>6</sup> pumps, 99 EUR<sup>1)</sup>\n\n## Use it [¶](#use-it)\n\n```html\n<p class="kept">{#kept}\n```\n'
        "<details><summary>More</summary>inside</details>\n",
    )
    assert document.title == "Pump logo"
    assert document.text == (
        '# Pump logo\n\n\n\n## Install & run\n\nWith bold, `<div class="a">`, List<String> and a < b > c.\n\n'
        '10⁶ pumps, 99 EUR 1)\n\n## Use it\n\n```html\n<p class="kept">{#kept}\n```\n\n\n###### More\ninside\n'
    )


def test_front_matter_names_the_document_and_is_no_text(read_one: Callable[..., Document]) -> None:
    front = "---\ntitle: 'Pumps: an overview'\ntags:\n  - pump\n- valve\n# draft\nrank_boost: 100\n---\n\n"
    document = read_one("a.md", f"{front}The valve opens.\n\n---\n\nIt closes.\n")
    assert (document.title, document.text) == ("Pumps: an overview", "The valve opens.\n\n---\n\nIt closes.\n")
    assert read_one("a.md", f"{front}# Pumps\n").title == "Pumps"


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nThe valve opens.\n\n---\n",
        "---\nvalve: open\nIt was closed.\n---\n",
        "---\nvalve: open\n",
        "---\n",
        "----\na: b\n---\n",
    ],
)
def test_a_rule_at_the_beginning_opens_no_front_matter(read_one: Callable[..., Document], text: str) -> None:
    assert read_one("a.md", text).text == text


@pytest.mark.parametrize("opening", ["<!-- ", "`", "``", "```\n", "<a ", "<", "{#", "# [¶](#"])
def test_markdown_that_never_closes_takes_no_longer(opening: str) -> None:
    begun = time.process_time()
    visible_text(opening * 100_000)
    assert time.process_time() - begun < 5


def test_a_comment_that_never_closes_hides_nothing(read_one: Callable[..., Document]) -> None:
    assert read_one("a.md", "one <!-- two --> three <!-- four").text == "one  three <!-- four"


@pytest.mark.parametrize(
    "anchor",
    [
        '<a class="headerlink" href="#use" title="Permanent link">¶</a>',
        '<a href="#use" class="anchor" aria-hidden="true"></a>',
        '<a class="hash-link" href="#use">\u200b</a>',
    ],
)
def test_anchors_of_headings_are_no_text(read_one: Callable[..., Document], anchor: str) -> None:
    document = read_one("a.html", f'<h1 id="use">Use{anchor}</h1><p>See <a href="#more">more</a>.</p>')
    assert (document.title, document.text) == ("Use", "# Use\n\nSee more.")


MDX = """import Intro from './intro.js';
export const x = {a: 1};

# Quick Start {/*quick-start*/}

<Intro>

Welcome to the page.

</Intro>

<YouWillLearn isLearnFoundations={true}>

## 상태 관리 {#state}

</YouWillLearn>

<Sandpack>

```js
import kept from 'kept'; {/* kept */}
<Kept>
```

</Sandpack>

Of type List<String>, {a: 1}, and import it from there.
"""


def test_what_mdx_adds_is_left_out_and_code_stays(read_one: Callable[..., Document]) -> None:
    document = read_one("a.mdx", MDX)
    assert document.title == "Quick Start"
    assert [line for line in document.text.splitlines() if line.strip()] == [
        "# Quick Start",
        "Welcome to the page.",
        "## 상태 관리",
        "```js",
        "import kept from 'kept'; {/* kept */}",
        "<Kept>",
        "```",
        "Of type List<String>, {a: 1}, and import it from there.",
    ]


def test_front_matter_of_toml_names_the_document(read_one: Callable[..., Document]) -> None:
    document = read_one("a.md", '+++\ntitle = "펌프"\ndraft = false\n+++\n\nIt opens.\n')
    assert (document.title, document.text) == ("펌프", "It opens.\n")


FORMS = {
    "headings with a line below them": (
        "Boat Handbook\n====\n\nMooring\n----\n\nUse two.\n\nAs said.\nIt holds\n---\n\n```\n\na\n---\n```\n",
        "# Boat Handbook\n\n## Mooring\n\nUse two.\n\nAs said.\nIt holds\n---\n\n```\n\na\n---\n```\n",
    ),
    "terms and definitions": (
        "Keel\n: The long beam.\n\nBallast\n: It rights the boat.\n: Also: gravel.\n",
        "- Keel: The long beam.\n\n- Ballast: It rights the boat.\n- Ballast: Also: gravel.\n",
    ),
    "a table of HTML": (
        "Fees\n\n<table><tr><th rowspan=2>Zone</th><th colspan=2>`2026`</th></tr><tr><th>S</th><th>L</th></tr>"
        "<tr><td>North</td><td>4</td><td>9</td></tr></table>",
        "Fees\n\n\n\n|Zone|`2026` – S|`2026` – L|\n|---|---|---|\n|North|4|9|\n\n",
    ),
    "breaks and lists within rows of a table": (
        "| a | b |\n|---|---|\n| `x`<br>`y` | <ul><li>one</li></ul> |\n\nc<br>d | e\n--|--\n\n`f`<br>`g`\n",
        "| a | b |\n|---|---|\n| `x` `y` |   one   |\n\nc d | e\n--|--\n\n`f`\n`g`\n",
    ),
    "the title of what can be opened": (
        "<details><summary><b>When it hangs</b></summary>Wait.</details>\n",
        "\n\n###### When it hangs\nWait.\n",
    ),
    "components within a line, and their titles": (
        '<Note title="Careful">It wipes `all`.</Note> Of List<String>, <Icon name="x" /> too.',
        "Careful\n\nIt wipes `all`. Of List<String>,  too.",
    ),
    "lines as Windows ends them": ("a\r\n\r\n</Note>\r\nb\r\n", "a\n\n\nb\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_markdown_that_others_write(read_one: Callable[..., Document], name: str) -> None:
    content, text = FORMS[name]
    assert read_one("a.md", content).text == text
