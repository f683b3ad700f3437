"""Question sets: read whole, and refused with the line and what was expected there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals.reading import Question, load

Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: Any) -> Path:
        path = tmp_path / name
        if name.endswith(".jsonl") and not isinstance(content, str):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return written


def test_our_own_form(write: Write) -> None:
    row = {
        "id": "a", "question": "언제?", "answers": ["90일"], "relevant": ["lamp.md"],
        "history": [{"role": "user", "content": "hi"}], "profile": {"age": 60},
    }  # fmt: skip
    found = load(write("set.jsonl", [row, {"question": "why?", "answerable": False}, {"question": "so?"}]))
    assert (found.of, found.name) == (3, "set.jsonl")
    history = (Message("user", "hi"),)
    assert found.questions[0] == Question("a", "언제?", ("90일",), True, ("lamp.md",), history, {"age": 60})
    assert [(q.id, q.answerable) for q in found.questions[1:]] == [("line-2", False), ("line-3", None)]


def test_sets_with_one_answer_and_its_document(write: Write) -> None:
    rows = [
        {"id": 7, "question": "q", "answer": "gold", "doc_id": "630"},
        {"id": 8, "question": "q", "answers": [], "answerable": False, "doc_id": "630"},
    ]
    first, second = load(write("qa.jsonl", rows)).questions
    assert (first.id, first.answers, first.relevant, first.answerable) == ("7", ("gold",), ("630",), True)
    assert (second.relevant, second.answerable) == ((), False)


def test_every_bad_row_is_named(write: Write) -> None:
    lines = [
        '{"question": "fine"}', "{", "[1]", '{"question": ""}', '{"question": "q", "answers": 3}',
        '{"question": "q", "history": [{"role": "system", "content": "x"}]}', '{"question": "q", "answerable": "yes"}',
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        load(write("bad.jsonl", "\n".join(lines)))
    said = str(caught.value)
    for part in ("line 2: Invalid JSON", "line 3: expected an object", "line 4: 'question': should be a text",
                 "line 5: 'answers': expected a list, but got 3", "and 1 more rows"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.jsonl", "", "no questions in it"),
        ("other.jsonl", '{"text": "a document"}\n', "line 1: 'question': it is missing"),
        ("twice.jsonl", '{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}\n', "stands twice"),
        ("broken.jsonl", "{", "Invalid JSON"),
    ],
)  # fmt: skip
def test_what_is_no_question_set(write: Write, name: str, content: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load(write(name, content))


def test_a_mark_at_the_start_and_other_encodings(write: Write, tmp_path: Path) -> None:
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + '{"question": "등대?"}'.encode())
    assert load(tmp_path / "marked.jsonl").questions[0].question == "등대?"
    (tmp_path / "cp949.jsonl").write_bytes('{"question": "등대?"}\n'.encode("cp949"))
    with pytest.raises(InputError, match="line 1: Invalid JSON: invalid unicode"):
        load(tmp_path / "cp949.jsonl")


@pytest.mark.parametrize("row", [{"id": "a\ud800", "question": "q"}, {"question": "q", "answers": ["\udfff"]}])
def test_half_a_character_is_no_text(tmp_path: Path, row: dict[str, Any]) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: Invalid JSON: .*hex escape"):
        load(tmp_path / "set.jsonl")


def test_a_pair_that_is_escaped_is_text(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps({"question": "😀?"}), encoding="utf-8")
    assert load(tmp_path / "set.jsonl").questions[0].question == "😀?"


def test_patterns_are_read(write: Write) -> None:
    (question,) = load(write("set.jsonl", [{"question": "How long?", "patterns": ["27 days", "27일"]}])).questions
    assert (question.patterns, question.answerable) == (("27 days", "27일"), True)


@pytest.mark.parametrize("patterns", [["(27"], ["a" * 501], ["a"] * 51, [27]])
def test_what_is_no_pattern_is_said_and_not_searched_for(write: Write, patterns: list[object]) -> None:
    with pytest.raises(InputError, match="line 1: 'patterns': "):
        load(write("set.jsonl", [{"question": "How long?", "patterns": patterns}]))


def test_a_sample_is_the_seeds_and_keeps_the_order(write: Write) -> None:
    data = load(write("set.jsonl", [{"id": n, "question": f"q{n}"} for n in range(50)]))
    chosen = data.sample(10, 3)
    assert chosen == data.sample(10, 3)
    assert chosen != data.sample(10, 4)
    numbers = [int(question.id) for question in chosen.questions]
    assert numbers == sorted(numbers)
    assert (chosen.facts().questions, chosen.facts().of) == (10, 50)
    assert data.sample(50, 0) == data
