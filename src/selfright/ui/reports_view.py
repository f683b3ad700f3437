"""Reports of evaluations and ablations that lie in a folder, as ``selfright eval`` and ``ablate`` write them."""

import os
from pathlib import Path

import streamlit as st

from selfright.ui.markup import plain, tag
from selfright.ui.state import REPORTS, memory

REPORT = "report.html"
MOST_STUDIES = 200
MOST_REPORT_BYTES = 30_000_000
_HEIGHT = 900


def show_reports() -> None:
    """The reports of the folder, one at a time."""
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
