"""Takes the pictures of docs/page.md: the page in light, dark, on a phone, and in Korean, over the demo's documents.

Usage: ``python scripts/page_pictures.py [FOLDER]``; needs Chromium, playwright and the extra ``ui``.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.page import Visit, desktop, started, visiting  # noqa: E402

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("no Chromium on this machine: install it with scripts/browser.sh")
    with tempfile.TemporaryDirectory() as home, _demo() as documents, sync_playwright() as playwright:
        settings = ["--index", f"{home}/index", "--set", "pack=medical", documents / "medical"]
        with started(*settings, environment={"SELFRIGHT_HOME": home}) as page:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            _take(browser, page.url, folder)
            browser.close()


@contextmanager
def _demo() -> Iterator[Path]:
    with resources.as_file(resources.files("selfright.demo") / "documents") as documents:
        yield documents


def _take(browser: Browser, url: str, folder: Path) -> None:
    with desktop(browser) as context:
        _answer(context, url, "What are the side effects of metformin?", folder / "page-light.png")
        _documents(context, url, folder / "page-documents.png")
    with desktop(browser, color_scheme="dark") as context:
        _answer(context, url, "I have chest pain and I am short of breath. What is this?", folder / "page-dark.png")
    with desktop(browser, locale="ko-KR") as context:
        _answer(context, url, "신장 기능이 떨어지면 메트포르민 용량을 어떻게 조절하나요?", folder / "page-korean.png")
    with desktop(browser, locale="ko-KR", **PHONE) as context:
        _answer(context, url, "메트포르민의 부작용은 무엇인가요?", folder / "page-phone.png")


def _answer(context: BrowserContext, url: str, question: str, path: Path) -> None:
    with visiting(context, url) as visit:
        visit.ask(question)
        _picture(visit, path)


def _documents(context: BrowserContext, url: str, path: Path) -> None:
    with visiting(context, url) as visit:
        visit.go("Documents")
        visit.page.locator("[class*=st-key-row-0]").wait_for()
        _picture(visit, path)


def _picture(visit: Visit, path: Path) -> None:
    visit.page.wait_for_timeout(3_000)  # until everything has come to rest
    visit.page.screenshot(path=path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
