"""The report as a file beside the study's own."""

from pathlib import Path

from selfright.domain.passages import Language
from selfright.evals.report.page import page
from selfright.evals.results import Study
from selfright.retrieval.files import write_atomically

BESIDE = ("study.json", "summary.csv", "rows.csv")


def write_report(study: Study, folder: Path, language: Language = "en") -> Path:
    """Writes ``report.html`` (in Korean ``report.ko.html``) into the folder, which is made; gives back its path.

    The page links to those of ``study.json``, ``summary.csv`` and ``rows.csv`` that lie beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("report.html" if language == "en" else f"report.{language}.html")
    files = [name for name in BESIDE if (folder / name).is_file()]
    write_atomically(path, page(study, language, files).encode())
    return path
