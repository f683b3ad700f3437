"""The command line as people use and script it."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from selfright.cli.commands.chat import EventPrinter
from selfright.domain.errors import SettingsError
from selfright.domain.events import TurnEvent
from selfright.domain.judgements import StopReason
from tests.functional.conftest import Cli

ANSWER_KEYS = {
    "question", "answer", "abstained", "language", "citations", "evaluation", "verdict", "verdict_confidence",
    "stop_reason", "preset", "degraded", "iterations", "removed_claims", "notes", "cost", "trace_id",
    "uncovered", "withheld",
}  # fmt: skip
EVALUATION_KEYS = {
    "grounding", "completeness", "accuracy", "overall", "answer_quality", "confidence", "missing_info",
    "improvement_suggestions", "needs_retrieval", "reason", "source", "claims",
}  # fmt: skip


def test_add_list_remove(cli: Cli, documents: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    added = json.loads(cli("index", "add", documents, "--index", index, "--json").out)
    assert (added["added"], added["failed"]) == (3, 0)
    again = json.loads(cli("index", "add", documents, "--index", index, "--json").out)
    assert (again["added"], again["unchanged"]) == (0, 3)
    listed = json.loads(cli("index", "list", "--index", index, "--json").out)
    assert [row["id"] for row in listed] == ["harbour.md", "ko/등대.md", "lighthouse.md"]
    assert cli("index", "remove", "harbour.md", "--index", index).code == 0
    hits = json.loads(cli("search", "harbour master Orla Keane", "--index", index, "--json").out)
    assert "harbour.md" not in {hit["document_id"] for hit in hits}
    info = json.loads(cli("index", "info", "--index", index, "--json").out)
    assert (info["documents"], info["languages"]) == (2, {"en": 1, "ko": 1})


def test_a_report_counts_documents_and_files_apart(cli: Cli, tmp_path: Path) -> None:
    """Two bad rows are one file that failed, and what was left out is "skipped" wherever it is told."""
    rows = '{"id": "a", "text": "The lamp is red."}\n{"id": "b", "text": "The chair is blue."}\nno json\n{"id": "c"}\n'
    files = {"rows.jsonl": rows, "empty.txt": "", "tool.exe": "x", ".hidden": "y"}
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    added = cli("index", "add", folder, "--index", tmp_path / "index")
    assert added.code == 1
    counts = "documents: added 2, replaced 0, unchanged 0, passages 2; files: failed 2, skipped 2"
    assert added.out.strip() == counts
    assert added.err.count("selfright: skipped ") == 2
    assert "passed over" not in added.err
    report = json.loads(cli("index", "add", folder, "--index", tmp_path / "index", "--json").out)
    assert (report["failed"], report["skipped"], len(report["errors"]), len(report["skipped_files"])) == (2, 2, 3, 2)


def test_removing_what_is_not_there_says_so(cli: Cli, documents: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    cli("index", "add", documents, "--index", index)
    outcome = cli("index", "remove", "nothing.md", "--index", index)
    assert outcome.code == 1
    assert "no document 'nothing.md'" in outcome.err


def test_search_form(cli: Cli, indexed: Path) -> None:
    rows = json.loads(cli("search", "lamp changed", "--index", indexed, "-k", 2, "--json").out)
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) <= 2
    best = rows[0]
    assert best["document_id"] == "lighthouse.md"
    assert set(best) == {
        "rank", "passage_id", "document_id", "title", "text", "head", "start", "end", "rrf_score", "bm25", "dense",
        "searched",
    }  # fmt: skip
    assert best["bm25"]["rank"] == 1


def test_a_search_says_what_searched(cli: Cli, documents: Path, tmp_path: Path) -> None:
    index = ("--index", tmp_path / "index", "--set", "embedder=none")
    cli("index", "add", documents, *index)
    found = cli("search", "lamp changed", *index, "--json")
    why = "the index has no embedder"
    assert all(row["searched"] == {"by": "words", "why": why} for row in json.loads(found.out))
    nothing = cli("search", "zeppelin", *index)
    assert nothing.out == ""
    assert f"searched by words alone: {why}\nnothing found" in nothing.err


@pytest.mark.parametrize("preset", ["full", "basic", "crag", "self_refine", "self_correcting"])
def test_ask_form(cli: Cli, indexed: Path, documents: Path, preset: str) -> None:
    outcome = cli("ask", "How often is the lamp changed?", "--index", indexed, "--preset", preset, "--json")
    assert outcome.code == 0
    answer = json.loads(outcome.out)
    assert set(answer) == ANSWER_KEYS
    assert "90 days" in answer["answer"]
    assert answer["preset"] == preset
    assert answer["stop_reason"] in set(StopReason)
    assert answer["language"] == "en"
    for citation in answer["citations"]:
        text = (documents / citation["document_id"]).read_text(encoding="utf-8")
        assert text[citation["start"] : citation["end"]] == citation["text"]
        assert f"[{citation['n']}]" in answer["answer"]
    if preset in ("basic", "crag"):
        assert answer["evaluation"] is None
    else:
        assert set(answer["evaluation"]) == EVALUATION_KEYS
        assert {claim["status"] for claim in answer["evaluation"]["claims"]} == {"supported"}


def test_ask_in_korean_reads_like_korean(cli: Cli, indexed: Path) -> None:
    outcome = cli("ask", "등대의 등은 얼마나 자주 교체하나요?", "--index", indexed)
    assert "90일마다" in outcome.out
    assert "출처:" in outcome.out
    assert "ko/등대.md" in outcome.out


def test_an_answer_tells_how_it_came_about(cli: Cli, indexed: Path) -> None:
    out = cli("ask", "Who is the harbour master?", "--index", indexed).out
    assert "Orla Keane" in out
    for part in ("Sources:", "How I got here:", "verdict:", "pass 1:", "stopped:", "adequate"):
        assert part in out


def test_citations_by_source_on_request(cli: Cli, indexed: Path) -> None:
    out = cli("ask", "Who is the harbour master?", "--index", indexed, "--set", "citation_style=source", "--json").out
    assert "[Source: harbour.md]" in json.loads(out)["answer"]


def test_the_folder_web_rescues(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "ferry.html").write_text(
        "<html><head><title>Ferry</title><link rel='canonical' href='https://ferry.example/times'></head>"
        "<body><article><h1>Ferry</h1><p>The ferry to Skellig leaves at 9:40 every morning.</p></article></body>"
        "</html>",
        encoding="utf-8",
    )
    settings = ("--set", "web_provider=static", "--set", f"web_folder={tmp_path}")
    out = cli("ask", "When does the ferry to Skellig leave?", "--index", indexed, *settings, "--json").out
    answer = json.loads(out)
    assert "9:40" in answer["answer"]
    assert answer["citations"][0]["url"] == "https://ferry.example/times"
    assert answer["citations"][0]["from_web"] is True
    assert answer["cost"]["web_requests"] >= 1


def test_graph_and_config(cli: Cli) -> None:
    assert "retrieve" in cli("graph", "--preset", "crag").out
    assert "self_refine_full_safety" in cli("graph").out
    assert json.loads(cli("config", "--set", "top_k=3", "--json").out)["flags"]["top_k"] == 3


def test_chat_answers_and_takes_commands(cli: Cli, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["Who is the harbour master?", "/sources", "/nonsense", "/help", "", "/quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    outcome = cli("chat", "--index", indexed)
    assert outcome.code == 0
    assert "Orla Keane" in outcome.out
    assert "Sources:" in outcome.out
    assert "no command '/nonsense'" in outcome.err
    assert outcome.err.count("/quit ends") == 3  # at first, for the mistake, and for /help


def test_ctrl_c_stops_an_answer_and_not_the_chat(cli: Cli, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines, show = iter(["Who is the harbour master?", "How often is the lamp changed?", "/quit"]), EventPrinter.show

    def interrupted(printer: EventPrinter, event: TurnEvent) -> None:
        monkeypatch.setattr(EventPrinter, "show", show)
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    monkeypatch.setattr(EventPrinter, "show", interrupted)
    outcome = cli("chat", "--index", indexed, "--session", "stopped")
    assert outcome.code == 0
    assert "(stopped)" in outcome.err
    assert "Orla Keane" not in outcome.out
    assert "90 days" in outcome.out


def test_korean_output_has_no_english_codes(cli: Cli, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["던모어 등대의 등은 얼마나 자주 교체합니까?", "/sources", "/trace", "/quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    said = cli("chat", "--index", indexed, "--session", "codes").out
    assert "90일" in said
    places = ("lighthouse.md", "harbour.md", "등대.md", "ms", "ko/", "rrf")
    rest = said
    for place in places:
        rest = rest.replace(place, "")
    assert re.findall(r"[A-Za-z_]{3,}", rest) == []


def test_a_page_or_service_without_an_index_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from selfright.cli.commands.serve import index_first

    index_first((), {"index": str(tmp_path / "nowhere")})
    assert f"there is no index at {tmp_path / 'nowhere'}" in capsys.readouterr().err


def test_a_service_without_keys_names_the_home_that_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from selfright.cli.commands.serve import tell_missing_keys
    from selfright.server.keys import KeyRing

    home = tmp_path / "home"
    with pytest.raises(SettingsError, match="mistyped is not there"):
        tell_missing_keys({"home": str(tmp_path / "mistyped")}, "127.0.0.1")
    home.mkdir()
    tell_missing_keys({"home": str(home)}, "127.0.0.1")
    said = capsys.readouterr().err
    assert f"no API keys in the home folder {home};" in said
    assert "open to everyone on this machine" in said
    with closing(KeyRing(home)) as keys:
        keys.add("ana", (), admin=True, note="")
    tell_missing_keys({"home": str(home)}, "127.0.0.1")
    assert not capsys.readouterr().err


def test_a_service_that_may_not_begin_reads_nothing_before(
    cli: Cli, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path))
    refused = cli("serve", documents, "--host", "0.0.0.0", "--index", tmp_path / "index")
    assert (refused.code, "make one with" in refused.err, "open to everyone" in refused.err) == (2, True, False)
    assert not (tmp_path / "index").exists()


def test_a_trace_says_beforehand_how_to_record(cli: Cli, indexed: Path) -> None:
    asked = json.loads(cli("ask", "Who is the harbour master?", "--index", indexed, "--json").out)
    assert "--record" in cli("trace", "show", asked["trace_id"]).err
    recorded = json.loads(cli("ask", "Who is the harbour master?", "--index", indexed, "--record", "--json").out)
    assert "--record" not in cli("trace", "show", recorded["trace_id"]).err


def test_a_terminal_shows_what_a_turn_is_doing_and_json_nothing(
    cli: Cli, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("ask", "Who winds the clock of the lighthouse?", "--index", indexed)
    piped = cli(*asked)
    monkeypatch.setattr("selfright.cli.progress._PATIENCE_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = cli(*asked)
    assert "selfright: answering" in shown.err
    assert shown.out.splitlines()[0] == piped.out.splitlines()[0]
    assert "answering" not in piped.err + cli(*asked, "--json").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "lamp", "-k", "abc"), "'-k': 'abc' is not a whole number; see 'selfright search --help'"),
        (("search", "lamp", "-k", 0), "0 is not in the range 1<=x<=1000"),
        (("calibrate", "rows.jsonl", "--risk", 1), "1.0 is not in the range 0.0<x<1.0"),
        (("models", "check", "local:smollm2", "--items", "x"), "'x' is not a whole number"),
    ],
    ids=["word", "too small", "too large", "one bound"],
)
def test_a_number_that_an_option_cannot_take_is_told_what_it_takes(
    cli: Cli, arguments: tuple[object, ...], said: str
) -> None:
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert said in outcome.err
