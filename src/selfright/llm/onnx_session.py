"""onnxruntime on the processor, in the manner that suits a program with other work to do."""

import importlib
from typing import Any

_FATAL = 4


def cpu_session(model: bytes | str, threads: int) -> Any:
    """A session for a model's content, or for the file at a path; what onnxruntime raises is let through."""
    runtime: Any = importlib.import_module("onnxruntime")  # it does not declare what it exports
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL  # what goes wrong is raised; it need not be printed as well
    # Threads that spin while they wait take the processor from others: on a busy machine many times what they use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
