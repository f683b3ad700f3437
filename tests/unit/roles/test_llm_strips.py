"""The strip filter with a model: it picks among strips, and the offline role makes and joins them."""

import asyncio
from typing import Any

import pytest

from selfright.domain.chat import Job
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.passages import Refinement
from selfright.roles.model_calls import JudgingMode
from selfright.roles.refine import MOST_ASKED, ModelRefiner, OfflineRefiner
from selfright.roles.selection import UnitScorer
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import analyzer, hits, passage

TEXT = (
    "Kettles collect limescale where water is hard, and it is best to look into them once a week.\n\n"
    "To descale the kettle, boil it with citric acid for ten minutes and rinse it well.\n\n"
    "The shop in the old town also sells toasters, spoons, and other things that shine.\n\n"
    "Never use bleach to descale a kettle, for its fumes are poisonous."
)
PAGE = passage(TEXT, "kettle.md", "Kettles", start=100)
OFFLINE = OfflineRefiner(UnitScorer(analyzer(*TEXT.split("\n\n"), "bread", "water")))
QUESTION = "How do I descale the kettle?"


def refine(*replies: Scripted, judging: JudgingMode = "always", **found: Any) -> tuple[Refinement, ScriptedChat]:
    chat = ScriptedChat(replies)
    pages = found.get("pages", (PAGE,))
    return asyncio.run(ModelRefiner(chat, OFFLINE, judging).refine(QUESTION, hits(*pages))), chat


def texts(refinement: Refinement) -> list[str]:
    return [strip.text for strip in refinement.strips]


def test_kept_numbers_become_strips_in_document_order() -> None:
    refinement, chat = refine({"kept": [4, 1, 4]})
    paragraphs = TEXT.split("\n\n")
    assert texts(refinement) == [paragraphs[0], paragraphs[3]]
    assert [TEXT[s.start - 100 : s.end - 100] for s in refinement.strips] == texts(refinement)
    assert not refinement.fell_back
    assert 0 < refinement.removed_share < 1
    assert chat.request.job is Job.STRIPS
    assert chat.request.temperature == 0
    assert chat.request.user.count("\nexcerpt-") == 4


def test_nothing_kept_leaves_the_best_and_says_so() -> None:
    refinement, _ = refine({"kept": []})
    assert refinement.fell_back
    assert len(refinement.strips) == 1


def test_a_cascade_asks_nothing() -> None:
    assert refine(judging="cascade")[0] == OFFLINE.filter(QUESTION, hits(PAGE))


def test_nothing_found_asks_nothing() -> None:
    assert refine(pages=())[0] == Refinement((), 0.0)


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("down"),
        ModelRejected("no"),
        BudgetSpent("spent"),
        ReplyUnusable("empty"),
        "1, 2",
        {},
        {"kept": "1, 2"},
        {"kept": [1, 5]},
        {"kept": [0]},
        {"kept": [True]},
        {"kept": [1.0]},
        {"kept": [None]},
    ],
)
def test_whatever_is_no_choice_leaves_it_to_the_offline_filter(reply: Scripted) -> None:
    assert refine(reply)[0] == OFFLINE.filter(QUESTION, hits(PAGE))


def test_of_many_strips_the_best_are_shown_and_the_rest_is_filtered_offline() -> None:
    pages = tuple(passage(TEXT, f"{n}.md", start=100) for n in range(12))
    refinement, chat = refine({"kept": [1]}, pages=pages)
    assert chat.request.user.count("\nexcerpt-") == MOST_ASKED
    assert "old town" not in "".join(texts(refinement))
