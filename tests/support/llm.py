"""A turn in which every job of a model is done once, and the scripted answers that make it so."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from selfright import Message, Selfright
from selfright.domain.chat import Job
from selfright.domain.passages import Language
from selfright.roles.prompts import SYSTEM, WITHOUT_DOCUMENTS
from selfright_medical.wording import TEXTS
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Plain, Rule

QUESTION = "How do I install it?"
HISTORY = tuple(
    Message(("user", "assistant")[n % 2], ("What is FxStore?", "FxStore is a Java library for persistent maps.")[n % 2])
    for n in range(8)
)
DOCUMENTS = {
    "install.md": "# Installing FxStore\n\nFxStore is installed with Gradle. Its version is 0.3.0. It needs Java 17.\n",
    "maps.md": "# Maps\n\nA map of FxStore keeps its entries in one file. Keys may be text or numbers.\n",
}
PAGES = {"gradle.html": "<html><title>Gradle</title><p>FxStore is installed with Gradle by one line.</p></html>"}

EVALUATION = {
    "grounding": 0.9, "completeness": 0.9, "accuracy": 0.9, "answer_quality": "adequate", "confidence": 0.9,
    "missing_info": [], "improvement_suggestions": [], "needs_retrieval": False, "reason": "it is all there",
    "claims": [],
}  # fmt: skip
WANTING = {
    **EVALUATION,
    "grounding": 0.4,
    "completeness": 0.2,
    "answer_quality": "needs_docs",
    "missing_info": ["the Gradle coordinates"],
    "needs_retrieval": True,
}
ANSWERS: Mapping[Job, Sequence[Plain]] = {
    Job.CLASSIFY: [{"query_class": "question"}],
    Job.STRIPS: [{"kept": [1]}],
    Job.ANSWER: ["FxStore is installed with Gradle. [1]"],
    Job.EVALUATE: [WANTING, EVALUATION],
    Job.REWRITE: ["FxStore Gradle coordinates version"],
    Job.WEB_QUERY: ["FxStore install Gradle"],
    Job.STANDALONE: ["How do I install FxStore?"],
    Job.SUMMARIZE: ["They talked about FxStore, a Java library."],
    Job.EXTRACT: [{"facts": []}],
}


def system_of(job: Job) -> Mapping[Language, str]:
    """What a model is told for a job, by language."""
    return (
        {language: texts["extraction"]["rules"] for language, texts in TEXTS.items()}
        if job is Job.EXTRACT
        else SYSTEM[job]
    )


def is_job(job: Job, request: Request) -> bool:
    """Whether a request does that job, however the object is asked for."""
    prompts = [*system_of(job).values(), *(WITHOUT_DOCUMENTS.values() if job is Job.ANSWER else ())]
    return any(request.system.startswith(prompt) for prompt in prompts)


def rules(**instead: Any) -> list[Rule]:
    """Rules for every job; ``instead`` gives other replies for single jobs."""

    def of(job: Job) -> Rule:
        reply = instead.get(job.value, ANSWERS.get(job, _graded))
        return Rule(lambda request: is_job(job, request), reply)

    return [of(job) for job in Job]


def _graded(request: Request) -> dict[str, Any]:
    """Every passage a little likely: the set is not enough, so the web is asked too."""
    shown = [n for n in range(1, 30) if f'n="{n}"' in request.user]
    return {"passages": [{"n": n, "probability": 0.3} for n in shown], "sufficiency": 0.2, "reason": "little"}


def write_index(folder: Path) -> dict[str, Any]:
    """A small index and a small web; gives the settings that use them."""
    documents, pages = folder / "documents", folder / "web"
    for place, files in ((documents, DOCUMENTS), (pages, PAGES)):
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
    with Selfright.open(folder / "index", embedder="none") as selfright:
        selfright.add([documents])
    return {
        "path": folder / "index", "embedder": "none", "web_provider": "static", "web_folder": pages,
        "llm": "openai:scripted", "history_limit": 4, "llm_judging": "always", "max_llm_calls": 40,
    }  # fmt: skip
