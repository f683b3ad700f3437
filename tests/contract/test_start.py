"""Selfright starts cheaply and silently: no library before it is needed, and nothing is asked of the network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from selfright.cli.main import main

HEAVY = {
    "anydoc", "faiss", "kiwipiepy", "langchain_core", "langgraph", "liteparse", "lxml", "onnx", "onnxruntime",
    "safetensors", "tantivy", "tokenizers",
}  # fmt: skip

PROBE = """
import json, sys
network = []
sys.addaudithook(lambda event, args: event in ("socket.connect", "socket.getaddrinfo") and network.append(event))
import {module}
print(json.dumps({{"modules": sorted(sys.modules), "network": network}}))
"""


@pytest.mark.parametrize("module", ["selfright", "selfright.domain.ports", "selfright.cli.main"])
def test_import_is_light_and_offline(module: str) -> None:
    probe = [sys.executable, "-c", PROBE.format(module=module)]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert HEAVY.intersection(seen["modules"]) == set()
    assert seen["network"] == []


NOT_FOR_A_QUESTION = {
    "anydoc", "faiss", "fastapi", "google", "kiwipiepy", "liteparse", "lxml", "mcp", "onnx", "onnxruntime",
    "safetensors", "sklearn", "streamlit", "tokenizers", "torch", "trafilatura", "uvicorn",
}  # fmt: skip

ASK = """
import json, sys
from selfright.cli.main import main
code = main(["ask", "How often is the lamp changed?", "--index", {index!r}, "--set", "embedder=none"])
print(json.dumps({{"code": code, "modules": sorted(sys.modules)}}))
"""


def test_a_question_over_an_index_of_words_loads_no_network_no_analyser_and_no_reader_of_files(tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("# Lamp\n\nThe lamp is changed every 90 days.\n", encoding="utf-8")
    index = str(tmp_path / "index")
    assert main(["index", "add", str(tmp_path / "lamp.md"), "--index", index, "--set", "embedder=none"]) == 0
    done = subprocess.run([sys.executable, "-c", ASK.format(index=index)], capture_output=True, text=True, check=False)
    assert "90 days" in done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["code"] == 0
    assert NOT_FOR_A_QUESTION.intersection(name.partition(".")[0] for name in seen["modules"]) == set()
    assert [name for name in seen["modules"] if name.startswith("selfright_medical")] == []  # no pack is on
    assert {"selfright.llm.structured"}.isdisjoint(seen["modules"])  # and no language model


OF_EXTRAS = (
    "faiss", "fastapi", "huggingface_hub", "hwp2md", "kiwipiepy", "openai", "pint", "psycopg",
    "pymilvus", "rich", "streamlit", "tokenizers", "trafilatura", "uvicorn",
)  # fmt: skip

PLAIN = """
from selfright.cli.main import main
usual = ["--index", {index!r}, "--set", "embedder=none"]
assert main(["index", "add", {folder!r}, *usual]) == 1  # for the letter that is not read
raise SystemExit(main(["ask", "How often is the lamp changed?", *usual]))
"""


def test_the_plain_install_reads_and_answers_and_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "lamp.html").write_text("<h1>Lamp</h1><p>The lamp is changed every 90 days.</p>", encoding="utf-8")
    (folder / "letter.hwp").write_bytes(b"HWP")
    missing = tmp_path / "path" / "sitecustomize.py"  # run at the start of every process, those that read files too
    missing.parent.mkdir()
    missing.write_text(f"import sys\nsys.modules.update(dict.fromkeys({OF_EXTRAS!r}))\n", encoding="utf-8")
    probe = PLAIN.format(index=str(tmp_path / "index"), folder=str(folder))
    paths = os.pathsep.join([str(missing.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "90 days" in done.stdout
    assert 'pip install "selfright[hwp]"' in done.stderr
