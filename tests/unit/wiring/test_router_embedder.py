"""Collections are told apart by meaning only with the encoder that the thresholds were fitted on."""

from pathlib import Path

import pytest

from selfright import Selfright
from selfright.retrieval.router import DescriptionRouter
from tests.support.embedders import WordHashes


@pytest.mark.parametrize(("name", "asked"), [("multilingual-e5-small-q4", True), ("another encoder", False)])
def test_an_encoder_that_nothing_was_fitted_for_does_not_route(name: str, asked: bool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Boats\n\nThe ferry leaves at seven.", encoding="utf-8")
    (tmp_path / "b.md").write_text("# Taxes\n\nThe harbour tax is twelve euros.", encoding="utf-8")
    embedder = WordHashes(name)
    with Selfright.open(tmp_path / "index", home=tmp_path / "home", embeddings=embedder) as selfright:
        selfright.add([tmp_path / "a.md"], collection="boats")
        selfright.add([tmp_path / "b.md"], collection="money")
        selfright.describe_collection("boats", "ferries and their times")
        selfright.describe_collection("money", "taxes and fees")
        router = selfright._engine.index.router
        assert isinstance(router, DescriptionRouter)
        embedder.embedded.clear()
        selfright._loop.run(router.route("When does the ferry leave?"))
        assert bool(embedder.embedded) is asked
