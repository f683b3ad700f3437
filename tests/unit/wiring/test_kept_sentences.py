"""Judging embeds the sentences of indexed passages once, whatever is opened and closed in between."""

from pathlib import Path

import pytest

from selfright import Selfright
from tests.support.embedders import WordHashes

FITTED = "multilingual-e5-small-q4"
QUESTION = "When does the ferry leave?"


@pytest.mark.parametrize("is_cached", [True, False])
def test_sentences_are_embedded_once_where_vectors_are_kept(is_cached: bool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Boats\n\nThe ferry leaves at seven. It is blue. It rests on Mondays.", "utf-8")
    said: list[str] = []
    embedded: list[list[str]] = []
    for _ in range(2):
        embedder = WordHashes(FITTED, 384)
        embedder.identified = is_cached
        with Selfright.open(tmp_path / "index", home=tmp_path / "home", embeddings=embedder) as selfright:
            if not said:
                selfright.add([tmp_path / "a.md"])
            embedder.embedded.clear()
            said.append(selfright.ask(QUESTION).answer)
            embedded.append([text for text in embedder.embedded if "ferry leaves" in text])
    assert embedded[0]
    assert bool(embedded[1]) is not is_cached
    assert said[0] == said[1]
