"""What looking after an index brings to light."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file of an index, in words; ``mended`` tells whether it was put right."""

    file: str
    problem: str
    mended: bool = False
