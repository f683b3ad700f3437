"""The conversations that the service keeps: begin one, open one, forget one."""

from datetime import UTC, datetime

import streamlit as st

from selfright.entrypoints.client import Client, ServiceError, SessionLine
from selfright.entrypoints.ui.markup import plain
from selfright.entrypoints.ui.state import Memory, Turn, told

MOST_SHOWN = 12
MOST_TITLES = 200
_TITLE = 30


def show_sessions(mind: Memory, client: Client) -> None:
    """The list, in the sidebar."""
    words = mind.words
    st.button(words["new"], on_click=mind.begin, width="stretch", icon=":material/add:", key="new")
    if mind.turns:
        _forget(mind, client)
    st.header(words["sessions"], anchor=False)
    with told(mind):
        lines = client.sessions()[:MOST_SHOWN]
        if not lines:
            st.caption(words["no_sessions"])
        for line in lines:
            _line(mind, client, line)


def _line(mind: Memory, client: Client, line: SessionLine) -> None:
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


def _title(mind: Memory, client: Client, line: SessionLine) -> str:
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
        mind.say = mind.words["gone"] if error.status == 404 else str(error)
        return
    mind.begin(session)
    for line in said.kept:
        mind.add(Turn(line.question, earlier=line, urgent=line.urgent))
    if said.unfinished:
        mind.say = mind.words["unfinished"].format(question=said.unfinished)


def _forget(mind: Memory, client: Client) -> None:
    words = mind.words
    with st.popover(words["forget"], width="stretch"):
        st.write(words["forget_sure"])
        st.button(words["forget_do"], on_click=_delete, args=(mind, client), type="primary", key="forget")


def _delete(mind: Memory, client: Client) -> None:
    try:
        client.forget(mind.session)
    except ServiceError as error:
        if error.status != 404:
            mind.say = str(error)
            return
    mind.begin()
    mind.say = mind.words["forgotten"]
