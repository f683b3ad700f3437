"""Word and RTF: what is shown is read once, with the numbers that Word shows; what is hidden is not."""

from collections.abc import Callable

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from tests.support.office import changed, zipped
from tests.support.ooxml import docx, levels, lists, p, relations, run, style, table

ReadOne = Callable[..., Document]
HIDDEN = "<w:vanish/>"
DECIMAL = ("decimal", "%1.")


def test_headings_and_paragraphs_in_order_titled_by_the_first_heading(read_one: ReadOne) -> None:
    styles = style("H1", shown="heading 1") + style("a3", shown="Title") + style("H2", based="H1", shown="heading 2")
    body = (
        p("밸브 안내서", style="a3")
        + p("여는 법", style="H1")
        + p("It opens", " slowly.<w:br/>")
        + p("Seals", style="H2")
    )
    body = body.replace("&lt;w:br/&gt;", "").replace("<w:br/>", "</w:t><w:br/><w:t>Then it closes.")
    document = read_one("a.docx", docx(body, styles=styles))
    assert document.text == "# 밸브 안내서\n\n# 여는 법\n\nIt opens slowly.\nThen it closes.\n\n## Seals"
    assert (document.title, document.language) == ("밸브 안내서", "ko")
    assert read_one("b.docx", docx(body, title="About valves", styles=styles)).title == "About valves"
    assert read_one("c.docx", docx(body, title="Word Document", styles=styles)).title == "밸브 안내서"
    assert read_one("d.docx", docx(body, title="2019년 예산", styles=styles)).title == "밸브 안내서"  # an older file's


def test_a_line_in_bold_letters_over_text_is_a_heading(read_one: ReadOne) -> None:
    names = ["Desk", "Lost property", "Keys: at the desk", "Table 1", "Closed."]
    bold = dict(zip(names, (p(run(name, "<w:b/>")) for name in names), strict=True))
    body = (
        p("Desk", style="H1") + bold["Lost property"] + p("Ask room 12.") + bold["Keys: at the desk"] + p("They lie.")
    )
    body += bold["Table 1"] + table(["a", "b"], ["c", "d"]) + bold["Closed."] + p("Till May.")
    text = read_one("a.docx", docx(body, styles=style("H1", shown="heading 1"))).text
    assert text == (
        "# Desk\n\n## Lost property\n\nAsk room 12.\n\nKeys: at the desk\n\nThey lie.\n\n"
        "Table 1\n\n|a|b|\n|---|---|\n|c|d|\n\nClosed.\n\nTill May."
    )


def test_numbers_of_headings_by_their_styles(read_one: ReadOne) -> None:
    numbering = levels(("decimal", "제%1장"), ("decimal", "%1.%2")) + lists(0)
    in_style = '<w:pPr><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = style("H1", in_style.format(0), shown="heading 1") + style("H2", in_style.format(1), shown="heading 2")
    names = ("목적", "H1"), ("범위", "H2"), ("정의", "H2"), ("운영", "H1"), ("Scope", "H2")
    text = read_one(
        "a.docx", docx("".join(p(name, style=of) for name, of in names), styles=styles, numbering=numbering)
    ).text
    assert text == "# 제1장 목적\n\n## 1.1 범위\n\n## 1.2 정의\n\n# 제2장 운영\n\n## 2.1 Scope"


@pytest.mark.parametrize(
    ("form", "text", "second"),
    [
        ("decimal", "%1.", "2. b"), ("decimal", "제%1조", "- 제2조 b"), ("ganada", "%1.", "나. b"),
        ("decimalEnclosedCircle", "%1", "② b"), ("lowerLetter", "%1)", "- b) b"), ("upperRoman", "%1.", "- II. b"),
        ("decimalZero", "%1", "- 02 b"), ("koreanDigital", "%1.", "이. b"), ("chosung", "(%1)", "- (ㄴ) b"),
        ("bullet", "·", "- b"), ("none", "", "b"),
    ],
)  # fmt: skip
def test_a_number_is_the_one_that_word_shows(read_one: ReadOne, form: str, text: str, second: str) -> None:
    numbering = levels((form, text)) + lists(0)
    body = p("a", numbered=(1, 0)) + p("b", numbered=(1, 0))
    assert read_one("a.docx", docx(body, numbering=numbering)).text.splitlines()[-1] == second


def test_a_list_goes_on_after_text_and_begins_again_where_word_begins_again(read_one: ReadOne) -> None:
    """Lists of one family count together, unless one of them says that it begins anew."""
    numbering = levels(DECIMAL, ("lowerLetter", "%1.%2)")) + lists(0, 0, 0, restart=(3,))
    body = (
        p("one", numbered=(1, 0))
        + p("deeper", numbered=(1, 1))
        + p("deeper too", numbered=(1, 1))
        + p("Between.")
        + p("two", numbered=(2, 0))
        + p("deeper again", numbered=(2, 1))
        + p("Other work:")
        + p("first", numbered=(3, 0))
        + p("second", numbered=(3, 0))
    )
    assert read_one("a.docx", docx(body, numbering=numbering)).text == (
        "1. one\n  - 1.a) deeper\n  - 1.b) deeper too\n\nBetween.\n\n2. two\n  - 2.a) deeper again\n\n"
        "Other work:\n\n1. first\n2. second"
    )


def test_what_is_hidden_or_deleted_takes_no_number(read_one: ReadOne) -> None:
    numbering = levels(DECIMAL) + levels(DECIMAL, key=1) + lists(0, 1)
    gone = '<w:del w:id="1"><w:r><w:delText>old step</w:delText></w:r></w:del>'
    body = (
        p("", numbered=(2, 0))
        + p("Open the valve.", numbered=(1, 0))
        + p(run("secret step", HIDDEN), numbered=(1, 0), mark=HIDDEN)
        + p(gone, numbered=(1, 0), mark="<w:del/>")
        + p("Start the motor.", numbered=(1, 0))
    )
    assert read_one("a.docx", docx(body, numbering=numbering)).text == "1. Open the valve.\n2. Start the motor."


STYLES = (
    style("Secret", f"<w:rPr>{HIDDEN}</w:rPr>")
    + style("Below", based="Secret")
    + style("Shown", '<w:rPr><w:vanish w:val="0"/></w:rPr>', based="Secret")
    + style("Letters", f"<w:rPr>{HIDDEN}</w:rPr>", kind="character")
    + style("Web", "<w:rPr><w:webHidden/></w:rPr>", kind="character")
)


@pytest.mark.parametrize(
    ("paragraph", "is_shown"),
    [
        (p(run("the budget", HIDDEN)), False),
        (p(run("the budget", '<w:vanish w:val="true"/>')), False),
        (p(run("the budget", '<w:vanish w:val="0"/>')), True),
        (p("the budget", style="Secret"), False),
        (p("the budget", style="Below"), False),
        (p("the budget", style="Shown"), True),
        (p(run("the budget", '<w:vanish w:val="false"/>'), style="Secret"), True),
        (p(run("the budget", '<w:rStyle w:val="Letters"/>')), False),
        (p(run("the budget", '<w:rStyle w:val="Web"/>')), True),
        (p(run("the budget", "<w:webHidden/>")), True),
        (f"<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{p('the budget')}</w:tc></w:tr></w:tbl>", False),
        (f"<w:p><w:hyperlink>{run('the budget', HIDDEN)}</w:hyperlink></w:p>", False),
    ],
)
def test_hidden_text_is_left_out_however_it_is_hidden(read_one: ReadOne, paragraph: str, is_shown: bool) -> None:
    text = read_one("a.docx", docx(p("Before.") + paragraph + p("After."), styles=STYLES)).text
    assert ("the budget" in text) is is_shown
    assert text.startswith("Before.")
    assert text.endswith("After.")


def test_text_that_is_hidden_by_default_is_left_out(read_one: ReadOne) -> None:
    styles = f"<w:docDefaults><w:rPrDefault><w:rPr>{HIDDEN}</w:rPr></w:rPrDefault></w:docDefaults>"
    body = p("hidden") + p(run("shown", '<w:vanish w:val="0"/>'))
    assert read_one("a.docx", docx(body, styles=styles)).text == "shown"


def test_merged_cells_count_for_every_place(read_one: ReadOne) -> None:
    body = table(
        ("구역|down", "소포|2"),
        ("|v", "소형", "대형"),
        ("북부|down", "4천원", "9천원"),
        ("|v", "5천원", "11천원"),
        ("합계|2", "29천원"),
    )
    assert read_one("a.docx", docx(body)).text == (
        "|구역|소포 – 소형|소포 – 대형|\n|---|---|---|\n|북부|4천원|9천원|\n|북부|5천원|11천원|\n|합계|합계|29천원|"
    )


def test_a_table_in_a_cell_stands_behind_its_table_and_a_frame_is_none(read_one: ReadOne) -> None:
    inner = table(("bolt", "nut"), ("M6", "M8"))
    outer = table(("part", "made of"), ("pump", f"{p('steel')}{inner}{p('and brass')}"))
    frame = table((f"{p('Danger', style='H1')}{p('High voltage.')}",))
    assert read_one("a.docx", docx(outer + frame, styles=style("H1", shown="heading 1"))).text == (
        "|part|made of|\n|---|---|\n|pump|steel and brass|\n\n|bolt|nut|\n|---|---|\n|M6|M8|\n\n"
        "# Danger\n\nHigh voltage."
    )


def test_rows_and_cells_in_controls_and_blank_rows_are_no_new_table(read_one: ReadOne) -> None:
    wrapped = table(("pump", "7"), ("", ""), ("fan", "9")).removeprefix("<w:tbl>").removesuffix("</w:tbl>")
    body = table(("part", "price"), ("bolt", "3")).replace(
        "</w:tbl>", f"<w:sdt><w:sdtContent>{wrapped}</w:sdtContent></w:sdt></w:tbl>"
    )
    assert read_one("a.docx", docx(body)).text == ("|part|price|\n|---|---|\n|bolt|3|\n|pump|7|\n|fan|9|")


def test_heads_and_feet_of_pages_come_first_and_once(read_one: ReadOne) -> None:
    page = '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>3</w:t></w:r>'
    pages = {
        "header1": table(("문서 번호 QMS-4417", "개정 3")) + p(page),
        "header2": p("문서 번호 QMS-4417", " 개정 3"),
        "footer1": p("Approved by Mina Yoo"),
        "footer2": p("Approved by Mina Yoo"),
    }
    text = read_one("a.docx", docx(p("It opens at 7 bar."), pages=pages)).text
    assert text.count("QMS-4417") == 1
    assert text == "|문서 번호 QMS-4417|개정 3|\n\nApproved by Mina Yoo\n\nIt opens at 7 bar."


def test_the_head_of_a_first_page_that_no_page_has_is_left_out(read_one: ReadOne) -> None:
    content = docx(p("Text."), pages={"header1": p("Only on first pages")})
    text = read_one("a.docx", changed(content, "word/document.xml", 'w:type="default"', 'w:type="first"')).text
    assert text == "Text."


def test_notes_follow_the_paragraph_the_item_or_the_table_that_refers_to_them(read_one: ReadOne) -> None:
    notes = "".join(f'<w:footnote w:id="{n}">{p(f"Note {n}.")}</w:footnote>' for n in (1, 2, 3))
    refer = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    body = (
        p("It opens at 7 bar.", refer.format(1))
        + p("step", refer.format(2), numbered=(1, 0))
        + p("next", numbered=(1, 0))
        + table(("a", "b"), ("1", p("2", refer.format(3))))
        + p("The end.")
    )
    assert read_one("a.docx", docx(body, footnotes=notes, numbering=levels(DECIMAL) + lists(0))).text == (
        "It opens at 7 bar.\n\nNote 1.\n\n1. step\n  Note 2.\n2. next\n\n|a|b|\n|---|---|\n|1|2|\n\nNote 3.\n\nThe end."
    )


def test_changes_are_accepted_and_comments_are_out(read_one: ReadOne) -> None:
    moved = f"<w:moveFrom>{run('moved')}</w:moveFrom>"
    body = (
        p("Opens at ", f"<w:del><w:r><w:delText>9</w:delText></w:r></w:del><w:ins>{run('7')}</w:ins>", " bar.")
        + p(moved, mark="<w:del/>")
        + p(f"<w:moveTo>{run('moved')}</w:moveTo>", '<w:r><w:commentReference w:id="1"/></w:r>')
        + p("cut in ", mark="<w:del/>")
        + p("two.")
    )
    assert read_one("a.docx", docx(body, comments=p("a comment"))).text == "Opens at 7 bar.\n\nmoved\n\ncut in two."


def test_codes_with_unbreakable_hyphens_boxes_and_controls(read_one: ReadOne) -> None:
    box = f"<w:r><w:pict><w:txbxContent>{p('Open')}{p('slowly')}</w:txbxContent></w:pict></w:r>"
    control = f"<w:sdt><w:sdtContent>{p('controlled')}</w:sdtContent></w:sdt>"
    code = "<w:r><w:t>KX99</w:t><w:noBreakHyphen/><w:t>0070</w:t></w:r>"
    assert read_one("a.docx", docx(control + p("before", box, "behind") + p(code))).text == (
        "controlled\n\nbefore\n\nOpen\n\nslowly\n\nbehind\n\nKX99-0070"
    )


def test_a_table_of_contents_is_no_text(read_one: ReadOne) -> None:
    body = p("1 Scope 7", style="T1") + p("The scope.")
    assert read_one("a.docx", docx(body, styles=style("T1", shown="toc 1"))).text == "The scope."


def test_the_main_part_may_have_any_name_and_the_strict_namespaces(read_one: ReadOne) -> None:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(docx(p("In strict form.")))) as archive:
        parts = {of: archive.read(of).decode() for of in archive.namelist()}
    parts["word/other.xml"] = parts.pop("word/document.xml")
    parts["_rels/.rels"] = relations(("officeDocument", "word/other.xml"))
    strict = {
        name: text.replace("schemas.openxmlformats.org/wordprocessingml/2006", "purl.oclc.org/ooxml/wordprocessingml")
        for name, text in parts.items()
    }
    assert read_one("a.docx", zipped(strict)).text == "In strict form."


def test_rich_text(read_one: ReadOne) -> None:
    rtf = (
        r"{\rtf1\ansi\ansicpg949 Price list\par \trowd\cellx1000\cellx2000 part\cell price\cell\row"
        r"\trowd\cellx1000\cellx2000 \'b9\'eb\'ba\'ea\cell 7 bar\cell\row\pard The end.\par}"
    )
    expected = "Price list\n\n|part|price|\n|---|---|\n|밸브|7 bar|\n\nThe end."
    assert read_one("a.rtf", rtf.encode("ascii")).text == expected
    assert read_one("a.doc", rtf.encode("ascii")).text == expected  # Word opens such files as well
    hidden = rtf.replace("The end.", r"The {\rtlch\v\insrsid1 secret }end{\v0 .}")
    assert read_one("b.rtf", hidden.encode("ascii")).text == expected
    deleted = rtf.replace("The end.", r"The {\ltrch\deleted\revauthdel1 old }{\revised end.}")
    assert read_one("c.rtf", deleted.encode("ascii")).text == expected


def test_a_form_with_labels_in_bold(read_one: ReadOne) -> None:
    name, address, room = (p(run(text, "<w:b/>")) for text in ("성명", "주소", "호실"))
    form = table([name, "김하늘", room, "B-1"], [address, "서울시 중구|3"])
    assert read_one("a.docx", docx(form)).text == "- 성명: 김하늘\n- 호실: B-1\n- 주소: 서울시 중구"


def test_a_form_with_shaded_labels(read_one: ReadOne) -> None:
    form = table(["예금주", "홍길동"], ["은행", "국민"])
    for label, colour in (("예금주", "D9D9D9"), ("은행", "EEEEEE"), ("국민", "FFFFFF")):
        shaded = f'<w:tcPr><w:shd w:val="clear" w:fill="{colour}"/></w:tcPr>{p(label)}'
        form = form.replace(f"<w:tcPr></w:tcPr>{p(label)}", shaded)
    assert read_one("a.docx", docx(form)).text == "- 예금주: 홍길동\n- 은행: 국민"


def test_letters_of_fonts_of_signs_are_the_signs(read_one: ReadOne) -> None:
    sign = '<w:r><w:sym w:font="{}" w:char="{}"/></w:r>'.format
    font = '<w:rFonts w:ascii="{0}" w:hAnsi="{0}"/>'.format
    mu = run("\uf06d", font("Symbol"))
    dose = f"<w:p>{sign('Symbol', 'F0B3')}{run(' 5 ')}{sign('Symbol', 'F0B1')}{run(' 2 ')}{mu}{run('g')}"
    dose += f"{sign('Wingdings', 'F0E0')}{sign('Wingdings', 'F001')}{sign('MS Gothic', '2611')}</w:p>"
    marked = f"<w:p>{run('ü', font('Wingdings'))}{run(' ü yes')}</w:p>"
    broken = f"<w:p>{run('a')}{sign('Symbol', 'D800')}{sign('Symbol', 'x')}{run('b')}</w:p>"
    assert read_one("a.docx", docx(dose + marked + broken)).text == "≥ 5 ± 2 μg→☑\n\n✓ ü yes\n\nab"


def test_letters_above_the_line_are_off_the_number(read_one: ReadOne) -> None:
    above, below = ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>')
    runs = "10", run("6", above), " kg, 1,299", run("1)", above), " H", run("2", below), "O, 2", run("nd", above)
    assert read_one("a.docx", docx(p(*runs))).text == "10⁶ kg, 1,299 1) H2O, 2nd"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("x.docx", b"PK\x03\x04 cut", "no Word document that can be read"),
        ("x.docx", docx(p("text"))[:-200], "no Word document that can be read"),
        ("x.docx", zipped({"readme.xml": "<a/>"}), "there is no document in it"),
        ("x.docx", changed(docx(p("text")), "word/document.xml", "</w:body>", ""), r"word/document\.xml: "),
        ("x.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "no Word document that can be read"),
        ("x.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "no Word document that can be read"),
        ("x.doc", b"plain words", "no Word document that can be read"),
        ("x.rtf", b"plain words", "no Word document that can be read"),
        ("x.docx", docx(p("  ")), "there is no text in it"),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(read_one: ReadOne, name: str, content: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why) as raised:
        read_one(name, content)
    assert "\n" not in raised.value.why


def test_entities_are_not_expanded(read_one: ReadOne) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE d [<!ENTITY e0 "boom">{entities}]><w:document'
    content = changed(docx(p("Opening &e11;").replace("&amp;", "&")), "word/document.xml", "<w:document", bomb)
    try:
        assert "boom" not in read_one("bomb.docx", content).text
    except UnreadableFile as error:
        assert "no Word document" in error.why  # noqa: PT017 - either outcome is right
