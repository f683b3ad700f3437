"""The example of self-refining answers [S3], offline: side effects are asked, what the drug is for is found first."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.domain.judgements import AnswerQuality
from tests.support.folders import opened_over

QUESTION = "당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?"
USE = """# 메트포르민

메트포르민은 2형 당뇨병의 1차 치료제로 쓰이는 혈당 강하제입니다. 간에서 포도당이 만들어지는 것을 줄입니다.
"""
EFFECTS = """# 당뇨약의 이상 반응

메트포르민을 먹으면 설사, 구역, 복통 같은 위장 장애가 가장 흔합니다. 오래 먹으면 비타민 B12가 부족해질 수 있고,
드물게 젖산산증이 생깁니다.
"""


@pytest.fixture(params=[(USE,), (USE, EFFECTS)], ids=["without the effects", "with them"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Selfright, int]]:
    with opened_over(tmp_path, {f"{n}.md": text for n, text in enumerate(request.param)}) as selfright:
        yield selfright, len(request.param)


@pytest.mark.parametrize("preset", ["full", "self_refine"])
def test_what_is_missing_starts_another_pass(opened: tuple[Selfright, int], preset: str) -> None:
    selfright, documents = opened
    answer = selfright.ask(QUESTION, preset=preset)
    assert len(answer.iterations) > 1
    assert "부작용" in answer.iterations[1].query
    assert answer.evaluation is not None
    assert answer.evaluation.answer_quality is AnswerQuality.NEEDS_DOCS
    assert "부작용" in " ".join(answer.evaluation.missing_info)
    assert ("설사" in answer.answer) == (documents == 2)
