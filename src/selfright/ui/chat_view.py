"""The conversation: asking, watching the turn, reading the answer; and the conversations that are kept."""

import time
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from selfright.ui import answers
from selfright.ui.markup import go_to, plain, tag, text
from selfright.ui.state import Memory, Turn, error_text, keep_message, listen, memory, report_errors, service, who
from selfright.ui.words import PRESETS
from selfright.wire.answers import TurnEvent
from selfright.wire.client import Client, Rating, ServiceError
from selfright.wire.user_data import SessionInfo, WhoReply

MOST_SHOWN = 12
MOST_TITLES = 200
_TITLE = 30


def show_sessions(mind: Memory, client: Client) -> None:
    """The list, in the sidebar."""
    words = mind.words
    st.button(words["new"], on_click=mind.begin, width="stretch", icon=":material/add:", key="new")
    if mind.turns:
        with st.popover(words["forget"], width="stretch"):
            st.write(words["forget_sure"])
            st.button(words["forget_do"], on_click=_delete, args=(mind, client), type="primary", key="forget")
    st.header(words["sessions"], anchor=False)
    with report_errors(mind):
        lines = client.sessions()[:MOST_SHOWN]
        if not lines:
            st.caption(words["no_sessions"])
        for line in lines:
            _line(mind, client, line)


def _line(mind: Memory, client: Client, line: SessionInfo) -> None:
    words = mind.words
    count = words["turn"] if line.turns == 1 else words["turns"].format(count=line.turns)
    when = datetime.fromtimestamp(line.updated, UTC).astimezone().strftime("%m-%d %H:%M")
    here = line.session == mind.session and bool(mind.turns)
    st.button(
        _title(mind, client, line),
        key=f"session-{line.session}",
        help=f"{when} · {count}",
        disabled=here,
        on_click=_open,
        args=(mind, client, line.session),
        width="stretch",
        icon=":material/chat_bubble:" if here else None,
    )


def _title(mind: Memory, client: Client, line: SessionInfo) -> str:
    """The first question that is kept of a conversation. It is shown as a label, where Markdown counts."""
    known = (line.session, line.created)
    if known not in mind.titles:
        if len(mind.titles) >= MOST_TITLES:
            mind.titles.clear()
        try:
            said = client.session(line.session)
        except ServiceError:
            return plain(line.session)
        first = said.kept[0].question if said.kept else said.unfinished or line.session
        mind.titles[known] = first if len(first) <= _TITLE else f"{first[:_TITLE].rstrip()}…"
    return plain(mind.titles[known])


def _open(mind: Memory, client: Client, session: str) -> None:
    try:
        said = client.session(session)
    except ServiceError as error:
        mind.begin()
        mind.on_text = mind.words["gone"] if error.status == 404 else str(error)
        return
    mind.begin(session)
    for line in said.kept:
        mind.add(Turn(line.question, earlier=line, urgent=line.urgent))
    if said.unfinished:
        mind.on_text = mind.words["unfinished"].format(question=said.unfinished)


def _delete(mind: Memory, client: Client) -> None:
    try:
        client.forget(mind.session)
    except ServiceError as error:
        if error.status != 404:
            mind.on_text = str(error)
            return
    mind.begin()
    mind.on_text = mind.words["forgotten"]


MOST_QUESTION = 10_000
_RATINGS: tuple[tuple[Rating, str], ...] = (("up", "helpful"), ("down", "not_helpful"))
_FRAME_S = 0.12
_MODEL_ALONE = "llm"  # the preset that is a mode


def show_chat(documents: StreamlitPage | None = None) -> None:
    """The chat, with its settings and the other conversations beside it; ``documents`` is where to add some."""
    mind = memory()
    reached = who(mind)
    known = reached or mind.last  # what was said stays on show while the service is gone
    if known is None:
        return
    client, words = service(mind), mind.words
    options = _choices(mind, known)
    if reached:
        with st.sidebar:
            show_sessions(mind, client)
    st.title("Selfright", anchor=False)
    st.caption(words["tagline"])
    typed = st.chat_input(words["ask_here"], max_chars=MOST_QUESTION, submit_mode="stop")
    question, mind.pending = (typed or mind.pending).strip(), ""
    if reached and not mind.turns and not question:
        _invite(mind, client, documents)
    for place, turn in enumerate(mind.turns):
        name = f"turn-{place}"
        _question(turn.question, name)
        with st.chat_message("assistant"):
            st.html(answers.whole(turn, name, mind.language))
            if turn.over:
                _actions(turn, name, mind, client)
    if question:
        _ask(client, mind, question, options)
        st.rerun()
    _go(mind)
    mind.go_to = ""


def _invite(mind: Memory, client: Client, documents: StreamlitPage | None) -> None:
    """What there is to do before the first question: adding documents, where there are none."""
    words = mind.words
    with report_errors(mind):
        if client.documents(limit=1).documents:
            st.html(tag("p", text(words["empty"]), cls="selfright"))
            return
        st.info(words["no_documents_yet"])
        if documents is not None:
            st.page_link(documents, label=words["add_documents"])


def _go(mind: Memory) -> None:
    if mind.go_to:
        mind.gone_to += 1
        go_to(mind.go_to, mind.gone_to)


def _choices(mind: Memory, known: WhoReply) -> dict[str, Any]:
    words = mind.words
    presets = [preset for preset in known.presets if preset != _MODEL_ALONE]
    default = known.default_preset
    with st.sidebar:
        mode: Literal["ai_agent", "llm"] = st.radio(
            words["mode"],
            ["ai_agent", "llm"],
            format_func=lambda each: words[f"mode_{each}"],
            index=int(default == _MODEL_ALONE),
            help=words["mode_help"],
            key="mode",
        )
        alone = mode == _MODEL_ALONE
        if alone and not known.model:
            st.caption(words["mode_no_model"])
        preset = st.selectbox(
            words["preset"],
            presets,
            index=presets.index(default) if default in presets else len(presets) - 1,
            help=words["preset_help"],
            key="preset",
            disabled=alone,
        )
        st.caption("" if alone else PRESETS[mind.language].get(preset, ""))
        memory_ = st.radio(
            words["memory"],
            ["chat", "ask"],
            format_func=lambda each: words[f"memory_{each}"],
            help=words["memory_help"],
            key="memory",
        )
    options: dict[str, Any] = {"mode": mode}
    if not alone:
        options["preset"] = preset
    if memory_ == "chat":
        options["session"] = mind.session
    return options


def _question(question: str, name: str) -> None:
    with st.chat_message("user"):
        st.html(tag("div", text(question), cls="selfright prose question", id=f"{name}-question"))


def _actions(turn: Turn, name: str, mind: Memory, client: Client) -> None:
    words = mind.words
    with st.container(horizontal=True, key=f"actions-{name}", vertical_alignment="center"):
        if said := answers.copy_button(turn, words):
            data = {"data_said": said, "data_done": words["copied"], "data_failed": words["not_copied"]}
            button = tag("button", text(words["copy"]), cls="copy", type="button", **data)
            st.html(tag("div", button, cls="selfright"), width="content")
        st.button(words["again"], key=f"again-{name}", on_click=setattr, args=(mind, "pending", turn.question))
        if turn.answer is None:
            return
        for rating, label in _RATINGS:
            st.button(
                words[label],
                key=f"{label}-{name}",
                icon=f":material/thumb_{rating}:",
                type="primary" if turn.rating == rating else "secondary",
                on_click=_rate,
                args=(turn, turn.answer.trace_id, None if turn.rating == rating else rating, mind, client),
            )


def _rate(turn: Turn, trace_id: str, rating: Rating | None, mind: Memory, client: Client) -> None:
    """Says what the reader thinks of an answer; said once more it is taken back."""
    with keep_message(mind):
        turn.rating = client.rate(trace_id, rating).rating
        mind.on_text = mind.words["rated" if rating else "unrated"]


def _ask(client: Client, mind: Memory, question: str, options: dict[str, Any]) -> None:
    """Runs a turn before the reader's eyes. Streamlit ends it by an exception when the reader does something else."""
    turn = Turn(question)
    mind.add(turn)
    name = f"turn-{len(mind.turns) - 1}"
    _question(question, name)
    mind.go_to = f"{name}-question"
    _go(mind)
    with st.chat_message("assistant"):
        place = st.empty()
        place.html(answers.live(turn, mind.language))
        try:
            with closing(listen(client.stream(question, **options))) as events:
                _follow(events, turn, mind, place)
        except ServiceError as error:
            turn.trouble = error_text(error, mind)


def _follow(events: Iterable[TurnEvent | None], turn: Turn, mind: Memory, place: DeltaGenerator) -> None:
    shown = time.monotonic()
    for event in events:
        if event is not None:
            turn.hear(event)
        if event is None or time.monotonic() - shown >= _FRAME_S:
            place.html(answers.live(turn, mind.language))  # here Streamlit ends us when the reader wants it
            shown = time.monotonic()
