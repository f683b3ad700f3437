"""From a role's request to its two prompts: rules in the system prompt, what others wrote as fenced data in the other.

Nothing that was written by anyone else reaches a system prompt, and every length is bounded.

Long because: what reaches a model is put together here and nowhere else, to be read in one sitting.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from selfright.domain.answers import EvaluationRequest, Message, RewriteRequest
from selfright.domain.chat import Job, PromptDelimiters
from selfright.domain.judgements import Evaluation
from selfright.domain.passages import Hit, Language, Passage, Strip
from selfright.domain.slots import Concern, Slot
from selfright.domain.text import language_of
from selfright.roles.prompts import LABELS, SYSTEM, WITHOUT_DOCUMENTS
from selfright.roles.visible_text import visible, visible_part

Prompts = tuple[str, str]
"""System prompt and user prompt."""

MOST_MESSAGES = 10
MOST_EVIDENCE_CHARACTERS = 24_000
MOST_JUDGED_PASSAGES = 5
JUDGED_CHARACTERS = 500
GRADED_CHARACTERS = 1_200
STRIP_CHARACTERS = 600
PREVIOUS_CHARACTERS = 200
_LONGEST_MESSAGE = 2_000
_LONGEST_NOTE = 2_000
_LONGEST_QUESTION = 4_000
_LONGEST_ANSWER = 8_000
_LONGEST_ITEM = 200
_MOST_ITEMS = 10
_MARKER = re.compile(r" ?\[(\d{1,3})\]")


class BilingualPrompter:
    """Writes the answering prompts (port ``Prompter``); ``hints`` are more rules, of the field in question."""

    def __init__(self, hints: Mapping[Language, str] | None = None) -> None:
        self._hints = hints or {}

    async def prompts(
        self,
        question: str,
        language: Language,
        strips: Sequence[Strip] | None,
        profile_summary: str,
        history: Sequence[Message],
        summary: str,
        facts: Sequence[Slot] = (),
        concerns: Sequence[Concern] = (),
    ) -> Prompts:
        """The rules, and the data: passages numbered from 1 as ``strips`` stand, profile, conversation, question.

        ``strips`` is None when nothing has been looked up: the model then answers from the conversation.
        """
        labels = LABELS[language]
        cut = _evidence(strips or ())
        known = _list_items(_fact(slot, labels) for slot in facts)
        points = _list_items(concern.text for concern in concerns)
        said = [*_texts(history), *_prompt_texts(cut), *filter(None, (known, points))]
        delimiters = PromptDelimiters.around(question, profile_summary, summary, *said)
        rules = (WITHOUT_DOCUMENTS if strips is None else SYSTEM[Job.ANSWER])[language]
        return "\n".join(filter(None, (rules, self._hints.get(language)))), _sections(
            (labels["passages"], "" if strips is None else _passages(cut, delimiters) or labels["no_evidence"]),
            (labels["profile"], delimiters.wrap("profile", profile_summary[:_LONGEST_NOTE])),
            (labels["facts"], delimiters.wrap("facts", known)),
            (labels["concerns"], delimiters.wrap("concerns", points)),
            (labels["summary"], delimiters.wrap("summary", summary[:_LONGEST_NOTE])),
            (labels["history"], delimiters.wrap("conversation", _conversation(history, labels))),
            (labels["question"], question.strip()),
        )


@dataclass(frozen=True, slots=True)
class PromptText:
    """A text as a judge sees it: ``text`` may be cut, ``heading`` and ``url`` say where it stands."""

    passage_id: str
    text: str
    heading: str = ""
    url: str | None = None


def grading_prompt(question: str, hits: Sequence[Hit], language: Language) -> Prompts:
    """Passages numbered from 1 as ``hits`` stand, each cut to 1,200 characters, and the question."""
    shown = [_prompt_text(hit.passage, visible(hit.passage)[:GRADED_CHARACTERS]) for hit in hits]
    return _judging(Job.GRADE, "passages", question, shown, language)


def strips_prompt(question: str, strips: Sequence[Strip], language: Language) -> Prompts:
    """Excerpts numbered from 1 as ``strips`` stand, each cut to 600 characters, and the question."""
    shown = [_prompt_text(strip.passage, visible_part(strip)[:STRIP_CHARACTERS]) for strip in strips]
    return _judging(Job.STRIPS, "excerpts", question, shown, language)


def prompt_evidence(request: EvaluationRequest) -> tuple[PromptText, ...]:
    """The at most five passages, at most 500 characters of each, that ``evaluation_prompt`` numbers from 1.

    What the answer cites comes first, in the order of its numbers, then other strips, the best first, then other hits.
    """
    pieces: dict[str, list[Strip]] = {}
    for strip in (*_cited_strips(request), *sorted(request.strips, key=lambda strip: -strip.score)):
        chosen = pieces.setdefault(strip.passage.id, [])
        if strip not in chosen:
            chosen.append(strip)
    found = [_prompt_text(strips[0].passage, _excerpt(strips)) for strips in pieces.values()]
    found += [_prompt_text(hit.passage, visible(hit.passage)) for hit in request.hits if hit.passage.id not in pieces]
    return tuple(
        PromptText(one.passage_id, one.text[:JUDGED_CHARACTERS], one.heading, one.url)
        for one in found[:MOST_JUDGED_PASSAGES]
    )


def evaluation_prompt(request: EvaluationRequest) -> Prompts:
    """The answer, its markers renumbered to the passages shown, with all that it is judged by."""
    labels = LABELS[request.language]
    shown = prompt_evidence(request)
    answer = _renumber(request, shown)[:_LONGEST_ANSWER]
    feedback = _feedback(request.previous)
    question, profile = request.question[:_LONGEST_QUESTION], request.profile_summary[:_LONGEST_NOTE]
    points = _list_items(concern.text for concern in request.concerns)
    said = [*_texts(request.history), *_prompt_texts(shown), *filter(None, (points,))]
    delimiters = PromptDelimiters.around(question, answer, profile, feedback, *said)
    return SYSTEM[Job.EVALUATE][request.language], _sections(
        (labels["passages"], _passages(shown, delimiters) or labels["no_passages"]),
        (labels["profile"], delimiters.wrap("profile", profile)),
        (labels["concerns"], delimiters.wrap("concerns", points)),
        (labels["history"], delimiters.wrap("conversation", _conversation(request.history, labels))),
        (labels["previous_feedback"], delimiters.wrap("feedback", feedback)),
        (labels["question"], delimiters.wrap("question", question)),
        (labels["answer"], delimiters.wrap("answer", answer)),
    )


def rewrite_prompt(request: RewriteRequest) -> Prompts:
    """What was missing, the answer's first 200 characters, who asks, the pass, the queries tried, and the question."""
    labels = LABELS[request.language]
    question = request.question[:_LONGEST_QUESTION]
    tried = dict.fromkeys(query for query in (*request.tried, request.query) if query.strip() != question.strip())
    parts = (
        ("previous_answer", "answer", request.previous_answer[:PREVIOUS_CHARACTERS]),
        ("missing", "missing", _list_items(request.missing_info)),
        ("suggestions", "suggestions", _list_items(request.improvement_suggestions)),
        ("profile", "profile", request.profile_summary[:_LONGEST_NOTE]),
        ("facts", "facts", _list_items(_fact(slot, labels) for slot in request.slots)),
        ("tried", "queries", _list_items(tried)),
        ("question", "question", question),
    )
    delimiters = PromptDelimiters.around(*(text for _, _, text in parts))
    sections = [(labels[label], delimiters.wrap(name, text)) for label, name, text in parts]
    sections.insert(-1, (labels["iteration"], str(request.iteration)))
    return SYSTEM[Job.REWRITE][request.language], _sections(*sections)


def standalone_prompt(question: str, history: Sequence[Message], summary: str, language: Language) -> Prompts:
    """The conversation and its last question."""
    return _conversing(Job.STANDALONE, "question", question, history, summary, language)


def classify_prompt(text: str, history: Sequence[Message] = ()) -> Prompts:
    """The message with the conversation before it, in the message's language."""
    return _conversing(Job.CLASSIFY, "message", text, history, "", language_of(text))


def web_prompt(question: str, missing_info: Sequence[str], language: Language) -> Prompts:
    """The question and what is missing so far; nothing of the user's profile."""
    labels = LABELS[language]
    asked, missing = question[:_LONGEST_QUESTION], _list_items(missing_info)
    delimiters = PromptDelimiters.around(asked, missing)
    return SYSTEM[Job.WEB_QUERY][language], _sections(
        (labels["missing"], delimiters.wrap("missing", missing)),
        (labels["question"], delimiters.wrap("question", asked)),
    )


def summary_prompt(summary: str, messages: Sequence[Message], language: Language) -> Prompts:
    """The summary so far and all of ``messages``, each cut to 2,000 characters."""
    labels = LABELS[language]
    known = summary[:_LONGEST_NOTE]
    delimiters = PromptDelimiters.around(known, *_texts(messages))
    return SYSTEM[Job.SUMMARIZE][language], _sections(
        (labels["summary"], delimiters.wrap("summary", known)),
        (labels["messages"], delimiters.wrap("messages", _conversation(messages, labels, len(messages)))),
    )


def _judging(job: Job, label: str, question: str, shown: Sequence[PromptText], language: Language) -> Prompts:
    labels = LABELS[language]
    asked = question[:_LONGEST_QUESTION]
    delimiters = PromptDelimiters.around(asked, *_prompt_texts(shown))
    return SYSTEM[job][language], _sections(
        (labels[label], _passages(shown, delimiters, label.removesuffix("s"))),
        (labels["question"], delimiters.wrap("question", asked)),
    )


def _conversing(
    job: Job, label: str, text: str, history: Sequence[Message], summary: str, language: Language
) -> Prompts:
    labels = LABELS[language]
    asked, known = text[:_LONGEST_QUESTION], summary[:_LONGEST_NOTE]
    delimiters = PromptDelimiters.around(asked, known, *_texts(history))
    return SYSTEM[job][language], _sections(
        (labels["summary"], delimiters.wrap("summary", known)),
        (labels["history"], delimiters.wrap("conversation", _conversation(history, labels))),
        (labels[label], delimiters.wrap(label, asked)),
    )


def _sections(*sections: tuple[str, str]) -> str:
    return "\n\n".join(f"{title}:\n{body}" for title, body in sections if body)


def _prompt_text(passage: Passage, text: str) -> PromptText:
    """``text`` of the passage, rows under their head; of one without any evidence the heading is withheld, too."""
    if passage.head and "|" in text and passage.head not in text:
        text = f"| {passage.head} |\n{text}"
    return PromptText(passage.id, text, passage.heading if text.strip() else "", passage.url if text.strip() else None)


def _evidence(strips: Sequence[Strip]) -> list[PromptText]:
    """The strips as far as 24,000 characters go; one with nothing to show keeps its number."""
    shown: list[PromptText] = []
    left = MOST_EVIDENCE_CHARACTERS
    for strip in strips:
        if left <= 0:
            break
        text = visible_part(strip)[:left]
        left -= len(text)
        shown.append(_prompt_text(strip.passage, text))
    return shown


def _passages(shown: Sequence[PromptText], delimiters: PromptDelimiters, name: str = "passage") -> str:
    headed = ((" · ".join(filter(None, (one.heading, one.url))), one.text) for one in shown)
    return delimiters.wrap_numbered(name, headed)


def _prompt_texts(shown: Iterable[PromptText]) -> list[str]:
    return [text for one in shown for text in (one.text, one.heading, one.url or "")]


def _texts(messages: Iterable[Message]) -> list[str]:
    return [message.content for message in messages]


def _conversation(history: Sequence[Message], labels: Mapping[str, str], most: int = MOST_MESSAGES) -> str:
    return "\n".join(
        f"{labels.get(message.role, 'user')}: {message.content.strip()[:_LONGEST_MESSAGE]}"
        for message in history[-most:]
        if message.content.strip()
    )


def _list_items(items: Iterable[str]) -> str:
    """At most ten items, one a line, each cut to 200 characters."""
    lines = [" ".join(item.split())[:_LONGEST_ITEM] for item in items if item.strip()]
    return "\n".join(f"- {line}" for line in lines[:_MOST_ITEMS])


def _fact(slot: Slot, labels: Mapping[str, str]) -> str:
    remarks = [labels["not"]] * slot.negated + [labels["past"]] * (slot.time == "past")
    remarks += [labels[slot.subject]] * (slot.subject != "user")
    said = [slot.value, slot.unit or "", *(value for name, value in slot.details if name != "key")]
    value = " ".join(part for part in said if part)
    return f"{slot.name}: {value}" + (f" ({', '.join(remarks)})" if remarks else "")


def _feedback(previous: Evaluation | None) -> str:
    if previous is None:
        return ""
    return _list_items((previous.reason, *previous.missing_info, *previous.improvement_suggestions))


def _cited_strips(request: EvaluationRequest) -> list[Strip]:
    """The strips that the answer cites, in the order of its citations."""
    return [
        strip
        for citation in sorted(request.draft.citations, key=lambda citation: citation.n)
        for strip in request.strips
        if strip.passage.id == citation.passage_id and strip.start <= citation.start < strip.end
    ]


def _excerpt(strips: Sequence[Strip]) -> str:
    """The strips of one passage in its order: of those that fit into 500 characters, the first given go first."""
    chosen: list[Strip] = []
    for strip in strips:
        if not chosen or sum(len(s.text) + 1 for s in chosen) + len(strip.text) <= JUDGED_CHARACTERS:
            chosen.append(strip)
    return "\n".join(visible_part(strip) for strip in sorted(chosen, key=lambda strip: strip.start))


def _renumber(request: EvaluationRequest, shown: Sequence[PromptText]) -> str:
    """The answer with its markers pointing to the passages as the judge sees them; those to none are left out."""
    places = {one.passage_id: n for n, one in enumerate(shown, start=1)}
    numbers = {citation.n: places.get(citation.passage_id) for citation in request.draft.citations}

    def renumber(marker: re.Match[str]) -> str:
        number = numbers.get(int(marker[1]))
        return f" [{number}]" if number else ""

    return _MARKER.sub(renumber, request.draft.text)
