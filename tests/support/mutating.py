"""Files with a fault in them, as disks, editors and enemies make them."""

import io
import random
import re
import zipfile

TEXT_PARTS = re.compile(r"(word/(document|footnotes|header1)|xl/worksheets/sheet\d|ppt/slides/slide\d|content)\.xml")
_NUMBERS = re.compile(rb'"\d+"')
_EXTREME = (
    b'"0"', b'"-1"', b'"65535"', b'"2147483648"', b'"99999999999999999999"', b'"1e9"', b'"nan"', b'""',
    b'"\xea\xb0\x80"',
)  # fmt: skip


def mutated(content: bytes, dice: random.Random) -> tuple[bytes, str]:
    """The file with a fault, and the name of the part in its archive that has it; no name where all of it may."""
    if not content.startswith(b"PK") or dice.random() < 0.2:
        return _damaged(content, dice), ""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice([name for name in parts if name.endswith((".xml", ".rels", ".xhtml"))])
    parts[name] = dice.choice((_damaged, _extreme, _extreme, _without_an_element))(parts[name], dice)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for of, data in parts.items():
            archive.writestr(of, data)
    return buffer.getvalue(), name


def _damaged(data: bytes, dice: random.Random) -> bytes:
    """Cut off, with a stretch left out or doubled, or with a few bytes changed."""
    start, end = sorted(dice.choices(range(len(data) + 1), k=2))
    kind = dice.randrange(4)
    if kind < 3:
        return (data[:start], data[:start] + data[end:], data[:end] + data[start:])[kind]
    changed = bytearray(data)
    for place in dice.choices(range(len(data) or 1), k=dice.randint(1, 20)) if data else ():
        changed[place] = dice.randrange(256)
    return bytes(changed)


def _extreme(data: bytes, dice: random.Random) -> bytes:
    """With numbers in it that nobody expects."""
    return _NUMBERS.sub(lambda found: dice.choice(_EXTREME) if dice.random() < 0.2 else found[0], data)


def _without_an_element(data: bytes, dice: random.Random) -> bytes:
    """Well-formed still, but for an element that is empty now, or stands twice."""
    found = list(re.finditer(rb"<([\w:]+)( [^<>]*)?>[^<>]*</\1>", data))
    if not found:
        return data
    one = dice.choice(found)
    return data[: one.start()] + dice.choice((b"", one[0] * 2)) + data[one.end() :]
