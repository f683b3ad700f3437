"""What is changed in a PowerPoint file before it is read: what is hidden goes, each slide begins with its title."""

from lxml.etree import _Element

from selfright.ingest.readers import markup, packed

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TITLES, _MARGINS = ("title", "ctrTitle"), ("ftr", "dt", "sldNum")
_TITLE = (
    f'<p:sp xmlns:p="{_P[1:-1]}" xmlns:a="{_A[1:-1]}"><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>'
    "<p:txBody><a:p><a:r><a:t>Slide {}</a:t></a:r></a:p></p:txBody></p:sp>"
)


def change(parts: dict[str, _Element]) -> None:
    """Takes out what is not shown, and puts the title of each slide first; one without a title is ``Slide 3``.

    Raises ``ValueError`` when a slide that is named is not there, and when all of them are hidden.
    """
    main = next((name for name, root in parts.items() if root.tag == f"{_P}presentation"), "")
    if not main:
        raise ValueError("there is no presentation in it")
    targets = {key: target for key, _, target in packed.relations(parts, main)}
    seen: set[str] = set()
    for number, entry in enumerate(list(parts[main].iter(f"{_P}sldId")), 1):
        name = targets.get(entry.get(_REFERENCE) or "", "")
        tree = parts[name].find(f"{_P}cSld/{_P}spTree") if name in parts else None
        if tree is None:
            raise ValueError(f"slide {number} is missing")
        if parts[name].get("show") in ("0", "false"):
            packed.remove(entry)
        else:
            _change_slide(tree, number, _has_notes(parts, name), seen)
    if next(parts[main].iter(f"{_P}sldId"), None) is None:
        raise ValueError("no slide of it is shown")


def _has_notes(parts: dict[str, _Element], name: str) -> bool:
    notes = (parts[to] for _, kind, to in packed.relations(parts, name) if kind == "notesSlide" and to in parts)
    shapes = (shape for root in notes for shape in root.iter(f"{_P}sp"))
    return any(_says_anything(shape) for shape in shapes if _place(shape) in ("", "body"))


def _change_slide(tree: _Element, number: int, has_notes: bool, seen: set[str]) -> None:
    for properties in list(tree.iterfind(f".//*/*/{_P}cNvPr")):
        if properties.get("hidden") in ("1", "true") and (frame := properties.getparent()) is not None:
            packed.remove(frame.getparent())
    for footer in [shape for shape in tree.iter(f"{_P}sp") if _place(shape) == "ftr"]:
        said = "".join(text.text or "" for text in footer.iter(f"{_A}t"))
        if said not in seen:  # the library reads shapes in this place on no slide
            seen.add(said)
            packed.remove(footer.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph"))
    for looks in tree.iter(f"{_A}rPr"):
        text = looks.getnext()
        if text is not None and (looks.get("baseline") or "0")[0] not in "-0":
            text.text = markup.raised(text.text or "")
    titles = [shape for shape in tree.iterchildren(f"{_P}sp") if _place(shape) in _TITLES and _says_anything(shape)]
    first = titles[0] if titles else None
    if first is None and (has_notes or any(_says_anything(shape) for shape in tree if _place(shape) not in _MARGINS)):
        first = packed.parse_xml(_TITLE.format(number).encode())
    if first is not None:
        tree.insert(0, first)


def _place(shape: _Element) -> str:
    """Which place of the layout a shape fills; empty for none."""
    place = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return (place.get("type") or "body") if place is not None else ""


def _says_anything(node: _Element) -> bool:
    return (
        any((text.text or "").strip() for text in node.iter(f"{_A}t")) or node.find(f".//{_P}graphicFrame") is not None
    )
