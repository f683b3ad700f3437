"""What the index knows already is asked for a turn's web within the turn's scope alone."""

import asyncio
from collections.abc import Sequence

from selfright.domain.passages import Retrieval, WebFinding
from selfright.domain.turns import Scope, ScopedRetriever
from selfright.web.live import Known
from selfright.wiring.replays import AbsentWeb
from selfright.wiring.web import Webs


class Index:
    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def search(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        self.asked.append(tuple(collections))
        return Retrieval(())


class Curious:
    """A web that asks what is known."""

    def __init__(self, known: Known) -> None:
        self._known = known

    async def search(self, query: str, k: int) -> WebFinding:
        await self._known(query)
        return WebFinding((), "curious", 0)


def test_the_web_learns_nothing_of_other_collections() -> None:
    index = Index()
    for providers in ((("a", Curious),), (("a", Curious), ("b", Curious))):
        web = Webs(providers).beside(ScopedRetriever(index, Scope("u", ("mine",))))
        assert web is not None
        asyncio.run(web.search("q", 3))
    assert index.asked == [("mine",)] * 3
    assert Webs(()).beside(ScopedRetriever(index, Scope("u"))) is None


def test_a_web_that_a_replay_no_longer_has_finds_nothing() -> None:
    assert asyncio.run(AbsentWeb().search("q", 5)).passages == ()
