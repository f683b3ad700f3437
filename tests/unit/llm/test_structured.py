"""What models can do is remembered, whatever happens to the file; a schema in words is complete in both languages."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from selfright.llm.backend import Mode
from selfright.llm.structured import LADDER, Capabilities, in_words


def test_the_ladder_begins_where_it_worked(tmp_path: Path) -> None:
    path = tmp_path / "new" / "models.json"
    known = Capabilities(path)
    assert known.mode("openai:a") is None
    assert known.rungs("openai:a") == LADDER
    known.learn("openai:a", Mode.TOOL)
    assert known.rungs("openai:a") == (Mode.TOOL, Mode.TEXT)
    assert known.rungs("openai:b") == LADDER
    assert Capabilities(path).mode("openai:a") is Mode.TOOL
    assert [file.name for file in path.parent.iterdir()] == ["models.json"]


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b"{}", b'{"models": []}', b'{"models": {"openai:a": "magic"}}', b'{"models": {"a": {}}}',
        b"\xff\xfe", b'{"models": ' + b"[" * 100_000, b" " * 300_000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_forgotten_and_replaced(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(damage)
    known = Capabilities(path)
    assert known.rungs("openai:a") == LADDER
    known.learn("openai:a", Mode.TEXT)
    assert Capabilities(path).mode("openai:a") is Mode.TEXT


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    known = Capabilities(tmp_path / "file" / "models.json")
    known.learn("openai:a", Mode.TOOL)
    assert known.mode("openai:a") is Mode.TOOL
    (tmp_path / "folder").mkdir()
    known = Capabilities(tmp_path / "folder")
    known.learn("openai:a", Mode.TOOL)
    assert known.mode("openai:a") is Mode.TOOL
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_without_a_file_it_is_remembered_in_memory() -> None:
    known = Capabilities()
    known.learn("openai:a", Mode.TOOL)
    assert known.mode("openai:a") is Mode.TOOL


def test_only_so_many_are_kept_the_latest_ones(tmp_path: Path) -> None:
    known = Capabilities(tmp_path / "models.json")
    for number in range(205):
        known.learn(f"openai:{number}", Mode.SCHEMA)
    kept = json.loads((tmp_path / "models.json").read_text())["models"]
    assert len(kept) == 200
    assert "openai:4" not in kept
    assert known.mode("openai:204") is Mode.SCHEMA


def test_what_another_process_learned_is_not_lost(tmp_path: Path) -> None:
    one, other = (Capabilities(tmp_path / "models.json") for _ in range(2))
    one.learn("openai:a", Mode.TOOL)
    other.learn("openai:b", Mode.TEXT)
    one.learn("openai:c", Mode.SCHEMA)
    read = Capabilities(tmp_path / "models.json")
    assert [read.mode(f"openai:{name}") for name in "abc"] == [Mode.TOOL, Mode.TEXT, Mode.SCHEMA]


def test_threads_may_learn_together(tmp_path: Path) -> None:
    known = Capabilities(tmp_path / "models.json")
    threads = [threading.Thread(target=known.learn, args=(f"openai:{number}", Mode.TOOL)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = Capabilities(tmp_path / "models.json")
    assert all(read.mode(f"openai:{number}") is Mode.TOOL for number in range(20))


SCHEMA: dict[str, Any] = {
    "title": "Judgement",
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "how well it fits"},
        "label": {"enum": ["good", "나쁨"]},
        "missing": {"type": "array", "items": {"type": "string"}},
        "passages": {"type": "array", "items": {"$ref": "#/$defs/Passage"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["score", "label", "missing", "passages"],
    "$defs": {
        "Passage": {"type": "object", "properties": {"id": {"type": "integer"}, "relevant": {"type": "boolean"}}}
    },
}

ENGLISH = """Answer with one JSON object only, without any other text. Its fields:
- "score" (number from 0 to 1): how well it fits
- "label" (one of "good", "나쁨")
- "missing" (list, each item: string)
- "passages" (list, each item: object)
  - "id" (whole number)
  - "relevant" (true or false)
- "note" (string or null, may be left out)"""

KOREAN = """다른 말은 쓰지 말고 JSON 객체 하나로만 답하세요. 필드는 다음과 같습니다.
- "score" (0 이상 1 이하의 숫자): how well it fits
- "label" ("good", "나쁨" 중 하나)
- "missing" (목록, 각 항목: 문자열)
- "passages" (목록, 각 항목: 객체)
  - "id" (정수)
  - "relevant" (true 또는 false)
- "note" (문자열 또는 null, 생략 가능)"""


def test_a_schema_in_words() -> None:
    assert in_words(SCHEMA, "en") == ENGLISH
    assert in_words(SCHEMA, "ko") == KOREAN


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"properties": {"child": {"$ref": "#/$defs/Node"}}}
    schema["$defs"] = {"Node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}}}  # type: ignore[dict-item]
    assert in_words(schema, "en").count('"child"') == 5
