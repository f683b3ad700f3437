"""The demo shows five different paths, and the demo set is what the documents say it is."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from selfright import Answer, Selfright, StopReason
from selfright.cli.commands.demo import DATA, SCENES
from selfright.cli.main import main
from tests.functional.conftest import Outcome

ROOT = Path(__file__).parents[2]
QUESTIONS = [json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """What the command says where nothing was before, and its index: made once, for it takes long."""
    home, out = tmp_path_factory.mktemp("demo"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("SELFRIGHT_HOME", str(home))
        code = main(["demo"])
    return Outcome(code, out.getvalue(), ""), home / "demo" / "index"


@pytest.fixture(scope="module")
def answers(shown: tuple[Outcome, Path]) -> dict[str, Answer]:
    asked = {question["id"]: question["question"] for question in QUESTIONS}
    with Selfright.open(shown[1], pack="medical", web_provider="static", web_folder=str(DATA / "web")) as selfright:
        return {path: selfright.ask(asked.get(question, question)) for path, question in SCENES}


def gold(path: str) -> list[str]:
    return next(q["answers"] for q in QUESTIONS if q["id"] == dict(SCENES)[path])


def said(answer: Answer) -> str:
    return " ".join(f"{answer.answer} {' '.join(c.text for c in answer.citations)}".split())


def test_right_at_once(answers: dict[str, Answer]) -> None:
    answer = answers["right at once"]
    assert len(answer.iterations) == 1
    assert answer.verdict == "correct"
    assert any(g in said(answer) for g in gold("right at once"))


def test_corrected_by_a_rewritten_query(answers: dict[str, Answer]) -> None:
    answer = answers["corrected by a rewritten query"]
    assert len(answer.iterations) > 1
    assert not answer.abstained
    assert max(i.overall or 0 for i in answer.iterations) > (answer.iterations[0].overall or 0)
    assert all(g in said(answer) for g in ("10 units", "properties file"))


def test_rescued_by_the_web(answers: dict[str, Answer]) -> None:
    answer = answers["rescued by the web"]
    assert answer.iterations[0].verdict == "incorrect"
    assert all(c.url and c.url.startswith("https://") for c in answer.citations)
    assert any(g in said(answer) for g in gold("rescued by the web"))


def test_index_and_web_merged(answers: dict[str, Answer]) -> None:
    answer = answers["ambiguous: index and web merged"]
    assert answer.iterations[0].verdict == "ambiguous"
    assert {step.node for step in answer.trace} >= {"refine_knowledge", "web_search"}
    assert {bool(c.url) for c in answer.citations} == {True, False}
    assert all(g in said(answer) for g in ("10 units", "20 minutes to 12 hours"))


def test_honest_abstention(answers: dict[str, Answer]) -> None:
    answer = answers["honest abstention"]
    assert answer.abstained
    assert answer.stop_reason is StopReason.ABSTAINED
    assert not answer.citations


def test_both_languages_are_shown(answers: dict[str, Answer]) -> None:
    assert {answer.language for answer in answers.values()} == {"ko", "en"}


def test_the_command_shows_all_five_and_what_to_type_next(shown: tuple[Outcome, Path]) -> None:
    outcome, _ = shown
    assert outcome.code == 0
    for number, (path, _) in enumerate(SCENES, start=1):
        assert f"{number}. {path}" in outcome.out
    assert "selfright index add" in outcome.out
    for readme in ("README.md", "README.ko.md"):
        for line in printed(ROOT / readme):
            assert re.search(line, outcome.out), (readme, line)


def printed(readme: Path) -> list[str]:
    """Patterns for the lines of the demo's output in a README; an ellipsis there stands for anything."""
    (block,) = re.findall(r"^```text\n(.+?)^```", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [".*".join(map(re.escape, line.strip().split("…"))) for line in block.splitlines() if line.strip()]


def test_the_demo_set_is_sound() -> None:
    documents = {p.relative_to(DATA / "documents").as_posix(): p for p in (DATA / "documents").rglob("*.md")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in documents.items()}
    pages = [re.sub(r"\s+", " ", p.read_text(encoding="utf-8")) for p in (DATA / "web").rglob("*.html")]
    assert len(documents) >= 80
    assert len(QUESTIONS) >= 80
    assert len({q["id"] for q in QUESTIONS}) == len(QUESTIONS)
    assert sum(not q["answerable"] for q in QUESTIONS) >= 20
    for question in QUESTIONS:
        assert set(question["relevant"]) <= set(documents), question["id"]
        if not question["answerable"]:
            assert not question["answers"], question["id"]
        sources = [texts[name] for name in question["relevant"]] or pages
        for answer in question["answers"]:
            assert any(answer in source for source in sources), (question["id"], answer)
