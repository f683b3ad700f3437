"""Evaluations and ablations that lie in a folder, as ``selfright eval`` and ``selfright ablate`` write them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from selfright.entrypoints.ui.markup import plain, table, tag, text
from selfright.entrypoints.ui.state import REPORTS, Memory, memory
from selfright.entrypoints.ui.words import Words

STUDY = "study.json"
REPORT = "report.html"
MOST_STUDIES = 200
MOST_BYTES = 200_000_000
MOST_REPORT_BYTES = 30_000_000
_HEIGHT = 900


class Unreadable(Exception):
    """A study that cannot be shown, and why."""


def show_reports() -> None:
    """The studies of the folder, one at a time."""
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
        _show(mind, found[name])
    except Unreadable as error:
        st.error(plain(words["reports_broken"].format(name=name, why=error)))


def studies(folder: Path) -> dict[str, Path]:
    """The folders with a study in them, by name: the folder itself and those straight below, the newest first."""
    try:
        places = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())][: 10 * MOST_STUDIES]
        found = [(each / STUDY).stat().st_mtime_ns for each in places if (each / STUDY).is_file()]
        there = [each for each in places if (each / STUDY).is_file()]
    except OSError:
        return {}
    newest = sorted(zip(found, there, strict=False), key=lambda pair: -pair[0])[:MOST_STUDIES]
    return {place.name or str(place): place for _, place in newest}


def read(place: Path) -> Mapping[str, Any]:
    """A study as it was written. Raises ``Unreadable``."""
    path = place / STUDY
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Unreadable(f"it has more than {MOST_BYTES // 1_000_000} MB")
        study = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from None
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    if not isinstance(study, dict) or not isinstance(study.get("runs"), list):
        raise Unreadable("it is no study of this version")
    return study


def summary(study: Mapping[str, Any], words: Words) -> str:
    """The mean of each metric for each system, with its interval, as a table."""
    runs = [run for run in study["runs"] if isinstance(run, dict)]
    metrics = list(dict.fromkeys(name for run in runs for name in _mapping(run, "summary")))
    head = [text(words["reports_metric"]), *(text(run.get("system", "?")) for run in runs)]
    rows = [[text(name), *(_estimate(_mapping(run, "summary").get(name)) for run in runs)] for name in metrics]
    return table(text(words["reports_table"]), head, rows)


def _show(mind: Memory, place: Path) -> None:
    words, study = mind.words, read(place)
    data = _mapping(study, "data")
    facts = words["reports_data"].format(
        questions=data.get("questions", "?"),
        name=data.get("name", "?"),
        kind=study.get("kind", "?"),
        seed=study.get("seed", "?"),
    )
    st.html(tag("section", tag("p", text(facts)) + summary(study, words), cls="selfright study"))
    own = place / f"report.{mind.language}.html"
    _full(words, own if own.is_file() else place / REPORT)


def _full(words: Words, path: Path) -> None:
    """The report written beside the study: in a frame that may run nothing and reach nothing."""
    if not path.is_file() or path.stat().st_size > MOST_REPORT_BYTES:
        return
    report = path.read_text(encoding="utf-8", errors="replace")
    st.header(words["reports_full"], anchor=False)
    st.download_button(words["reports_download"], report, file_name=f"{path.parent.name}.html", mime="text/html")
    st.iframe(framed(report, words["reports_full"]), height=_HEIGHT)


def framed(report: str, title: str) -> str:
    """A page that holds a report in a frame without scripts, without an origin, and without the network."""
    rules = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'"
    frame = tag("iframe", srcdoc=report, sandbox="", title=title, style="border:0;width:100%;height:100vh")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
    return (
        f'<!doctype html><html><head><meta charset="utf-8">{policy}</head><body style="margin:0">{frame}</body></html>'
    )


def _mapping(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _estimate(value: object) -> str:
    """``0.62 (0.55–0.69)``; a dash where the metric does not apply."""
    numbers = [value.get(name) for name in ("mean", "low", "high")] if isinstance(value, dict) else []
    if not numbers or not isinstance(numbers[0], int | float):
        return "–"
    low, high = numbers[1:]
    mean = f"{numbers[0]:.3g}"
    known = isinstance(low, int | float) and isinstance(high, int | float)
    return f"{mean} ({low:.3g}–{high:.3g})" if known else mean
