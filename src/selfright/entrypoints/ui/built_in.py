"""What Streamlit says by itself, in English alone, put into Korean in the browser.

Its widgets take labels and placeholders, but not the words of their parts (the uploader's button, what a screen reader
hears of an arrow). A small script that is the same for everybody exchanges just those; what people wrote is not looked
at. It goes both ways, for Streamlit keeps what stands in the page when the language is switched.
"""

import json

import streamlit as st

from selfright.entrypoints.ui.words import TABLES, Language, resource

KOREAN = TABLES["ko"]["streamlit"]
"""Texts as a whole."""

WITH_A_PART = TABLES["ko"]["streamlit_around"]
"""Texts around a part that stays."""

# Texts are exchanged only inside of these parts, attributes everywhere but in what the service and its users wrote.
_PARTS = (
    "stFileUploaderDropzone",
    "stFileUploader",
    "stSkipToContent",
    "stSelectboxVirtualDropdown",
    "InputInstructions",
)


def say_in(language: Language) -> None:
    """Puts Streamlit's own words of the page into ``language``, now and when more of them come."""
    st.html(script(language), unsafe_allow_javascript=True)


def script(language: Language) -> str:
    """The script as an element."""
    korean = language == "ko"
    pairs = [(a.split("{}"), b.split("{}")) for a, b in WITH_A_PART.items()]
    words = {
        "language": language,
        "whole": dict(KOREAN) if korean else {said: english for english, said in KOREAN.items()},
        "around": [[*english, *said] if korean else [*said, *english] for english, said in pairs],
        "parts": _PARTS,
    }
    said = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    return f"<script>{resource('built_in.js').strip() % said}</script>"
