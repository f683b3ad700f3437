"""What makes a question lean towards the other language: the file of its steps, and its effect on real vectors."""

from pathlib import Path

import numpy as np
import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.llm import e5
from selfright.llm.e5 import E5, installed_file

SHIPPED = Path(e5.__file__).with_name(e5.LEANING_FILE)
SUBJECTS = [
    ("The lamp of the lighthouse is changed every 90 days.", "등대의 등은 90일마다 교체한다."),
    ("The museum is closed on public holidays.", "박물관은 공휴일에 문을 닫는다."),
    ("Staff who travel abroad need an approved request.", "해외로 출장을 가는 직원은 승인된 신청서가 필요하다."),
]


@pytest.mark.skipif(installed_file() is None, reason="the package with the weights exists for Linux alone")
@pytest.mark.parametrize(
    ("language", "questions"),
    [
        ("en", ["How often is the lamp changed?", "When is the museum closed?", "Who may travel abroad?"]),
        ("ko", ["등은 얼마나 자주 교체하나요?", "박물관은 언제 닫나요?", "해외 출장에는 무엇이 필요한가요?"]),
    ],
)
def test_the_other_language_comes_nearer_and_the_own_one_stays(language: e5.Language, questions: list[str]) -> None:
    encoder = E5()
    passages = encoder.embed([text for pair in SUBJECTS for text in pair]).reshape(3, 2, 384)
    own, other = passages[:, int(language == "ko")], passages[:, int(language == "en")]
    for question in questions:
        before = encoder.embed_query(question)
        added = encoder.leaned(before, language) - before
        assert np.abs(own @ added).max() < 0.02
        assert (other @ added).min() > 0.02


def test_a_file_that_is_not_the_shipped_one_is_named(tmp_path: Path) -> None:
    changed = tmp_path / "leaning.npz"
    changed.write_bytes(SHIPPED.read_bytes()[:-1])
    with pytest.raises(ModelFilesDamaged, match="should have the SHA-256"):
        e5.read_leaning(changed)
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        e5.read_leaning(tmp_path / "none.npz")
