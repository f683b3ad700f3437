"""The Python door: what the README shows, and what a program around it needs."""

import asyncio
from pathlib import Path

import pytest

from selfright import AnswerToken, NodeFinished, Selfright, TurnFinished
from selfright.domain.errors import IndexNotFound, InputError, UnknownName, UsageError

QUESTION = "Who is the harbour master?"


def test_the_readme_s_lines(documents: Path, tmp_path: Path) -> None:
    selfright = Selfright.open(tmp_path / "index", preset="full")
    selfright.add([documents])
    answer = selfright.ask(QUESTION)
    assert "Orla Keane" in answer.answer
    assert answer.stop_reason == "adequate"
    for citation in answer.citations:
        document = selfright.document(citation.document_id)
        assert document is not None
        assert document.text[citation.start : citation.end] == citation.text
    selfright.close()


async def test_events_come_node_by_node_and_end_with_the_answer(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        *told, last = [event async for event in selfright.astream(QUESTION)]
    assert isinstance(last, TurnFinished)
    assert "".join(event.text for event in told if isinstance(event, AnswerToken)) == last.answer.answer
    visited = [event.node for event in told if isinstance(event, NodeFinished)]
    assert visited[0] == "contextualize"
    assert visited[-1] == "finalize"
    assert visited == [step.node for step in last.answer.trace]


async def test_the_sync_door_works_inside_a_running_loop(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        assert "Orla Keane" in selfright.ask(QUESTION).answer


async def test_turns_run_side_by_side(indexed: Path) -> None:
    lamp = "How often is the lamp of the Dunmore lighthouse changed?"
    questions = [lamp, QUESTION, "How deep is the sea off Atlantis?"] * 4
    with Selfright.open(indexed) as selfright:
        alone = {question: selfright.ask(question) for question in set(questions)}
    with Selfright.open(indexed) as selfright:
        together = await asyncio.gather(*(selfright.aask(question) for question in questions))
    for question, answer in zip(questions, together, strict=True):
        assert (answer.question, answer.answer) == (question, alone[question].answer)
        assert (answer.citations, answer.evaluation) == (alone[question].citations, alone[question].evaluation)
    assert "90 days" in together[0].answer
    assert len({answer.answer for answer in together}) == 3
    assert len({answer.trace_id for answer in together}) == len(together)


def test_a_follow_up_is_understood(indexed: Path) -> None:
    history = [
        {"role": "user", "content": "Tell me about the lamp of the Dunmore lighthouse"},
        {"role": "assistant", "content": "The lamp of the Dunmore lighthouse is changed every 90 days."},
    ]
    with Selfright.open(indexed) as selfright:
        answer = selfright.ask("Who signs the log after each change of it?", history=history)
    assert "keeper" in answer.answer


def test_flags_and_presets_by_call(indexed: Path) -> None:
    with Selfright.open(indexed, preset="basic") as selfright:
        assert selfright.ask(QUESTION).evaluation is None
        judged = selfright.ask(QUESTION, preset="full", flags={"max_refine_iterations": 0})
        assert judged.evaluation is not None
        with pytest.raises(UnknownName, match="max_refine_iterations"):
            selfright.ask(QUESTION, flags={"max_refine_iteration": 0})


def test_wrong_use_is_told_at_the_door(indexed: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="full"):
        Selfright.open(indexed, preset="ful")
    with pytest.raises(UnknownName, match="top_k"):
        Selfright.open(indexed, top_kk=3)
    with Selfright.open(tmp_path / "nothing") as selfright, pytest.raises(IndexNotFound, match="index add"):
        selfright.ask(QUESTION)
    with Selfright.open(indexed) as selfright, pytest.raises(InputError, match="'role' and 'content'"):
        selfright.ask(QUESTION, history=[{"who": "me"}])
    with Selfright.open(indexed, pack="medical") as selfright:
        with pytest.raises(InputError, match="'user' or 'assistant', but got 'bot'"):
            selfright.ask(QUESTION, history=[{"role": "bot", "content": "Hello."}])
        with pytest.raises(InputError, match=r"maps names to values, .* but got str"):
            selfright.ask(QUESTION, profile="sailor")
        with pytest.raises(InputError, match="'age' cannot be 'abc'"):
            selfright.ask(QUESTION, profile={"age": "abc"})


def test_what_is_closed_says_so(indexed: Path, documents: Path) -> None:
    with Selfright.open(indexed) as selfright:
        assert selfright.search(QUESTION)
        runnable, retriever = selfright.as_runnable(), selfright.as_retriever()
    selfright.close()
    asyncio.run(selfright.aclose())
    for use in (
        *(selfright.ask, selfright.search, selfright.profile, lambda question: [*selfright.stream(question)]),
        *(selfright.document, selfright.remove, selfright.trace, runnable.invoke, retriever.invoke),
        *(lambda _, whole=whole: whole() for whole in (selfright.documents, selfright.info, selfright.traces)),
        lambda _: selfright.add(documents),
    ):
        with pytest.raises(UsageError, match="closed"):
            use(QUESTION)
    for wait in (selfright.aask, selfright.asearch, selfright.aprofile, selfright.aconversation):
        with pytest.raises(UsageError, match="closed"):
            asyncio.run(wait(QUESTION))


def test_a_profile_goes_into_the_second_query_and_does_not_stay(indexed: Path) -> None:
    question = "How many penguins live in Antarctica?"
    with Selfright.open(indexed, preset="self_refine") as selfright:
        told = selfright.ask(question, profile={"boat": "a ketch of 9 metres"})
        untold = selfright.ask(question)
    assert any("9 metres" in iteration.query for iteration in told.iterations[1:])
    assert not any("9 metres" in iteration.query for iteration in untold.iterations)


def test_one_path_or_name_alone_is_not_taken_for_its_letters(documents: Path, tmp_path: Path) -> None:
    with Selfright.open(tmp_path / "index") as selfright:
        assert selfright.add(str(documents)).added == selfright.info().documents > 1
        assert selfright.add(documents).unchanged == selfright.info().documents
        selfright.describe_collection("default", "Notes.", classes="question", slots="age")
        described = selfright.collections()[0]
        assert ([kind.value for kind in described.classes], described.slots) == (["question"], ("age",))
        found = selfright.search(QUESTION, 3, collections="default")
        assert found
        assert found == selfright.search(QUESTION, 3, collections=["default"])
        assert "Orla Keane" in selfright.ask(QUESTION, collections="default").answer
        retriever = selfright.as_retriever(3, collections="default")
        assert len(retriever.invoke(QUESTION)) == len(retriever.invoke(QUESTION, collections="default")) == len(found)
        document_id = found[0].passage.document_id
        assert selfright.remove(document_id) == [document_id]


def test_blanks_around_a_message_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "metformin.md").write_text(
        "# Metformin\n\nMetformin is taken with meals to reduce stomach upset. Gout is treated with colchicine."
    )
    message = "I have diabetes. When do I take metformin?"
    with Selfright.open(tmp_path / "index", pack="medical") as selfright:
        selfright.add([tmp_path / "metformin.md"])
        bare = selfright.ask(message, user="bare")
        for given in (f"{message}\n", f"\r\n {message}\u3000"):
            answer = selfright.ask(given, user="padded")
            assert (answer.question, answer.answer) == (bare.question, bare.answer)
            assert selfright.profile("padded") == selfright.profile("bare")
            selfright.forget_profile("padded")
    assert "with meals" in bare.answer
