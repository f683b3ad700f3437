"""An answer as a person reads it: the text, its sources, and a short account of how it came about."""

from collections.abc import Mapping
from shutil import get_terminal_size
from unicodedata import east_asian_width

from selfright.domain.answers import Answer, Iteration
from selfright.domain.passages import Language
from selfright.domain.row_lists import RowList, split_row_lists
from selfright.domain.wordings import CODES, Wording, format_outcome, wordings

Words = Mapping[str, str]

_COLUMN = 10

_TEXTS = wordings(__package__, "render_answer")
_NAMES = {code: said for part in ("steps", "verdicts", "stopped", "names") for code, said in _TEXTS["ko"][part].items()}
_KOREAN = Wording(wordings("selfright.domain", "outcomes")["ko"]["clauses"], dict.fromkeys(CODES, _NAMES))


def account(answer: Answer) -> str:
    """The answer, its sources and its account, in the language of the question; what is in doubt of it comes first."""
    words, mark = _TEXTS[answer.language]["words"], doubt(answer)
    said = "".join(part if isinstance(part, str) else _aligned(part) for part in split_row_lists(answer.answer))
    parts = [f"{mark}\n{said}" if mark else said]
    if answer.citations:
        parts.append("\n".join([f"{words['sources']}:", *_sources(answer)]))
    parts.append("\n".join([f"{words['account']}:", *_lines(answer, words)]))
    return "\n\n".join(parts)


def doubt(answer: Answer, *, is_withdrawn: bool = False) -> str:
    """What is to be read above an answer that did not pass its checks, or was withdrawn before; empty for others."""
    if answer.abstained or not (answer.is_doubtful or is_withdrawn):
        return ""
    items = answer.evaluation.listed(answer.uncovered) if answer.evaluation else ""
    return _TEXTS[answer.language]["words"]["part" if items else "doubt"].format(items=items)


def steps(answer: Answer) -> str:
    """The nodes of the turn in their order: milliseconds, name, and what each decided, in the question's language."""
    korean = answer.language == "ko"
    rows = []
    for step in answer.trace:
        name = _TEXTS["ko"]["steps"].get(step.node, step.node) if korean else step.node
        decided = format_outcome(step.outcome, _KOREAN) if korean else step.said
        rows.append(f"  {step.seconds * 1000:8.1f} ms  {_pad(name, 18)} {decided}".rstrip())
    return "\n".join(
        [*rows, f"  {answer.cost.seconds * 1000:8.1f} ms  {_TEXTS[answer.language]['words']['steps in all']}"]
    )


def _aligned(found: RowList) -> str:
    """Rows in columns under their names, if the terminal has room for them; else as they are written."""
    rows = [[*found.head, ""], *([*found.cells(row), row.marks] for row in found.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    if 2 + sum(widths) + 2 * (len(widths) - 1) > get_terminal_size().columns:
        return found.text
    rows.insert(1, ["-" * width for width in widths[:-1]])
    lines = ["  ".join(map(_pad, row, widths)).rstrip() for row in rows]
    return "".join(f"  {line}\n" for line in lines).removesuffix("" if found.text.endswith("\n") else "\n")


def _sources(answer: Answer) -> list[str]:
    rows = []
    for citation in answer.citations:
        title = f"{citation.title} > {citation.section}" if citation.section else citation.title
        place = citation.url or citation.document_id
        rows.append(f"  [{citation.n}] {title} ({place}, {citation.start}-{citation.end})")
    return rows


def _lines(answer: Answer, words: Words) -> list[str]:
    sure = "" if answer.verdict_confidence is None else f" · {answer.verdict_confidence:.2f}"
    rows = [(words["verdict"], _TEXTS[answer.language]["verdicts"][answer.verdict] + sure)] if answer.verdict else []
    rows += [
        (f"{words['pass']} {n}", _pass(iteration, answer.language))
        for n, iteration in enumerate(answer.iterations, start=1)
    ]
    why = _TEXTS[answer.language]["stopped"][answer.stop_reason]
    rows.append((words["stopped"], why if answer.language == "ko" else f"{answer.stop_reason.value} ({why})"))
    rows += [(words["removed"], claim) for claim in answer.removed_claims]
    rows += [(words["note"], note) for note in answer.notes[bool(answer.uncovered and doubt(answer)) :]]
    rows += [(words["web"], words[answer.web.effect])] if answer.web else []
    cost = answer.cost
    spent = words["spent"].format(seconds=cost.seconds, calls=cost.llm_calls, web=cost.web_requests)
    rows.append((words["cost"], spent))
    return [f"  {_pad(name + ':')} {text}" for name, text in rows]


def _pad(text: str, column: int = _COLUMN) -> str:
    """Filled up to the width of the column on a terminal, where Hangul takes two cells a syllable."""
    return text + " " * max(0, column - _width(text))


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _pass(iteration: Iteration, language: Language) -> str:
    words = _TEXTS[language]["words"]
    judged = words["unjudged"] if iteration.overall is None else f"{words['quality']} {iteration.overall:.2f}"
    gain = f" ({iteration.improvement:+.2f})" if iteration.improvement is not None else ""
    verdict = iteration.verdict
    found = f", {verdict.value if language == 'en' else _TEXTS[language]['verdicts'][verdict]}" if verdict else ""
    refined = words["refined"].format(share=iteration.removed_share) if iteration.removed_share is not None else ""
    return f"{judged}{gain}{found}{refined}  «{iteration.query}»"
