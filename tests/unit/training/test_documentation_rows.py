"""Sections headed by a question, read beside what stands in the same document, in both languages."""

import json
import lzma
from pathlib import Path

from training.documentation_rows import documentation_rows


def section(lang: str, heading: str, text: str, key: str, *, question: bool) -> dict[str, object]:
    repo, doc, title = "ferry/docs", f"{lang}/faq.md", "Ferry"
    return {
        **{"lang": lang, "repo": repo, "doc": doc, "title": title, "heading": heading},
        **{"text": text, "key": key, "is_question": question},
    }


LONG = " The pier is by the old lamp, where the wardens keep watch over boats and nets through the night."
SECTIONS = [
    section("en", "2. When does the ferry leave?", "It leaves at seven." + LONG, "when", question=True),
    section("en", "Fares", "A ticket costs four crowns." + LONG, "fares", question=False),
    section("en", "Dogs", "Dogs ride free of charge." + LONG, "dogs", question=False),
    section(
        "ko",
        "여객선은 언제 떠나나요?",
        "일곱 시에 떠납니다." + " 부두는 등대 옆에 있습니다." * 5,
        "when",
        question=True,
    ),
    section("ko", "요금", "표는 네 크라운입니다." + " 부두는 등대 옆에 있습니다." * 5, "fares", question=False),
]


def test_a_section_answers_its_question_in_both_languages_and_its_neighbours_do_not(tmp_path: Path) -> None:
    path = tmp_path / "sections.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in SECTIONS)
    rows = list(documentation_rows(path, seed=1))
    answering = [(row.asked, row.text[:6]) for row in rows if row.label]
    assert answering == [
        ("When does the ferry leave?", "It lea"),
        ("When does the ferry leave?", "일곱 시에 "),
        ("여객선은 언제 떠나나요?", "It lea"),
        ("여객선은 언제 떠나나요?", "일곱 시에 "),
    ]
    assert {row.text[:6] for row in rows if not row.label} == {"A tick", "Dogs r", "표는 네 크"}
    assert {row.heading for row in rows} == {"Ferry"}
