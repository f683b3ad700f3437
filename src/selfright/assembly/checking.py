"""What a check of a model needs: the offline roles, the same jobs done by the model, and passages to judge."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from selfright.assembly.engine import Engine
from selfright.assembly.roles import OfflineRoles, Roles, with_models
from selfright.domain.budget import Meter
from selfright.domain.chat import Job
from selfright.domain.errors import UsageError
from selfright.domain.passages import DEFAULT_COLLECTION
from selfright.domain.ports import Generator
from selfright.domain.turns import DEFAULT_USER, Scope, ScopedRetriever
from selfright.settings import OFFLINE, Settings

_PLENTY = 1_000_000_000
_MOST_SECONDS = 86_400.0


@dataclass(slots=True)
class Bench:
    """``name`` is the model's; ``writer`` writes with it with no offline writer behind it. ``failed``:
    replies that a role could make nothing of, beside those that the meter counts."""

    name: str
    offline: OfflineRoles
    model: Roles
    writer: Generator
    retriever: ScopedRetriever
    meter: Meter
    failed: int = 0


@contextmanager
def open_bench(settings: Settings, documents: Path, nothing: Generator) -> Iterator[Bench]:
    """A bench over an index of ``documents``, which ``settings`` name; ``nothing`` stands behind the writer.

    Raises ``UsageError`` when no model is set, and what opening it raises.
    """
    from selfright.roles.generate.citation_check import CitationChecker
    from selfright.roles.generate.llm import ModelGenerator

    if settings.llm == OFFLINE:
        raise UsageError("a check needs a model: selfright models check openai:gpt-4o-mini, or local:smollm2")
    engine = Engine(settings)
    try:
        engine.index.add([documents], DEFAULT_COLLECTION, None, None)
        meter = Meter(_PLENTY, _PLENTY, _MOST_SECONDS)
        chat = engine.models.chat(meter)
        offline = engine.offline
        yield Bench(
            name=engine.models.names[Job.GRADE],
            offline=offline,
            model=with_models(offline, chat, frozenset(Job), "always"),
            writer=ModelGenerator(chat, nothing, CitationChecker(offline.analyzer)),
            retriever=engine.index.retriever(Scope(DEFAULT_USER, None)),
            meter=meter,
        )
    finally:
        engine.close()
