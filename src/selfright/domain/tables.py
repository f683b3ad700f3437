"""TOML files that stand beside a package's modules. Tables in documents are read by ``ingest.readers.tables``."""

from functools import cache
from typing import Any


@cache
def read_table(package: str, name: str) -> dict[str, Any]:
    """The file ``NAME.toml`` of a package, read once; nobody changes it. Raises ``FileNotFoundError``."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
