"""How the page's own markup looks: in the colours of whatever theme is on, on a phone too.

And what the page does in the browser beyond Streamlit: copying an answer, going to a question, naming rows' buttons.
"""

import json

import streamlit as st

from selfright.entrypoints.ui.words import resource

# A boat. Streamlit would fetch the picture of an emoji from elsewhere.
ICON = (
    "data:image/svg+xml,"
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Cpath d='M15 3v17H5zM17 7l8 13h-8z' fill='%232773d3'/%3E"
    "%3Cpath d='M3 22h26l-5 7H8z' fill='%23d98200'/%3E%3C/svg%3E"
)

STYLE = f"<style>\n{resource('page.css')}</style>"
WIDE = "<style>[data-testid=stMainBlockContainer] { max-width: 84rem; }</style>"
NARROW = "<style>[data-testid=stMainBlockContainer] { max-width: 56rem; }</style>"
"""How wide a page may be: the chat has sources beside its answers."""


def act() -> None:
    """Puts what is always needed into the page, once: Streamlit labels the buttons of all rows alike, for one."""
    st.html(f"<script>{resource('acts.js').strip()}</script>", unsafe_allow_javascript=True)


def go_to(name: str, time: int) -> None:
    """Scrolls to the element of that name; ``time`` is another number each time, so that it is done again.

    Streamlit keeps a chat at its end while an answer grows, so the page goes to the place for three seconds (sixty
    times) after it is there, until the reader moves it or another place is gone to.
    """
    going = resource("go_to.js").strip() % json.dumps(name)
    st.html(f"<script>{going}</script><!-- {time} -->", unsafe_allow_javascript=True)
