"""How both networks cut a text into word pieces."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from selfright.models.files import model_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BEGIN, PAD, END, UNKNOWN = range(4)
MOST_CHARACTERS = 20_000  # many times what a window holds: a passage of megabytes is not cut for nothing


@cache
def tokenizer() -> "Tokenizer":
    """The tokenizer that ships, Unigram over 140,000 pieces. Raises ``ModelFilesDamaged``."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(model_file("tokenizer.json")))


def piece_numbers(texts: Sequence[str]) -> list[list[int]]:
    """The numbers of each text's pieces, without marks of begin and end; letters it does not know are ``UNKNOWN``."""
    found = tokenizer().encode_batch_fast([sendable(text) for text in texts], add_special_tokens=False)
    return [one.ids for one in found]


def pieces_and_places(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """The numbers of a text's pieces, and the characters of the text that each of them stands for."""
    found = tokenizer().encode(sendable(text), add_special_tokens=False)
    return found.ids, found.offsets


def sendable(text: str) -> str:
    """The text with half characters (lone surrogates), which tokenizers refuse, replaced; at most 20,000 characters."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
