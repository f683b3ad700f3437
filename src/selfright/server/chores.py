"""What chat front ends ask for beside the conversation: its title and its tags, in a JSON object that they name.

Open WebUI sends a task with the conversation in ``<chat_history>`` and the form of the reply, such as ``{"title": …}``.
Without a language model the title is the user's first question, and tags are its words.
"""

import json
import re

from selfright.domain.text import has_hangul
from selfright.roles.words import mask_stop_words

_CONVERSATION = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL)
_FORM = re.compile(r"\{\s*\"(title|tags|follow_ups|queries)\"\s*:")
_ASKED = re.compile(r"^\s*USER:[ \t]*(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"[^\W_][\w-]+")
_PARTICLE = re.compile(r"(?<=..)(?:은|는|이|가|을|를|의|에|로|으로|에서|와|과|도|만)(?:요)?$")
_LONGEST_TITLE = 60
_MOST_TAGS = 3


def chore_of(message: str) -> str | None:
    """The key of the JSON object that a front end's task wants; None for a message of a user."""
    conversation, form = _CONVERSATION.search(message), _FORM.search(message)
    return form[1] if conversation and form and message.lstrip().startswith("### Task") else None


def answer_chore(chore: str, message: str) -> str:
    """The object in JSON, from the conversation within ``message``; an empty list for what takes a model."""
    conversation = _CONVERSATION.search(message)
    asked = _ASKED.search(conversation[1]) if conversation else None
    question = asked[1].strip() if asked else "Chat"
    made: str | list[str] = []
    if chore == "title" and len(question) <= _LONGEST_TITLE:
        made = question.rstrip("?？.! ") or "Chat"
    elif chore == "title":
        made = f"{question[:_LONGEST_TITLE].rsplit(None, 1)[0]}…"
    elif chore == "tags":
        words = _WORD.findall(mask_stop_words(question[:1_000]))
        plain = (_PARTICLE.sub("", word) if has_hangul(word) else word.capitalize() for word in words)
        made = list(dict.fromkeys(plain))[:_MOST_TAGS] or ["General"]
    return json.dumps({chore: made}, ensure_ascii=False)
