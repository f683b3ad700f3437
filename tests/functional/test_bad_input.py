"""Wrong input: one line that says what to do, exit code 1 or 2, nothing lost."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from selfright import Selfright
from selfright.domain.errors import IndexNotFound
from tests.functional.conftest import Cli, Outcome


def assert_one_line(outcome: Outcome, code: int, *words: str) -> None:
    assert outcome.code == code
    lines = outcome.err.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("selfright: ")
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in lines[0]


def test_no_index(cli: Cli, tmp_path: Path) -> None:
    for command in (("ask", "What?"), ("search", "what"), ("index", "list"), ("index", "info")):
        assert_one_line(cli(*command, "--index", tmp_path / "none"), 1, "selfright index add")


def test_a_folder_that_is_no_index(cli: Cli, documents: Path) -> None:
    assert_one_line(cli("ask", "What?", "--index", documents), 1, str(documents))
    assert_one_line(cli("index", "add", documents, "--index", documents), 1, str(documents))


def test_a_file_in_the_place_of_the_index(cli: Cli, documents: Path) -> None:
    assert_one_line(cli("ask", "What?", "--index", documents / "harbour.md"), 1, "harbour.md")


def test_missing_and_empty_paths(cli: Cli, tmp_path: Path) -> None:
    index = tmp_path / "index"
    assert_one_line(cli("index", "add", tmp_path / "nothing", "--index", index), 1, "nothing")
    (tmp_path / "empty").mkdir()
    assert_one_line(cli("index", "add", tmp_path / "empty", "--index", index), 1, "empty")
    assert not index.exists()


def test_one_bad_file_does_not_stop_the_others(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.txt").write_text("The good file speaks of otters.", encoding="utf-8")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 this is not a pdf")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 nonsense")
    (folder / "korean.txt").write_bytes("수달은 강에 산다.".encode("cp949"))
    (folder / "rows.jsonl").write_text('{"_id": "r1", "text": "Otters hold hands."}\n{broken\n', encoding="utf-8")
    outcome = cli("index", "add", folder, "--index", tmp_path / "index", "--json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert report["added"] == 3
    assert len(report["errors"]) >= 5
    for name in ("binary.txt", "broken.pdf", "empty.txt", "broken.docx", "rows.jsonl"):
        assert any(name in line for line in outcome.err.splitlines()), name
    hits = json.loads(cli("search", "수달", "--index", tmp_path / "index", "--json").out)
    assert hits[0]["text"] == "수달은 강에 산다."


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_found_however_it_is_composed(cli: Cli, tmp_path: Path, form: Literal["NFC", "NFD"]) -> None:
    name = unicodedata.normalize("NFD", "출장여비 규정.md")
    (tmp_path / name).write_text("일비는 25,000원이다.", encoding="utf-8")
    assert cli("index", "add", tmp_path / name, "--index", tmp_path / "index").code == 0
    given = unicodedata.normalize(form, name)
    assert cli("index", "remove", given, "--index", tmp_path / "index").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", ""), ("empty",)),
        (("ask", "   "), ("empty",)),
        (("ask", "x" * 100_000), ("100,000", "at most")),
        (("search", ""), ("empty",)),
    ],
)
def test_questions_that_cannot_be_asked(cli: Cli, indexed: Path, arguments: tuple, words: tuple) -> None:
    assert_one_line(cli(*arguments, "--index", indexed), 1, *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "What?", "--preset", "ful"), ("did you mean 'full'",)),
        (("ask", "What?", "--set", "top_kk=3"), ("did you mean 'top_k'",)),
        (("ask", "What?", "--set", "nope=1"), ("unknown setting 'nope': choose one of", "top_k")),
        (("ask", "What?", "--set", "top_k=many"), ("whole number",)),
        (("ask", "What?", "--set", "top_k=0"), ("between",)),
        (("ask", "What?", "--set", "top_k"), ("FLAG=VALUE",)),
        (("ask", "What?", "--set", "refine_strategy=corrective"), ("corrective_rag",)),
        (("ask", "What?", "--set", "medcat2_enabled=true"), ("medcat2_enabled",)),
        (("ask", "What?", "--set", "llm=openai:gpt"), ("OPENAI_API_KEY",)),
        (("ask", "What?", "--set", "llm=gpt"), ("offline",)),
        (("ask", "What?", "--presett", "full"), ("--preset",)),
        (("ask",), ("QUESTION",)),
        (("ask", "when", "do", "you", "open"), ("in quotes", "'selfright ask --help'")),
        (("search", "opening", "hours"), ("in quotes",)),
        (("aks", "What?"), ("Did you mean 'ask'",)),
        (("search", "x", "-k", "0"), ("-k",)),
        (("ask", "What?", "--session", ""), ("name of a session", "1 to 200")),
        (("ask", "What?", "--user", ""), ("name of a user",)),
        (("ask", "What?", "--set", "home="), ("'home' is empty",)),
        (("index", "add", ".", "--collection", ""), ("name of a collection",)),
        (("graph", "--preset", "crg"), ("did you mean 'crag'",)),
    ],
)
def test_wrong_use_names_the_right_one(cli: Cli, indexed: Path, arguments: tuple, words: tuple) -> None:
    where = () if arguments[0] in ("graph", "aks") else ("--index", indexed)
    assert_one_line(cli(*arguments, *where), 2, *words)


def test_a_place_where_nothing_can_be_written(cli: Cli, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    outcome = cli("index", "add", documents, "--index", tmp_path / "file" / "index")
    assert_one_line(outcome, 1, "file")


def test_a_question_from_a_shell_without_utf_8(indexed: Path) -> None:
    program = [sys.executable, "-m", "selfright"]
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [*program, "ask", "무적은 몇 번 울리나요?", "--index", str(indexed)],
        env={**os.environ, **plain},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "두 번" in done.stdout.decode("utf-8")


def test_lone_surrogates_do_no_harm(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        assert selfright.ask("what is \ud800 the fog horn").question


@pytest.mark.parametrize("place", [0, 3])
def test_debug_shows_the_whole_story_wherever_it_is_put(cli: Cli, tmp_path: Path, place: int) -> None:
    arguments: list[object] = ["ask", "What?", f"--index={tmp_path / 'none'}"]
    arguments.insert(place, "--debug")
    with pytest.raises(IndexNotFound):
        cli(*arguments)
