"""Every prompt, Korean and English: what a model is told to do, and the words around the data it gets.

They are in ``prompts.en.toml`` and ``prompts.ko.toml``, and only rules stand there. What others wrote goes into the
user prompt, fenced; ``prompting`` does that.
"""

from selfright.domain.chat import Job
from selfright.domain.passages import Language
from selfright.domain.wordings import wordings

_TEXTS = wordings(__package__, "prompts")


def _rules(job: Job) -> dict[Language, str]:
    rules = {language: texts["rules"][job] for language, texts in _TEXTS.items()}
    if job is Job.ANSWER:
        return rules
    return {language: f"{rules[language]}\n\n{texts['shared']['data']}" for language, texts in _TEXTS.items()}


SYSTEM: dict[Job, dict[Language, str]] = {job: _rules(job) for job in Job if job is not Job.EXTRACT}
"""What a model is told for each job; the answering prompt has the rule about data among its own."""

WITHOUT_DOCUMENTS = {language: texts["shared"]["without_documents"] for language, texts in _TEXTS.items()}
"""What a model is told that answers before anything was looked up [S2]."""

LABELS = {language: texts["labels"] for language, texts in _TEXTS.items()}
