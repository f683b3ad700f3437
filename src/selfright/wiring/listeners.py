"""Whether LangChain's callbacks listen to what runs here."""

import os
import sys

_TRACING = tuple(f"{house}_{name}" for house in ("LANGSMITH", "LANGCHAIN") for name in ("TRACING", "TRACING_V2"))
_CALLBACKS = "langchain_core.callbacks.manager"


def langchain_listens() -> bool:
    """Whether a callback, of the running chain's or LangSmith's tracing, would hear of a graph's nodes.

    Only LangGraph tells them. Where LangChain is not loaded and tracing is not asked for, nobody can listen.
    """
    if _CALLBACKS not in sys.modules and not any(map(os.environ.get, _TRACING)):
        return False
    from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

    return bool(get_async_callback_manager_for_config(ensure_config()).handlers)
