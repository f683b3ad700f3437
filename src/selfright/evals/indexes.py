"""Indexes over the corpora that are measured, made once and kept: a few at a time, the one used longest ago goes."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.api import Selfright
from selfright.domain.errors import IncompatibleIndex, InputError
from selfright.evals.questions import QuestionSet, file_sha256
from selfright.retrieval.files import write_atomically
from selfright.settings import Settings, load_settings

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress

KEPT = 4
"""How many indexes are kept under ``home``; a corpus of 10,000 passages takes about 40 MB."""

_DONE = ".complete"


def corpus_index(corpus: Path, values: Mapping[str, Any], progress: "Progress | None" = None) -> Selfright:
    """An index over a JSON Lines corpus, opened with these settings; made when there is none of it yet.

    It lies under ``home``, by the corpus's content and the embedder. What a killed run left unfinished is finished.
    The caller closes it.
    """
    settings = load_settings(values)
    place = folder(settings) / _name(corpus, settings)
    done = place.with_name(place.name + _DONE)
    selfright = Selfright.open(**{**values, "index": place})
    if not done.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        report = selfright.add([corpus], progress=progress)
        if report.failed:
            selfright.close()
            raise InputError(f"{corpus}: {report.failed[0][1]}; a set is measured whole or not at all")
    else:
        try:
            selfright.search("?", 1)
        except IncompatibleIndex:  # the same setting means another embedder by now
            selfright.reembed(progress=progress)
    done.touch()  # also says when it was used last
    _forget_oldest(place.parent)
    return selfright


def write_passages(data: QuestionSet, place: Path) -> Path:
    """The texts that came with the questions as a corpus of their own, each once. Raises ``InputError`` without any."""
    passages = {name: (title, text) for question in data.questions for name, title, text in question.passages}
    if not passages:
        raise InputError(f"{data.name} ({data.format}) brings no passages of its own; give an index with --index")
    rows = ({"_id": name, "title": title, "text": text} for name, (title, text) in passages.items())
    corpus = place / "passages.jsonl"
    write_atomically(corpus, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    return corpus


def folder(settings: Settings) -> Path:
    """Where the indexes lie."""
    return settings.home / "evaluations" / "indexes"


def _name(corpus: Path, settings: Settings) -> str:
    digest = hashlib.sha256(f"{file_sha256([corpus])} {settings.embedder} {corpus.name}".encode()).hexdigest()
    return f"corpus-{digest[:24]}"


def _forget_oldest(place: Path) -> None:
    done = sorted(place.glob(f"corpus-*{_DONE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for marker in done[KEPT:]:
        marker.unlink(missing_ok=True)
        shutil.rmtree(place / marker.name.removesuffix(_DONE), ignore_errors=True)
