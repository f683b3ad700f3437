"""Tables and texts kept as data, beside the modules of a package."""

from functools import cache
from typing import Any


@cache
def read_table(package: str, name: str) -> dict[str, Any]:
    """The file ``NAME.toml`` of a package, read once; nobody changes it. Raises ``FileNotFoundError``."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
