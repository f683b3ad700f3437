"""The conversation: asking, watching the turn, reading the answer."""

import time
from collections.abc import Iterable
from contextlib import closing

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from selfright.entrypoints.client import AskOptions, Client, ServiceError, TurnEvent
from selfright.entrypoints.ui import answers, names
from selfright.entrypoints.ui.listening import heard
from selfright.entrypoints.ui.markup import tag, text
from selfright.entrypoints.ui.sessions_view import show_sessions
from selfright.entrypoints.ui.state import Memory, memory, said_of, service, who
from selfright.entrypoints.ui.turns import Turn

MOST_QUESTION = 10_000
_FRAME_S = 0.12


def show_chat() -> None:
    """The chat, with its settings and the other conversations beside it."""
    mind = memory()
    known = who(mind)
    if known is None:
        return
    client, words = service(mind), mind.words
    options = _choices(mind, known.presets, known.default_preset)
    with st.sidebar:
        show_sessions(mind, client)
    st.title("Selfright", anchor=False)
    st.caption(words["tagline"])
    if not mind.turns:
        st.html(tag("p", text(words["empty"]), cls="selfright"))
    for place, turn in enumerate(mind.turns):
        _show(turn, f"turn-{place}", mind)
    question = st.chat_input(words["ask_here"], max_chars=MOST_QUESTION, submit_mode="stop")
    if question and question.strip():
        _ask(client, mind, question.strip(), options)
        st.rerun()


def _choices(mind: Memory, presets: list[str], default: str) -> AskOptions:
    words = mind.words
    with st.sidebar:
        mode = st.radio(
            words["mode"],
            ["chat", "ask"],
            format_func=lambda each: words[f"mode_{each}"],
            help=words["mode_help"],
            key="mode",
        )
        preset = st.selectbox(
            words["preset"],
            presets,
            index=presets.index(default) if default in presets else 0,
            help=words["preset_help"],
            key="preset",
        )
        st.caption(names.PRESETS[mind.language].get(preset, ""))
    options: AskOptions = {"preset": preset}
    if mode == "chat":
        options["session"] = mind.session
    return options


def _show(turn: Turn, name: str, mind: Memory) -> None:
    with st.chat_message("user"):
        st.html(tag("div", text(turn.question), cls="selfright prose"))
    with st.chat_message("assistant"):
        st.html(answers.whole(turn, name, mind.language))


def _ask(client: Client, mind: Memory, question: str, options: AskOptions) -> None:
    """Runs a turn before the reader's eyes. Streamlit ends it by an exception when the reader does something else."""
    turn = Turn(question)
    mind.add(turn)
    with st.chat_message("user"):
        st.html(tag("div", text(question), cls="selfright prose"))
    with st.chat_message("assistant"):
        place = st.empty()
        place.html(answers.live(turn, mind.language))
        try:
            with closing(heard(client.stream(question, **options))) as events:
                _follow(events, turn, mind, place)
        except ServiceError as error:
            turn.trouble = said_of(error, mind.words)


def _follow(events: Iterable[TurnEvent | None], turn: Turn, mind: Memory, place: DeltaGenerator) -> None:
    shown = time.monotonic()
    for event in events:
        if event is not None:
            turn.hear(event)
        if event is None or time.monotonic() - shown >= _FRAME_S:
            place.html(answers.live(turn, mind.language))  # here Streamlit ends us when the reader wants it
            shown = time.monotonic()
