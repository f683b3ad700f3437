"""Codes and versions: told apart to the last character, however they are joined."""

import pytest

from selfright.domain import codes
from selfright.domain.codes import Code, codes_in, is_named


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What is new in v2.3.1?", {"2.3.1"}),
        ("What changed in version 2.3?", {"2.3"}),
        ("2.3 버전에서 바뀐 점은?", {"2.3"}),
        ("ORA-01555는 무슨 뜻인가요?", {"ora01555"}),
        ("0x80070057 or 0x80070005", {"0x80070057", "0x80070005"}),
        ("ERR_CERT_DATE_INVALID", {"err_cert_date_invalid"}),
        ("제3조와 제 12 조의2", {"제3조", "제12조의2"}),
        ("Article 5, § 12", {"article5", "§12"}),
        ("제3차 회의, 제2형, articles 3, §12a", set()),
        ("KX99-0070, not KX990007", {"kx990070", "kx990007"}),
        ("500mg on 2026-06-11, 3.5 mg in the mid-1980s at 10:30, Windows 11", set()),
    ],
)
def test_what_is_a_code(text: str, names: set[str]) -> None:
    assert {code.name for code in codes_in(text)} == names


@pytest.mark.parametrize(
    ("asked", "text", "named"),
    [
        ("v2.3.1", "Since 2.3.1 it works.", True),
        ("v2.3.1", "Since v2.3.10 it works.", False),
        ("v2.3.1", "Since v12.3.1 it works.", False),
        ("2.3.10", "## v2.3.10", True),
        ("ORA-01555", "ORA 01555: snapshot too old", True),
        ("ORA-01555", "ORA-015551", False),
        ("KX99-0070", "order no. KX990070는", True),
        ("KX99-0070", "order no. KX990007", False),
        ("제3조", "제3조(대출) 대출은", True),
        ("제3조", "제3조의2(연장)", False),
        ("제3조", "제13조(대출)", False),
        ("ERR_CERT", "ERR_CERT_DATE_INVALID", False),
    ],
)
def test_one_character_makes_another_thing(asked: str, text: str, named: bool) -> None:
    (code,) = codes_in(asked)
    assert is_named(code, text) is named


def test_codes_of_a_kind_share_a_family() -> None:
    assert codes_in("FX-1041") == {Code("fx", "fx1041")}
    assert {code.family for code in codes_in("ERR_A_B ERR_C 2.3.1 v4")} == {"err", "version"}
    assert {code.family for code in codes_in("CYP2C9 CYP3A4")} == {"cyp2c", "cyp3a"}


def test_the_codes_of_the_longest_question_are_prepared_once() -> None:
    many = codes_in(" ".join(f"FX-{number}" for number in range(2_000))[:10_000])
    for _ in range(2):
        assert not any(is_named(code, "The log names PX-77.") for code in many)
    assert codes._pattern.cache_info().hits >= len(many)
