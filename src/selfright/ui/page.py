"""The page itself, as Streamlit runs it for each browser tab and each thing that is done there."""

from typing import Literal

import streamlit as st

from selfright.ui.chat_view import show_chat
from selfright.ui.documents_view import show_documents
from selfright.ui.markup import ICON, NARROW, STYLE, WIDE, act
from selfright.ui.profile_view import show_profile
from selfright.ui.reports_view import show_reports
from selfright.ui.state import Memory, keep_to_this_machine, keeps_profiles, memory, say_once
from selfright.ui.words import LANGUAGES, say_in


def main() -> None:
    """Draws the page that is open."""
    # First of all: else Streamlit fetches the icon of the page that is open from elsewhere, to show it in the tab.
    st.set_page_config(page_title="Selfright", page_icon=ICON, layout="wide")
    mind = memory()
    words = mind.words
    keep_to_this_machine(mind)
    pages = [
        st.Page(show_chat, title=words["chat"], icon=":material/forum:", url_path="chat", default=True),
        st.Page(show_documents, title=words["documents"], icon=":material/description:", url_path="documents"),
        st.Page(show_reports, title=words["reports"], icon=":material/bar_chart:", url_path="reports"),
    ]
    if keeps_profiles(mind):
        pages.insert(2, st.Page(show_profile, title=words["profile"], icon=":material/person:", url_path="profile"))
    chosen = st.navigation(pages, position="top")
    st.set_page_config(initial_sidebar_state=_side_bar(mind, chosen.url_path))
    st.html(STYLE + (WIDE if chosen.url_path in ("", "chat") else NARROW))
    say_in(mind.language)
    act()
    _choose_language(mind)
    say_once(mind)
    chosen.run()


def _side_bar(mind: Memory, page: str) -> Literal["auto", "collapsed"]:
    """How the side bar is to be: folded away on a phone, where it lies over the page that was just chosen.

    Both states mean that there; Streamlit obeys when it hears another one than before.
    """
    if page != mind.page and "Mobi" in st.context.headers.get("User-Agent", ""):
        mind.folded = not mind.folded
    mind.page = page
    return "collapsed" if mind.folded else "auto"


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


if __name__ == "__main__":
    main()
