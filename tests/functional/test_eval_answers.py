"""``eval answers`` and ``ablate``: what they measure, that it is the same each time, and what survives a kill."""

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright.api.selfright import Selfright
from selfright.cli.main import main
from selfright.domain.errors import UsageError
from selfright.evals.results import Study
from selfright.evals.systems import PROFILES
from tests.functional.conftest import Cli
from tests.support.scripted.server import ScriptedServer
from tests.support.studies import numbers, read_study
from tests.support.waiting import wait_for

QUESTIONS = (
    ("lamp", "How often is the lamp of the Dunmore lighthouse changed?", "90 days", "lighthouse.md"),
    ("등", "How often does the fog horn sound?", "twice a minute", "lighthouse.md"),
    ("master", "Who is the harbour master of Dunmore?", "Orla Keane", "harbour.md"),
    ("none", "What does the Dunmore zoo charge for penguins?", "", ""),
)


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here needs no encoder, and each command would load it anew."""
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "none")


@pytest.fixture(scope="session")
def indexed(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dunmore") / "index"
    files = [documents / "lighthouse.md", documents / "harbour.md"]
    assert main(["index", "add", *map(str, files), "--index", str(place), "--set", "embedder=none"]) == 0
    return place


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "dunmore.jsonl"
    rows = [
        {"id": name, "question": question, "answers": [gold], "relevant": [document]}
        if gold
        else {"id": name, "question": question, "answerable": False}
        for name, question, gold, document in QUESTIONS
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_answers_are_measured_and_presets_compared(cli: Cli, questions: Path, indexed: Path, tmp_path: Path) -> None:
    done = cli("eval", "answers", questions, "--index", indexed, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["kind"], said["form"], [run["system"] for run in said["runs"]]) == (
        "answers", "selfright.study/1", ["basic", "full"],
    )  # fmt: skip
    assert said["runs"][0]["rows"] == 4
    assert said["runs"][0]["summary"]["containment"]["mean"] == 1.0
    study = read_study(tmp_path / "out" / "study.json")
    basic, full = study.runs
    assert study.data.questions == 4
    assert len(study.data.sha256) == len(study.index.sha256) == 64
    assert (basic.preset, basic.flags["refine_strategy"], basic.models["evaluate"]) == ("basic", "basic_rag", "offline")
    assert all(row.turn is not None and row.turn.judged is not None for row in full.rows)
    assert basic.rows[0].metrics["retrieval_recall"].value == 1.0
    assert basic.rows[3].metrics["containment"].value is None
    (compared,) = study.comparisons
    assert compared.moves is not None
    assert (
        compared.moves.right_right
        + compared.moves.wrong_right
        + compared.moves.right_wrong
        + compared.moves.wrong_wrong
        == 4
    )
    names = ("study.json", "rows.csv", "summary.csv", "report.html")
    assert set(said["files"]) == {str(tmp_path / "out" / name) for name in names}


def test_the_table_says_what_became_of_each_question(cli: Cli, questions: Path, indexed: Path) -> None:
    done = cli("eval", "answers", questions, "--index", indexed, "--preset", "basic", "--preset", "crag")
    assert done.code == 0, done.err
    for part in ("dunmore.jsonl (selfright): 4 questions", "crag − basic", "right→right", "verdicts:", "AURC"):
        assert part in done.out


def test_nothing_is_left_in_the_users_home(cli: Cli, questions: Path, indexed: Path, home_folder: Path) -> None:
    assert cli("eval", "answers", questions, "--index", indexed, "--preset", "full").code == 0
    assert not (home_folder / "home").exists()


def test_texts_can_be_left_out(cli: Cli, questions: Path, indexed: Path, tmp_path: Path) -> None:
    done = cli("eval", "answers", questions, "--index", indexed, "--preset", "full", "--out", tmp_path, "--no-texts")
    assert done.code == 0, done.err
    for name in ("study.json", "rows.csv"):
        assert "Orla" not in (tmp_path / name).read_text(encoding="utf-8")


def test_without_what_the_report_needs_the_data_is_written_all_the_same(
    cli: Cli, questions: Path, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else find(name))
    done = cli("eval", "answers", questions, "--index", indexed, "--preset", "basic", "--limit", 1, "--out", tmp_path)
    assert done.code == 0, done.err
    assert "no report.html" in done.err
    assert 'pip install "selfright[eval]"' in done.err
    assert {path.name for path in tmp_path.iterdir()} >= {"study.json", "rows.csv", "summary.csv"}
    assert not (tmp_path / "report.html").exists()


Ablate = Callable[..., Study]


@pytest.fixture
def ablate(cli: Cli, questions: Path, indexed: Path) -> Ablate:
    def run(out: Path, *options: object) -> Study:
        done = cli("ablate", questions, "--index", indexed, "--out", out, "--seed", 5, *options)
        assert done.code == 0, done.err
        return read_study(out / "study.json")

    return run


def test_six_profiles_and_the_same_seed_gives_the_same_numbers(ablate: Ablate, tmp_path: Path) -> None:
    once, again = ablate(tmp_path / "1"), ablate(tmp_path / "2")
    assert tuple(run.system for run in once.runs) == PROFILES
    assert numbers(once) == numbers(again)


def test_several_processes_give_the_same_numbers_as_one(ablate: Ablate, tmp_path: Path) -> None:
    names = ("--profiles", "baseline,full_context_engineering")
    alone, together = ablate(tmp_path / "1", *names, "--workers", 1), ablate(tmp_path / "2", *names, "--workers", 2)
    assert numbers(alone) == numbers(together)


def test_a_run_that_is_over_asks_nothing_again(ablate: Ablate, tmp_path: Path) -> None:
    once = ablate(tmp_path / "1", "--profiles", "baseline,self_refine_full_safety")
    before = (tmp_path / "1" / "rows.jsonl").read_bytes()
    again = ablate(tmp_path / "1", "--profiles", "baseline,self_refine_full_safety")
    assert (tmp_path / "1" / "rows.jsonl").read_bytes() == before
    assert again.runs == once.runs


def test_killed_half_way_it_goes_on(ablate: Ablate, questions: Path, indexed: Path, tmp_path: Path) -> None:
    out, log = tmp_path / "killed", tmp_path / "killed" / "rows.jsonl"
    program = "import sys; from selfright.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "ablate", questions, "--index", indexed, "--out", out, "--seed", "5"]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: log.exists() and log.read_bytes().count(b"\n") > 6)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = log.read_bytes()
    whole = kept[: kept.rfind(b"\n") + 1]
    assert not (out / "study.json").exists()
    study = ablate(out)
    assert log.read_bytes().startswith(whole)
    assert log.read_bytes().count(b"\n") == 1 + 6 * 4
    assert numbers(study) == numbers(ablate(tmp_path / "whole"))


def test_another_plan_is_not_mixed_in(cli: Cli, ablate: Ablate, questions: Path, indexed: Path, tmp_path: Path) -> None:
    ablate(tmp_path, "--profiles", "baseline")
    done = cli("ablate", questions, "--index", indexed, "--out", tmp_path, "--profiles", "baseline", "--set", "top_k=3")
    assert (done.code, "rows of another plan" in done.err) == (2, True)


def test_a_grid_of_flags(ablate: Ablate, tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('[grid]\npreset = ["crag"]\ntop_k = [1, 3]\n')
    study = ablate(tmp_path / "out", "--grid", grid)
    assert [(run.system, run.flags["top_k"]) for run in study.runs] == [("crag top_k=1", 1), ("crag top_k=3", 3)]


# With a model


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ScriptedServer() as server:
        monkeypatch.setenv("SELFRIGHT_LLM", "openai:scripted")
        monkeypatch.setenv("SELFRIGHT_BASE_URL", server.url)
        yield server


def test_a_model_can_judge_and_is_counted_apart(
    cli: Cli, questions: Path, indexed: Path, tmp_path: Path, model: ScriptedServer
) -> None:
    done = cli("eval", "answers", questions, "--index", indexed, "--preset", "basic", "--judge", "model", "--limit", 2,
               "--out", tmp_path)  # fmt: skip
    assert done.code == 0, done.err
    rows = read_study(tmp_path / "study.json").runs[0].rows
    assert all(
        row.turn and row.turn.judged and row.turn.judged.source == "llm" for row in rows if not row.turn.abstained
    )
    made = [(row.turn.llm_calls, row.turn.judge_calls) for row in rows if row.turn]
    assert sum(judging for _, judging in made) == len(model.calls(job="evaluate")) > 0
    assert sum(calls + judging for calls, judging in made) == len(model.requests)


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (("--preset", "ful"), 2, "did you mean 'full'"),
        (("--set", "topk=3"), 2, "unknown setting 'topk'"),
        (("--judge", "model"), 2, "a model is to judge, but none is configured"),
    ],
)
def test_wrong_use_is_said_before_anything_is_asked(
    cli: Cli, questions: Path, indexed: Path, options: tuple[str, ...], code: int, why: str
) -> None:
    done = cli("eval", "answers", questions, "--index", indexed, *options)
    assert (done.code, why in done.err, done.out) == (code, True, "")


def test_a_bad_row_is_named_with_its_line(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"question": "fine"}\n{"question": 3}\n')
    done = cli("eval", "answers", path, "--index", indexed)
    assert (done.code, "line 2: 'question': expected a text" in done.err) == (1, True)


def test_without_an_index_there_is_nothing_to_ask(cli: Cli, questions: Path, tmp_path: Path) -> None:
    done = cli("eval", "answers", questions, "--index", tmp_path / "nothing")
    assert (done.code, done.out) == (1, "")


def test_a_watched_turn_is_the_turn(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        question = "How often is the lamp of the Dunmore lighthouse changed?"
        asked, examined = selfright.ask(question), selfright.examine(question)
        assert (examined.answer.answer, examined.answer.verdict) == (asked.answer, asked.verdict)
        assert examined.answer.evaluation == asked.evaluation
        assert len(examined.passes) == len(asked.iterations)
        assert any("90 days" in passage.text for passage in examined.passes[-1].passages)
        assert examined.judged is not None
        assert examined.judged.source.value == "local"
        assert selfright.examine(question, "none").judged is None
        with pytest.raises(UsageError, match="none is configured"):
            selfright.examine(question, "model")


def test_errors_of_single_turns_do_not_end_the_run(
    cli: Cli, questions: Path, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine = Selfright.examine

    def failing(self: Selfright, question: str, *given: Any, **options: Any) -> Any:
        if "harbour" in question:
            raise RuntimeError("the lamp went out")
        return examine(self, question, *given, **options)

    command = ("eval", "answers", questions, "--index", indexed, "--preset", "basic", "--out", tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Selfright, "examine", failing)
        done = cli(*command)
    assert done.code == 1
    assert "'master': RuntimeError: the lamp went out" in done.err
    assert [row.error is None for row in read_study(tmp_path / "study.json").runs[0].rows] == [True, True, False, True]
    assert cli(*command).code == 0  # what failed is asked again
    assert read_study(tmp_path / "study.json").runs[0].complete


def test_a_broken_system_is_given_up_soon(
    cli: Cli, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def failing(self: Selfright, question: str, *given: Any, **options: Any) -> Any:
        asked.append(question)
        raise RuntimeError("no luck")

    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"question": f"q{n}"}) + "\n" for n in range(30)))
    monkeypatch.setattr(Selfright, "examine", failing)
    done = cli("eval", "answers", path, "--index", indexed, "--preset", "basic", "--workers", 1)
    assert (done.code, len(asked), "10 turns in a row failed" in done.err) == (1, 10, True)
