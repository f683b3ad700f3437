"""The profile: what is remembered of the reader, to see, correct and erase."""

import streamlit as st

from selfright.ui.markup import table, tag, text
from selfright.ui.state import Memory, memory, report_errors, service, who
from selfright.ui.words import Words
from selfright.wire.client import Client
from selfright.wire.user_data import ProfileReply, SlotLine

MOST_SHOWN = 500
MOST_TEXT = 5_000


def show_profile() -> None:
    """What stands, with a form to correct it and one to erase it."""
    mind = memory()
    if who(mind) is None:
        return
    client, words = service(mind), mind.words
    st.title(words["profile"], anchor=False)
    st.caption(words["profile_about"])
    with report_errors(mind):
        profile = client.profile(language=mind.language)
        _show(profile, words)
        _edit(mind, client, profile)
        if profile.history:
            _erase(mind, client)


def _show(profile: ProfileReply, words: Words) -> None:
    if not profile.slots:
        st.info(words["profile_empty"])
        return
    labels = {kind.name: kind.label for kind in profile.kinds}
    lines = [_row(slot, labels, words, disputed=False) for slot in profile.slots]
    lines += [_row(slot, labels, words, disputed=True) for slot in profile.disputed]
    head = [text(words[f"profile_{name}"]) for name in ("name", "value", "said")]
    inner = tag("p", tag("strong", text(profile.summary))) + table(text(words["profile"]), head, lines[:MOST_SHOWN])
    st.html(tag("section", inner, cls="selfright listed profile"))


def _row(slot: SlotLine, labels: dict[str, str], words: Words, *, disputed: bool) -> list[str]:
    details = [value for name, value in slot.details.items() if name != "key"]
    value = " ".join(filter(None, [slot.value, slot.unit, *details]))
    origin = words["profile_by_hand"] if slot.by_hand else words["profile_from_turn"].format(n=slot.turn + 1)
    remarks = [
        words["profile_negated"] if slot.negated else "",
        words["profile_past"] if slot.time == "past" else "",
        words["profile_family"] if slot.subject == "family" else "",
        words["profile_disputed"] if disputed else "",
        origin,
    ]
    return [text(labels.get(slot.name, slot.name)), text(value), text(" · ".join(filter(None, remarks)))]


def _edit(mind: Memory, client: Client, profile: ProfileReply) -> None:
    """A kind, and its values; the values that stand are filled in."""
    words = mind.words
    st.header(words["profile_edit"], anchor=False)
    kind = st.selectbox(words["profile_name"], profile.kinds, format_func=lambda kind: kind.label, key="kind")
    standing = [
        slot.value for slot in profile.slots
        if (slot.name, slot.subject, slot.time, slot.negated) == (kind.name, "user", "current", False)
    ]  # fmt: skip
    with st.form(f"correct-{kind.name}"):
        if kind.many:
            given = st.text_area(words["profile_values"], "\n".join(standing), max_chars=MOST_TEXT)
        else:
            given = st.text_input(words["profile_value"], "".join(standing[:1]), max_chars=MOST_TEXT)
        if st.form_submit_button(words["profile_save"], type="primary"):
            client.correct_profile({kind.name: [line.strip() for line in given.splitlines() if line.strip()]})
            mind.on_text = words["profile_saved"]
            st.rerun()


def _erase(mind: Memory, client: Client) -> None:
    words = mind.words
    with st.popover(words["profile_erase"]):
        st.write(words["profile_erase_sure"])
        if st.button(words["profile_erase_do"], type="primary", key="erase"):
            client.erase_profile()
            mind.on_text = words["profile_erased"]
            st.rerun()
