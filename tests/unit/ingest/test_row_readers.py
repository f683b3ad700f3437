"""JSON Lines, JSON and CSV: rows that are documents, bad rows that cost nobody else anything."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.readers.rows import holds_more
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
        ('{"text": "one", "text": "two"}', "an object has 'text' twice"),
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


RECORDS = {
    "settings with all their names": (
        {"title": "펌프", "limits": {"bar": 2, "safe": True, "hosts": {"a": "x"}}, "none": None, "empty": {}},
        "- title: 펌프\n- limits – bar: 2\n- limits – safe: true\n- limits – hosts – a: x\n- none: null",
    ),
    "lists": (
        {
            "tags": ["a", "b"],
            "grid": [[1, 2], [3, 4]],
            "steps": ["Open the valve slowly, then wait until the pressure has fallen.", "Close."],
            "parts": ["valve", {"name": "seal", "size": 3}, {"name": "nut", "of": {"metal": "iron"}}],
        },
        "- tags: a, b\n- grid: 1, 2\n- grid: 3, 4\n- steps: Open the valve slowly, then wait until the pressure has "
        "fallen.\n- steps: Close.\n- parts: valve\n- parts: name: seal; size: 3\n- parts 3 – name: nut\n"
        "- parts 3 – of – metal: iron",
    ),
    "records of mostly the same names": (
        [{"name": "Ferro", "room": "B100"}, {}, {"name": "Olin", "room": None, "tags": ["x", "y"]}, {"room": "B|1"}],
        "|name|room|tags|\n|---|---|---|\n|Ferro|B100| |\n|Olin| |x, y|\n| |B\\|1| |",
    ),
    "records of all kinds": (
        [
            {"name": "First", "to": {"city": "울산"}, "items": [{"sku": "A", "n": 1}, {"sku": "B", "n": 2}]},
            {"to": {"city": "Gunsan"}},
        ],
        "## First\n\n- name: First\n- to – city: 울산\n- items: sku: A; n: 1\n- items: sku: B; n: 2\n\n"
        "## Record 2\n\n- to – city: Gunsan",
    ),
    "questions and answers": (
        [
            {"Question": "How long?", "Answer": "31 months.\n\nOr more.", "since": 2020},
            {"question": "환불?", "answer": "9일."},
        ],
        "## How long?\n\n31 months.\n\nOr more.\n\n- since: 2020\n\n## 환불?\n\n9일.",
    ),
    "questions within records, which a field of their own tells apart": (
        [
            {"group": "Bills", "items": [{"q": "When?", "a": "On the 3rd."}, {"q": "How?", "a": "By card."}]},
            {"group": "Keys", "items": [{"q": "Where?", "a": "Room 12.", "since": 2020}]},
        ],
        "## Bills\n\n- group: Bills\n\n### When?\n\nOn the 3rd.\n\n### How?\n\nBy card.\n\n"
        "## Keys\n\n- group: Keys\n\n### Where?\n\nRoom 12.\n\n- since: 2020",
    ),
    "records below settings": (
        {"data": {"page": 1, "rows": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}, "total": 2},
        "- total: 2\n\n## data\n\n- page: 1\n\n### rows\n\n|a|b|\n|---|---|\n|1|2|\n|3|4|",
    ),
    "rows below their names, and lists of as many values": (
        {"keys": [["door", "floor"], ["A1", 1], ["B1", 2]], "rooms": {"no": ["101", "102"], "seats": [20, 30]}},
        "## keys\n\n|door|floor|\n|---|---|\n|A1|1|\n|B1|2|\n\n## rooms\n\n|no|seats|\n|---|---|\n|101|20|\n|102|30|",
    ),
    "lists that are no columns": (
        {"tags": ["a", "b"], "hosts": ["x", "y"], "fees": {"day": [10, "EUR"], "year": [24, "EUR"]}},
        "- tags: a, b\n- hosts: x, y\n- fees – day: 10, EUR\n- fees – year: 24, EUR",
    ),
    "values alone": ([1, "two", [3]], "- 1\n- two\n- 3"),
}  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        {"columns": ["Part", "Price"], "index": [0, 1], "data": [["Valve", 30], ["Pump", 95]]},
        {"title": "Prices", "result": {"headers": ["Part", "Price"], "rows": [["Valve", 30], ["Pump", 95]]}},
    ],
)
def test_columns_beside_rows_of_json_are_a_table(read_file: Read, data: object) -> None:
    (document,) = read_file("prices.json", json.dumps(data))
    assert isinstance(document, Document)
    assert "|Part|Price|" in document.text
    assert "|Pump|95|" in document.text


@pytest.mark.parametrize("name", RECORDS)
def test_in_other_json_each_value_stands_with_its_name(read_file: Read, name: str) -> None:
    data, text = RECORDS[name]
    (document,) = read_file("pump.json", json.dumps(data))
    assert isinstance(document, Document)
    assert document.text == text
    assert document.title == ("펌프" if "펌프" in text else "pump")


NAMES = st.sampled_from(["a", "b", "name", "room", "가격"])
WORDS = st.integers(10, 99).map(lambda number: f"w{number}")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=30,
)


def leaves(value: object, name: str = "") -> list[tuple[str, str]]:
    """The texts in a value, each with the name it has."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, key)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner, name)]
    return [(name, value)] if isinstance(value, str) else []


@given(JSON)
def test_every_text_of_a_json_file_is_said_with_its_name(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    path.write_text(json.dumps(value))
    try:
        (document,) = read(SourceFile(path, path.name))
    except UnreadableFile as error:
        assert "no text" in error.why  # noqa: PT017 - there is nothing in it
        assert not leaves(value)
        return
    assert isinstance(document, Document)
    for name, text in leaves(value):
        assert any(name in where for where in said_with(document.text, text))


def said_with(text: str, word: str) -> list[str]:
    """For each place of the word in the text what names it: its line, or the header of its column."""
    found: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        header = (header or cells) if cells else []
        found += [header[n] for n, cell in enumerate(cells) if word in cell.split(", ") and cells is not header]
        found += [line] if word in line and not cells else []
    return found


def test_of_a_file_that_breaks_off_nothing_is_taken(read_file: Read) -> None:
    with pytest.raises(UnreadableFile, match="not JSON"):
        read_file("d.json", '[{"id": "a", "text": "one"}, {"id": "b", "text": "tw')


def test_a_file_of_too_many_values_is_no_document(read_file: Read) -> None:
    with pytest.raises(UnreadableFile, match="1,000,000 values; bring its texts as JSON Lines"):
        read_file("d.json", "[" + "[]," * 1_000_000 + "[]]")


@given(st.text('{}[]",:1ae\\ tru', max_size=30), st.integers(0, 9))
def test_values_are_counted_without_being_built(text: str, most: int) -> None:
    count = len(re.findall(r"[\[{,]", re.sub(r'"(?:[^"\\]|\\.)*("|\Z)', "", text)))
    assert holds_more(text, most) == (count > most)


@pytest.mark.parametrize("name", ["d.jsonl", "d.json", "d.csv"])
def test_two_rows_of_one_id_are_named(read_file: Read, name: str) -> None:
    rows = [{"id": 1, "text": "one"}, {"id": "1", "text": "other"}, {"id": "2", "text": "two"}]
    content = {
        "d.jsonl": "\n".join(map(json.dumps, rows)),
        "d.json": json.dumps(rows),
        "d.csv": "id,text\n1,one\n1,other\n2,two\n",
    }[name]
    found = read_file(name, content)
    assert texts(found) == ["one", "two"]
    (why,) = reasons(found)
    first = {"d.jsonl": "line 2: '1' is the id of line 1", "d.json": "item 2: '1' is the id of item 1"}
    assert why.startswith(first.get(name, "line 3: '1' is the id of line 2"))


def test_a_row_of_too_many_values_is_no_document_and_the_others_are_read(read_file: Read) -> None:
    many = "[" + "[]," * 250_000 + "[]]"
    rows = read_file("d.jsonl", f'{{"text": "one"}}\n{{"text": "two", "x": {many}}}\n{{"text": "three"}}\n')
    assert texts(rows) == ["one", "three"]
    assert "2: holds more than 250,000 values" in reasons(rows)[0]


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


def test_a_quote_that_is_never_closed_is_told_with_its_line(read_file: Read) -> None:
    assert texts(read_file("d.csv", 'id,text\n1,"a ""b""\nc"\n2,7" pipe')) == ['a "b"\nc', '7" pipe']
    with pytest.raises(UnreadableFile, match="the row in line 4 opens a quote"):
        read_file("d.csv", 'id,text\n1,"a\nb"\n2,"c\n3,d\n')


@pytest.mark.parametrize(("name", "delimiter"), [("p.csv", ","), ("p.tsv", "\t")])
def test_another_table_becomes_markdown(read_file: Read, name: str, delimiter: str) -> None:
    lines = [["부품", "압력"], ["밸브", "2 | 3 bar"], ["펌프", "5 bar"]]
    (document,) = read_file(name, "\n".join(delimiter.join(line) for line in lines))
    assert isinstance(document, Document)
    assert document.text == "|부품|압력|\n|---|---|\n|밸브|2 \\| 3 bar|\n|펌프|5 bar|"
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
    rows = [{"code": f"E-{n}", "title": f"Fault {n}", "mend": {"short": "압력"}} for n in range(100)]
    found = read_file("faults.json", json.dumps(wrap(rows)))
    assert [item.id for item in found][:2] == ["faults.json:1", "faults.json:2"]
    assert found[1].title == "Fault 1"
    assert found[1].text == "# Fault 1\n\n- code: E-1\n- title: Fault 1\n- mend – short: 압력"
    assert len(found) == 100 + isinstance(wrap([]), dict)
    if len(found) > 100:
        assert (found[-1].id, found[-1].text) == ("faults.json", "- title: Faults\n- version: 3")
    assert len(read_file("few.json", json.dumps(wrap(rows[:99])))) == 1


def test_records_are_called_by_their_ids_where_each_has_its_own(read_file: Read) -> None:
    rows = [{"id": n, "name": {"of": "n"}} for n in range(100)]
    assert [item.id for item in read_file("a.json", json.dumps(rows))] == [str(n) for n in range(100)]
    rows[7]["id"] = 8  # two records of one id would be one document
    assert [item.id for item in read_file("a.json", json.dumps(rows))][6:9] == ["a.json:7", "a.json:8", "a.json:9"]


@pytest.mark.parametrize("name", ["parts.csv", "parts.json"])
def test_a_long_table_is_cut_under_its_header(read_file: Read, name: str) -> None:
    lines = [f"{n},valve {n}" for n in range(1, 12_501)]
    records = json.dumps([dict(zip(["no", "part"], line.split(","), strict=True)) for line in lines])
    found = read_file(name, records if name.endswith("json") else "\n".join(["no,part", *lines]))
    assert [(item.id, item.title) for item in found] == [
        (f"{name}:1", "parts (1–5,000)"),
        (f"{name}:5001", "parts (5,001–10,000)"),
        (f"{name}:10001", "parts (10,001–12,500)"),
    ]
    assert all(item.text.startswith("|no|part|\n|---|---|\n") for item in found)
    assert "".join(item.text for item in found).count("|valve ") == 12_500
    assert [item.id for item in read_file("short.csv", "\n".join(["no,part", *lines[:5_000]]))] == ["short.csv"]


CSV = {
    "a line that says what parts the cells": ('"sep=;"\r\na,x;b\r\n1;2\r\n', "|a,x|b|\n|---|---|\n|1|2|"),
    "decimal commas": (
        "구역;요금;b\n북부;4,50;1,0\n남부;6,50;2,5\n",
        "|구역|요금|b|\n|---|---|---|\n|북부|4,50|1,0|\n|남부|6,50|2,5|",
    ),
    "semicolons within cells": ('a,b\n"x;y",1;2\nz,"3;4"\n', "|a|b|\n|---|---|\n|x;y|1;2|\n|z|3;4|"),
    "lines above, two tables, a row of equal values": (
        "Report\nExported;2026-01-01\n\nZone;Small;Large\nNorth;4;4\nEast;0;0\nx;x;x\n;;\nPerson;Phone\nKim;02-1\n",
        "Report\n\nExported, 2026-01-01\n\n|Zone|Small|Large|\n|---|---|---|\n|North|4|4|\n"
        "|East|0|0|\n|x|x|x|\n\n|Person|Phone|\n|---|---|\n|Kim|02-1|",
    ),
    "lines in one column above and below": (
        "Stock of May,,\nby Logistics,,\n\nCode,Part,Qty\n00043,Bolt,9\n\n* without spares,,\n* counted by hand,,\n",
        "Stock of May\n\nby Logistics\n\n|Code|Part|Qty|\n|---|---|---|\n|00043|Bolt|9|\n\n"
        "* without spares\n\n* counted by hand",
    ),
    "comments above the names": (
        "# of May\n# by ERP\nid,qty\nA,9\nB,8\n", "of May\n\nby ERP\n\n|id|qty|\n|---|---|\n|A|9|\n|B|8|"
    ),
    "sentences in one column": ("It opens at six.\n닫을 때는 늦습니다.\n", "It opens at six.\n\n닫을 때는 늦습니다."),
    "a title above the header": (
        "Prices,,\na,b,c\n1,2,3\n4,,6\n",
        "Prices\n\n|a|b|c|\n|---|---|---|\n|1|2|3|\n|4| |6|",
    ),
    "tables side by side": (
        "Fruit,Price,,Veg,Price\nApple,1.20,,Leek,0.90\nPear,1.50,,Kale,2.10\n",
        "|Fruit|Price|\n|---|---|\n|Apple|1.20|\n|Pear|1.50|\n\n|Veg|Price|\n|---|---|\n|Leek|0.90|\n|Kale|2.10|",
    ),
    "groups of columns beside a column of names": (
        "Region,Units,EUR,,Units,EUR\nNorth,1,10,,2,20\nSouth,3,30,,4,40\n",
        "|Region|Units|EUR|Units|EUR|\n|---|---|---|---|---|\n|North|1|10|2|20|\n|South|3|30|4|40|",
    ),
    "two rows of names": (
        ",2024,,2025,\nRegion,Units,EUR,Units,EUR\nNorth,1,10,2,20\nSouth,3,30,4,40\n",
        "|Region|2024 – Units|2024 – EUR|2025 – Units|2025 – EUR|\n|---|---|---|---|---|\n"
        "|North|1|10|2|20|\n|South|3|30|4|40|",
    ),
    "one column": ("name\nFerro\nOlin\n", "|name|\n|---|\n|Ferro|\n|Olin|"),
    "a row alone": ("a,b,c\n", "|a|b|c|"),
}  # fmt: skip


@pytest.mark.parametrize("name", CSV)
def test_values_of_tables_stand_under_their_columns(read_file: Read, name: str) -> None:
    content, text = CSV[name]
    assert texts(read_file("t.csv", content)) == [text]


def test_rows_without_a_text_are_records_one_a_document(read_file: Read) -> None:
    rows = [
        {"id": "A", "name": "Hall", "to": {"city": "Leith"}, "rooms": [{"no": "1", "seats": 40}]},
        {"id": "B", "name": "Annex", "to": {"city": "Perth"}, "rooms": []},
    ]
    found = read_file("sites.jsonl", "\n".join([*map(json.dumps, rows), "[1]"]))
    assert texts(found) == [
        "# Hall\n\n- id: A\n- name: Hall\n- to – city: Leith\n- rooms: no: 1; seats: 40",
        "# Annex\n\n- id: B\n- name: Annex\n- to – city: Perth\n- rooms:",
    ]
    assert [item.id for item in found if isinstance(item, Document)] == ["A", "B"]
    assert "line 3: expected an object" in reasons(found)[0]


@pytest.mark.parametrize("count", [4_990, 12_003])
def test_a_long_table_under_two_rows_of_names(read_file: Read, count: int) -> None:
    lines = ["Parts,,", "no,2025,,2026,", ",Units,EUR,Units,EUR", *(f"{n},1,{n},2,{n}" for n in range(count))]
    found = read_file("p.csv", "\n".join(lines))
    head = "|no|2025 – Units|2025 – EUR|2026 – Units|2026 – EUR|\n|---"
    assert texts(found)[0].startswith(f"Parts\n\n{head}")
    assert all(head in text for text in texts(found))
    assert sum(text.count("\n") for text in texts(found)) == count + (3 if count < 5_000 else len(found) + 2)
