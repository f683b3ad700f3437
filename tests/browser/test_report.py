"""The report in a real browser: it asks nobody for anything, runs nothing, and fits a phone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from selfright.evals.results import Study
from selfright.evals.writing import redact, write_report
from tests.support import reports

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


DESKTOP = {"viewport": {"width": 1200, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
HOSTILE = "</style></title></bdi><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


class Visit:
    """A page that was opened, with all it asked for and all it complained of."""

    def __init__(self, browser: "Browser", path: Path, **options: Any) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page: Page = browser.new_context(**options).new_page()
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(path.as_uri(), wait_until="load")


def studies() -> dict[str, Study]:
    return {
        "answers": reports.answers(),
        "retrieval": reports.retrieval(),
        "redacted": redact(reports.answers()),
        "hostile": reports.with_text(reports.answers(), HOSTILE),
    }


@pytest.mark.parametrize("options", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", ["answers", "retrieval", "redacted", "hostile"])
def test_it_opens_without_a_complaint_or_a_request_and_fits(
    browser: "Browser", tmp_path: Path, kind: str, options: dict[str, Any]
) -> None:
    path = write_report(studies()[kind], tmp_path)
    visit = Visit(browser, path, **options)
    page = visit.page
    assert visit.asked == [path.as_uri()]
    assert visit.complaints == []
    assert page.title().startswith("Selfright report: ")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".plot svg").count() == (1 if kind == "retrieval" else 4)
    assert page.locator("script, iframe, img").count() == 0
    page.context.close()


def test_details_open_by_keyboard(browser: "Browser", tmp_path: Path) -> None:
    visit = Visit(browser, write_report(reports.answers(), tmp_path), **DESKTOP)
    details = visit.page.locator("details.case").first
    assert not details.locator("section").first.is_visible()
    details.locator("summary").focus()
    visit.page.keyboard.press("Enter")
    assert details.locator("section").first.is_visible()
    assert visit.complaints == []
    visit.page.context.close()
