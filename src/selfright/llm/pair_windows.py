"""How much of two texts a model of pairs is shown."""

MOST_TEXT_PIECES = 128
MOST_CHARACTERS = 20_000  # many times what a window holds: a passage of megabytes is not split into pieces for nothing


def most_text_pieces(length: int) -> int:
    """Word pieces of the question or claim that count in a window of ``length``: at most 128, and always under half."""
    return min(MOST_TEXT_PIECES, (length - 4) // 2)


def sendable(text: str) -> str:
    """The text with half characters (lone surrogates), which tokenizers refuse, replaced; at most 20,000 characters."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
