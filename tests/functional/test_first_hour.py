"""A first hour: a folder of all kinds of files is indexed, asked, looked at, edited, followed, measured."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from selfright.ingest.reading import SUFFIXES
from tests.functional.conftest import Cli
from tests.support.office import hwpx, odt, pdf_of

_QUESTIONS = [
    ("At how many bar does the relief valve open?", "seven bar", "valve.md"),
    ("How often is the bilge pump serviced?", "ninety days", "pump.html"),
    ("Who is the harbour master?", "Orla Keane", "people.csv"),
    ("What does fault E-7 mean?", "drive belt", "faults.json"),
    ("What is the hatch sealed with?", "beeswax", "hatch.odt"),
    ("How long is the winter mooring season?", "five months", "season.txt"),
    ("등대의 등은 얼마나 자주 교체합니까?", "90일", "등대.hwpx"),
    ("선착장 이용 요금은 얼마입니까?", "1만 2천 원", "요금.txt"),
    ("How deep is the basin at low tide?", "four metres", "basin.pdf"),
    ("What is the wifi password of the office?", None, None),
]


def folder(root: Path) -> Path:
    """Ten kinds of files in two languages, one in an old encoding, one broken, one of another kind."""
    (root / "en").mkdir(parents=True)
    (root / "ko").mkdir()
    (root / "en" / "valve.md").write_text(
        "# Relief valve {#relief}\n\nThe relief valve opens at <b>seven bar</b>. It closes again at six bar.\n"
    )
    (root / "en" / "pump.html").write_text(
        "<title>Bilge pump</title><nav>Home</nav><h1>Bilge pump<a class=headerlink href='#p'>¶</a></h1>"
        "<p>The bilge pump is serviced every ninety days by the crew.</p>"
    )
    (root / "en" / "people.csv").write_text("name,role\nOrla Keane,harbour master\nTomas Rey,keeper of the light\n")
    faults = [{"code": f"E-{n}", "meaning": f"sensor {n} is silent"} for n in range(100)]
    faults[7]["meaning"] = "the drive belt of the winch is torn"
    (root / "en" / "faults.json").write_text(json.dumps(faults))
    (root / "en" / "hatch.odt").write_bytes(
        odt("<text:h>Hatch</text:h><text:p>The hatch is sealed with beeswax.</text:p>")
    )
    (root / "en" / "season.txt").write_text("Mooring in winter: the winter mooring season is five months long.\n")
    (root / "en" / "basin.pdf").write_bytes(pdf_of([(72, 700, "The basin is four metres deep at low tide.")]))
    lamp = "던모어 등대의 등은 90일마다 교체합니다. 등대지기가 일지에 서명합니다."
    (root / "ko" / "등대.hwpx").write_bytes(hwpx(f"<hp:p><hp:run><hp:t>{lamp}</hp:t></hp:run></hp:p>", title="등대"))
    (root / "ko" / "요금.txt").write_bytes("선착장 이용 요금은 하루에 1만 2천 원입니다.\n".encode("cp949"))
    (root / "ko" / "broken.docx").write_bytes(b"no archive")
    (root / "ko" / "plan.xlsb").write_bytes(b"old")
    return root


def indexed(cli: Cli, index: Path) -> dict[str, int]:
    return {row["id"]: row["passages"] for row in json.loads(cli("index", "list", "--index", index, "--json").out)}


def searched(cli: Cli, index: Path, question: str) -> list[dict[str, str]]:
    return json.loads(cli("search", question, "--index", index, "-k", 5, "--json").out)


def test_a_first_hour(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path / "home"))
    docs, index = folder(tmp_path / "docs"), tmp_path / "index"
    assert cli("--version").out.startswith("selfright ")

    # Indexed: nothing is lost silently.
    first = cli("index", "sync", docs, "--index", index, "--json")
    report = json.loads(first.out)
    assert (first.code, report["added"], report["failed"], report["skipped"]) == (1, 9, 1, 1)
    assert "broken.docx: no Word document that can be read" in first.err
    assert "plan.xlsb (.xlsb: save it as .xlsx)" in first.err
    assert set(indexed(cli, index)) >= {"en/valve.md", "en/faults.json", "ko/등대.hwpx"}

    # Ten questions: none fails, what is there is found, and what is not is not made up.
    right = 0
    for question, expected, document in _QUESTIONS:
        answer = json.loads(cli("ask", question, "--index", index, "--json").out)
        if expected is None:
            assert answer["abstained"] or "password" not in answer["answer"].lower()
            continue
        found = [
            row["document_id"] for row in json.loads(cli("search", question, "--index", index, "-k", 5, "--json").out)
        ]
        assert any(Path(name).name.startswith(document or "") for name in found), (question, found)
        right += expected in answer["answer"]
    assert right >= 6

    # The page, where its packages are.
    if importlib.util.find_spec("streamlit"):
        _look_at_the_page(index, tmp_path)

    # Edits are followed.
    (docs / "en" / "valve.md").write_text("# Relief valve\n\nThe relief valve opens at nine bar.\n")
    (docs / "en" / "season.txt").unlink()
    (docs / "archive").mkdir()
    (docs / "en" / "hatch.odt").rename(docs / "archive" / "old-hatch.odt")
    changed = json.loads(cli("index", "sync", docs, "--index", index, "--json").out)
    assert [changed[name] for name in ("added", "replaced", "removed")] == [1, 1, 2]
    answer = json.loads(cli("ask", _QUESTIONS[0][0], "--index", index, "--json").out)["answer"]
    assert "nine bar" in answer
    assert "seven bar" not in answer

    # Measured and calibrated.
    questions, labelled = tmp_path / "questions.jsonl", tmp_path / "labelled.jsonl"
    asked = [row for row in _QUESTIONS[1:9] if row[1] is not None and row[2] != "season.txt"]
    questions.write_text(
        "".join(json.dumps({"id": str(n), "question": q, "answers": [a]}) + "\n" for n, (q, a, _) in enumerate(asked))
    )
    measured = cli(
        "eval", "answers", questions, "--index", index, "--preset", "basic", "--preset", "full", "--workers", 1
    )
    assert measured.code == 0
    assert "right→right" in measured.out
    with labelled.open("w") as rows:
        for question, expected, _ in asked:
            for hit in searched(cli, index, question):
                row = {"question": question, "passage": hit["text"], "label": int(str(expected) in hit["text"])}
                rows.write(json.dumps(row) + "\n")
    fitted = cli("calibrate", labelled, "--index", index)
    assert fitted.code == 0, fitted.err
    assert "stored in " in fitted.out


def test_the_folder_has_every_kind_that_needs_no_extra(tmp_path: Path) -> None:
    kinds = {path.suffix for path in folder(tmp_path).rglob("*.*")}
    assert kinds & SUFFIXES == {".md", ".html", ".csv", ".json", ".odt", ".txt", ".pdf", ".hwpx", ".docx"}


def _look_at_the_page(index: Path, tmp_path: Path) -> None:
    log = tmp_path / "page.log"
    with log.open("w") as err:
        page = subprocess.Popen(
            [sys.executable, "-m", "selfright", "ui", "--index", str(index)], stderr=err, env=dict(os.environ)
        )
        try:
            until = time.monotonic() + 120
            while "page is at" not in log.read_text() and time.monotonic() < until and page.poll() is None:
                time.sleep(0.2)
            url = log.read_text().partition("page is at ")[2].split(";")[0]
            assert url.startswith("http://127.0.0.1:"), log.read_text()
            with urlopen(f"{url}/", timeout=30) as reply:  # a page of this machine
                assert reply.status == 200
        finally:
            page.send_signal(signal.SIGTERM)
            assert page.wait(60) == 0
