"""A turn as a LangChain runnable: runs in chains, in batches, and tells callbacks what happens."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableLambda

from selfright.background import LoopThread
from selfright.domain.answers import Answer
from selfright.domain.errors import InputError
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.turns import TurnOptions

TurnInput = str | Mapping[str, Any]
TurnRunnable = RunnableLambda[TurnInput, Answer]
Events = Callable[[str, TurnOptions], AsyncGenerator[TurnEvent, None]]


def turn_runnable(events: Events, loop: LoopThread, usual: TurnOptions) -> TurnRunnable:
    """The runnable over a turn's ``events``; ``usual`` options hold where a call gives none of that name."""

    def ask(given: TurnInput, config: RunnableConfig, **options: Any) -> Answer:
        return loop.run(aask(given, config, **options))

    async def aask(given: TurnInput, config: RunnableConfig, **options: Any) -> Answer:
        found: list[Answer] = []
        async with aclosing(events(*_turn_arguments(given, usual, options))) as turn:
            async for event in turn:
                if isinstance(event, TurnFinished):
                    found.append(event.answer)
                else:
                    await adispatch_custom_event(type(event).__name__, event, config=config)
        return found[0]  # the graph always reaches finalize

    return RunnableLambda(ask, aask, name="selfright")


def _turn_arguments(given: TurnInput, usual: TurnOptions, options: Mapping[str, Any]) -> tuple[str, TurnOptions]:
    fields: Any = {"question": given} if isinstance(given, str) else given
    if not isinstance(fields, Mapping) or not isinstance(fields.get("question"), str):
        raise InputError(
            "a turn takes a question, or a mapping with 'question' and options of the turn, "
            f"but got {'a mapping without one' if isinstance(fields, Mapping) else type(given).__name__}"
        )
    named: Any = {**usual, **{name: value for name, value in fields.items() if name != "question"}, **options}
    return fields["question"], named
