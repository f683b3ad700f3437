"""JSON Lines, JSON and CSV: rows that are documents, bad rows that cost nobody else anything."""

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.readers.rows import LARGE, Cursor, holds_more
from selfright.ingest.reading import read

Read = Callable[..., list[Document | UnreadableFile]]


def texts(rows: list[Document | UnreadableFile]) -> list[str]:
    return [row.text for row in rows if isinstance(row, Document)]


def reasons(rows: list[Document | UnreadableFile]) -> list[str]:
    return [row.why for row in rows if isinstance(row, UnreadableFile)]


def test_a_row_becomes_a_document(read_file: Read) -> None:
    row = {
        "_id": 7,
        "title": "밸브\n안내",
        "text": " 밸브가 열립니다.\r\n",
        "metadata": {"year": 2020, "tags": ["a"], "x": "y"},
    }
    one, two = read_file("c.jsonl", "\ufeff" + json.dumps(row, ensure_ascii=False) + '\n\n{"text": "No id."}')
    assert isinstance(one, Document)
    assert isinstance(two, Document)
    assert (one.id, one.title, one.text, one.language) == ("7", "밸브 안내", " 밸브가 열립니다.\r\n", "ko")
    assert one.metadata == {"year": "2020", "tags": '["a"]', "x": "y"}
    assert (two.id, two.title) == ("c.jsonl:3", "")


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_text_is_stored_exactly_as_given(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text(json.dumps({"id": "a", "text": text}))
    assert texts(list(read(SourceFile(path, path.name)))) == [text]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("not json", "not JSON"),
        ('{"text": "cut', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "expected an object"),
        ('{"title": "t"}', "'text', but it is missing"),
        ('{"text": 5}', "'text', but it is int"),
        ('{"text": "  "}', "'text' is empty"),
        ('{"text": "half \\ud83d"}', "surrogate pair at character 5"),
        ('{"text": "t", "_id": {"a": 1}}', "expected as '_id'"),
        ('{"text": "t", "_id": "\\udc00"}', "surrogate"),
        ('{"text": "t", "metadata": 3}', "'metadata', but it is a int"),
        ("1" * 5_000, "not JSON"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_the_rest_goes_on(read_file: Read, row: str, why: str) -> None:
    rows = read_file("c.jsonl", f'{{"text": "one"}}\n{row}\n{{"text": "three"}}\n')
    assert texts(rows) == ["one", "three"]
    (reason,) = reasons(rows)
    assert reason.startswith("line 2: ")
    assert why in reason


def test_rows_in_korean_code_page_are_read_and_other_bytes_refused(read_file: Read) -> None:
    rows = read_file("c.jsonl", '{"text": "밸브"}\n'.encode("cp949") + b'{"text": "\xff\xff"}\n')
    assert texts(rows) == ["밸브"]
    assert "neither UTF-8" in reasons(rows)[0]
    assert "UTF-16" in reasons(read_file("d.jsonl", '{"text": "밸브"}'.encode("utf-16")))[0]


def test_many_bad_rows_are_counted_not_listed(read_file: Read) -> None:
    rows = read_file("c.jsonl", "nonsense\n" * 1_030 + '{"text": "good"}')
    assert texts(rows) == ["good"]
    assert len(reasons(rows)) == 21
    assert "1,010 more lines" in reasons(rows)[-1]


def test_a_row_over_the_limit_is_passed_over_and_the_next_one_read(read_file: Read) -> None:
    exact = '{"text": "' + "e" * 38 + '"}'
    assert len(exact) == 50
    for longer in (51, 52, 200, 3_000_000):
        rows = read_file("c.jsonl", f"{'x' * longer}\n{exact}\n{'y' * longer}", FileLimits(row_bytes=50))
        assert texts(rows) == ["e" * 38]
        assert [reason.split(":")[0] for reason in reasons(rows)] == ["line 1", "line 3"]


def test_an_empty_file_of_rows_says_so(read_file: Read) -> None:
    assert "no rows" in reasons(read_file("c.jsonl", "\n\n"))[0]


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"documents": rows}])
def test_json_lists_hold_documents(read_file: Read, wrap: Callable[[object], object]) -> None:
    rows = read_file(
        "d.json", json.dumps(wrap([{"id": "a", "text": "one"}, {"id": "b"}, {"id": "c", "text": "three"}]))
    )
    assert texts(rows) == ["one", "three"]
    assert reasons(rows) == ["item 2: expected a string as 'text', but it is missing"]


def test_other_json_becomes_a_readable_outline(read_file: Read) -> None:
    data = {"title": "펌프", "limits": {"bar": 2, "safe": True}, "parts": ["valve", {"name": "seal"}], "none": None}
    (document,) = read_file("pump.json", json.dumps(data))
    assert isinstance(document, Document)
    assert document.title == "펌프"
    assert document.text == (
        "- title: 펌프\n- limits:\n  - bar: 2\n  - safe: true\n- parts:\n  - valve\n  - name: seal\n- none: null"
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('ab"\\[{,', max_size=3), inner),
    max_leaves=30,
)


@given(value=JSON, indent=st.sampled_from([None, 0, 3]), most=st.integers(0, 40))
def test_a_text_is_gone_through_as_it_would_be_built(value: object, indent: int | None, most: int) -> None:
    text = f" {json.dumps(value, indent=indent)} \n"

    def built(cursor: Cursor) -> object:
        whole = cursor.value()
        if whole is not LARGE:
            return whole
        named = cursor.peek() == "{"
        members = [(name, built(cursor)) for name in cursor.members()]
        return dict(members) if named else [each for _, each in members]

    cursor = Cursor(text, most)
    assert built(cursor) == value
    cursor.end()
    passing = Cursor(text, most)
    passing.skip()
    passing.end()
    count = len(re.findall(r"[\[{,]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)))
    assert not holds_more(text, 1, count)
    assert count == 0 or holds_more(text, 1, count - 1)


@given(st.text('{}[]",:1ae\\ tru', max_size=30), st.integers(0, 9))
def test_what_is_no_json_is_refused_as_the_standard_library_does(text: str, most: int) -> None:
    def read(text: str) -> None:
        cursor = Cursor(text, most)
        cursor.skip()
        cursor.end()

    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - its words differ
            read(text)
    else:
        read(text)


def test_of_a_file_that_breaks_off_nothing_is_taken(read_file: Read) -> None:
    with pytest.raises(UnreadableFile, match="not JSON"):
        read_file("d.json", '[{"id": "a", "text": "one"}, {"id": "b", "text": "tw')


def test_json_with_a_great_many_values_is_read_part_by_part(read_file: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"title": "펌프", "grid": [[1, 2], {"a": [3, [4]]}] * 20, "deep": {"x": {"y": list(range(30))}}, "end": None}
    (whole,) = read_file("pump.json", json.dumps(data))
    for most in (0, 3, 40):
        monkeypatch.setattr("selfright.ingest.readers.rows.MOST_VALUES", most)
        (parted,) = read_file("pump.json", json.dumps(data, indent=1))
        assert isinstance(parted, Document)
        assert isinstance(whole, Document)
        assert (parted.text, parted.title) == (whole.text, "펌프")


@pytest.mark.parametrize("content", ["[[],[],[],[]]", '[{"text": "a"}, 1, 2, 3]', '{"a": 1, "b": 2, "c": 3, "d": 4}'])
def test_a_file_of_too_many_values_is_no_document(
    content: str, read_file: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfright.ingest.readers.rows.MOST_MEMBERS", 3)
    with pytest.raises(UnreadableFile, match="values; bring its texts as JSON Lines"):
        read_file("d.json", content)


def test_a_row_of_too_many_values_is_no_document_and_the_others_are_read(read_file: Read) -> None:
    many = "[" + "[]," * 250_000 + "[]]"
    for name, content in (
        ("d.json", f'[{{"text": "one"}}, {{"text": "two", "x": {many}}}, {{"text": "three"}}]'),
        ("d.jsonl", f'{{"text": "one"}}\n{{"text": "two", "x": {many}}}\n{{"text": "three"}}\n'),
    ):
        rows = read_file(name, content)
        assert texts(rows) == ["one", "three"]
        assert "2: holds more than 250,000 values" in reasons(rows)[0]


def test_a_large_file_of_empty_lists_takes_no_more_memory_than_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfright.ingest.readers.rows.MOST_VALUES", 5_000)
    path = tmp_path / "empty.json"
    path.write_text("[" + "[]," * 100_000 + "[]]")  # 0.3 MB, of which 6.4 would be built at once
    tracemalloc.start()
    with pytest.raises(UnreadableFile, match="no text"):
        list(read(SourceFile(path, path.name, FileLimits(file_bytes=400_000))))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.5e6


@pytest.mark.parametrize("content", ["{", "[" * 100_000, '{"a":' * 300 + "1" + "}" * 300])
def test_broken_or_deep_json_never_crashes(read_file: Read, content: str) -> None:
    try:
        assert "1" in texts(read_file("x.json", content))[0]
    except UnreadableFile as error:
        assert "JSON" in error.why or "deeply" in error.why  # noqa: PT017 - either outcome is right


def test_csv_with_a_text_column_holds_documents(read_file: Read) -> None:
    rows = read_file("d.csv", '\ufeffID;Title;Text;Year\n7;Valve;"It opens; then\ncloses.";2020\n8;Empty;;2021\n')
    (document,) = (row for row in rows if isinstance(row, Document))
    assert (document.id, document.title, document.text) == ("7", "Valve", "It opens; then\ncloses.")
    assert document.metadata == {"year": "2020"}
    assert reasons(rows) == ["line 4: its 'text' is empty; give it text or leave it out"]


@pytest.mark.parametrize(("name", "delimiter"), [("p.csv", ","), ("p.tsv", "\t")])
def test_another_table_becomes_markdown(read_file: Read, name: str, delimiter: str) -> None:
    lines = [["부품", "압력"], ["밸브", "2 | 3 bar"], ["펌프", "5 bar"]]
    (document,) = read_file(name, "\n".join(delimiter.join(line) for line in lines))
    assert isinstance(document, Document)
    assert document.text == "| 부품 | 압력 |\n|---|---|\n| 밸브 | 2 \\| 3 bar |\n| 펌프 | 5 bar |"
    assert document.title == "p"


def test_a_row_longer_than_the_csv_module_likes_is_read(read_file: Read) -> None:
    assert texts(read_file("d.csv", f"id,text\n1,{'word ' * 50_000}\n")) == ["word " * 50_000]


def test_a_line_of_true_size_is_refused_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as handle:
        handle.truncate(70 * 2**20)  # a hole: it takes no space on the disk
        handle.seek(0, 2)
        handle.write(b'\n{"text": "after"}\n')
    rows = list(read(SourceFile(path, path.name)))
    assert texts(rows) == ["after"]
    assert "line 1: longer than 67,108,864 bytes" in reasons(rows)[0]


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"title": "Faults", "version": 3, "items": rows}])
def test_a_long_list_of_records_is_a_document_each(read_file: Read, wrap: Callable[[object], object]) -> None:
    rows = [{"code": f"E-{n}", "question": f"What is fault {n}?", "answer": {"short": "압력"}} for n in range(100)]
    found = read_file("faults.json", json.dumps(wrap(rows)))
    assert [item.id for item in found][:2] == ["faults.json:1", "faults.json:2"]
    assert found[1].title == "What is fault 1?"
    assert found[1].text == "- code: E-1\n- question: What is fault 1?\n- answer:\n  - short: 압력"
    assert len(found) == 100 + (wrap is not None and isinstance(wrap([]), dict))
    if len(found) > 100:
        assert (found[-1].id, found[-1].text) == ("faults.json", "- title: Faults\n- version: 3")
    assert len(read_file("few.json", json.dumps(wrap(rows[:99])))) == 1


def test_records_are_called_by_their_ids_where_each_has_its_own(read_file: Read) -> None:
    rows = [{"id": n, "name": "n"} for n in range(100)]
    assert [item.id for item in read_file("a.json", json.dumps(rows))] == [str(n) for n in range(100)]
    rows[7]["id"] = 8  # two records of one id would be one document
    assert [item.id for item in read_file("a.json", json.dumps(rows))][6:9] == ["a.json:7", "a.json:8", "a.json:9"]


def test_a_long_table_is_cut_under_its_header(read_file: Read) -> None:
    lines = "".join(f"{n},valve {n}\n" for n in range(1, 251))
    found = read_file("parts.csv", f"no,part\n{lines}")
    assert [(item.id, item.title) for item in found] == [
        ("parts.csv:1", "parts (1–100)"), ("parts.csv:101", "parts (101–200)"), ("parts.csv:201", "parts (201–250)"),
    ]  # fmt: skip
    assert all(item.text.startswith("| no | part |\n|---|---|\n") for item in found)
    assert "".join(item.text for item in found).count("| valve ") == 250
    assert [item.id for item in read_file("short.csv", f"no,part\n{lines[: lines.index('101,')]}")] == ["short.csv"]
