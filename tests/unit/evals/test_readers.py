"""Question sets in each form: recognised, read whole, and refused with the line and what was expected there."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, MissingExtra, UnknownName
from selfright.evals.questions import Question
from selfright.evals.readers.formats import load

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
    assert (found.format, found.of, found.name) == ("selfright", 3, "set.jsonl")
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


def test_squad_and_what_cannot_be_answered(write: Write) -> None:
    asked = [
        {"id": "x1", "question": "Who?", "answers": 2 * [{"text": "Orla", "answer_start": 4}]},
        {"id": "x2", "question": "Why?", "answers": [], "is_impossible": True},
    ]  # fmt: skip
    data = {"version": "v2.0", "data": [{"title": "Dunmore", "paragraphs": [{"context": "It is Orla.", "qas": asked}]}]}
    found = load(write("dev.json", data))
    assert found.format == "squad"
    first, second = found.questions
    assert (first.answers, first.relevant, first.answerable) == (("Orla",), ("Dunmore-000",), True)
    assert (second.answers, second.relevant, second.answerable) == ((), (), False)
    assert first.passages == second.passages == (("Dunmore-000", "Dunmore", "It is Orla."),)


def test_pubmedqa(write: Write) -> None:
    entry = {"QUESTION": "Does it?", "CONTEXTS": ["One.", "Two."], "LONG_ANSWER": "It does.", "final_decision": "yes"}
    found = load(write("ori_pqal.json", {"123": entry}))
    assert found.format == "pubmedqa"
    assert found.questions == (
        Question("123", "Does it?", ("It does.",), True, ("123",), passages=(("123", "", "One.\n\nTwo."),)),
    )


def test_clapnq(write: Write) -> None:
    passage = {"title": "Lamp", "text": "It burns .", "sentences": ["It burns ."]}
    rows = [
        {"id": "1", "input": "what burns", "passages": [passage], "output": [{"answer": "The lamp.", "meta": {}}]},
        {"id": "2", "input": "what sinks", "passages": [passage], "output": [{"answer": ""}]},
    ]
    found = load(write("clapnq.jsonl", rows))
    assert found.format == "clapnq"
    assert [(q.answers, q.answerable, q.relevant) for q in found.questions] == [
        (("The lamp.",), True, ("1-0",)),
        ((), False, ()),
    ]


def test_ragas_of_both_ages_and_conversations(write: Write) -> None:
    talk = [
        {"type": "human", "content": "Hi"}, {"type": "ai", "content": "Hello"},
        {"type": "tool", "content": "{}"}, {"type": "human", "content": "And the lamp?"},
    ]  # fmt: skip
    rows = [
        {"user_input": "Who?", "response": "x", "reference": "Orla", "reference_contexts": ["It is Orla."]},
        {"user_input": talk, "reference": "90 days"},
        {"question": "Old?", "contexts": ["c"], "answer": "x", "ground_truth": "yes"},
    ]
    found = load(write("ragas.jsonl", rows))
    assert found.format == "ragas"
    first, second, third = found.questions
    assert (first.answers, first.relevant) == (("Orla",), ("line-1-0",))
    assert (second.question, second.history) == (
        "And the lamp?",
        (Message("user", "Hi"), Message("assistant", "Hello")),
    )
    assert (third.question, third.answers, third.relevant) == ("Old?", ("yes",), ())
    assert load(write("ragas.json", rows)).questions[0].question == "Who?"


def test_flashrag(write: Write) -> None:
    found = load(write("nq.jsonl", [{"id": "t_0", "question": "q", "golden_answers": ["a", "b"], "metadata": {}}]))
    assert (found.format, found.questions) == ("flashrag", (Question("t_0", "q", ("a", "b"), True),))


def test_autorag(tmp_path: Path) -> None:
    columns = {
        "qid": ["1", "2"], "query": ["who?", "why?"],
        "retrieval_gt": [[["a"], ["b", "a"]], [["c"]]], "generation_gt": [["Orla"], ["so"]],
    }  # fmt: skip
    parquet.write_table(pa.table(columns), tmp_path / "qa.parquet")
    found = load(tmp_path / "qa.parquet")
    assert found.format == "autorag"
    assert found.questions[0] == Question("1", "who?", ("Orla",), True, ("a", "b"))


def test_without_the_library_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qa.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'selfright\[eval\]'"):
        load(tmp_path / "qa.parquet")


def test_every_bad_row_is_named(write: Write) -> None:
    lines = [
        '{"question": "fine"}', "{", "[1]", '{"question": ""}', '{"question": "q", "answers": 3}',
        '{"question": "q", "history": [{"role": "system", "content": "x"}]}', '{"question": "q", "answerable": "yes"}',
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        load(write("bad.jsonl", "\n".join(lines)))
    said = str(caught.value)
    for part in ("line 2: not JSON", "line 3: expected an object, got a list", "line 4: expected a text as 'question'",
                 "line 5: expected a list of strings as 'answers'", "and 1 more rows"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.jsonl", "", "no known form"),
        ("other.jsonl", '{"text": "a document"}\n', "no known form"),
        ("twice.jsonl", '{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}\n', "stands twice"),
        ("squad.json", '{"data": [{"paragraphs": [{"context": "c", "qas": [{"id": 1}]}]}]}', "article 1: expected"),
        ("broken.json", "{", "not JSON"),
        ("no.parquet", "this is no table", "cannot be read as Parquet"),
        ("clapnq.jsonl", '{"input": "q", "passages": [{"title": "t"}]}\n', "line 1: expected a text as 'text'"),
        ("mixed.jsonl", '{"id": "1", "question": "q", "golden_answers": []}\n{"question": "q"}\n', "line 2: not a row"),
    ],
)  # fmt: skip
def test_what_is_no_question_set(write: Write, name: str, content: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load(write(name, content))


def test_a_form_can_be_named_and_must_exist(write: Write) -> None:
    path = write("set.jsonl", [{"question": "q", "golden_answers": ["a"], "answers": ["b"]}])
    assert load(path).questions[0].answers == ("a",)
    assert load(path, "selfright").questions[0].answers == ("b",)
    with pytest.raises(UnknownName, match="did you mean 'squad'"):
        load(path, "squat")


def test_a_mark_at_the_start_and_other_encodings(write: Write, tmp_path: Path) -> None:
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + '{"question": "등대?"}'.encode())
    assert load(tmp_path / "marked.jsonl").questions[0].question == "등대?"
    (tmp_path / "cp949.jsonl").write_bytes('{"question": "등대?"}\n'.encode("cp949"))
    with pytest.raises(InputError, match="line 1: not UTF-8"):
        load(tmp_path / "cp949.jsonl")


@pytest.mark.parametrize("row", [{"id": "a\ud800", "question": "q"}, {"question": "q", "answers": ["\udfff"]}])
def test_half_a_character_is_no_text(tmp_path: Path, row: dict[str, Any]) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "set.json").write_text(json.dumps([row]), encoding="utf-8")
    for name in ("set.jsonl", "set.json"):
        with pytest.raises(InputError, match="half of a surrogate pair"):
            load(tmp_path / name)


def test_a_pair_that_is_escaped_is_text(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps({"question": "😀?"}), encoding="utf-8")
    assert load(tmp_path / "set.jsonl").questions[0].question == "😀?"


def test_a_sample_is_the_seeds_and_keeps_the_order(write: Write) -> None:
    data = load(write("set.jsonl", [{"id": n, "question": f"q{n}"} for n in range(50)]))
    chosen = data.sample(10, 3)
    assert chosen == data.sample(10, 3)
    assert chosen != data.sample(10, 4)
    numbers = [int(question.id) for question in chosen.questions]
    assert numbers == sorted(numbers)
    assert (chosen.facts().questions, chosen.facts().of) == (10, 50)
    assert data.sample(50, 0) is data
