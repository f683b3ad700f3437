"""The page says everything in both languages."""

import ast
from pathlib import Path
from string import Formatter

import pytest

import selfright.ui
from selfright.domain.errors import ServiceError
from selfright.domain.judgements import StopReason, Verdict
from selfright.flow.presets import PRESETS
from selfright.ui import words
from selfright.ui.state import Memory, error_text
from selfright.ui.words import WORDS, language_of

UI = Path(selfright.ui.__file__).parent


def test_both_languages_say_the_same_things_with_the_same_fields() -> None:
    assert list(WORDS["en"]) == list(WORDS["ko"])
    for name, english in WORDS["en"].items():
        assert fields(english) == fields(WORDS["ko"][name]), name


def fields(said: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(said) if field}


@pytest.mark.parametrize("table", ["STOPPED", "VERDICTS", "WITHDRAWN", "NODES", "PRESETS"])
def test_names_are_told_in_both_languages(table: str) -> None:
    both = getattr(words, table)
    assert set(both["en"]) == set(both["ko"])


def test_every_name_of_the_service_is_known() -> None:
    assert set(words.STOPPED["en"]) == {reason.value for reason in StopReason}
    assert set(words.VERDICTS["en"]) == {verdict.value for verdict in Verdict}
    assert set(words.NODES["en"]) == {node for preset in PRESETS.values() for node in preset.edges}
    assert set(words.PRESETS["en"]) <= set(PRESETS)


@pytest.mark.parametrize(
    ("locale", "language"), [("ko-KR", "ko"), ("ko", "ko"), ("en-GB", "en"), ("de", "en"), ("", "en"), (None, "en")]
)
def test_the_language_of_a_browser(locale: str | None, language: str) -> None:
    assert language_of(locale) == language


@pytest.mark.parametrize("module", sorted(path.name for path in UI.glob("*.py")))
def test_of_ours_the_page_knows_the_client_alone(module: str) -> None:
    tree = ast.parse((UI / module).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {name for name in imported if name.split(".")[0] == "selfright"}
    allowed = ("selfright.ui", "selfright.wire.client", "selfright.wire", "selfright.schemas")
    assert not {name for name in ours if not name.startswith(allowed)}


def test_an_error_is_told_in_the_language_of_the_page() -> None:
    error = ServiceError("there is nothing to search yet; upload a document first", code="index_not_found")
    assert error_text(error, Memory("en")) == str(error)
    assert error_text(error, Memory("ko")).startswith("아직 검색할 문서가 없습니다.")
    assert error_text(ServiceError("no row 7", code="unreadable"), Memory("ko")) == "no row 7"
