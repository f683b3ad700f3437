"""The page itself, as Streamlit runs it for each browser tab and each thing that is done there; its profile and its
reports.
"""

import os
from functools import partial
from pathlib import Path

import streamlit as st

from selfright.ui.chat_view import show_chat
from selfright.ui.documents_view import show_documents
from selfright.ui.markup import ICON, NARROW, STYLE, WIDE, act, plain, table, tag, text
from selfright.ui.state import (
    REPORTS,
    Memory,
    keep_to_this_machine,
    keeps_profiles,
    memory,
    report_errors,
    say_once,
    service,
    who,
)
from selfright.ui.words import LANGUAGES, Words, say_in
from selfright.wire.client import Client
from selfright.wire.user_data import ProfileReply, SlotLine


def main() -> None:
    """Draws the page that is open."""
    # First of all: else Streamlit fetches the icon of the page that is open from elsewhere, to show it in the tab.
    st.set_page_config(page_title="Selfright", page_icon=ICON, layout="wide")
    mind = memory()
    words = mind.words
    keep_to_this_machine(mind)
    documents = st.Page(show_documents, title=words["documents"], icon=":material/description:", url_path="documents")
    chat = partial(show_chat, documents)
    pages = [
        st.Page(chat, title=words["chat"], icon=":material/forum:", url_path="chat", default=True),
        documents,
        st.Page(show_reports, title=words["reports"], icon=":material/bar_chart:", url_path="reports"),
    ]
    if keeps_profiles(mind):
        pages.insert(2, st.Page(show_profile, title=words["profile"], icon=":material/person:", url_path="profile"))
    chosen = st.navigation(pages, position="top")
    st.html(STYLE + (WIDE if chosen.url_path in ("", "chat") else NARROW))
    say_in(mind.language)
    act()
    _choose_language(mind)
    say_once(mind)
    chosen.run()


def _choose_language(mind: Memory) -> None:
    with st.sidebar:
        names = list(LANGUAGES)
        chosen = st.radio(
            "Language · 언어",
            names,
            index=names.index(mind.language),
            format_func=lambda each: LANGUAGES[each],
            horizontal=True,
            key="language",
        )
    if chosen != mind.language:
        mind.language = chosen
        st.rerun()


REPORT = "report.html"
MOST_STUDIES = 200
MOST_REPORT_BYTES = 30_000_000
_HEIGHT = 900


def show_reports() -> None:
    """The reports in a folder, as ``selfright eval`` and ``ablate`` write them, one at a time."""
    mind = memory()
    words, folder = mind.words, os.environ.get(REPORTS, "")
    st.title(words["reports"], anchor=False)
    st.caption(words["reports_about"])
    if not folder:
        st.info(words["reports_off"])
        return
    found = studies(Path(folder))
    if not found:
        st.info(plain(words["reports_none"].format(folder=folder)))
        return
    name = st.selectbox(words["reports_pick"], list(found))
    try:
        report = read(found[name] / REPORT)
    except OSError as error:
        st.error(plain(words["reports_broken"].format(name=name, why=error.strerror or type(error).__name__)))
        return
    st.download_button(words["reports_download"], report, file_name=f"{name}.html", mime="text/html")
    st.iframe(frame_report(report, words["reports_full"]), height=_HEIGHT)


def studies(folder: Path) -> dict[str, Path]:
    """The folders with a report in them, by name: the folder itself and those straight below, the newest first."""
    try:
        places = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())][: 10 * MOST_STUDIES]
        found = {each: (each / REPORT).stat().st_mtime_ns for each in places if (each / REPORT).is_file()}
    except OSError:
        return {}
    newest = sorted(found, key=lambda place: -found[place])[:MOST_STUDIES]
    return {place.name or str(place): place for place in newest}


def read(path: Path) -> str:
    """A report as it was written, as far as a page can show it. Raises ``OSError``."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(MOST_REPORT_BYTES)


def frame_report(report: str, title: str) -> str:
    """A page that holds a report in a frame without scripts, without an origin, and without the network."""
    rules = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'"
    frame = tag("iframe", srcdoc=report, sandbox="", title=title, style="border:0;width:100%;height:100vh")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
    return (
        f'<!doctype html><html><head><meta charset="utf-8">{policy}</head><body style="margin:0">{frame}</body></html>'
    )


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


if __name__ == "__main__":
    main()
