"""A turn's meter: what it lists; its limits are tested where calls are made (``unit/llm/test_calling.py``)."""

from selfright.domain.answers import Cost
from selfright.domain.budget import Meter
from tests.support.waiting import Clock


def test_the_bill_lists_what_was_used() -> None:
    clock = Clock()
    turn = Meter(max_llm_calls=3, max_tokens=1000, deadline_s=10.0, clock=clock)
    turn.llm_calls, turn.prompt_tokens, turn.completion_tokens, turn.web_requests = 2, 300, 40, 1
    clock.now += 1.5
    assert turn.cost() == Cost(llm_calls=2, prompt_tokens=300, completion_tokens=40, web_requests=1, seconds=1.5)
