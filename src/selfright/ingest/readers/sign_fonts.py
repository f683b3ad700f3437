"""Fonts that show signs in place of letters, as office files name them: ``³`` or ``\\uf0b3`` of Symbol is ``≥``."""

from collections.abc import Mapping

_PRIVATE = 0xF000  # where files put the letters of such fonts, too


def _table(*rows: tuple[int, str]) -> Mapping[int, str]:
    """Signs by letter, each row from its first one on; a blank stands for letters that are not known."""
    known = {first + n: sign for first, signs in rows for n, sign in enumerate(signs) if sign != " "}
    return {**known, **{_PRIVATE + letter: sign for letter, sign in known.items()}}


_SIGNS = {
    "symbol": _table(
        (0x22, "∀"), (0x24, "∃"), (0x27, "∋"), (0x2A, "∗"), (0x2D, "−"), (0x5C, "∴"), (0x5E, "⊥"),
        (0x40, "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"),
        (0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"),
        (0xA1, "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"),
        (0xF1, "〉∫"),
    ),
    "wingdings": _table(
        (0x28, "☎"), (0x2A, "✉"), (0x46, "☞"), (0x4A, "☺ ☹"), (0x6C, "●❍■□ ❑❒  ◆❖"), (0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩"),
        (0x8C, "❶❷❸❹❺❻❼❽❾❿"), (0x9F, "•"), (0xA1, "○"), (0xA7, "▪☐"), (0xAB, "★"), (0xD8, "➢"), (0xDF, "←→↑↓"),
        (0xE8, "➔"), (0xF0, "⇨"), (0xFB, "✗✓☒☑"),
    ),
    "wingdings 2": _table((0x4F, "✗✓ ☑☒"), (0xA3, "☐")),
}  # fmt: skip


def as_shown(text: str, font: str | None, *, has_letters: bool = True) -> str:
    """A text as it is seen in a font of signs; any other one, and a letter whose sign is not known, as it is.

    Without ``has_letters`` ASCII stands in another font.
    """
    signs = _SIGNS.get((font or "").casefold())
    if signs is None:
        return text
    return text.translate(signs if has_letters else {key: sign for key, sign in signs.items() if key > 0x7F})
