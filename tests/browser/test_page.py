"""The page in a browser, over a service without a model: documents, answers, profile, reports, languages, the end."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.page import Started, Visit, desktop, started, visiting
from tests.support.service import serving, write_index

pytest.importorskip("streamlit", reason="streamlit is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, FilePayload


LIGHTHOUSE = (
    "# Lighthouse\n\n## Lamp\n\nThe lamp of the Dunmore lighthouse is changed every 90 days. "
    "The keeper signs the log after each change.\n\n## Fog horn\n\nThe fog horn sounds twice a minute.\n"
)
KOREAN = (
    "# 등대\n\n## 등\n\n던모어 등대의 등은 90일마다 교체합니다. 등대지기는 교체할 때마다 일지에 서명합니다. "
    "등을 교체하는 날은 일지의 첫 장에 적혀 있으며, 비가 오면 하루 미룹니다.\n"
)
MOORING = (
    "# Mooring\n\n## Fees\n\nMooring at the quay of Dunmore costs 14 euros a night. "
    "Boats over 20 metres anchor outside.\n\n| season | fee |\n|---|---|\n| summer | 14 euros |\n"
)
HOSTILE = (
    "# Harbour <b id=planted>tax</b>\n\nThe harbour tax of Kilbray is 12 euros a night. The harbour tax of Kilbray is "
    "paid to <img src=x onerror=\"document.title='no'\"><script>document.title='no'</script> the keeper "
    "[1](javascript:alert(1)) ![p](http://example.org/p.png).\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Started]:
    """``selfright ui`` with a study to show, and two documents in its index."""
    study = folder / "reports" / "first"
    study.mkdir(parents=True)
    (study / "report.html").write_text("<h1>The report</h1><script>top.document.title = 'no'</script>")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "lighthouse.md").write_text(LIGHTHOUSE, encoding="utf-8")
    (documents / "등대.md").write_text(KOREAN, encoding="utf-8")
    settings = [documents, "--index", folder / "index", "--reports", folder / "reports", "--set", "embedder=none"]
    with started(*settings, "--set", "pack=medical", environment={"SELFRIGHT_HOME": str(folder / "home")}) as running:
        yield running


@pytest.fixture(scope="module")
def context(browser: "Browser") -> Iterator["BrowserContext"]:
    with desktop(browser) as context:
        yield context


@pytest.fixture
def visit(context: "BrowserContext", program: Started) -> Iterator[Visit]:
    with visiting(context, program.url) as visit:
        yield visit


def upload(visit: Visit, *files: tuple[str, str | bytes]) -> str:
    """Sends files from the page of documents; what it says of them."""
    payloads: list[FilePayload] = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode() if isinstance(text, str) else text}
        for name, text in files
    ]
    visit.go("Documents")
    visit.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(payloads)
    for name, _ in files:
        visit.page.get_by_role("button", name=f"Remove {name}").wait_for()
    visit.page.get_by_role("button", name="Add to the index").click()
    lines = visit.page.locator(".uploads")
    lines.wait_for()
    return lines.inner_text()


def test_an_uploaded_file_is_cited_and_its_passage_marked(visit: Visit) -> None:
    said = upload(visit, ("mooring.md", MOORING), ("broken.pdf", b"%PDF-1.7 nothing"), ("empty.txt", ""))
    assert "✓ mooring.md: 1 added" in said
    assert "✗ broken.pdf:" in said
    assert "✗ empty.txt:" in said
    visit.page.locator(".document", has_text="mooring.md").wait_for()  # the list is drawn behind what was said

    visit.go("Chat")
    answer = visit.ask("How much does mooring at the quay of Dunmore cost?")
    assert "14 euros" in answer.locator(".answer").inner_text()
    cited = visit.page.locator("#turn-0-source-1")
    answer.locator("a.cite").first.click()
    cited.wait_for(state="visible")
    assert visit.page.url.endswith("#turn-0-source-1")
    marked = cited.locator("xpath=ancestor::mark")
    assert "costs 14 euros a night" in marked.inner_text()
    assert marked.evaluate("mark => getComputedStyle(mark).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_sources_stand_beside_the_answer(browser: "Browser", program: Started) -> None:
    for width, beside in ((1280, True), (390, False)):
        with (
            desktop(browser, viewport={"width": width, "height": 900}) as context,
            visiting(context, program.url) as visit,
        ):
            shown = visit.ask("How often is the lamp of the Dunmore lighthouse changed?")
            sources = shown.locator("aside")
            assert "Lamp" in sources.locator(".passage strong").all_inner_texts()
            assert "##" not in sources.inner_text()
            # Both at once: the page may still be scrolling to the question.
            left, right = shown.evaluate(
                "turn => ['.answer', 'aside'].map(part => turn.querySelector(part).getBoundingClientRect().toJSON())"
            )
            assert (right["left"] >= left["right"]) == beside
            assert (right["top"] >= left["bottom"]) != beside


def test_a_new_question_scrolls_into_view(visit: Visit) -> None:
    for n in range(3):
        visit.ask(f"How often is the lamp of the Dunmore lighthouse changed? ({n})")
        visit.page.wait_for_timeout(2_500)
        box = visit.page.locator(f"#turn-{n}-question").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 300, (n, box)


def test_an_answer_is_copied_asked_again_and_rated(browser: "Browser", program: Started, folder: Path) -> None:
    question = "How often is the lamp of the Dunmore lighthouse changed?"
    allowed = ["clipboard-read", "clipboard-write"]
    with desktop(browser, permissions=allowed) as context, visiting(context, program.url) as visit:
        visit.ask(question)
        visit.page.get_by_role("button", name="Copy", exact=True).click()
        visit.page.get_by_role("button", name="Copied").wait_for()
        copied = visit.page.evaluate("navigator.clipboard.readText()")
        assert "every 90 days" in copied
        assert "[1] Lighthouse: lighthouse.md" in copied
        visit.page.get_by_role("button", name="Helpful", exact=True).click()
        visit.page.get_by_text("Thank you.").wait_for()
        visit.page.locator("[class*=st-key-helpful-turn-0] [kind=primary]").wait_for()
        assert b'"rating":"up"' in b"".join(one.read_bytes() for one in (folder / "home").glob("traces.sqlite*"))
        visit.page.get_by_role("button", name="Ask again").click()
        visit.answer(1).wait_for()
        assert visit.page.locator("#turn-1-question").inner_text() == question


def test_emergency_advice_comes_first_and_by_itself(visit: Visit) -> None:
    answer = visit.ask("I have chest pain and shortness of breath. How often is the lamp changed?")
    alert = answer.get_by_role("alert")
    assert "Call your emergency number now" in alert.inner_text()
    assert "emergency number" not in answer.locator(".answer").inner_text()
    assert answer.evaluate("e => e.querySelector('.said').firstElementChild.className") == "urgent"


def test_a_file_that_cannot_be_read_is_named_once_and_the_list_stays(visit: Visit) -> None:
    visit.go("Documents")
    files: list[FilePayload] = [{"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 nothing"}]
    visit.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(files)
    visit.page.get_by_role("button", name="Remove broken.pdf").wait_for()
    visit.page.get_by_role("button", name="Add to the index").click()
    visit.page.get_by_text("Reading broken.pdf").wait_for()
    assert visit.page.get_by_role("heading", name="Documents in the index").count() == 1
    lines = visit.page.locator(".uploads")
    lines.wait_for()
    assert lines.inner_text().count("broken.pdf") == 1


def test_a_document_is_found_and_deleted_after_a_question(visit: Visit) -> None:
    upload(visit, ("throwaway.md", "# Throwaway\n\nThe throwaway buoy of Kilbray is green.\n"))
    visit.page.get_by_label("Search by title or name").fill("THROWAWAY")
    visit.page.get_by_label("Search by title or name").press("Enter")
    visit.page.locator(".document", has_text="lighthouse.md").wait_for(state="detached")
    delete = visit.page.get_by_role("button", name="Delete: throwaway.md")
    sync_api.expect(delete).to_have_count(1)  # while Streamlit draws the list anew, the old one is there, too
    delete.click()
    visit.page.get_by_role("button", name="Keep it").click()
    delete.click()
    visit.page.get_by_role("button", name="Yes, delete it").click()
    visit.page.get_by_text("throwaway.md was deleted.").wait_for()
    visit.page.get_by_text("No document has “THROWAWAY”").wait_for()


def test_how_the_answer_came_about_is_told(visit: Visit) -> None:
    answer = visit.ask("How often is the lamp of the Dunmore lighthouse changed?")
    account = answer.locator("details.account")
    account.locator("> summary").press("Enter")  # it opens from the keyboard
    text = account.inner_text()
    assert "The checks passed." in text
    assert "✓ found it" in text or "◐ found part of it" in text
    assert "Search the index: found" in text
    assert "✓ supported" in text
    plot = account.get_by_role("img")
    assert "Pass 1: " in (plot.get_attribute("aria-label") or "")
    assert plot.locator(".bar").count() >= 1


def test_what_cannot_be_answered_is_marked_so_in_words(visit: Visit) -> None:
    answer = visit.ask("What is the capital of Mars?")
    notice = answer.get_by_role("note").first
    assert "No answer" in notice.inner_text()
    assert answer.locator("a.cite").count() == 0


def test_a_weak_answer_looks_weak_and_says_what_is_not_covered(visit: Visit) -> None:
    """Without unfolding anything."""
    answer = visit.ask("How often is the lamp of the Dunmore lighthouse changed and who painted the tower?")
    assert "weak" in (answer.get_attribute("class") or "").split()
    weak = answer.locator(".notice.weak")
    assert weak.is_visible()
    assert "Only part of what was asked was found" in weak.inner_text()
    assert answer.get_by_text("Not covered", exact=True).is_visible()
    assert answer.get_by_text("who painted the tower", exact=True).first.is_visible()


def test_text_from_right_to_left_reads_from_the_right(visit: Visit) -> None:
    upload(visit, ("gate.md", "# השער\n\nהשער של המגדלור נפתח בשעה שש בבוקר (טופס AB-12)."))
    visit.go("Chat")
    answer = visit.ask("מתי השער של המגדלור נפתח?")
    question = visit.page.locator(".question").nth(visit.turns - 1)
    for said in (question, answer.locator(".answer"), answer.locator(".passage").first):
        mark, first = said.evaluate(_ENDS)
        assert mark < first, said.inner_text()


# Where the last mark of a text stands, and its first Hebrew letter.
_ENDS = """root => {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange(), at = [];
  while (walk.nextNode())
    [...walk.currentNode.data].forEach((sign, place) => {
      range.setStart(walk.currentNode, place);
      range.setEnd(walk.currentNode, place + 1);
      if (/[\\u0590-\\u05ff.?]/.test(sign)) at.push([sign, range.getBoundingClientRect().left]);
    });
  const first = at.find(([sign]) => !/[.?]/.test(sign)), mark = at.findLast(([sign]) => /[.?]/.test(sign));
  return [mark[1], first[1]];
}"""


def test_documents_cannot_put_markup_into_the_page(visit: Visit) -> None:
    upload(visit, ("harbour.md", HOSTILE))
    assert visit.page.locator("#planted").count() == 0
    visit.go("Chat")
    assert "12 euros" in visit.ask("How much is the harbour tax of Kilbray?").inner_text()
    answer = visit.ask("What is the harbour tax of Kilbray?")  # the markup stands in the answer itself
    assert "<script>document.title='no'</script>" in answer.locator(".answer").first.inner_text()
    answer.evaluate("e => e.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert "<script>document.title='no'</script>" in answer.inner_text()
    for planted in ("#planted", ".selfright img", ".selfright script", "a[href^=javascript]"):
        assert visit.page.locator(planted).count() == 0
    assert visit.page.title() == "Selfright"


def test_a_profile_is_seen_corrected_and_erased(visit: Visit) -> None:
    visit.ask("I am a 60 year old man with type 2 diabetes. How often is the lamp changed?")
    visit.go("Profile")
    table = visit.page.locator(".profile table")
    assert "60 years" in table.inner_text()
    assert "type 2 diabetes" in table.inner_text()

    visit.page.get_by_label("Value", exact=True).fill("61")
    visit.page.get_by_role("button", name="Save").click()
    visit.page.locator(".profile table", has_text="set by hand").wait_for()
    assert "61" in table.inner_text()
    assert "60" not in table.inner_text()

    visit.page.get_by_role("button", name="Erase my profile").click()
    visit.page.get_by_role("button", name="Erase it").click()
    visit.page.get_by_text("Nothing is remembered about you.").wait_for()


def test_conversations_are_kept_reopened_and_forgotten(visit: Visit) -> None:
    question = "How often does the fog horn sound?"
    visit.ask(question)
    visit.page.get_by_role("button", name="New conversation").click()
    visit.page.locator("section.selfright").first.wait_for(state="detached")
    visit.page.get_by_role("button", name=question[:20]).first.click()
    visit.answer(0).wait_for()
    assert "twice a minute" in visit.answer(0).inner_text()

    visit.page.get_by_role("button", name="Forget this conversation").click()
    visit.page.get_by_role("button", name="Delete it").click()
    visit.page.get_by_text("The conversation was deleted.").wait_for()
    visit.page.get_by_role("button", name=question[:20]).wait_for(state="detached")


def test_reports_are_shown_without_running_what_is_in_them(visit: Visit) -> None:
    visit.go("Reports")
    inner = visit.page.frame_locator("[data-testid=stIFrame]").frame_locator("iframe")
    inner.get_by_role("heading", name="The report").wait_for()
    assert visit.page.title() == "Selfright"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_korean_for_korean_browsers_and_fits_a_phone(browser: "Browser", program: Started, theme: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with (
        desktop(browser, locale="ko-KR", color_scheme=theme, **phone) as context,
        visiting(context, program.url) as visit,
    ):
        answer = visit.ask("How often is the lamp of the Dunmore lighthouse changed?")
        answer.locator("details.account > summary").tap()
        assert "멈춘 이유" in answer.inner_text()
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        light = answer.evaluate("e => getComputedStyle(e).color.match(/\\d+/g).reduce((a, b) => a + +b, 0)")
        assert (light > 380) == (theme == "dark")
        broken = visit.page.evaluate(_BROKEN_WORDS)
        assert broken == []


# Words of table cells that stand on more than one line.
_BROKEN_WORDS = """() => [...document.querySelectorAll('.selfright td, .selfright th')].flatMap(cell => {
  const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [], range = document.createRange();
  while (walk.nextNode())
    for (const word of walk.currentNode.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      range.setStart(walk.currentNode, word.index);
      range.setEnd(walk.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(each => Math.round(each.top))).size > 1) found.push(word[0]);
    }
  return found;
})"""


def test_no_english_is_left_on_the_korean_page(browser: "Browser", program: Started) -> None:
    with desktop(browser, locale="ko-KR") as context, visiting(context, program.url) as visit:
        answer = visit.ask("던모어 등대의 등은 얼마나 자주 바꾸나요?")
        answer.locator("details.account > summary").click()
        steps = answer.locator(".path .quiet").all_inner_texts()
        assert "질문" in steps
        assert not [step for step in steps if _LATIN.search(step)]
        assert visit.page.evaluate("document.documentElement.lang") == "ko"
        left = visit.page.evaluate(_OF_STREAMLIT)
        for name in ("문서", "프로필", "보고서"):
            visit.page.get_by_role("link", name=name).first.click()
            visit.page.get_by_role("heading", name=name, level=1).wait_for()
            visit.page.wait_for_timeout(600)
            left += visit.page.evaluate(_OF_STREAMLIT)
        assert not {said for said in left if _LATIN.search(_MEANT.sub("", said))}
        visit.page.get_by_text("English").click()
        visit.page.get_by_role("heading", name="Reports", level=1).wait_for()
        visit.page.get_by_role("link", name="Documents").first.click()
        visit.page.get_by_text("100MB per file").wait_for()


_LATIN = re.compile(r"[A-Za-z]{2,}")
# Names: of this program, of languages in themselves, of kinds of files.
_MEANT = re.compile(
    r"Selfright|Language · |English|\bTXT|\bMARKDOWN|Markdown|\bMDX?|HTML|PDF|DOC[XM]?|PP[TS][XM]?|XLS[XM]?"
    r"|HWPX?|OD[TPS]|RTF|EPUB|CSV|TSV|NDJSON|JSONL|JSON|\d+MB|--reports|API"
)
# What the page shows or tells a screen reader outside of our own markup, conversations by their questions, documents by
# their names, and icons.
_OF_STREAMLIT = """() => {
  const said = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const asked = '[data-testid=stSidebarUserContent] button, [class*=st-key-row-]';
  const icon = '[data-testid=stIconMaterial]';
  const out = e => e.closest(`.selfright, style, script, noscript, ${icon}, ${asked}`);
  while (walk.nextNode()) if (!out(walk.currentNode.parentElement)) said.push(walk.currentNode.data.trim());
  for (const e of document.querySelectorAll('[aria-label], [title], [placeholder]'))
    if (!out(e)) for (const name of ['aria-label', 'title', 'placeholder']) said.push(e.getAttribute(name) ?? '');
  return said;
}"""


def test_every_control_has_a_name_and_the_language_can_be_switched(visit: Visit) -> None:
    for name in ("Chat", "Documents", "Profile", "Reports"):
        visit.page.get_by_role("link", name=name).first.click()
        visit.page.wait_for_timeout(600)
        nameless = visit.page.evaluate(_NAMELESS)
        assert nameless == [], f"{name}: {nameless}"
    visit.page.get_by_text("한국어").click()
    visit.page.get_by_role("heading", name="보고서", level=1).wait_for()


def test_the_keyboard_alone_asks_and_goes_into_what_opens(visit: Visit) -> None:
    page, rings = visit.page, {}
    while not (box := page.get_by_test_id("stChatInputTextArea")).evaluate("e => e === document.activeElement"):
        page.keyboard.press("Tab")
        rings |= page.evaluate(_RING)
    assert rings == {"stRadioOption": True, "stTopNavLink": True}
    page.keyboard.type("How often is the lamp of the Dunmore lighthouse changed?")
    page.keyboard.press("Enter")
    visit.answer(0).wait_for()
    assert box.input_value() == ""
    forget, delete = page.get_by_role("button", name="Forget this"), page.get_by_role("button", name="Delete it")
    forget.press("Enter")
    delete.wait_for()
    page.keyboard.press("Tab")
    assert delete.evaluate("e => e === document.activeElement")
    page.keyboard.press("Escape")
    delete.wait_for(state="detached")
    assert forget.evaluate("e => e === document.activeElement")


# Of the part that has the focus, whether a ring of ours is around it: Streamlit gives some a faint shade alone.
_RING = """() => {
  const part = document.activeElement.closest('[data-testid=stRadioOption], [data-testid$=NavLink]');
  return part ? {[part.dataset.testid]: getComputedStyle(part).outlineStyle === 'solid'} : {};
}"""


def test_a_folded_side_bar_is_out_of_the_keyboards_way(browser: "Browser", program: Started) -> None:
    phone = {"viewport": {"width": 390, "height": 844}}
    with desktop(browser, **phone) as context, visiting(context, program.url) as visit:
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.closest('[data-testid=stSidebar]')") is None


# Controls that a screen reader would announce without a name.
_NAMELESS = """() => [...document.querySelectorAll('button, a[href], input, textarea, select, [role=combobox]')]
  .filter(e => e.offsetParent && !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.title
    || e.textContent.trim() || [...(e.labels || [])].some(l => l.innerText.trim()) || e.placeholder
    || e.closest('label')?.innerText.trim() || e.closest('[aria-label]')))
  .map(e => e.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_said_stands_out_from_its_background(browser: "Browser", program: Started, theme: str) -> None:
    with desktop(browser, color_scheme=theme) as context, visiting(context, program.url) as visit:
        visit.ask("How often is the lamp of the Dunmore lighthouse changed?").locator(".account > summary").click()
        visit.page.get_by_test_id("stSidebar").get_by_text("How often is").first.wait_for()
        assert visit.page.evaluate(_PALE) == {}


# Texts with a contrast below 4.5 (WCAG AA), icons and what is hidden left out.
_PALE = """() => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true}), pale = {};
  const rgba = color => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const up = e => { const all = []; for (; e; e = e.parentElement) all.push(e); return all; };
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => (v * a + under[i] * (255 - a)) / 255);
  const light = rgb => rgb.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const said = walk.currentNode.data.trim(), at = walk.currentNode.parentElement;
    if (!said || !at.checkVisibility() || at.closest('style, script, [data-testid=stIconMaterial]')) continue;
    const behind = up(at).reverse().reduce((under, e) => over(rgba(getComputedStyle(e).backgroundColor), under),
      [255, 255, 255]);
    const [r, g, b, a] = rgba(getComputedStyle(at).color);
    const alpha = up(at).reduce((product, e) => product * getComputedStyle(e).opacity, a);
    const [low, high] = [light(over([r, g, b, alpha], behind)), light(behind)].sort((x, y) => x - y);
    if ((high + .05) / (low + .05) < 4.5) pale[said] = (high + .05) / (low + .05);
  }
  return pale;
}"""


def test_without_documents_the_chat_leads_to_where_some_are_added(browser: "Browser", tmp_path: Path) -> None:
    settings = ["--index", tmp_path / "index", "--set", "embedder=none"]
    with (
        started(*settings, environment={"SELFRIGHT_HOME": str(tmp_path / "home")}) as running,
        desktop(browser) as context,
        visiting(context, running.url) as visit,
    ):
        visit.page.get_by_text("There are no documents").wait_for()
        visit.page.get_by_role("link", name="Add documents").click()
        visit.page.get_by_role("heading", name="Documents", level=1).wait_for()
        assert "1 added" in upload(visit, ("lighthouse.md", LIGHTHOUSE))
        visit.go("Chat")
        visit.page.get_by_text("Ask a question.").wait_for()
        assert not visit.page.get_by_role("link", name="Add documents").count()


def test_a_service_that_goes_leaves_the_conversation_on_show(browser: "Browser", tmp_path: Path) -> None:
    with ExitStack() as service:
        url = service.enter_context(serving(write_index(tmp_path))).url
        home = {"SELFRIGHT_HOME": str(tmp_path / "page")}
        with (
            started("--service", url, environment=home) as program,
            desktop(browser, locale="ko-KR") as context,
            visiting(context, program.url) as visit,
        ):
            visit.ask("How often is the lamp changed?").locator("a.cite").first.wait_for()
            service.close()
            assert "서비스가 응답하지 않습니다" in visit.ask("And who changes it?").inner_text()
            assert visit.answer(0).locator("a.cite").first.is_visible()
            assert "ConnectError" not in visit.page.inner_text("body")


def test_a_signal_ends_service_and_page(tmp_path: Path) -> None:
    settings = ["--index", tmp_path / "index", "--set", "embedder=none"]
    with started(*settings, environment={"SELFRIGHT_HOME": str(tmp_path / "home")}) as program:
        assert program.end() == 0
    port = int(program.url.rpartition(":")[2])
    with socket.socket() as trying:
        assert trying.connect_ex(("127.0.0.1", port)) != 0
