"""Importing Selfright is cheap and silent: no heavy library is loaded, and nothing is asked of the network."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "docx", "faiss", "kiwipiepy", "langchain_core", "langgraph", "lxml", "onnx", "onnxruntime", "pypdfium2",
    "safetensors", "tantivy", "tokenizers",
}  # fmt: skip

PROBE = """
import json, sys
network = []
sys.addaudithook(lambda event, args: event in ("socket.connect", "socket.getaddrinfo") and network.append(event))
import {module}
print(json.dumps({{"modules": sorted(sys.modules), "network": network}}))
"""


@pytest.mark.parametrize("module", ["selfright", "selfright.domain.ports", "selfright.entrypoints.cli"])
def test_import_is_light_and_offline(module: str) -> None:
    probe = [sys.executable, "-c", PROBE.format(module=module)]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert HEAVY.intersection(seen["modules"]) == set()
    assert seen["network"] == []
