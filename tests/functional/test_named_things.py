"""Whoever asks about one thing is not answered from what is said of another: over documents of the demo, offline."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from selfright import Selfright

SHOWN = (
    "medical/ko/warfarin.md", "medical/en/lisinopril.md", "medical/en/metformin.md", "medical/ko/metformin.md",
    "medical/ko/losartan.md", "fxstore/en/spring-integration.md", "fxstore/en/configuration.md",
    "fxstore/en/error-codes.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def selfright(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    folder = tmp_path_factory.mktemp("named")
    for name in SHOWN:
        path = folder / "documents" / Path(name).with_suffix("").as_posix().replace("/", "-")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".md").write_text(
            files("selfright").joinpath("demo", "documents", *name.split("/")).read_text(encoding="utf-8"),
            encoding="utf-8",
        )
    with Selfright.open(folder / "index", embedder="none", pack="medical") as selfright:
        selfright.add([folder / "documents"])
        yield selfright


def test_another_medicine_is_no_answer(selfright: Selfright) -> None:
    answer = selfright.ask("임신 12주인데 리시노프릴 먹어도 되나요?")
    assert all("lisinopril" in citation.document_id for citation in answer.citations)
    reasons = {one.passage_id.partition(".")[0]: one.reason for one in answer.withheld}
    assert reasons["medical-ko-warfarin"] == "named_thing"
    english = selfright.ask("Can I take lisinopril? I am 12 weeks pregnant.")
    assert "contraindicated" in english.answer
    assert all("lisinopril" in citation.document_id for citation in english.citations)


def test_the_medicine_itself_is(selfright: Selfright) -> None:
    answer = selfright.ask("메트포르민의 부작용은?")
    assert not answer.abstained
    assert "설사" in answer.answer
    assert all("metformin" in citation.document_id for citation in answer.citations)


def test_a_sister_of_what_is_asked_about_is_no_answer(selfright: Selfright) -> None:
    answer = selfright.ask("What is the default cache size of FxStore?")
    assert "FxCacheManager" not in answer.answer
    assert "100,000" not in answer.answer
    assert answer.abstained or "64 MiB" in answer.answer


def test_a_code_that_is_nowhere_is_not_explained_by_another(selfright: Selfright) -> None:
    assert selfright.ask("What does the error code FX-1042 mean?").abstained
    known = selfright.ask("What does the error code FX-1001 mean?")
    assert not known.abstained
    assert "another process holds the store file" in known.answer
