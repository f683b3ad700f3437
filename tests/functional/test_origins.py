"""Who brought a text is known of every passage that is found."""

from pathlib import Path

import pytest

from selfright import Selfright
from tests.support.uploads import take_in


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kiln.md").write_text("# Kiln K3\n\nThe kiln K3 weighs 90 kilograms.\n", encoding="utf-8")
    return folder


def origins(selfright: Selfright) -> dict[str, str]:
    return {hit.passage.document_id: hit.passage.origin for hit in selfright.search("kiln K3 weighs")}


def test_added_crawled_and_sent_documents_are_told_apart(notes: Path, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "page.md").write_text("# Page\n\nThe kiln K3 weighs 70 kilograms.\n", encoding="utf-8")
    sent = tmp_path / "sent.jsonl"
    row = '{"_id": "row", "text": "The kiln K3 weighs 50 kilograms.", "metadata": {"origin": "index"}}\n'
    sent.write_text(row, encoding="utf-8")
    with Selfright.open(path=tmp_path / "index", home=tmp_path / "home", embedder="none") as selfright:
        selfright.add([notes])
        selfright.add([crawl], origin="web")
        take_in(selfright, sent, "sent.jsonl")
        assert origins(selfright) == {"kiln.md": "index", "page.md": "web", "row": "upload"}
        answer = selfright.ask("How much does the kiln K3 weigh?", preset="basic")
        withheld = selfright.ask("How much does the kiln K3 weigh?", preset="crag").withheld
    assert {(one.passage_id, one.reason) for one in withheld} == {("page.md#0", "trust"), ("row#0", "trust")}
    assert "90 kilograms" in answer.answer
    assert "50" not in answer.answer
    assert "70" not in answer.answer


def test_what_was_sent_answers_when_nothing_else_does(notes: Path, tmp_path: Path) -> None:
    sent = tmp_path / "glaze.md"
    sent.write_text("# Glazes\n\nThe glaze G7 melts at 1,240 degrees.\n", encoding="utf-8")
    with Selfright.open(path=tmp_path / "index", home=tmp_path / "home", embedder="none") as selfright:
        selfright.add([notes])
        take_in(selfright, sent, "glaze.md")
        assert "1,240 degrees" in selfright.ask("At how many degrees does the glaze G7 melt?", preset="crag").answer
